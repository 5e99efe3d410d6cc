// How many requests a client makes, and when: one at a time, which waiting calls join; a refill at half; more at a time
// under load.

import { createRequire } from 'node:module'
import test from 'ava'
import { connect, giveIds, idsIn, startScripted, turns } from './scripted-server.mjs'

/** Leaves the next request without an answer. Returns a function that answers it; later ones are answered at once. */
function holdNext(server) {
  let answer
  server.script = (...args) => {
    server.script = giveIds
    answer = () => giveIds(...args)
  }
  return () => answer()
}

test('connect() resolves with the first answer, and has prefetch IDs then', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 7, token: 'a-token-of-this-test' })
  t.deepEqual(server.counts, [7])
  t.deepEqual(server.paths, ['POST /v1/ids/orders'])
  t.like(server.seen[0], {
    accept: 'application/octet-stream',
    authorization: 'Bearer a-token-of-this-test',
    'content-length': '0',
  })
  t.deepEqual(remote.stats, { ids: 0, requests: 1, retries: 0, dropped: 0, buffered: 7, server: server.url })
})

test('a path before /v1 is kept, and a name is escaped for the URL', async (t) => {
  const server = await startScripted(t)
  await connect(t, `${server.url}behind/a/proxy`, { name: 'a/b ü?' })
  t.deepEqual(server.paths, ['POST /behind/a/proxy/v1/ids/a%2Fb%20%C3%BC%3F'])
})

test('10 000 nextAsync() at once: a handful of requests, one at a time, all IDs different', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server)
  const ids = await Promise.all(Array.from({ length: 10_000 }, () => remote.nextAsync()))
  t.is(new Set(ids.flatMap(idsIn)).size, 10_000)
  t.true(server.counts.length <= 5, String(server.counts))
  t.is(server.most, 1)
})

test('a refill starts at half, and not before', async (t) => {
  for (const take of ['next', 'nextBigInt', 'nextString']) {
    const server = await startScripted(t)
    const remote = await connect(t, server, { prefetch: 40 })
    for (let i = 0; i < 19; i++) remote[take]()
    await turns(() => true)
    t.is(remote.stats.requests, 1, take)
    remote[take]()
    await server.asked(2)
    const other = await connect(t, server, { prefetch: 40 })
    for (let i = 0; i < 20; i++) other[take]() // in one turn
    await server.asked(4)
    t.true(server.counts[1] >= 20, 'all of it')
    await turns(() => remote.stats.buffered >= 40)
  }
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 100 })
  remote.take(49)
  await turns(() => true)
  t.is(remote.stats.requests, 1)
  remote.take(1)
  await server.asked(2)
})

test('a refill does not make calls wait', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 10 })
  const answer = holdNext(server)
  remote.take(5)
  await server.asked(2)
  for (let i = 0; i < 5; i++) await remote.nextAsync()
  const sixth = remote.nextAsync()
  answer()
  t.is((await sixth).length, 8)
})

test('calls that wait during a request join the next one', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 10 })
  const answer = holdNext(server)
  const first = remote.takeAsync(11)
  await server.asked(2)
  const others = Array.from({ length: 500 }, () => remote.nextAsync())
  await turns(() => true)
  t.is(remote.stats.requests, 2, 'the one in progress is not given up')
  t.is(server.counts.length, 2)
  answer()
  await Promise.all([first, ...others])
  t.is(server.counts.length, 3, String(server.counts))
  t.is(server.most, 1)
})

test('a request is for what the waiting calls still need, without what one of them holds and without aborted calls', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 10 })
  const answer = holdNext(server)
  const controller = new AbortController()
  const first = remote.takeAsync(200) // it holds the 10 available IDs
  await server.asked(2)
  t.true(server.counts[1] >= 190 && server.counts[1] <= 210, String(server.counts))
  const aborted = () => t.throwsAsync(remote.takeAsync(5000, { signal: controller.signal }), { message: 'enough' })
  const passedOver = aborted()
  const second = remote.takeAsync(50)
  const stillThere = aborted() // when the next request is made
  const last = remote.takeAsync(50)
  controller.abort(new Error('enough'))
  await Promise.all([passedOver, stillThere])
  answer()
  await Promise.all([first, second, last])
  t.is(server.counts.length, 3, String(server.counts))
  t.true(server.counts[2] < 200, String(server.counts))
  await remote.takeAsync(5000)
  t.true(server.counts[3] > 4000, String(server.counts))
})

test('calls of one turn share one request', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 10 })
  await Promise.all(Array.from({ length: 5 }, () => remote.takeAsync(100)))
  t.is(server.counts.length, 2, String(server.counts))
  t.true(server.counts[1] >= 490)
})

test('under load more IDs are kept available', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 10 })
  for (let i = 0; i < 20_000; i++) await remote.nextAsync()
  t.true(server.counts.length < 400, `${server.counts.length} requests`)
  t.true(Math.max(...server.counts) >= 100)
  t.true(remote.stats.buffered <= 10_000)
})

test('the number of available IDs follows the load: doubled while a refill is used up in 20 ms, then halved down to prefetch', (t) => {
  const { Demand } = createRequire(import.meta.url)('../../target/rooms/lib/base/demand.js')
  const demand = new Demand(100, () => 10_000)
  let now = 0
  const refillAfter = (ms) => {
    now += ms
    demand.ask(now)
    demand.came(now + 5)
    return demand.count
  }
  t.deepEqual([0, 1, 1, 24, 30].map(refillAfter), [100, 200, 400, 800, 800])
  for (let i = 0; i < 20; i++) refillAfter(1)
  t.is(demand.count, 10_000, 'the maximum of one request')
  t.is(refillAfter(99), 10_000)
  t.is(refillAfter(101), 5_000)
  for (let i = 0; i < 20; i++) refillAfter(1000)
  t.is(demand.count, 100)
  t.is(demand.low, 50)
})

test('prefetch 1 and 10 000 work', async (t) => {
  for (const prefetch of [1, 10_000]) {
    const server = await startScripted(t)
    const remote = await connect(t, server, { prefetch })
    t.is(server.counts[0], prefetch)
    const ids = []
    for (let i = 0; i < 50; i++) ids.push(...idsIn(await remote.nextAsync()))
    t.is(new Set(ids).size, 50)
  }
})
