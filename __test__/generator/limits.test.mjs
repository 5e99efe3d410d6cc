// What ends a run of IDs and what happens then: overflow and clock steps under maxAheadMs and maxWaitMs, the epoch and
// the last tick of a layout.

import { inspect } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import {
  FlakeId,
  fixed,
  freshNode,
  isAscending,
  LAST_TICK,
  manualClock,
  numberOf,
  outcomes,
  PATIENT,
  PER_TICK,
  putAhead,
  real,
  SOME_TIME,
  split,
  syncCalls,
  throwsCode,
} from '../support/index.mjs'

// --- maxAheadMs: against a model of DESIGN.md, section 1 ---

/** The one number of a generator, and its rule, in plain arithmetic. */
class Model {
  next = 0n
  highest = 0n

  constructor({ seqMask, maxAheadMs }) {
    this.mask = BigInt(seqMask)
    this.ahead = maxAheadMs === Number.POSITIVE_INFINITY ? 1n << 70n : BigInt(maxAheadMs)
  }

  /** The next number when the clock shows this tick, or why there is none. */
  claim(tick) {
    const now = BigInt(tick)
    if (now > BigInt(LAST_TICK)) return 'ERR_FLAKE_TIME_RANGE'
    const base = this.firstFree(now)
    if (base >> 12n > BigInt(LAST_TICK)) return 'ERR_FLAKE_TIME_RANGE'
    const highest = this.highest
    this.highest = now > highest ? now : highest
    if (base >> 12n > now + this.ahead) return this.why(now, highest)
    this.next = base + 1n
    return base
  }

  firstFree(now) {
    const base = this.next > now << 12n ? this.next : now << 12n
    return (base & 4095n) <= this.mask ? base : ((base >> 12n) + 1n) << 12n
  }

  why(now, highest) {
    const last = this.next === 0n ? 0n : (this.next - 1n) >> 12n
    return last > now + this.ahead || now < highest ? 'ERR_FLAKE_CLOCK_BACKWARDS' : 'ERR_FLAKE_OVERFLOW'
  }
}

const numberIn = (id) => ((numberOf(id) >> 22n) << 12n) | (numberOf(id) & 4095n)

function modelled(rule, start, steps) {
  const clock = manualClock(start)
  const flake = new FlakeId({ ...rule, clock })
  const model = new Model(rule)
  for (const [move, calls] of steps) {
    clock.now = Math.max(0, clock.now + move)
    for (let call = 0; call < calls; call++) {
      const [outcome] = outcomes(1, () => flake.next())
      const ours = typeof outcome === 'string' ? outcome : numberIn(outcome)
      const expected = model.claim(clock.now)
      if (ours !== expected) throw new Error(`at ${clock.now}, call ${call}: ${ours}, not ${expected}`)
    }
  }
}

test('maxAheadMs and seqMask: as in the model', (t) => {
  const rules = fc.record({
    seqMask: fc.constantFrom(1, 3, 7, 15),
    maxAheadMs: fc.constantFrom(0, 1, 2, 5, 100, Number.POSITIVE_INFINITY),
  })
  const starts = fc.oneof(
    fc.nat({ max: 100 }),
    fc.nat({ max: LAST_TICK }),
    fc.nat({ max: 50 }).map((n) => LAST_TICK - n),
  )
  const moves = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -120, max: 120 }), fc.constant(-3_600_000))
  const steps = fc.array(fc.tuple(moves, fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 12 })
  t.notThrows(() => fc.assert(fc.property(rules, starts, steps, modelled), { numRuns: 4000 }))
})

for (const [maxAheadMs, seqMask] of [
  [0, 4095],
  [1, 4095],
  [3, 4095],
  [15, 255],
  [1000, 1],
]) {
  test(`maxAheadMs ${maxAheadMs}, seqMask ${seqMask}: overflow carries up to the bound exactly`, (t) => {
    const clock = manualClock()
    const flake = new FlakeId({ clock, maxAheadMs, seqMask })
    const room = (maxAheadMs + 1) * (seqMask + 1)
    const ids = outcomes(room, () => flake.nextBigInt())
    t.true(isAscending(ids))
    t.like(flake.decode(ids.at(-1)), { timestamp: SOME_TIME + maxAheadMs, counter: seqMask })
    t.is(flake.stats.aheadMs, maxAheadMs)
    throwsCode(t, () => flake.next(), 'ERR_FLAKE_OVERFLOW')
    clock.now += 1
    t.like(flake.decode(flake.next()), { timestamp: SOME_TIME + maxAheadMs + 1, counter: 0 })
    t.is(split(fixed({ maxAheadMs, seqMask }).take(room)).length, room, 'and so does a batch')
  })
}

test('maxAheadMs absorbs a clock step up to the bound exactly', (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock, maxAheadMs: 10 })
  flake.next()
  clock.now -= 10
  t.like(flake.decode(flake.next()), { timestamp: SOME_TIME, counter: 1 })
  clock.now -= 1
  t.is(throwsCode(t, () => flake.next(), 'ERR_FLAKE_CLOCK_BACKWARDS').code, 'ERR_FLAKE_CLOCK_BACKWARDS')
})

test('maxAheadMs Infinity never looks back', (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock, maxAheadMs: Number.POSITIVE_INFINITY, seqMask: 1 })
  const ids = [...flake.takeBigInts(1000)]
  clock.now = 0
  ids.push(...flake.takeBigInts(1000))
  t.true(isAscending(ids))
  t.like(flake.decode(ids.at(-1)), { timestamp: SOME_TIME + 999, counter: 1 })
})

// --- maxWaitMs ---

test('maxWaitMs: blocks over an overflow, and succeeds', (t) => {
  for (const call of Object.values(syncCalls)) {
    const flake = real({ ...PATIENT, seqMask: 1 })
    const ids = Array.from({ length: 50 }, () => call(flake))
    t.is(new Set(ids.map(inspect)).size, 50)
    const { waits, overflows, waitedMs } = flake.stats
    t.true(waits > 0 && overflows > 0 && waitedMs > 0)
  }
})

test('without maxWaitMs an overflow of the real clock throws', (t) => {
  const flake = real({ seqMask: 1 })
  const results = outcomes(1000, () => flake.next())
  t.true(results.includes('ERR_FLAKE_OVERFLOW'))
  t.is(flake.stats.waits, 0)
  t.true(isAscending(results.filter((result) => typeof result === 'bigint')))
})

test('maxWaitMs: throws at once where waiting cannot help', (t) => {
  const id = freshNode()
  putAhead(id, 3_600_000)
  const flake = new FlakeId({ id, maxWaitMs: 1000 })
  for (const call of Object.values(syncCalls)) {
    const { behindMs, retryAfterMs } = throwsCode(t, () => call(flake), 'ERR_FLAKE_CLOCK_BACKWARDS')
    t.true(behindMs > 3_000_000 && behindMs <= 3_600_000)
    t.true(retryAfterMs > 3_000_000)
  }
  throwsCode(t, () => flake.take(5), 'ERR_FLAKE_CLOCK_BACKWARDS')
  t.is(flake.stats.waits, 0, 'it did not wait at all')
})

test('maxWaitMs: waits out a clock step that is short enough', (t) => {
  const id = freshNode()
  putAhead(id, 1000)
  const flake = new FlakeId({ id, ...PATIENT })
  t.true(Buffer.isBuffer(flake.next()))
  t.true(flake.stats.waits > 0)
})

test('maxWaitMs: an own clock is asked again until it has moved on', (t) => {
  for (const call of Object.values(syncCalls)) {
    let polls = 0
    const flake = new FlakeId({ ...PATIENT, seqMask: 1, clock: () => SOME_TIME + Math.floor(polls++ / 10) })
    const ids = Array.from({ length: 10 }, () => call(flake))
    t.is(new Set(ids.map(inspect)).size, 10)
    t.true(flake.stats.waits > 0)
  }
})

test('maxWaitMs: ends, when an own clock never moves on', (t) => {
  let polls = 0
  const flake = new FlakeId({
    maxWaitMs: 20,
    clock: () => {
      polls++
      return SOME_TIME
    },
  })
  flake.take(PER_TICK)
  const before = polls
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_OVERFLOW')
  t.true(polls - before > 1, 'it was asked more than once')
})

test('maxWaitMs does not wait for a time that the layout cannot express', (t) => {
  const flake = new FlakeId({ ...PATIENT, clock: () => -1 })
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_TIME_RANGE', RangeError)
  t.is(flake.stats.waits, 0)
})

// --- the ends of time ---

for (const epoch of [0, 1e12, -1e12]) {
  test(`before the epoch ${epoch}, and past the last tick: ERR_FLAKE_TIME_RANGE`, (t) => {
    const clock = manualClock(epoch - 1)
    const flake = new FlakeId({ epoch, clock })
    const outside = [epoch - 1, epoch - 0.25, epoch - 1e9, epoch + LAST_TICK + 1, epoch + LAST_TICK + 1e9]
    for (const now of outside) {
      clock.now = now
      for (const call of [...Object.values(syncCalls), (flake) => flake.take(1)]) {
        const error = throwsCode(t, () => call(flake), 'ERR_FLAKE_TIME_RANGE', RangeError)
        t.is(error.timestamp, now)
      }
    }
    clock.now = epoch
    t.is(numberOf(flake.next()), 0n)
    clock.now = epoch + LAST_TICK
    t.is(flake.decode(flake.next()).tick, BigInt(LAST_TICK))
  })
}

for (const now of [1e15, 1e20, 1e30, 1e35, 1e38, 1e39, 1e300, Number.MAX_VALUE, 10n ** 30n, 10n ** 45n, 10n ** 400n]) {
  test(`a time far outside is an error, never a wrap: ${typeof now} ${Number(now)} (${String(now).length} digits)`, (t) => {
    for (const epoch of [0, -5e12, 1e12]) {
      for (const time of [now, -now]) {
        const error = throwsCode(
          t,
          () => new FlakeId({ epoch, clock: () => time }).next(),
          'ERR_FLAKE_TIME_RANGE',
          RangeError,
        )
        t.is(Math.sign(error.timestamp), time > 0 ? 1 : -1, `${error.timestamp} is on the right side`)
      }
    }
  })
}

test('the last tick can be used up, and nothing follows its last ID', (t) => {
  const clock = manualClock(LAST_TICK)
  const flake = new FlakeId({ id: 1023, clock })
  const ids = outcomes(PER_TICK, () => flake.next())
  t.true(isAscending(ids))
  t.is(ids.at(-1), 2n ** 64n - 1n)
  for (const call of Object.values(syncCalls)) throwsCode(t, () => call(flake), 'ERR_FLAKE_TIME_RANGE', RangeError)
  clock.now -= 1
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_TIME_RANGE', RangeError)
})

test('a batch ends at the last tick, and so does what runs ahead', (t) => {
  for (const maxAheadMs of [1, 100, Number.POSITIVE_INFINITY]) {
    const flake = new FlakeId({ clock: () => LAST_TICK - 1, id: 1023, maxAheadMs })
    const ids = flake.takeBigInts(2 * PER_TICK)
    t.is(ids.at(-1), 2n ** 64n - 1n)
    throwsCode(t, () => flake.take(1), 'ERR_FLAKE_TIME_RANGE', RangeError)
  }
})
