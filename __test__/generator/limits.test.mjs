// What ends a run of IDs, and what happens then: overflow and clock steps under maxWaitMs, the epoch and the last tick
// of a layout. knobs.test.mjs compares maxAheadMs with a model.

import { inspect } from 'node:util'
import test from 'ava'
import {
  FlakeId,
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
  syncCalls,
  throwsCode,
} from '../support/index.mjs'

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

test('without maxWaitMs, an overflow of the real clock throws', (t) => {
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

test('maxWaitMs: reads an own clock again until it has moved', (t) => {
  for (const call of Object.values(syncCalls)) {
    let polls = 0
    const flake = new FlakeId({ ...PATIENT, seqMask: 1, clock: () => SOME_TIME + Math.floor(polls++ / 10) })
    const ids = Array.from({ length: 10 }, () => call(flake))
    t.is(new Set(ids.map(inspect)).size, 10)
    t.true(flake.stats.waits > 0)
  }
})

test('maxWaitMs: ends if an own clock never moves', (t) => {
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
  t.true(polls - before > 1, 'it was read more than once')
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
  test(`a time far outside is an error and never wraps: ${typeof now} ${Number(now)} (${String(now).length} digits)`, (t) => {
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

test('a batch ends at the last tick, and so does running ahead', (t) => {
  for (const maxAheadMs of [1, 100, Number.POSITIVE_INFINITY]) {
    const flake = new FlakeId({ clock: () => LAST_TICK - 1, id: 1023, maxAheadMs })
    const ids = flake.takeBigInts(2 * PER_TICK)
    t.is(ids.at(-1), 2n ** 64n - 1n)
    throwsCode(t, () => flake.take(1), 'ERR_FLAKE_TIME_RANGE', RangeError)
  }
})
