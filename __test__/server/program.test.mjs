// The program: its output, its exit status, where it listens, and how it ends on signals. Each test needs a separate
// process, so there are few.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { clean, PROGRAM, startServer } from '../servers/flakeforge.mjs'
import { until } from '../servers/server.mjs'
import { outputOf } from '../support/index.mjs'
import { isRoot, isWindows } from '../support/processes.mjs'
import { arrived, passingFolder, rawConnection } from '../support/service.mjs'
import { once } from '../support/waits.mjs'

const { version } = createRequire(import.meta.url)('../../packages/server/package.json')

/** A run that ends without a signal. */
const run = (args, env = {}) =>
  outputOf(spawn(process.execPath, [PROGRAM, ...args], { env: { ...clean(process.env), ...env } }))

const onUnix = isWindows ? test.skip : test

test('one line on stdout once it is ready, nothing on stderr, and its status is 0 after SIGTERM', async (t) => {
  const server = await startServer({ args: ['--end-ms', '3600000', '--request-ms', '3600000'] })
  t.deepEqual(server.lines, [`flakeforge-server is ready at ${server.url}`])
  const response = await fetch(`${server.url}/v1/ids/default`, { method: 'POST' })
  t.is((await response.json()).ids.length, 1)
  t.is((await fetch(`${server.url}/readyz`)).status, 200)
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  t.regex(metrics, /^flakeforge_ids_total\{[^}]*\} 1$/m, 'asking whether it is ready uses up no ID')
  t.deepEqual(server.warnings, [])
  const silent = rawConnection(server.port) // no client waits for it
  await silent.connected
  if (!isWindows) t.deepEqual(await server.kill('SIGTERM'), [0, null])
  t.is(server.lines.length, 1)
  await server.stop()
})

test('a mistake in the configuration is one line, and status 2', async (t) => {
  const wrong = await run(['--prot', '1'])
  t.deepEqual(wrong, {
    code: 2,
    signal: null,
    stdout: '',
    stderr: "flakeforge-server: Unknown option '--prot'. Did you mean --port?\n",
  })
  const store = await run(['--store', 'reddis://localhost'])
  t.is(store.code, 2)
  t.regex(store.stderr, /^flakeforge-server: .*'redis:\/\/…'.*\n$/)
  const password = await run(['--store', 'redis://user:pass%word@host'])
  t.deepEqual([password.code, /pass%word/.test(password.stderr)], [2, false])
})

test('in a container without a store the message names --store, not a JavaScript call', async (t) => {
  const { code, stdout, stderr } = await run([], { container: 'docker' })
  t.deepEqual([code, stdout], [2, ''])
  t.regex(
    stderr,
    /^flakeforge-server: No store is set, .*container \(the environment variable container is set\).*--store redis:/,
  )
  t.notRegex(stderr, /join\(/)
})

test('--help and --version', async (t) => {
  const [help, number] = await Promise.all([run(['--help']), run(['-v'])])
  t.is(help.code, 0)
  t.regex(help.stdout, /--token-file FILE/)
  for (const line of help.stdout.split('\n')) t.true(line.length <= 80, line)
  t.deepEqual([number.code, number.stdout], [0, `${version}\n`])
})

test('a port that is in use: one line, and status 1', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address()
  const { code, stderr } = await run(['--port', String(port), '--store', `file:${passingFolder()}`])
  t.deepEqual([code, stderr], [1, `flakeforge-server: Port ${port} is already in use. --port 0 picks a free one.\n`])
  other.close()
})

onUnix('a unix socket, also one left behind by a server, but never that of a running one', async (t) => {
  const folder = passingFolder()
  const socketPath = join(folder, 'ids.sock')
  const args = [PROGRAM, '--socket', socketPath, '--store', `file:${folder}/ids`]
  const start = (...more) => spawn(process.execPath, [...args, '--rate', '1000', ...more], { env: clean(process.env) })
  const ready = async (child) =>
    t.is(String((await once(child.stdout, 'data'))[0]), `flakeforge-server is ready at unix:${socketPath}\n`)
  const first = start()
  await ready(first)
  const second = await outputOf(start())
  t.is(second.code, 1)
  t.regex(second.stderr, /in use/)
  first.kill('SIGKILL')
  await once(first, 'exit')
  t.true(existsSync(socketPath), 'it was left behind')
  const third = start('--trust-proxy', '10.0.0.0/8')
  await ready(third)
  // A client of the socket may name the original client; without that, it counts as one client without an address.
  const clients = ['192.0.2.1', '192.0.2.2, 10.0.0.1', '2001:db8::1', '', '192.0.2.1', '2001:db8::2, 10.0.0.1', '']
  for (const [i, client] of clients.entries()) {
    const headers = client === '' ? {} : { 'x-forwarded-for': client }
    const response = await new Promise((resolve) =>
      http.request({ socketPath, path: '/v1/ids/default', method: 'POST', headers }, resolve).end(),
    )
    t.is(response.statusCode, 200, client)
    t.is(response.headers['x-ratelimit-limit'], '1000')
    if (i < 4) t.is(response.headers['x-ratelimit-remaining'], '999', 'each of these is another client')
  }
  third.kill('SIGTERM')
  t.deepEqual(await once(third, 'exit'), [0, null])
  t.false(existsSync(socketPath))
})

onUnix(
  'only a socket is removed to make room for one, and a path that the system would truncate is rejected',
  async (t) => {
    const folder = passingFolder()
    const file = join(folder, 'precious')
    await writeFile(file, 'of somebody')
    await symlink(file, join(folder, 'link'))
    const refusal = async (path) => {
      const { code, stderr } = await run(['--socket', path, '--store', `file:${folder}/ids`])
      t.is(code, 2, stderr)
      return stderr
    }
    t.is(
      await refusal(file),
      `flakeforge-server: --socket: ${file} already exists and is not a socket. Use a path that does not exist.\n`,
    )
    t.regex(await refusal(join(folder, 'link')), /is not a socket/)
    t.regex(await refusal(folder), /is a folder/)
    t.regex(
      await refusal(join(folder, 'a'.repeat(120))),
      /^flakeforge-server: --socket is a path of \d+ bytes, .* up to 10\d /,
    )
    t.is(await readFile(file, 'utf8'), 'of somebody')
  },
)

onUnix(
  'a socket is not put where every user could replace it, and a socket of another user is left alone',
  async (t) => {
    const folder = passingFolder()
    const socket = join(folder, 'ids.sock')
    const args = ['--socket', socket, '--store', `file:${passingFolder()}/ids`]
    await chmod(folder, 0o757)
    const open = await run(args)
    t.deepEqual(
      [open.code, open.stderr],
      [
        2,
        `flakeforge-server: --socket: every user of this machine can replace files in ${folder}. Use: chmod o-w ${folder}\n`,
      ],
    )
    if (!isRoot) return
    await chmod(folder, 0o1777) // as /tmp
    spawnSync(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`,
    ])
    t.true(existsSync(socket))
    await chown(socket, 12_345, 12_345)
    const other = await run(args)
    t.is(other.code, 2)
    t.regex(other.stderr, /ids\.sock is a socket of another user \(uid 12345\)/)
    t.true(existsSync(socket))
  },
)

test('a host that is not of this machine: one line that names the option or variable, and status 2', async (t) => {
  const folder = passingFolder()
  const ended = (args, env) => run([...args, '--store', `file:${folder}`], env)
  const [option, variable, metrics] = await Promise.all([
    ended(['--host', 'nosuch.invalid']),
    ended([], { FLAKEFORGE_SERVER_HOST: 'x86_64-conda-linux-gnu' }),
    ended(['--metrics-host', '192.0.2.1', '--metrics-port', '0', '--port', '0']),
  ])
  t.deepEqual([option.code, variable.code, metrics.code], [2, 2, 2])
  t.regex(
    option.stderr,
    /^flakeforge-server: --host must be an address or a name of this machine, .*, not 'nosuch\.invalid' \(E\w+\)\.\n$/,
  )
  t.regex(
    variable.stderr,
    /^flakeforge-server: FLAKEFORGE_SERVER_HOST must be .*, not 'x86_64-conda-linux-gnu' \(E\w+\)\.\n$/,
  )
  t.regex(metrics.stderr, /^flakeforge-server: --metrics-host must be .*, not '192\.0\.2\.1' \(EADDRNOTAVAIL\)\.\n$/)
})

onUnix('SIGTERM: not ready, but the request in progress gets its IDs, and the slot is free at once', async (t) => {
  const folder = passingFolder()
  const file = join(folder, 'names.json')
  const layout = { epoch: 0, tickMs: 100, fields: Object.entries({ timestamp: 40, node: 20, counter: 4 }) }
  await writeFile(
    file,
    JSON.stringify({ store: `file:${folder}/ids`, names: { slow: { layout } }, waitMs: 60_000, drainMs: 3000 }),
  )
  const server = await startServer({ args: ['--config', file] })
  const slow = fetch(`${server.url}/v1/ids/slow?n=800`, { method: 'POST', headers: { accept: 'text/plain' } })
  await untilWaiting(server.url)
  server.child.kill('SIGTERM')
  let ready
  await until(async () => {
    ready = await fetch(`${server.url}/readyz`)
    return ready.status === 503
  })
  t.deepEqual([(await ready.json()).code, ready.headers.get('retry-after')], ['ERR_FLAKE_ENDING', '1'])
  t.is((await fetch(`${server.url}/livez`)).status, 200)
  t.is((await (await slow).text()).split('\n').length, 801)
  t.deepEqual(await server.exit, [0, null])

  const next = await startServer({ args: ['--config', file] })
  const { names } = await (await fetch(`${next.url}/v1/names`)).json()
  t.is(names[0].slot, 0)
  await next.stop()
  await server.stop()
})

onUnix('after the drain, an open connection is told to close; what does not end is cut off', async (t) => {
  const folder = passingFolder()
  const file = join(folder, 'names.json')
  const layout = { epoch: 0, tickMs: 10_000, fields: Object.entries({ timestamp: 40, node: 20, counter: 4 }) }
  const names = { slow: { layout }, fast: {} }
  await writeFile(file, JSON.stringify({ store: `file:${folder}/ids`, names, waitMs: 60_000, endMs: 700 }))
  const server = await startServer({ args: ['--config', file] })
  const slow = fetch(`${server.url}/v1/ids/slow?n=1000`, { method: 'POST' }).then(
    () => 'answered',
    () => 'cut off',
  )
  const kept = rawConnection(server.port)
  kept.send('POST /v1/ids/fast HTTP/1.1\r\nHost: localhost\r\n') // a started request
  await untilWaiting(server.url)
  server.child.kill('SIGTERM')
  await untilRefused(server.port)
  kept.send('\r\n')
  await arrived(kept, /^HTTP\/1\.1 503 .*connection: close.*ERR_FLAKE_ENDING/is)
  t.is(await slow, 'cut off')
  t.deepEqual(await server.exit, [0, null])
  await server.stop()
})

onUnix('a second signal ends it at once', async (t) => {
  const server = await startServer({ args: ['--drain-ms', '60000'] })
  server.child.kill('SIGINT')
  await until(async () => (await fetch(`${server.url}/readyz`)).status === 503)
  server.child.kill('SIGINT')
  t.deepEqual(await server.exit, [130, null])
  await server.stop()
})

onUnix('an unwritable folder is no reason to exit: it reports the reason, and starts once it can', async (t) => {
  if (isRoot) return t.pass() // nothing is forbidden to the superuser; the Redis of store.test.mjs shows the same
  const folder = passingFolder()
  await mkdir(join(folder, 'ids'), { mode: 0o500 })
  const server = await startServer({ args: ['--store', `file:${folder}/ids`], until: 'listening' })
  t.is((await fetch(`${server.url}/livez`)).status, 200)
  t.is((await fetch(`${server.url}/readyz`)).status, 503)
  await chmod(join(folder, 'ids'), 0o700)
  await until(async () => (await fetch(`${server.url}/readyz`)).status === 200)
  await server.stop()
})

/** Until a request waits for IDs. */
const untilWaiting = (url) =>
  until(async () => /^flakeforge_http_requests_waiting 1$/m.test(await (await fetch(`${url}/metrics`)).text()))

/** Until connections are refused. */
async function untilRefused(port) {
  await until(async () => {
    const probe = rawConnection(port)
    const isRefused = await Promise.race([probe.connected.then(() => false), probe.closed.then(() => true)])
    probe.socket.destroy()
    return isRefused
  })
}
