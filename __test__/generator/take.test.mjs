// Batches: take, takeBigInts and takeAsync, of any size, across ticks and into failure. A batch gives the same IDs as
// that many single calls.

import '../support/clocks.mjs' // before flakeforge
import test from 'ava'
import { replaceClocks } from '../support/clocks.mjs'
import {
  FlakeId,
  fixed,
  isAscending,
  manualClock,
  numberOf,
  PATIENT,
  PER_TICK,
  real,
  SOME_TIME,
  split,
  throwsCode,
} from '../support/index.mjs'

test('take: across ticks of the real clock, whatever the size', (t) => {
  const flake = real()
  const ids = [1, 4095, 4096, 4097, 8192, 10_000, 20_001, 3].flatMap((n) => {
    const taken = [...flake.takeBigInts(n)]
    t.is(taken.length, n)
    return taken
  })
  t.true(isAscending(ids))
})

test('take: a thread that is delayed between two steps does not cause an error', (t) => {
  const heldUp = () => {
    const until = performance.now() + 2
    while (performance.now() < until);
    return performance.now()
  }
  const flake = real()
  replaceClocks(t, { monotonicNow: heldUp }) // any statement may take 2 ms, when another process runs
  for (let i = 0; i < 10; i++) t.is(flake.take(PER_TICK + 1).length, (PER_TICK + 1) * 8)
})

test('take: larger than a tick, with an own clock that advances each time it is read', async (t) => {
  const moving = () => {
    const clock = () => clock.now++
    clock.now = SOME_TIME
    return clock
  }
  for (const n of [1, PER_TICK, PER_TICK + 1, 3 * PER_TICK + 5]) {
    const expected = { timestamp: SOME_TIME + Math.ceil(n / PER_TICK) - 1, counter: (n - 1) % PER_TICK }
    const ids = split(await new FlakeId({ clock: moving() }).takeAsync(n))
    t.true(isAscending(ids))
    t.like(fixed().decode(ids.at(-1)), expected)
    const numbers = new FlakeId({ clock: moving(), ...PATIENT }).takeBigInts(n)
    t.like(fixed().decode(numbers.at(-1)), expected)
    const flake = new FlakeId({ clock: moving() })
    t.notThrows(() => flake.take(n), 'the time that n IDs need does not count against maxWaitMs')
  }
})

test('take: a batch that fails midway has used up its numbers, and repeats none', (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock })
  const first = flake.nextBigInt()
  throwsCode(t, () => flake.take(5000), 'ERR_FLAKE_OVERFLOW')
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_OVERFLOW')
  clock.now += 1
  const next = flake.nextBigInt()
  t.true(next > first)
  t.like(flake.decode(next), { timestamp: SOME_TIME + 1, counter: 0 })
  t.is(flake.stats.ids, PER_TICK + 1)
})

test('take: a few IDs, fewer than a separate array is worth, equal as many single calls', (t) => {
  const single = fixed()
  const ids = Array.from({ length: 500 }, () => single.nextBigInt())
  for (const [method, toNumbers] of [
    ['take', (taken) => split(taken).map(numberOf)],
    ['takeBigInts', (taken) => [...taken]],
  ]) {
    const flake = fixed()
    const taken = Array.from({ length: 20 }, (_, n) => flake[method](n))
    t.deepEqual(taken.flatMap(toNumbers), ids.slice(0, 190))
    t.deepEqual(
      taken.map((each) => each.length),
      Array.from({ length: 20 }, (_, n) => (method === 'take' ? n * 8 : n)),
    )
    const buffers = new Set(taken.map((each) => each.buffer))
    t.is(buffers.size, 20, 'each has its own memory')
    for (const [n, each] of taken.entries()) t.is(each.buffer.byteLength, n * 8)
    t.like(flake.stats, { ids: 190, batches: 19 })
    t.true(Buffer.isBuffer(fixed().take(3)))
    t.true(fixed().takeBigInts(3) instanceof BigUint64Array)
  }
})

test('take: a few across several ticks lose none, though the clock generates some of another generator meanwhile', (t) => {
  for (const method of ['take', 'takeBigInts']) {
    const other = fixed({ id: 9 })
    const clock = () => {
      other[method](5)
      return clock.now++
    }
    clock.now = SOME_TIME
    const flake = new FlakeId({ clock, seqMask: 1, ...PATIENT })
    const parts = split(flake[method](7)).map((id) => flake.decode(id))
    t.deepEqual(
      parts.map(({ timestamp, counter, id }) => [timestamp - SOME_TIME, counter, id]),
      [0, 0, 1, 1, 2, 2, 3].map((ms, i) => [ms, i % 2, 0]),
    )
    t.is(flake.stats.ids, 7)
  }
})

test('take(0) gives nothing and takes nothing', async (t) => {
  const flake = fixed()
  t.is(flake.take(0).length, 0)
  t.is(flake.takeBigInts(0).length, 0)
  t.is((await flake.takeAsync(0)).length, 0)
  t.is(flake.take(-0).length, 0)
  t.like(flake.stats, { ids: 0, batches: 0 })
  t.is(flake.decode(flake.next()).counter, 0)
})

for (const n of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5', '', 5n, null, undefined, true, {}, []]) {
  test(`take(${typeof n} ${String(n)}) is an error, and takes nothing`, async (t) => {
    const flake = fixed()
    const Type = typeof n === 'number' ? RangeError : TypeError
    for (const call of [() => flake.take(n), () => flake.takeBigInts(n)]) {
      const error = throwsCode(t, call, 'ERR_FLAKE_OPTION', Type)
      t.is(error.value, n)
      t.is(error.option, 'n')
    }
    await t.throwsAsync(() => flake.takeAsync(n), { code: 'ERR_FLAKE_OPTION', instanceOf: Type })
    t.is(flake.decode(flake.next()).counter, 0)
  })
}
