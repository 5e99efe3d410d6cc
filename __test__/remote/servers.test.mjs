// The part of the client that `elseFrom` of join() uses without the rest: IDs from a server that answers, chosen at
// random. The clock of this process can be stopped and moved.

import { createRequire } from 'node:module'
import test from 'ava'

const { hrtime } = process
let aheadS = 0
let stopped // the time at which it is stopped, however long the test takes
process.hrtime = Object.assign(() => {
  const [seconds, nanoseconds] = stopped ?? hrtime()
  return [seconds + aheadS, nanoseconds]
}, hrtime)

const { connect, cut, giveIds, hang, idsIn, problem, startScripted } = await import('./scripted-server.mjs')

const require = createRequire(import.meta.url)
const { readRemote } = require('../../target/rooms/lib/remote/options.js')
const { Servers } = require('../../target/rooms/lib/remote/servers.js')

const serversOf = (servers, options) =>
  new Servers(
    readRemote(
      [servers].flat().map(({ url }) => url),
      { name: 'orders', timeoutMs: 30_000, ...options },
    ),
  )

/** Gives no IDs for now, with the time to come back. */
const busy = (retryAfterMs) => problem(503, { code: 'ERR_FLAKE_QUIET', detail: 'Not yet.', retryAfterMs })

/** How many of these use each server. */
const usersOf = (servers, clients) => servers.map(({ url }) => clients.filter(({ current }) => current === url).length)

test('clients start with random servers, so that together they use all', async (t) => {
  const servers = await Promise.all([startScripted(t), startScripted(t), startScripted(t)])
  const remotes = await Promise.all(Array.from({ length: 60 }, () => connect(t, servers)))
  for (const { counts } of servers) t.true(counts.length >= 3, 'by chance once in 10^8 runs')
  t.deepEqual([...new Set(remotes.map(({ stats }) => stats.server))].sort(), servers.map(({ url }) => url).sort())
})

test('take() makes as many requests as it needs, one after the other, and waits while servers fail', async (t) => {
  const server = await startScripted(t)
  let failures = 0
  server.script = (...args) => (server.counts.length > 1 && ++failures <= 3 ? cut : giveIds)(...args)
  const servers = serversOf(server)
  const ids = idsIn(await servers.take(25_000))
  t.is(new Set(ids).size, 25_000)
  t.deepEqual(server.counts, [10_000, 10_000, 10_000, 10_000, 10_000, 5_000])
  t.is(server.most, 1)
  t.is(servers.retries, 3)
  t.is((await servers.take(0)).length, 0)
})

test('take() ends with its signal, and with one error when waitMs is over', async (t) => {
  const server = await startScripted(t, hang)
  const controller = new AbortController()
  const taking = serversOf(server).take(5, { signal: controller.signal })
  await server.asked(1)
  controller.abort(new Error('enough'))
  await t.throwsAsync(taking, { message: 'enough' })
  server.script = cut
  await t.throwsAsync(serversOf(server, { waitMs: 3_000 }).take(5), { code: 'ERR_FLAKE_REMOTE' })
  t.true(server.counts.length > 2, 'it tried more than once')
})

test.serial('after a rolling restart all servers are used again', async (t) => {
  const servers = await Promise.all([startScripted(t), startScripted(t), startScripted(t)])
  stopped = hrtime()
  const clients = Array.from({ length: 150 }, () => serversOf(servers))
  const askAll = () => Promise.all(clients.map((client) => client.take(1)))
  await askAll()
  const began = usersOf(servers, clients)
  for (const server of servers) {
    const before = usersOf(servers, clients)
    server.script = cut
    await askAll()
    const after = usersOf(servers, clients)
    const came = after.map((users, i) => users - before[i]).filter((more) => more > 0)
    t.is(came.length, 2, `not all to one: ${before} became ${after}`)
    server.script = giveIds
    await askAll()
    t.deepEqual(usersOf(servers, clients), after, 'they stay')
  }
  t.is(usersOf(servers, clients)[2], 0)
  aheadS += 30
  await askAll()
  t.is(usersOf(servers, clients)[2], 0, 'for a while')
  aheadS += 150
  await askAll()
  const ended = usersOf(servers, clients)
  stopped = undefined
  for (const users of [...began, ...ended])
    t.true(users >= 20, `${began} and ${ended}: less by chance once in 10^7 runs`)
})

test.serial('a server that asked for an hour is asked again after 30 s', async (t) => {
  const [asks, fails] = await Promise.all([startScripted(t, busy(3_600_000)), startScripted(t, cut)])
  const servers = serversOf([asks, fails])
  const round = () => servers.round(1, { patience: Number.POSITIVE_INFINITY })
  const counts = () => [asks.counts.length, fails.counts.length]
  await round()
  t.deepEqual(counts(), [1, 1])
  await round()
  t.deepEqual(counts(), [1, 2], 'it is left alone')
  const { restMs } = await serversOf(asks).round(1, { patience: Number.POSITIVE_INFINITY })
  t.is(restMs, 30_000, 'with no other server, it does not rest any longer')
  aheadS += 30
  asks.script = giveIds
  t.is((await round()).length, 8)
})

test.serial('before a call fails, servers that asked for time are tried too', async (t) => {
  const [asks, gone] = await Promise.all([startScripted(t, busy(3_600_000)), startScripted(t)])
  for (const take of [
    (clients) => clients.take(1),
    async (clients) => idsIn(await clients.round(1, { patience: Number.NEGATIVE_INFINITY })),
  ]) {
    asks.script = busy(3_600_000)
    gone.script = cut
    const servers = serversOf([asks, gone], { waitMs: 2_000 })
    await servers.round(1, { patience: Number.POSITIVE_INFINITY })
    asks.script = giveIds
    t.truthy(await take(servers))
    t.is(servers.current, asks.url)
  }
})
