// Hazelcast's prefetch: the meaning of the option, and that no ID comes twice or out of order, however it is mixed with
// other calls. The core tests when numbers are claimed, given and dead.

import { inspect } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import {
  called,
  FlakeId,
  freshNode,
  isAscending,
  manualClock,
  numberOf,
  SOME_TIME,
  throwsCode,
} from '../support/index.mjs'

/** A generator with prefetch and a stopped clock, and that clock. */
function still(prefetch, options = {}) {
  const clock = manualClock()
  const flake = new FlakeId({ prefetch, clock, ...options })
  const next = () => {
    const { timestamp, counter } = flake.decode(flake.next())
    return [timestamp - SOME_TIME, counter]
  }
  return { flake, clock, next }
}

test('the given count is claimed at once, and handed out one by one', (t) => {
  const { flake, next } = still(5)
  t.is(flake.stats.batches, 0, 'none before the first ID')
  for (let i = 0; i < 12; i++) {
    t.deepEqual(next(), [0, i])
    t.like(flake.stats, { ids: i + 1, batches: Math.ceil((i + 1) / 5) })
  }
})

test('validity 0: forever', (t) => {
  const { flake, clock, next } = still({ count: 3, validityMs: 0 })
  next()
  clock.now += 1e11
  t.deepEqual(
    [next(), next()],
    [
      [0, 1],
      [0, 2],
    ],
  )
  t.is(flake.stats.batches, 1)
  t.deepEqual(next(), [1e11, 0])
})

for (const prefetch of [true, {}, { count: null, validityMs: undefined }]) {
  test(`the defaults are 100 and 600 000 ms: ${inspect(prefetch)}`, (t) => {
    const { flake, clock, next } = still(prefetch)
    for (let i = 0; i < 100; i++) next()
    t.is(flake.stats.batches, 1)
    next()
    t.is(flake.stats.batches, 2)
    clock.now += 599_999
    t.deepEqual(next(), [0, 101])
    clock.now += 1
    t.deepEqual(next(), [600_000, 0])
  })
}

test('a number is the count, with the default validity', (t) => {
  const { flake, clock, next } = still(2)
  next()
  clock.now += 599_999
  t.deepEqual(next(), [0, 1])
  t.is(flake.stats.batches, 1)
  t.deepEqual(next(), [599_999, 0])
})

for (const absent of [undefined, null, false]) {
  test(`without prefetch nothing is held: ${absent}`, (t) => {
    const { flake, clock, next } = still(absent)
    next()
    clock.now += 1
    t.deepEqual(next(), [1, 0])
    t.is(flake.stats.batches, 0)
  })
}

test('counts of 1 and of 100 000', (t) => {
  const one = still(1)
  for (let i = 0; i < 5; i++) one.next()
  t.like(one.flake.stats, { ids: 5, batches: 5 })
  const many = still(100_000, { layout: 'hazelcast' })
  const ids = Array.from({ length: 100_001 }, () => many.flake.nextBigInt())
  t.true(isAscending(ids))
  t.like(many.flake.stats, { ids: 100_001, batches: 2 })
})

test('take continues from the held numbers', (t) => {
  const { flake, next } = still(10)
  next()
  t.deepEqual(
    [...flake.takeBigInts(4)].map((id) => flake.decode(id).counter),
    [1, 2, 3, 4],
  )
  t.deepEqual(next(), [0, 5])
  t.deepEqual(
    [...flake.takeBigInts(8)].map((id) => flake.decode(id).counter),
    [6, 7, 8, 9, 10, 11, 12, 13],
  )
  t.deepEqual(next(), [0, 14])
})

const bigints = (ids) => Array.from({ length: ids.length / 8 }, (_, i) => ids.readBigUInt64BE(i * 8))

/** Ways to get IDs, each as a list of bigints. */
const calls = {
  next: (flake) => [numberOf(flake.next())],
  nextBigInt: (flake) => [flake.nextBigInt()],
  nextString: (flake) => [BigInt(flake.nextString())],
  hex: (flake) => [BigInt(`0x${flake.nextString('hex')}`)],
  take: (flake, n) => bigints(flake.take(n)),
  takeBigInts: (flake, n) => [...flake.takeBigInts(n)],
  callback: async (flake) => [numberOf(await called(flake))],
  takeAsync: async (flake, n) => bigints(await flake.takeAsync(n)),
}

test('mixed with every other call it never repeats or reorders', async (t) => {
  const prefetch = fc.record({ count: fc.integer({ min: 1, max: 40 }), validityMs: fc.constantFrom(0, 1, 3, 1000) })
  const layout = fc.constantFrom('flake', 'hazelcast', 'snowcast', 'chronicle', 'sonyflake', 'safe')
  const step = fc.tuple(fc.constantFrom(...Object.keys(calls)), fc.integer({ min: 1, max: 30 }), fc.nat({ max: 5 }))
  const steps = fc.array(step, { minLength: 1, maxLength: 25 })
  const property = fc.asyncProperty(prefetch, layout, steps, async (prefetch, layout, steps) => {
    const { flake, clock } = still(prefetch, { layout, id: 5, maxAheadMs: 100_000 }) // so that no tick is too small
    const ids = []
    for (const [name, n, pause] of steps) {
      ids.push(...(await calls[name](flake, n)))
      clock.now += pause
    }
    return isAscending(ids) && flake.stats.ids === ids.length && ids.every((id) => flake.decode(id).id === 5)
  })
  await t.notThrowsAsync(() => fc.assert(property, { numRuns: 300 }))
})

test('calls in flight together are served in order', async (t) => {
  const { flake } = still(7)
  const ids = await Promise.all(Array.from({ length: 100 }, () => called(flake)))
  t.true(isAscending(ids))
  t.is(flake.stats.batches, Math.ceil(100 / 7))
})

test('generators with equal options share the batch', (t) => {
  const id = freshNode()
  const options = { id, prefetch: { count: 1000, validityMs: 0 } }
  const [a, b] = [new FlakeId(options), new FlakeId(options)]
  const ids = Array.from({ length: 1000 }, (_, i) => (i % 2 ? a : b).nextBigInt())
  t.true(isAscending(ids))
  t.like(a.stats, { ids: 1000, batches: 1 })
  t.like(b.stats, { ids: 1000, batches: 1 })
  t.is(ids[999], ids[0] + 999n)
})

test('a claimed batch ends with the time of the layout', (t) => {
  const clock = manualClock(2 ** 42 - 1)
  const flake = new FlakeId({ clock, prefetch: 100_000 })
  for (let i = 0; i < 4096; i++) flake.nextBigInt()
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_TIME_RANGE', RangeError)
})
