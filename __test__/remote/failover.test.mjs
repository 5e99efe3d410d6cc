// Three flakeforge-servers on one store, which are killed, stopped, cut off and restarted: no call fails, no ID comes
// twice, and a server that hangs costs one time limit.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { startProxy } from '../servers/proxy.mjs'
import { freePort, freshFolder, stopAfter } from '../servers/server.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { connect, connectToFirst, idsIn } from './scripted-server.mjs'

const TIMEOUT_MS = 4000 // longer than a busy machine takes for an answer
const canStop = process.platform !== 'win32'

let folder
let servers
const seen = new Set() // every ID of this file

const start = (port) => startServer({ port, args: ['--store', `file:${join(folder, 'store')}`, '--name', 'orders'] })

test.before(async () => {
  folder = await freshFolder('failover')
  const ports = [await freePort(), await freePort(), await freePort()]
  servers = await Promise.all(ports.map(start))
})
test.after.always(async () => {
  await Promise.all((servers ?? []).map((server) => server.stop()))
  await rm(folder, { recursive: true, force: true })
})

/** Takes n IDs and compares them with all earlier ones. */
async function take(t, remote, n) {
  for (const id of idsIn(await remote.takeAsync(n))) {
    if (seen.has(id)) t.fail(`${id} came twice`)
    seen.add(id)
  }
}

async function restart(index) {
  servers[index] = await start(servers[index].port)
}

test.serial('a server that is killed: another one is asked, and no call fails', async (t) => {
  const remote = await connectToFirst(t, servers, { timeoutMs: TIMEOUT_MS })
  await take(t, remote, 150)
  await servers[0].kill('SIGKILL')
  await Promise.all(Array.from({ length: 50 }, () => take(t, remote, 20)))
  t.is(remote.stats.retries, 1)
  t.not(remote.stats.server, new URL(servers[0].url).href)
  await take(t, remote, 5000)
  t.is(remote.stats.retries, 1, 'and the killed one is not asked again')
  await restart(0)
})

test.serial('all of them are killed, and one comes back: the calls have waited', async (t) => {
  const remote = await connectToFirst(t, servers, { timeoutMs: TIMEOUT_MS, waitMs: 60_000 })
  await take(t, remote, 100)
  await Promise.all(servers.map((server) => server.kill('SIGKILL')))
  const waiting = Promise.all(Array.from({ length: 20 }, () => take(t, remote, 100)))
  await restart(2)
  await waiting
  t.is(remote.stats.server, new URL(servers[2].url).href)
  t.is(remote.stats.ids, 2100)
  await Promise.all([restart(0), restart(1)])
})

const ifItCanStop = canStop ? test.serial : test.serial.skip
ifItCanStop('a server that is stopped costs one time limit, and its late answer is not used', async (t) => {
  const remote = await connectToFirst(t, servers, { timeoutMs: TIMEOUT_MS })
  await take(t, remote, 100)
  await stopProcess(servers[0].child.pid)
  for (let i = 0; i < 10; i++) await take(t, remote, 300)
  t.is(remote.stats.retries, 1)
  t.not(remote.stats.server, new URL(servers[0].url).href)
  servers[0].child.kill('SIGCONT')
  const other = await connect(t, servers[0], { timeoutMs: TIMEOUT_MS })
  await take(t, other, 1000) // it answers again, so its answer to the first one is on its way
  for (let i = 0; i < 10; i++) await take(t, remote, 300)
  t.is(remote.stats.retries, 1)
})

test.serial('a network that silently loses connections costs one time limit', async (t) => {
  const proxy = await startProxy(servers[0].port)
  t.teardown(proxy.stop)
  const remote = await connectToFirst(t, [{ url: `http://127.0.0.1:${proxy.port}` }, servers[1]], {
    timeoutMs: TIMEOUT_MS,
  })
  await take(t, remote, 100)
  proxy.lose()
  for (let i = 0; i < 10; i++) await take(t, remote, 300)
  t.like(remote.stats, { retries: 1, server: new URL(servers[1].url).href })
})

test.serial('servers that are stopped and restarted one by one: no call fails', async (t) => {
  const remotes = await Promise.all([0, 1, 2].map(() => connect(t, servers, { timeoutMs: TIMEOUT_MS })))
  let isOver = false
  const loops = remotes.map(async (remote) => {
    for (; !isOver; await sleep(5)) await take(t, remote, 77) // not as fast as it can: the machine has other work
  })
  for (const [index, server] of servers.entries()) {
    await server.kill('SIGTERM')
    await restart(index)
  }
  isOver = true
  await Promise.all(loops)
  for (const remote of remotes) t.is(remote.stats.ids % 77, 0)
})

test.serial(
  'a server without a store has no IDs: another one has, and alone it is an error that gives the reason',
  async (t) => {
    const gone = ['--store', `redis://127.0.0.1:${await freePort()}`, '--name', 'orders']
    const away = stopAfter(t, await startServer({ args: gone, until: 'listening' }))
    const remote = await connect(t, [away, servers[1]], { timeoutMs: TIMEOUT_MS })
    await take(t, remote, 1000)
    t.is(remote.stats.server, new URL(servers[1].url).href)
    const error = await t.throwsAsync(connect(t, away, { waitMs: 0, timeoutMs: TIMEOUT_MS }), {
      code: 'ERR_FLAKE_REMOTE',
    })
    const [failure] = error.failures
    t.like(failure, { status: 503, server: new URL(away.url).href })
    t.regex(failure.code, /^ERR_FLAKE_/)
    t.true(error.retryAfterMs >= 1)
    t.regex(error.message, /answered 503 \(ERR_FLAKE_\w+\): ./)
  },
)
