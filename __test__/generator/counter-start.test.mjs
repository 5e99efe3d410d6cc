// counterStart: 'random' spreads IDs evenly over shards, by a chi-squared test. Without it they fail that test.

import test from 'ava'
import { DIALECTS } from '../support/dialects.mjs'
import { FlakeId, SOME_TIME, throwsCode } from '../support/index.mjs'

/** A generator whose clock does not move until `pass` is called. */
function started(options) {
  let now = SOME_TIME
  const flake = new FlakeId({ ...options, clock: () => now })
  const pass = (ms) => {
    now += ms
  }
  return { flake, pass }
}

/** The ways to get one ID, and several in one call. */
const WAYS = {
  nextBigInt: (flake) => flake.nextBigInt(),
  nextString: (flake) => BigInt(flake.nextString()),
  next: (flake) => flake.next().readBigUInt64BE(),
  takeBigInts: (flake) => flake.takeBigInts(3)[0],
  takeStrings: (flake) => BigInt(flake.takeStrings(3)[0]),
}

/** 100 IDs per second, for 100 seconds. */
function idsOf(options, call) {
  const { flake, pass } = started(options)
  return Array.from({ length: 10_000 }, () => {
    pass(10)
    return call(flake)
  })
}

/** Whether chance gives such counts more often than once in 10^9: the bound of chi-squared by Wilson and Hilferty. */
function isEven(ids, shards) {
  const counts = new Array(shards).fill(0)
  for (const id of ids) counts[Number(id % BigInt(shards))]++
  const mean = ids.length / shards
  const sum = counts.reduce((sum, count) => sum + (count - mean) ** 2 / mean, 0)
  const part = 2 / (9 * (shards - 1))
  return sum < (shards - 1) * (1 - part + 6 * Math.sqrt(part)) ** 3
}

for (const [name, call] of Object.entries(WAYS)) {
  test(`${name}: even over 16, 100 and 256 shards, and not without the option`, (t) => {
    const random = idsOf({ counterStart: 'random' }, call)
    const usual = idsOf({}, call)
    for (const shards of [16, 100, 256]) {
      t.true(isEven(random, shards), `${shards} shards`)
      t.false(isEven(usual, shards), `${shards} shards`)
    }
    t.deepEqual(
      random,
      random.toSorted((a, b) => (a < b ? -1 : 1)),
    )
  })
}

test('safe is even over 16 shards; the counters are below a quarter of seqMask + 1', (t) => {
  t.true(isEven(idsOf({ layout: 'safe', counterStart: 'random' }, WAYS.nextBigInt), 16))
  for (const [options, quarter] of [
    [{ layout: 'safe' }, 16],
    [{}, 1024],
    [{ seqMask: 63 }, 16],
    [{ seqMask: 7 }, 2],
  ]) {
    const { flake } = started(options)
    const ids = idsOf({ ...options, counterStart: 'random' }, WAYS.nextBigInt)
    const counters = new Set(ids.map((id) => flake.decode(id).counter))
    t.true(Math.max(...counters) < quarter)
    t.true(counters.size > quarter * 0.9, `${counters.size} of ${quarter}`)
  }
})

test('a started tick continues, to the end of its counter', (t) => {
  const { flake } = started({ counterStart: 'random', maxAheadMs: 0 })
  const first = flake.nextBigInt()
  const start = flake.decode(first).counter
  t.deepEqual(
    [...flake.takeBigInts(4095 - start)],
    Array.from({ length: 4095 - start }, (_, i) => first + BigInt(i + 1)),
  )
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_OVERFLOW', Error)
})

test('0 behaves as without the option', (t) => {
  for (const counterStart of [0, '0', null, undefined]) {
    t.deepEqual(idsOf({ counterStart }, WAYS.nextBigInt), idsOf({}, WAYS.nextBigInt))
  }
})

test('with and without it, generators share one cursor', (t) => {
  const [random, usual] = [new FlakeId({ id: 1023, counterStart: 'random' }), new FlakeId({ id: 1023 })]
  let last = 0n
  for (let i = 0; i < 1000; i++) {
    const id = (i % 2 === 0 ? random : usual).nextBigInt()
    t.true(id > last)
    last = id
  }
  t.is(random.stats.ids, 500, 'but each has its own rule')
})

for (const { name: layout } of DIALECTS.filter(({ lowest }) => lowest !== 'counter')) {
  test(`${layout} rejects it: its lowest bits are not a counter`, (t) => {
    const error = throwsCode(t, () => new FlakeId({ layout, counterStart: 'random' }), 'ERR_FLAKE_OPTION', TypeError)
    t.is(error.option, 'counterStart')
    t.regex(error.message, /hash\(id\)/)
    t.notThrows(() => new FlakeId({ layout, counterStart: 0 }))
  })
}

test('a seqMask whose quarter contains only 0 is rejected too', (t) => {
  const make = (seqMask) => new FlakeId({ seqMask, counterStart: 'random' })
  for (const seqMask of [1, 3]) throwsCode(t, () => make(seqMask), 'ERR_FLAKE_OPTION', TypeError)
})
