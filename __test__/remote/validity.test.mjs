// How old fetched IDs may get. The clock is moved by hand: the module takes Date.now when it is loaded.

import test from 'ava'

let aheadMs = 0
let jumpMs = 0 // by which the clock steps when it has been read once more
const realNow = Date.now
Date.now = () => {
  const now = realNow() + aheadMs
  aheadMs += jumpMs
  jumpMs = 0
  return now
}
const { connect, idsIn, startScripted, turns } = await import('./scripted-server.mjs')

test.serial('IDs older than validityMs are dropped, and fetched again', async (t) => {
  const server = await startScripted(t)
  const remote = await connect(t, server, { validityMs: 60_000 })
  const ids = [remote.nextBigInt()]
  aheadMs += 59_000
  await null
  ids.push(remote.nextBigInt(), ...idsIn(remote.next()), ...idsIn(remote.take(2)))
  t.like(remote.stats, { dropped: 0, buffered: 95, requests: 1 })
  aheadMs += 2_000
  await null
  for (const call of [() => remote.nextBigInt(), () => remote.next(), () => remote.take(1), () => remote.nextString()])
    t.throws(call, { code: 'ERR_FLAKE_OVERFLOW' })
  t.like(remote.stats, { dropped: 95, buffered: 0, ids: 5 })
  await turns(() => remote.stats.buffered > 0)
  ids.push(remote.nextBigInt(), ...idsIn(await remote.nextAsync()))
  t.deepEqual(
    ids.map((id) => id - ids[0]),
    [0n, 1n, 2n, 3n, 4n, 100n, 101n],
  )
})

test.serial('asynchronous calls get fresh ones without an error', async (t) => {
  const remote = await connect(t, await startScripted(t), { validityMs: 100_000 })
  const [first] = idsIn(await remote.nextAsync())
  aheadMs += 200_000
  const [later] = idsIn(await remote.takeAsync(3))
  t.is(later - first, 100n)
  t.is(remote.stats.dropped, 99)
})

test.serial('each answer has its own age', async (t) => {
  const remote = await connect(t, await startScripted(t), { prefetch: 100, validityMs: 60_000 })
  aheadMs += 40_000
  remote.take(60)
  await turns(() => remote.stats.requests === 2 && remote.stats.buffered > 40)
  const { buffered } = remote.stats
  aheadMs += 30_000
  t.like(remote.stats, { dropped: 40, buffered: buffered - 40 })
})

test.serial('all answers that are too old are dropped, not only the first', async (t) => {
  const remote = await connect(t, await startScripted(t), { prefetch: 100, validityMs: 60_000 })
  remote.take(60)
  await turns(() => remote.stats.requests === 2 && remote.stats.buffered > 40)
  const { buffered } = remote.stats
  aheadMs += 100_000
  t.like(remote.stats, { dropped: buffered, buffered: 0 })
  t.throws(() => remote.next(), { code: 'ERR_FLAKE_OVERFLOW', message: /only 0 are available/ })
})

test.serial('where the clock is set back, their age is unknown: dropped', async (t) => {
  const remote = await connect(t, await startScripted(t), { validityMs: 60_000 })
  aheadMs -= 5_000
  t.like(remote.stats, { dropped: 100, buffered: 0 })
  t.is((await remote.nextAsync()).length, 8)
})

test.serial('a clock that steps within a call gives only bytes of IDs', async (t) => {
  for (const ms of [200_000, -200_000]) {
    const remote = await connect(t, await startScripted(t), { validityMs: 100_000 })
    jumpMs = ms
    const ids = idsIn(remote.take(60))
    t.is(ids[59] - ids[0], 59n)
    t.true(ids[0] > 0n)
    const more = await remote.takeAsync(150)
    jumpMs = ms
    t.is(new Set([...ids, ...idsIn(more), ...idsIn(await remote.takeAsync(130))]).size, 340)
  }
})

test.serial('0 means forever', async (t) => {
  for (const validityMs of [0, Number.POSITIVE_INFINITY]) {
    const remote = await connect(t, await startScripted(t), { validityMs })
    aheadMs += 1e12
    t.is(remote.take(50).length, 400)
    t.is(remote.stats.dropped, 0)
  }
})

test.serial('a program that blocks its event loop gets at most 16 that are too old', async (t) => {
  const remote = await connect(t, await startScripted(t), { validityMs: 100_000, prefetch: 1_000 })
  remote.nextBigInt()
  aheadMs += 200_000
  let stale = 0
  t.throws(
    () => {
      for (;;) {
        remote.nextBigInt()
        stale++
      }
    },
    { code: 'ERR_FLAKE_OVERFLOW' },
  )
  t.true(stale <= 16, String(stale))
})
