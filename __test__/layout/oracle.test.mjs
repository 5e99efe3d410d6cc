// The oracle: flake-idgen itself. The same calls at the same times must give the same bytes and the same kind of error
// in both. Only where flake-idgen is right: valid options, and times from 1 ms after the epoch (at 0 its first counter
// is 1) to the second-to-last one that fits (past the last one it starts again at 0).

import test from 'ava'
import fc from 'fast-check'
import Original from 'flake-idgen'
import { FlakeId, SOME_TIME } from '../support/index.mjs'

const LAST_TICK = 2 ** 42 - 2

const nodes = fc.oneof(
  fc.record({ datacenter: fc.integer({ min: 0, max: 31 }), worker: fc.integer({ min: 0, max: 31 }) }),
  fc.record({ datacenter: fc.integer({ min: 0, max: 31 }) }),
  fc.record({ worker: fc.integer({ min: 0, max: 31 }) }),
  fc.record({ id: fc.integer({ min: 0, max: 1023 }) }),
  fc.constant({}),
)
const epochs = fc.oneof(fc.constant(undefined), fc.integer({ min: -1_000_000_000_000, max: SOME_TIME }))
const seqMasks = fc.oneof(
  fc.constant(undefined),
  fc.integer({ min: 1, max: 12 }).map((bits) => 2 ** bits - 1),
)

const options = fc
  .tuple(nodes, epochs, seqMasks)
  .map(([node, epoch, seqMask]) => ({ ...node, ...definedOnly({ epoch, seqMask }) }))

function definedOnly(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** How the clock moves before a burst: it stops, ticks on, steps back or jumps. */
const moves = fc.oneof(
  fc.constant(0),
  fc.constant(1),
  fc.constant(-1),
  fc.integer({ min: -5, max: 5 }),
  fc.integer({ min: -3_600_000, max: 3_600_000 }),
  fc.integer({ min: -100_000_000_000, max: 100_000_000_000 }),
)

/** How many IDs are requested then: a few, or enough for the counter to overflow. */
const bursts = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }).map((calls) => () => calls) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }).map((more) => (perTick) => perTick + more) },
)

const starts = fc.oneof(
  fc.integer({ min: 1, max: 2000 }),
  fc.integer({ min: 1, max: LAST_TICK }),
  fc.integer({ min: LAST_TICK - 2000, max: LAST_TICK }),
)

const steps = fc.array(fc.tuple(moves, bursts), { minLength: 1, maxLength: 10 })

/** The outcome of a call, in words that fit both generators. */
function outcome(call) {
  try {
    return call()
  } catch (error) {
    return kindOf(error)
  }
}

function kindOf(error) {
  if (error.code === 'ERR_FLAKE_OVERFLOW') return 'overflow'
  if (error.code === 'ERR_FLAKE_CLOCK_BACKWARDS') return `backwards by ${error.behindMs}`
  if (error.message.startsWith('Sequence exceeded')) return 'overflow'
  const [, ms] = /^Clock moved backwards\b.* (\d+) milliseconds$/.exec(error.message) ?? []
  return ms === undefined ? `unexpected: ${error}` : `backwards by ${ms}`
}

function isSame(ours, theirs) {
  return typeof theirs === 'string' ? ours === theirs : Buffer.isBuffer(ours) && ours.equals(theirs)
}

const inWords = (result) => (typeof result === 'string' ? result : result.toString('hex'))

/** Runs `play` with `Date.now` under our control, which is the only way to set flake-idgen's clock. */
function withClock(play) {
  const real = Date.now
  const clock = { now: 0 }
  Date.now = () => clock.now
  try {
    return play(clock)
  } finally {
    Date.now = real
  }
}

const FEW = 3 // errors of a burst: a stack trace costs more than 30 IDs, and the fourth adds nothing

/** Makes the calls of one burst on both. Returns undefined, or the difference. */
function differenceInBurst(ours, theirs, calls) {
  let errors = 0
  for (let call = 0; call < calls && errors < FEW; call++) {
    const [here, there] = [outcome(() => ours.next()), outcome(() => theirs.next())]
    if (!isSame(here, there)) return `call ${call}: ${inWords(here)}, not ${inWords(there)}`
    if (typeof there === 'string') errors++
  }
  return undefined
}

/** Plays one sequence on both. Returns undefined, or the difference. */
function difference(given, start, sequence) {
  return withClock((clock) => {
    const ours = new FlakeId({ ...given, clock: () => clock.now })
    const theirs = new Original(given)
    const perTick = (given.seqMask ?? 4095) + 1
    let tick = start
    for (const [step, [move, burst]] of sequence.entries()) {
      tick = Math.min(Math.max(1, tick + move), LAST_TICK)
      clock.now = tick + (given.epoch ?? 0)
      const found = differenceInBurst(ours, theirs, burst(perTick))
      if (found !== undefined) return `step ${step}, ${found}`
    }
    return undefined
  })
}

test('the same calls give the same bytes and the same errors', (t) => {
  const seen = { runs: 0 }
  fc.assert(
    fc.property(options, starts, steps, (given, start, sequence) => {
      seen.runs++
      const found = difference(given, start, sequence)
      if (found !== undefined) throw new Error(found)
    }),
    { numRuns: 4000 },
  )
  t.true(seen.runs >= 4000)
})

test('a tick is used up to its last number, in each width of the counter', (t) => {
  for (let bits = 1; bits <= 12; bits++) {
    const perTick = 2 ** bits
    const sequence = [
      [0, () => perTick + 2],
      [1, () => perTick + 2],
      [-1, () => 2],
      [1, () => 2],
      [1, () => 1],
    ]
    t.is(difference({ seqMask: perTick - 1, id: 1023 }, SOME_TIME, sequence), undefined)
  }
})

test('the comparison sees a difference: another worker, another time', (t) => {
  const theirs = withClock((clock) => {
    clock.now = SOME_TIME
    return new Original({ worker: 1 }).next()
  })
  t.true(isSame(new FlakeId({ worker: 1, clock: () => SOME_TIME }).next(), theirs))
  t.false(isSame(new FlakeId({ worker: 2, clock: () => SOME_TIME }).next(), theirs))
  t.false(isSame(new FlakeId({ worker: 1, clock: () => SOME_TIME + 1 }).next(), theirs))
})

test('datacenter, worker, id and epoch are read as by flake-idgen', (t) => {
  fc.assert(
    fc.property(options, (given) => {
      const [ours, theirs] = [new FlakeId({ ...given, clock: () => SOME_TIME }), new Original(given)]
      for (const name of ['datacenter', 'worker', 'id', 'epoch']) {
        if (ours[name] !== theirs[name]) throw new Error(`${name}: ${ours[name]}, not ${theirs[name]}`)
      }
    }),
    { numRuns: 2000 },
  )
  t.is(new FlakeId({ id: 5 }).datacenter, undefined)
  t.is(new FlakeId({ id: 5 }).worker, undefined)
})

test('next(callback) gives the same IDs too', async (t) => {
  const pending = []
  withClock((clock) => {
    clock.now = SOME_TIME
    const [ours, theirs] = [new FlakeId({ id: 77, clock: () => SOME_TIME }), new Original({ id: 77 })]
    for (const flake of [ours, theirs]) {
      for (let i = 0; i < 100; i++) {
        pending.push(new Promise((resolve) => flake.next((error, id) => resolve([error, id.toString('hex')]))))
      }
    }
  })
  const results = await Promise.all(pending)
  t.deepEqual(results.slice(0, 100), results.slice(100))
})
