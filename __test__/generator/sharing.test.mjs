// What generators share: the counts of stats, and the cursor of a node number, so that no two generators ever generate
// the same ID, however many there are and whenever they are collected.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import {
  FlakeId,
  fixed,
  freshNode,
  isAscending,
  manualClock,
  PATIENT,
  putAhead,
  SOME_TIME,
  throwsCode,
  turn,
  useUp,
} from '../support/index.mjs'

// --- stats ---

test('stats count IDs, batches, overflows and clock steps', async (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock, seqMask: 15 })
  const before = flake.stats
  t.like(before, { ids: 0, batches: 0, overflows: 0, clockSteps: 0, waits: 0, waitedMs: 0, aheadMs: 0 })
  t.true(before.since instanceof Date)
  t.true(Math.abs(before.since.getTime() - Date.now()) < 60_000)
  flake.next()
  flake.nextBigInt()
  flake.nextString()
  flake.take(3)
  flake.takeBigInts(4)
  t.like(flake.stats, { ids: 10, batches: 2, overflows: 0 })
  await flake.nextAsync()
  await flake.takeAsync(1)
  t.like(flake.stats, { ids: 12, batches: 3, overflows: 0 })
  useUp(flake)
  t.like(flake.stats, { ids: 16, batches: 3, overflows: 1 })
  for (const step of [-5, 0, 2, -3, 0]) {
    clock.now += step
    t.throws(() => flake.next(), { code: 'ERR_FLAKE_CLOCK_BACKWARDS' })
  }
  t.like(flake.stats, { ids: 16, overflows: 1, clockSteps: 2, waits: 0 })
  t.is(flake.stats.since.getTime(), before.since.getTime())
})

test('stats: aheadMs is 0 before the first ID, whatever the epoch and the clock', (t) => {
  for (const epoch of [0, 1e12, -1e12]) {
    t.is(new FlakeId({ epoch }).stats.aheadMs, 0)
    const flake = new FlakeId({ epoch, clock: () => SOME_TIME })
    t.is(flake.stats.aheadMs, 0)
    flake.next()
    t.is(flake.stats.aheadMs, 0)
  }
})

test('stats: aheadMs falls as the real clock advances', (t) => {
  const id = freshNode()
  putAhead(id, 100_000)
  const { aheadMs } = new FlakeId({ id }).stats
  t.true(aheadMs > 0 && aheadMs <= 100_000)
})

test('stats are shared by equal generators, and only by them', (t) => {
  const id = freshNode()
  const [a, b] = [new FlakeId({ id }), new FlakeId({ datacenter: id >> 5, worker: id & 31 })]
  const others = [{ seqMask: 1023 }, { maxAheadMs: 5 }, { epoch: 5 }].map((more) => new FlakeId({ id, ...more }))
  a.take(3)
  b.take(4)
  t.like(a.stats, { ids: 7, batches: 2 })
  t.deepEqual(a.stats.ids, b.stats.ids)
  for (const other of others) t.is(other.stats.ids, 0)
})

// --- generators that share a cursor ---

/** Generates `n` IDs, using the generators in rotation. */
const inTurn = (flakes, n) => Array.from({ length: n }, (_, i) => flakes[i % flakes.length].nextBigInt())

test('generators of one node never collide', (t) => {
  const id = freshNode()
  const node = { datacenter: id >> 5, worker: id & 31 }
  t.true(
    isAscending(
      inTurn(
        [{ id }, { id }, node].map((options) => new FlakeId({ ...options, ...PATIENT })),
        100_000,
      ),
    ),
  )
})

test('seqMask, maxAheadMs and maxWaitMs do not separate the cursor', (t) => {
  const id = freshNode()
  const some = [{ seqMask: 4095 }, { seqMask: 1 }, { seqMask: 255 }, { maxAheadMs: 2 }, { maxWaitMs: 9999 }]
  const ids = inTurn(
    some.map((options) => new FlakeId({ id, ...PATIENT, ...options })),
    5000,
  )
  t.true(isAscending(ids))
})

test('another epoch and another node have separate cursors', (t) => {
  const id = freshNode()
  putAhead(id, 60_000)
  throwsCode(t, () => new FlakeId({ id }).next(), 'ERR_FLAKE_CLOCK_BACKWARDS')
  throwsCode(t, () => new FlakeId({ id, seqMask: 255 }).next(), 'ERR_FLAKE_CLOCK_BACKWARDS')
  t.notThrows(() => new FlakeId({ id, epoch: 1 }).next())
  t.notThrows(() => new FlakeId({ id: freshNode() }).next())
})

test('one generator per ID never collides, even if they are collected in between', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const id = freshNode()
  const ids = []
  let collected = 0
  const registry = new FinalizationRegistry(() => collected++)
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 2000; i++) {
      const flake = new FlakeId({ id, ...PATIENT, maxAheadMs: i % 3 })
      registry.register(flake)
      ids.push(flake.nextBigInt())
    }
    collect()
    await turn()
  }
  t.is(ids.length, 100_000)
  t.true(isAscending(ids))
  t.true(collected > 0, 'some were collected')
})

test('a generator still in use is not affected when others are collected', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const kept = Array.from({ length: 20 }, (_, id) => fixed({ id }))
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 100; i++) fixed({ id: 1000 + (i % 20) }).next()
    collect()
    await turn()
    for (const [id, flake] of kept.entries()) t.like(flake.decode(flake.next()), { id, counter: round })
  }
})
