// How long calls wait while servers fail: each server is asked at least once, Retry-After is respected, no call waits
// forever, and a late answer is never used.

import test from 'ava'
import {
  connect,
  connectToFirst,
  cut,
  giveIds,
  hang,
  idsIn,
  makeIds,
  problem,
  startScripted,
  turns,
} from './scripted-server.mjs'

/** Longer than any intended answer takes, on a busy machine too. */
const TIMEOUT_MS = 3000

/** Gives no IDs for now, with the time to come back. */
const busy = (retryAfterMs) =>
  problem(503, { code: 'ERR_FLAKE_EXHAUSTED', detail: 'No slot is free.', retryAfterMs }, { 'retry-after': '1' })

/** Whether the last request is known to have failed. Takes an ID if one is available. */
function hasFailed(remote) {
  try {
    remote.next()
  } catch (error) {
    return error.cause?.code === 'ERR_FLAKE_REMOTE'
  }
}

test('when all have failed: one error that names each server and its reason', async (t) => {
  const servers = await Promise.all([cut, hang, busy(70_000), busy(7_000)].map((script) => startScripted(t, script)))
  const error = await t.throwsAsync(connect(t, servers, { waitMs: 0, timeoutMs: TIMEOUT_MS }), {
    code: 'ERR_FLAKE_REMOTE',
  })
  t.deepEqual(
    servers.map(({ counts }) => counts.length),
    [1, 1, 1, 1],
    'each was asked once',
  )
  t.regex(error.message, /^None of the 4 servers returned IDs of 'orders' within \d+(\.\d+)? ms\. /)
  const byServer = new Map(error.failures.map((failure) => [failure.server, failure]))
  t.deepEqual([...byServer.keys()].sort(), servers.map(({ url }) => url).sort())
  for (const { server, reason } of error.failures) t.true(error.message.includes(`${server}: ${reason}.`))
  t.regex(byServer.get(servers[0].url).reason, /could not be reached/)
  t.is(byServer.get(servers[1].url).reason, `did not answer within ${TIMEOUT_MS} ms`)
  t.deepEqual(byServer.get(servers[3].url), {
    server: servers[3].url,
    reason: 'answered 503 (ERR_FLAKE_EXHAUSTED): No slot is free',
    status: 503,
    code: 'ERR_FLAKE_EXHAUSTED',
    retryAfterMs: 7_000,
  })
  t.is(error.retryAfterMs, 7_000, 'the soonest')
})

test('servers that fail for a while cost a wait, and no error', async (t) => {
  const servers = await Promise.all([startScripted(t), startScripted(t)])
  const remote = await connect(t, servers, { prefetch: 2 })
  let failures = 0
  for (const server of servers) server.script = (...args) => (++failures > 6 ? giveIds : cut)(...args)
  const results = await Promise.all([remote.takeAsync(5), remote.nextAsync(), remote.nextAsync()])
  t.is(new Set(results.flatMap(idsIn)).size, 7)
  t.is(failures, 7)
  t.is(remote.stats.retries, 6)
  t.is(Math.max(...servers.map(({ most }) => most)), 1)
})

test('Retry-After is respected, also without a body', async (t) => {
  const server = await startScripted(t)
  for (const [script, ms] of [
    [busy(400), 400],
    [(_request, response) => response.writeHead(503, { 'retry-after': '1' }).end(), 1000],
  ]) {
    const remote = await connect(t, server, { prefetch: 1 })
    const times = []
    server.script = (...args) => {
      times.push(performance.now())
      return (times.length === 1 ? script : giveIds)(...args)
    }
    await remote.takeAsync(3)
    t.is(times.length, 2)
    t.true(times[1] - times[0] >= ms - 2, `${times[1] - times[0]} ms`)
  }
})

test('a wait longer than waitMs allows is not started: the error comes at once', async (t) => {
  const server = await startScripted(t, busy(60_000))
  const error = await t.throwsAsync(connect(t, server, { waitMs: 30_000 }), { code: 'ERR_FLAKE_REMOTE' })
  t.is(error.retryAfterMs, 60_000)
  t.is(server.counts.length, 1)
})

test('a server that asked for time is left alone while another one is tried again', async (t) => {
  const [asks, fails] = await Promise.all([startScripted(t), startScripted(t)])
  const remote = await connectToFirst(t, [asks, fails], { prefetch: 2 })
  const before = [asks.counts.length, fails.counts.length]
  asks.script = busy(60_000)
  let failures = 0
  fails.script = (...args) => (++failures > 3 ? giveIds : cut)(...args)
  t.is((await remote.takeAsync(3)).length, 24)
  t.is(asks.counts.length, before[0] + 1)
  t.is(fails.counts.length, before[1] + 4)
})

test('a call that joins a round late gets a full round too', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 1, waitMs: 0, timeoutMs: TIMEOUT_MS })
  server.script = hang
  const first = remote.takeAsync(2)
  await server.asked(2)
  const second = remote.takeAsync(2)
  const third = second.catch(() => server.counts.length)
  await t.throwsAsync(first, { code: 'ERR_FLAKE_REMOTE' })
  t.is(server.counts.length, 2)
  await t.throwsAsync(second, { code: 'ERR_FLAKE_REMOTE' })
  t.is(await third, 3)
})

test('an answer after the time limit is never used', async (t) => {
  const [slow, good] = await Promise.all([startScripted(t), startScripted(t)])
  const remote = await connectToFirst(t, [slow, good], { prefetch: 10, timeoutMs: TIMEOUT_MS })
  const late = makeIds(10_000)
  let answer
  slow.script = (_request, response, n) => {
    answer = () => response.setHeader('content-type', 'application/octet-stream').end(late.subarray(0, n * 8))
  }
  const ids = idsIn(await remote.takeAsync(11))
  t.like(remote.stats, { server: good.url, retries: 1 })
  answer()
  for (let i = 0; i < 5; i++) ids.push(...idsIn(await remote.takeAsync(20)))
  t.is(new Set([...ids, ...idsIn(late)]).size, ids.length + 10_000)
  t.is(slow.counts.length, 2)
})

test('the same with a fetch that ignores its signal, and with a late body', async (t) => {
  const server = await startScripted(t)
  const late = makeIds(10_000)
  let answer
  let isDeaf = false
  const fetch = async (url, { signal, ...options }) => {
    if (!isDeaf) return globalThis.fetch(url, options)
    isDeaf = false
    const n = Number(new URL(url).searchParams.get('n'))
    await new Promise((resolve) => {
      answer = resolve
    })
    return new Response(late.subarray(0, n * 8), { headers: { 'content-type': 'application/octet-stream' } })
  }
  const remote = await connect(t, server, { prefetch: 10, timeoutMs: TIMEOUT_MS, fetch })
  isDeaf = true
  const ids = idsIn(await remote.takeAsync(11))
  answer()
  await turns(() => true)
  for (let i = 0; i < 5; i++) ids.push(...idsIn(await remote.takeAsync(20)))
  t.is(new Set([...ids, ...idsIn(late)]).size, ids.length + 10_000)

  server.script = (_request, response, n) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.write(makeIds(n).subarray(0, 8))
    server.script = giveIds
  }
  const { retries } = remote.stats
  ids.push(...idsIn(await remote.takeAsync(1000)))
  t.is(remote.stats.retries, retries + 1)
  t.is(new Set(ids).size, ids.length)
})

test('where many IDs take too long, fewer are requested at a time', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server)
  const tooMany = problem(503, { code: 'ERR_FLAKE_TIMEOUT', detail: 'Ask for fewer.', retryAfterMs: 1 })
  server.script = (...args) => (args[2] > 300 ? tooMany : giveIds)(...args)
  t.is(new Set(idsIn(await remote.takeAsync(1500))).size, 1500)
  const [, first, second, third] = server.counts
  t.deepEqual([second, third], [first >> 2, (first >> 2) >> 2])
  t.true(
    server.counts.slice(4).some((n) => n > third),
    'and more again',
  )
})

test('the same where a server does not answer in time', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { timeoutMs: TIMEOUT_MS })
  server.script = (...args) => (args[2] > 1000 ? hang : giveIds)(...args)
  t.is((await remote.takeAsync(1200)).length, 9600)
  const [, first, second] = server.counts
  t.true(first > 1000)
  t.is(second, first >> 2)
})

test('calls that cannot wait get the reason why the last request failed, and a refused one does not count', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 2 })
  server.script = cut
  remote.take(2)
  await turns(() => server.counts.length === 2)
  await turns(() => {
    const error = t.throws(() => remote.next(), { code: 'ERR_FLAKE_OVERFLOW' })
    return error.cause?.code === 'ERR_FLAKE_REMOTE' && error.retryAfterMs >= 1
  })
  const end = performance.now() + 500
  await turns(() => hasFailed(remote) && performance.now() > end)
  t.true(server.counts.length <= 12, `${server.counts.length} requests: it rests between two refills`)
  server.script = giveIds
  await turns(() => {
    try {
      return remote.next()
    } catch {
      return false
    }
  })
})

test('a call that is given up while all servers rest leaves nothing behind', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 1, waitMs: 600_000 })
  server.script = busy(500_000)
  const controller = new AbortController()
  const call = remote.takeAsync(5, { signal: controller.signal })
  await turns(() => hasFailed(remote))
  controller.abort(new Error('enough'))
  await t.throwsAsync(call, { message: 'enough' })
  server.script = giveIds
  t.is((await remote.nextAsync()).length, 8, 'at once: no server rests any more')
})

test('as long as one call waits, others that are given up change nothing', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { prefetch: 1, waitMs: 100_000 })
  server.script = busy(300)
  const controller = new AbortController()
  const options = { signal: controller.signal }
  const calls = [remote.takeAsync(5, options), remote.takeAsync(7), remote.takeAsync(9, options)]
  await turns(() => hasFailed(remote))
  controller.abort(new Error('enough'))
  server.script = giveIds
  for (const i of [0, 2]) await t.throwsAsync(calls[i], { message: 'enough' })
  t.is((await calls[1]).length, 56)
  t.true(server.counts.at(-1) >= 7 && server.counts.at(-1) < 12, 'nothing is requested for abandoned calls')
})

test('a signal ends connect(), also while it rests', async (t) => {
  const server = await startScripted(t, hang)
  const controller = new AbortController()
  const connecting = connect(t, server, { signal: controller.signal })
  await server.asked(1)
  controller.abort(new Error('enough'))
  await t.throwsAsync(connecting, { message: 'enough' })
  await t.throwsAsync(connect(t, server, { signal: AbortSignal.abort(new Error('before')) }), { message: 'before' })
  t.is(server.counts.length, 1)
})
