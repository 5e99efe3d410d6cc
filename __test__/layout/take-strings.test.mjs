// takeStrings(n, base): the texts that as many calls of nextString(base) would give, with the limits and waits of
// take(n).

import test from 'ava'
import fc from 'fast-check'
import {
  BASES,
  FlakeId,
  fixed,
  isAscending,
  jsonOfChild,
  manualClock,
  PATIENT,
  PER_TICK,
  real,
  SOME_TIME,
  throwsCode,
} from '../support/index.mjs'
import { opened } from '../support/segment.mjs'

const { format, parse, toBigInt } = FlakeId
/** Around the number of IDs that one native call writes, and around the largest batch of a tick. */
const SIZES = [0, 1, 2, 31, 32, 33, 63, 64, 65, 1000, PER_TICK - 1, PER_TICK]

for (const base of [undefined, ...BASES]) {
  test(`the texts equal as many nextString(${base}), whatever the size`, (t) => {
    for (const n of SIZES) {
      const [many, single] = [fixed({ id: 1023 }), fixed({ id: 1023 })]
      const texts = many.takeStrings(n, base)
      t.true(Array.isArray(texts))
      t.deepEqual(
        texts,
        Array.from({ length: n }, () => single.nextString(base)),
        String(n),
      )
      t.is(many.stats.ids, n)
    }
  })
}

test('a missing base, and values that nextString treats as missing, mean decimal', (t) => {
  for (const base of [undefined, null, '']) t.deepEqual(fixed().takeStrings(2, base), fixed().takeStrings(2, 'dec'))
})

test('texts of different widths in one batch', (t) => {
  // With an epoch just now, decimal IDs grow from 1 digit to 14 within a few batches.
  const clock = manualClock()
  const flake = new FlakeId({ clock, epoch: SOME_TIME, ...PATIENT })
  for (const n of [1, 15, 150, 1500]) {
    const texts = flake.takeStrings(n)
    t.is(texts.length, n)
    const numbers = texts.map(BigInt)
    t.true(isAscending(numbers) || n === 1)
    t.deepEqual(texts, numbers.map(String))
  }
  clock.now += 5
  t.is(flake.takeStrings(1)[0], String(5n << 22n))
})

test('across ticks of the real clock', (t) => {
  const flake = real()
  const texts = [1, 4095, 4097, 10_000].flatMap((n) => flake.takeStrings(n, 'base62'))
  t.is(texts.length, 18_193)
  t.true(isAscending(texts.map((text) => toBigInt(parse(text, 'base62')))))
  t.deepEqual([...texts].sort(), texts)
})

test("a used-up tick: an error as from take, and the batch's IDs are not generated again", (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock })
  flake.takeStrings(PER_TICK - 1)
  throwsCode(t, () => flake.takeStrings(2), 'ERR_FLAKE_OVERFLOW')
  throwsCode(t, () => flake.takeStrings(1), 'ERR_FLAKE_OVERFLOW')
  clock.now += 1
  t.is(flake.takeStrings(1, 'hex')[0], flake.layout.encode({ timestamp: clock.now }).toString('hex').replace(/^0+/, ''))
})

test('a few across several ticks lose none, though the clock takes texts of another generator meanwhile', (t) => {
  const other = fixed({ id: 9 })
  const clock = () => {
    other.takeStrings(5, 'hex')
    return clock.now++
  }
  clock.now = SOME_TIME
  const flake = new FlakeId({ clock, seqMask: 1, ...PATIENT })
  const parts = flake.takeStrings(7, 'base58').map((text) => flake.decode(parse(text, 'base58')))
  t.deepEqual(
    parts.map(({ timestamp, counter, id }) => [timestamp - SOME_TIME, counter, id]),
    [0, 0, 1, 1, 2, 2, 3].map((ms, i) => [ms, i % 2, 0]),
  )
})

for (const n of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', 5n, null, undefined, {}]) {
  test(`takeStrings(${typeof n} ${String(n)}) is an error, and takes nothing`, (t) => {
    const flake = fixed()
    const error = t.throws(() => flake.takeStrings(n), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, 'n')
    t.is(flake.stats.ids, 0)
  })
}

for (const base of ['x', 'DEC', 36, {}]) {
  test(`an unknown base is an error, and takes nothing: ${String(base)}`, async (t) => {
    const flake = fixed()
    const { segment } = await opened(t)
    for (const generator of [flake, segment]) {
      const error = t.throws(() => generator.takeStrings(3, base), { code: 'ERR_FLAKE_OPTION' })
      t.is(error.option, 'base')
    }
    t.is(flake.stats.ids, 0)
    t.is(segment.nextBigInt(), 0n)
  })
}

test('SegmentId: the numbers as text, across blocks and across widths', async (t) => {
  const { segment } = await opened(t, { block: 2000, init: 5n })
  t.deepEqual(segment.takeStrings(3), ['6', '7', '8'])
  t.deepEqual(
    segment.takeStrings(1200),
    Array.from({ length: 1200 }, (_, i) => String(9 + i)),
  )
  t.deepEqual(segment.takeStrings(0), [])
  for (const base of BASES) {
    const first = segment.nextBigInt() + 1n
    const expected = Array.from({ length: 40 }, (_, i) => format(first + BigInt(i), base))
    t.deepEqual(segment.takeStrings(40, base), expected, base)
  }
})

test('SegmentId: all or nothing, as take', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  throwsCode(t, () => segment.takeStrings(11), 'ERR_FLAKE_OVERFLOW')
  t.deepEqual(
    segment.takeStrings(10),
    Array.from({ length: 10 }, (_, i) => String(i)),
  )
})

test('any text may be kept alone: it does not keep the whole batch in memory', async (t) => {
  const source = `
    const flake = new FlakeId({ id: 3, maxAheadMs: Infinity })
    const kept = []
    const round = () => kept.push(flake.takeStrings(20_000)[777])
    for (let i = 0; i < 20; i++) round()
    gc()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 200; i++) round()
    gc()
    const each = (process.memoryUsage().heapUsed - before) / 200
    console.log(JSON.stringify({ isSmall: each < 4000, kept: new Set(kept).size }))
  `
  t.deepEqual(await jsonOfChild(t, source, ['--expose-gc']), { isSmall: true, kept: 220 })
})

test('any mix of calls and bases gives one ascending sequence', (t) => {
  const call = fc.tuple(fc.constantFrom(...BASES), fc.nat({ max: 70 }))
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.array(call, { maxLength: 12 }), (calls) => {
        const flake = fixed({ id: 77 })
        const ids = calls.flatMap(([base, n]) => [
          ...flake.takeStrings(n, base).map((text) => toBigInt(parse(text, base))),
          flake.nextBigInt(),
        ])
        const first = fixed({ id: 77 }).nextBigInt()
        return ids.every((id, i) => id === first + BigInt(i))
      }),
      { numRuns: 300 },
    ),
  )
})
