// Which pages a browser may send requests for: a page of another site must not use up IDs of a server on the visitor's
// machine, whether it asks directly or under its own name that leads here. All other clients are served: programs,
// probes, proxies, Compose.

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import http from 'node:http'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { clean, PROGRAM, startServer } from '../servers/flakeforge.mjs'
import { stopAfter } from '../servers/server.mjs'
import { isWindows } from '../support/processes.mjs'
import { arrived, passingFolder, rawConnection } from '../support/service.mjs'
import { once } from '../support/waits.mjs'

const PAGE = 'https://shop.example'

const onUnix = isWindows ? test.skip : test

/** Resolves with the status, and with the code where there is one. */
function asked(server, headers, { method = 'POST', path = '/v1/ids/default', host = '127.0.0.1' } = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host, port: server.port, method, path, headers }, async (response) => {
      let text = ''
      for await (const part of response) text += part
      const code = /"code":"(\w+)"/.exec(text)?.[1]
      resolve(code === undefined ? response.statusCode : `${response.statusCode} ${code}`)
    })
    request.once('error', reject).end()
  })
}

const FOREIGN_PAGE = '403 ERR_FLAKE_ORIGIN'
const FOREIGN_HOST = '403 ERR_FLAKE_HOST'

test('on loopback: pages of other sites and names of other machines are rejected', async (t) => {
  const server = stopAfter(t, await startServer())
  const own = `127.0.0.1:${server.port}`
  const cases = [
    [{}, 200],
    [{ origin: `http://${own}` }, 200],
    [{ origin: `https://${own}` }, 200], // behind a proxy with TLS
    [{ origin: PAGE }, FOREIGN_PAGE],
    [{ origin: 'null' }, FOREIGN_PAGE], // a file, or a frame in a sandbox
    [{ origin: 'http://127.0.0.1:1' }, FOREIGN_PAGE], // another program's page
    [{ origin: `http://localhost:${server.port}` }, FOREIGN_PAGE],
    [{ origin: '' }, FOREIGN_PAGE],
    [{ host: 'localhost' }, 200],
    [{ host: `LocalHost:${server.port}` }, 200],
    [{ host: 'ids.localhost:80' }, 200],
    [{ host: '[::1]:80' }, 200],
    [{ host: '127.0.0.2' }, 200],
    [{ host: 'evil.example' }, FOREIGN_HOST],
    [{ host: 'evil.example', origin: 'http://evil.example' }, FOREIGN_HOST], // its name leads to 127.0.0.1 now
    [{ host: '127.0.0.1.evil.example' }, FOREIGN_HOST],
    [{ host: 'localhost.evil.example' }, FOREIGN_HOST],
    [{ host: '10.0.0.7' }, FOREIGN_HOST],
  ]
  for (const [headers, expected] of cases) t.is(await asked(server, headers), expected, JSON.stringify(headers))
  const ask = (path) => asked(server, { host: 'evil.example', origin: PAGE }, { method: 'GET', path })
  t.deepEqual(await Promise.all(['/livez', '/readyz'].map(ask)), [200, 200], 'probes')
  t.deepEqual(await Promise.all(['/v1/names', '/', '/nothing'].map(ask)), [FOREIGN_HOST, FOREIGN_HOST, FOREIGN_HOST])
})

test('the port of metrics rejects what the other one does', async (t) => {
  const server = stopAfter(t, await startServer({ args: ['--metrics-port', '0'] }))
  const [, port] = /metrics are at \S+:(\d+)\//.exec(server.warnings.join('\n'))
  const ask = (headers) => asked({ port }, headers, { method: 'GET', path: '/metrics' })
  t.is(await ask({}), 200)
  t.is(await ask({ host: 'evil.example' }), FOREIGN_HOST)
  t.is(await ask({ origin: PAGE }), FOREIGN_PAGE)
  t.is(await ask({ expect: 'miracles' }), '417 ERR_FLAKE_REQUEST')
  const malformed = rawConnection(port)
  malformed.send('GET /metrics HTTP/1.1\r\n\r\n')
  await arrived(malformed, /^HTTP\/1\.1 400 .*ERR_FLAKE_REQUEST/s)
})

test('a second Host is found after 2500 other headers', async (t) => {
  const server = stopAfter(t, await startServer())
  const hiding = rawConnection(server.port)
  hiding.send(`POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\n${'a:\r\n'.repeat(2500)}Host: evil.example\r\n\r\n`)
  t.truthy(await arrived(hiding, /^HTTP\/1\.1 400 .*The request has 2 Host headers/s))
})

test('--cors names pages that may send requests, --allow-host other names of this machine, a trusted proxy its own', async (t) => {
  const args = ['--cors', PAGE, '--allow-host', 'IDs.example', '--trust-proxy', 'loopback']
  const server = stopAfter(t, await startServer({ args }))
  t.is(await asked(server, { origin: PAGE }), 200)
  t.is(await asked(server, { origin: 'https://other.example' }), FOREIGN_PAGE)
  const preflight = { origin: PAGE, 'access-control-request-method': 'POST' }
  t.is(await asked(server, preflight, { method: 'OPTIONS' }), 204, 'a page may ask whether it may')
  t.is(await asked(server, { host: 'ids.EXAMPLE:8080' }), 200)
  t.is(await asked(server, { host: 'ids.example', origin: 'https://ids.example' }), 200, "the server's own page")
  t.is(await asked(server, { host: 'ids.example:443', origin: 'https://ids.example' }), 200)
  t.is(await asked(server, { host: 'evil.example' }), FOREIGN_HOST)
  const forwarded = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-host': 'other.example' }
  t.is(await asked(server, { origin: 'https://other.example', ...forwarded }), 200, 'a page that the proxy served')
})

/** The port of metrics, from what the server told. */
const metricsOf = (server) => new URL(/metrics are at (\S+)/.exec(server.warnings.join('\n'))[1])

test('a server for other machines warns without tokens, and accepts names that nobody else can have', async (t) => {
  const server = stopAfter(t, await startServer({ args: ['--host', '0.0.0.0', '--metrics-port', '0'] }))
  const own = [
    'ids:8080',
    'ids.default.svc.cluster.local',
    'ids.shop.svc',
    '10.1.2.3:8080',
    '[2001:db8::1]:80',
    'box.local',
  ]
  for (const host of own) {
    t.is(await asked(server, { host }), 200, host)
    t.is(await asked(server, { host, origin: `http://${host}` }), 200, host)
  }
  // A page's own name that leads here now, with and without the header that browsers send for POST.
  for (const host of [
    'evil.example',
    'evil.example:80',
    '10.1.2.3.evil.example',
    'svc.evil.example',
    'evilsvc.example',
  ]) {
    t.is(await asked(server, { host }), FOREIGN_HOST, host)
    t.is(await asked(server, { host, origin: `http://${host}` }), FOREIGN_HOST, host)
  }
  t.is(await asked(server, { host: 'ids', origin: PAGE }), FOREIGN_PAGE)
  const [address] = Object.values(networkInterfaces()).flatMap((all) => all.filter(({ internal }) => !internal))
  if (address?.family === 'IPv4') t.is(await asked(server, {}, { host: address.address }), 200)

  const told = (pattern) => server.warnings.filter((line) => pattern.test(line)).length
  t.is(told(/0\.0\.0\.0 can be reached from other machines, and there are no tokens/), 1)
  t.is(told(/second server elsewhere .* give both one store/), 1)
  const metrics = metricsOf(server)
  const text = await (await fetch(metrics)).text()
  t.regex(text, /^flakeforge_ids_total\{layout="flake",group="default"\} \d+$/m, 'metrics have their own port')
  const nothing = await fetch(new URL('/v1/names', metrics))
  t.deepEqual([nothing.status, (await nothing.json()).code], [404, 'ERR_FLAKE_ROUTE'], 'and nothing else there')
})

test('beyond loopback, names are checked if --allow-host is given or there are no tokens', async (t) => {
  const file = join(passingFolder(), 'tokens')
  await writeFile(file, 'a-token-for-strangers\n', { mode: 0o600 })
  const open = ['--host', '0.0.0.0']
  const tokens = ['--token-file', file]
  const authorization = 'Bearer a-token-for-strangers'
  const statusOf = async (args, headers) => asked(stopAfter(t, await startServer({ args })), headers)
  const foreign = { host: 'evil.example', origin: 'http://evil.example' }
  t.is(await statusOf([...open, '--allow-host', 'ids.example'], foreign), FOREIGN_HOST)
  t.is(await statusOf([...open, '--allow-host', 'ids.example'], { host: 'IDs.example.' }), 200)
  t.is(await statusOf([...open, '--allow-host', '*'], foreign), 200)
  t.is(await statusOf([...open, ...tokens], { host: 'ids.example', authorization }), 200, 'a page has no token')
  t.is(await statusOf([...open, ...tokens], foreign), '401 ERR_FLAKE_TOKEN')
  t.is(await statusOf([...open, ...tokens, '--allow-host', 'ids.example'], { ...foreign, authorization }), FOREIGN_HOST)
})

test('the port of metrics has its own host, tokens and names', async (t) => {
  const folder = passingFolder()
  const file = join(folder, 'tokens')
  await writeFile(file, 'a-token-for-metrics\n', { mode: 0o600 })
  const start = async (...args) =>
    metricsOf(stopAfter(t, await startServer({ args: ['--metrics-port', '0', ...args] })))
  const ask = ({ port }, headers, path = '/metrics') => asked({ port }, headers, { method: 'GET', path })
  const open = await start('--metrics-host', '0.0.0.0')
  t.is(await ask(open, { host: 'prometheus:9090' }), 200)
  t.is(await ask(open, { host: 'evil.example' }), FOREIGN_HOST)
  const closed = await start('--metrics-host', '0.0.0.0', '--metrics-token-file', file)
  const authorization = 'Bearer a-token-for-metrics'
  t.is(await ask(closed, {}), '401 ERR_FLAKE_TOKEN')
  t.is(await ask(closed, {}, '/nothing'), '401 ERR_FLAKE_TOKEN')
  t.is(await ask(closed, { authorization, host: 'metrics.example' }), 200)
})

onUnix('beside a unix socket, the port of metrics checks names as any other', async (t) => {
  const folder = passingFolder()
  const args = ['--socket', join(folder, 'ids.sock'), '--metrics-port', '0', '--store', `file:${folder}/ids`]
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: clean(process.env) })
  t.teardown(() => child.kill('SIGKILL'))
  let told = ''
  child.stderr.on('data', (text) => (told += text))
  await once(child.stdout, 'data')
  const { port } = metricsOf({ warnings: [told] })
  const ask = (headers) => asked({ port }, headers, { method: 'GET', path: '/metrics' })
  t.is(await ask({}), 200)
  t.is(await ask({ host: 'evil.example' }), FOREIGN_HOST)
})

test('no browser takes an answer for a page or a script, whatever it is', async (t) => {
  const server = stopAfter(t, await startServer({ args: ['--metrics-port', '0', '--cors', PAGE, '--rate', '1000'] }))
  const metrics = metricsOf(server)
  const urls = [
    '/',
    '/page.js',
    '/livez',
    '/readyz',
    '/v1/names',
    '/v1/names?<script>',
    '/v1/inspect/<b>',
    '/%',
    '/nothing',
    '/metrics',
  ]
  const answers = await Promise.all([
    ...urls.map((url) => fetch(server.url + url)),
    fetch(server.url, { method: 'POST', body: 'x' }),
    fetch(`${server.url}/v1/ids/default`, { method: 'POST' }),
    fetch(`${server.url}/v1/names`, { headers: { origin: 'https://other.example' } }),
    fetch(`${server.url}/v1/names`, {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-method': 'GET' },
    }),
    fetch(metrics),
    fetch(new URL('/%', metrics)),
  ])
  for (const { url, status, headers } of answers)
    t.is(headers.get('x-content-type-options'), 'nosniff', `${url} ${status}`)
  const raw = rawConnection(metrics.port)
  raw.send('\x16\x03\r\n\r\n')
  await raw.closed
  t.regex(raw.text(), /^x-content-type-options: nosniff\r$/m)
})

test('all pages may send requests with --cors *', async (t) => {
  const server = stopAfter(t, await startServer({ args: ['--cors', '*'] }))
  t.is(await asked(server, { origin: PAGE }), 200)
})
