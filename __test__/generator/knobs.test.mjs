// The two knobs, maxAheadMs and maxWaitMs: the defaults with which each dialect behaves as its own system does, and
// every layout against a model of their definition, with random clocks.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import { DIALECTS, dialect } from '../support/dialects.mjs'
import { FlakeId, manualClock, SOME_TIME, throwsCode } from '../support/index.mjs'

const { Layout, layouts } = FlakeId

// --- the defaults ---

const AFTER_EPOCHS = Date.UTC(2026, 0) // of all layouts

/** A clock that does not move until it has been read this many more times. */
function hesitant(polls) {
  const clock = () => (clock.left-- > 0 ? AFTER_EPOCHS : AFTER_EPOCHS + 20)
  clock.left = polls
  return clock
}

/** More IDs than this are not made for one tick. */
const MANY = 20_000

for (const { name: layout, maxAheadMs, maxWaitMs, counterBits, tickMs } of DIALECTS) {
  test(`${layout}: maxAheadMs ${maxAheadMs}, maxWaitMs ${maxWaitMs}`, (t) => {
    const shown = inspect(new FlakeId({ layout }))
    t.regex(shown, new RegExp(`maxAheadMs: ${maxAheadMs}\\b`))
    t.regex(shown, new RegExp(`maxWaitMs: ${maxWaitMs}\\b`))
    const other = inspect(new FlakeId({ layout, maxAheadMs: 7, maxWaitMs: 5 }))
    t.regex(other, /maxAheadMs: 7\b/)
    t.regex(other, /maxWaitMs: 5\b/)
  })

  test(`${layout}: the size of a tick, what follows it, and whether the call then blocks`, (t) => {
    const perTick = 2 ** counterBits
    const ahead = maxAheadMs === Number.POSITIVE_INFINITY ? MANY : Math.round(maxAheadMs / tickMs) // ticks that are tried here
    const room = (ahead + 1) * perTick
    const clock = hesitant(Number.POSITIVE_INFINITY)
    const flake = new FlakeId({ layout, clock })
    const ids = flake.takeBigInts(room)
    const [first, last] = [flake.decode(ids[0]), flake.decode(ids[room - 1])]
    t.is(last.tick - first.tick, BigInt(ahead))
    t.is(last.counter, perTick - 1)
    if (maxAheadMs === Number.POSITIVE_INFINITY) {
      t.notThrows(() => flake.next())
    } else if (maxWaitMs === 0) {
      throwsCode(t, () => flake.next(), 'ERR_FLAKE_OVERFLOW')
      t.is(flake.stats.waits, 0)
    } else {
      clock.left = 5
      t.notThrows(() => flake.next())
      t.true(flake.stats.waits > 0)
      t.true(clock.left <= 0, 'it read the clock again until it had moved')
    }
  })
}

/** What a system does when the counter of a tick is used up, and when its clock steps back a little, by its own code. */
const [THROWS, WAITS, COUNTS_ON, REPEATS] = ['throws', 'waits', 'counts on', 'repeats']
const SYSTEMS = {
  flake: [THROWS, THROWS], // flake-id-gen.js: next(), overflowCond()
  hazelcast: [COUNTS_ON, COUNTS_ON], // FlakeIdGeneratorProxy.java: newIdBaseLocal(), for 15 s
  snowcast: [WAITS, WAITS], // AbstractSequencerContext.java: next(), increment()
  uniqueid: [WAITS, REPEATS], // BaseUniqueIDGenerator.java: generate()
  chronicle: [COUNTS_ON, COUNTS_ON], // DistributedUniqueTimeProvider.java: currentTimeNanosLoop()
  'chronicle-micros': [COUNTS_ON, COUNTS_ON], // currentTimeMicros()
  twitter: [WAITS, THROWS], // IdWorker.scala: tilNextMillis(), InvalidSystemClock
  instagram: [REPEATS, REPEATS], // "Sharding & IDs at Instagram": next_id()
  sonyflake: [WAITS, WAITS], // sonyflake.go: NextID(), sleepTime()
  sonyflake2: [WAITS, WAITS], // v2/sonyflake.go: NextID(), sleep()
  tsid: [COUNTS_ON, COUNTS_ON], // TsidFactory.java: getTime()
  mastodon: [REPEATS, REPEATS], // lib/mastodon/snowflake.rb: timestamp_id()
  tid: [COUNTS_ON, COUNTS_ON], // packages/common-web/src/tid.ts: next()
}

/** Ours, where it cannot be theirs: an ID is never repeated, and a short wait for the clock is not an error. */
const DIFFERENT = {
  uniqueid: [WAITS, WAITS],
  twitter: [WAITS, WAITS],
  instagram: [THROWS, THROWS],
  mastodon: [THROWS, THROWS],
}
const STEP_MS = 30 // several ticks of all systems

/** What a generator does for one more ID: the clock moves on only if it is read several times. */
function reaction(flake, clock, from) {
  const { waits } = flake.stats
  const last = flake.nextBigInt()
  clock.show(from)
  try {
    const next = flake.nextBigInt()
    if (flake.stats.waits > waits) return WAITS
    return flake.decode(next).tick >= flake.decode(last).tick ? COUNTS_ON : 'goes back'
  } catch {
    return THROWS
  }
}

function pollable() {
  let [now, left] = [AFTER_EPOCHS, 0]
  const clock = () => (left-- > 0 ? now : now + 2 * STEP_MS)
  clock.show = (ms) => {
    ;[now, left] = [ms, 5]
  }
  clock.show(AFTER_EPOCHS)
  return clock
}

for (const [layout, theirs] of Object.entries(SYSTEMS)) {
  test(`${layout}: overflow and clock steps as in its system`, (t) => {
    const ours = DIFFERENT[layout] ?? theirs
    const [onOverflow, onStep] = [pollable(), pollable()]
    const flake = new FlakeId({ layout, clock: onOverflow })
    const { counterBits } = dialect(layout)
    if (counterBits > 0) flake.take(2 ** counterBits - 1) // all of the tick but one
    t.is(reaction(flake, onOverflow, AFTER_EPOCHS), ours[0])
    t.is(reaction(new FlakeId({ layout, clock: onStep }), onStep, AFTER_EPOCHS - STEP_MS), ours[1])
  })
}

test('every layout of another system whose code is public is in that table', (t) => {
  const others = DIALECTS.map(({ name }) => name).filter((name) => !['discord', 'safe'].includes(name))
  t.deepEqual(Object.keys(SYSTEMS).sort(), others.sort())
})

test('the page names the knobs of every layout', (t) => {
  const page = readFileSync(new URL('../../docs/reference/layouts.md', import.meta.url), 'utf8')
  const told = new Map()
  for (const [, names, ahead, wait] of page.matchAll(/^\| (`[^|]*`) \| (\d+|Infinity) \| (\d+) \|/gm)) {
    for (const [, name] of names.matchAll(/`([^`]+)`/g)) told.set(name, [Number(ahead), Number(wait)])
  }
  t.deepEqual(told, new Map(DIALECTS.map(({ name, maxAheadMs, maxWaitMs }) => [name, [maxAheadMs, maxWaitMs]])))
})

test('your own layout has both knobs at 0', (t) => {
  const layout = { fields: Object.entries({ timestamp: 60, counter: 4 }) }
  t.regex(inspect(new FlakeId({ layout })), /maxAheadMs: 0,\s+maxWaitMs: 0\b/)
  const flake = new FlakeId({ layout, clock: manualClock() })
  flake.take(16)
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_OVERFLOW')
})

test('Hazelcast absorbs a clock step of 15 s, and one more ms only by waiting', (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ layout: 'hazelcast', clock })
  flake.next()
  clock.now -= 15_000
  t.like(flake.decode(flake.next()), { timestamp: SOME_TIME, counter: 1 })
  clock.now -= 1
  const impatient = new FlakeId({ layout: 'hazelcast', maxWaitMs: 0, clock })
  impatient.next()
  clock.now -= 15_001
  t.is(throwsCode(t, () => impatient.next(), 'ERR_FLAKE_CLOCK_BACKWARDS').behindMs, 15_001)
})

test('Chronicle never goes back', (t) => {
  for (const layout of ['chronicle', 'chronicle-micros']) {
    const clock = manualClock()
    const flake = new FlakeId({ layout, clock, host: 7 })
    const first = flake.nextBigInt()
    clock.now = 5
    t.is(flake.nextBigInt(), first + 100n)
    clock.now = SOME_TIME + 1
    t.is(flake.decode(flake.nextBigInt()).timestamp, SOME_TIME + 1)
  }
})

// --- against a model ---

const own = (fields, tickMs) => new Layout({ fields, tickMs, epoch: 1e12 })

/** snowcast with the fewest nodes has more bits of counter. */
const FEW_NODES = 128

/** [layout, counter bits, ns of a tick, last tick] */
const MODELLED = [
  ...DIALECTS.map(({ name, counterBits, tickNs, ticks }) => [layouts[name], counterBits, BigInt(tickNs), ticks - 1n]),
  [new Layout('snowcast', { nodes: FEW_NODES }), 16, 1_000_000n, dialect('snowcast').ticks - 1n],
  [own(Object.entries({ timestamp: 10, pod: 44, counter: 10 }), 1000), 10, 1_000_000_000n, 2n ** 10n - 1n],
  [own(Object.entries({ counter: 20, timestamp: 44 }), 0.5), 20, 500_000n, 2n ** 44n - 1n],
  [own(Object.entries({ zero: 14, timestamp: 40, pod: 10 }), 1), 0, 1_000_000n, 2n ** 40n - 1n],
]

/** The next number of a generator, and its rule, in plain arithmetic. */
class Model {
  next = 0n
  highest = 0n

  constructor({ counterBits, tickNs, lastTick, seqMask, maxAheadMs }) {
    this.bits = BigInt(counterBits)
    this.mask = BigInt(seqMask)
    this.last = lastTick
    this.ahead = Number.isFinite(maxAheadMs) ? (BigInt(maxAheadMs) * 1_000_000n) / tickNs : 2n ** 80n
  }

  /** The next number when the clock shows this tick, or the reason for an error. */
  claim(now) {
    const base = this.firstFree(now)
    const isSpent = this.tickOf(base) > this.last
    if (isSpent || now < 0n || now > this.last) return 'ERR_FLAKE_TIME_RANGE'
    const { highest } = this
    this.highest = now > highest ? now : highest
    if (this.tickOf(base) <= now + this.ahead) {
      this.next = base + 1n
      return { tick: this.tickOf(base), counter: Number(this.counterOf(base)) }
    }
    const last = this.next === 0n ? 0n : this.tickOf(this.next - 1n)
    return last > now + this.ahead || now < highest ? 'ERR_FLAKE_CLOCK_BACKWARDS' : 'ERR_FLAKE_OVERFLOW'
  }

  tickOf(number) {
    return number >> this.bits
  }

  counterOf(number) {
    return number & (2n ** this.bits - 1n)
  }

  firstFree(now) {
    const base = this.next > now << this.bits ? this.next : now << this.bits
    return this.counterOf(base) <= this.mask ? base : (this.tickOf(base) + 1n) << this.bits
  }
}

/** Runs a generator and its model through the same times, and compares each outcome. */
function walk([layout, counterBits, tickNs, lastTick], { seqBits, maxAheadMs, start, steps }, seen) {
  const seqMask = 2 ** Math.min(seqBits, counterBits) - 1
  const model = new Model({ counterBits, tickNs, lastTick, seqMask, maxAheadMs })
  let tick = start < 0n ? lastTick + start : start
  let part = 0n // of the tick that have passed
  const clock = () => BigInt(layout.epoch) * 1_000_000n + tick * tickNs + part
  const limits = { ...(seqMask > 0 ? { seqMask } : {}), maxAheadMs, maxWaitMs: 0 }
  const flake = new FlakeId({ layout, clock, ...limits })
  for (const [move, calls, elapsed] of steps) {
    tick += move
    part = (tickNs * BigInt(elapsed)) / 100n
    for (let call = 0; call < calls; call++) {
      const expected = model.claim(tick)
      const outcome = outcomeOf(flake)
      assert.deepEqual(outcome, expected, `at tick ${tick} of ${layout.name}, call ${call}`)
      const kind = typeof outcome === 'string' ? outcome : 'made'
      seen[kind] = (seen[kind] ?? 0) + 1
    }
  }
}

function outcomeOf(flake) {
  try {
    const { tick, counter } = flake.decode(flake.nextBigInt())
    return { tick, counter }
  } catch (error) {
    return error.code
  }
}

const moves = fc.oneof(
  fc.bigInt({ min: -3n, max: 3n }),
  fc.bigInt({ min: -120n, max: 120n }),
  fc.constantFrom(0n, -3_600_000n),
)
const walks = fc.record({
  seqBits: fc.integer({ min: 1, max: 4 }),
  maxAheadMs: fc.constantFrom(0, 1, 2, 10, 25, 100, 15_000, Number.POSITIVE_INFINITY),
  start: fc.oneof(fc.bigInt({ min: 0n, max: 900n }), fc.bigInt({ min: -50n, max: -1n })), // negative: from the end
  steps: fc.array(fc.tuple(moves, fc.integer({ min: 1, max: 40 }), fc.nat({ max: 99 })), {
    minLength: 1,
    maxLength: 12,
  }),
})

for (const [number, row] of MODELLED.entries()) {
  test(`as in the model ${number}: ${row[0].name}`, (t) => {
    const seen = {}
    const property = fc.property(walks, (each) => walk(row, each, seen))
    t.notThrows(() => fc.assert(property, { numRuns: 150 })) // some 20 000 calls
    for (const kind of ['made', 'ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_CLOCK_BACKWARDS', 'ERR_FLAKE_TIME_RANGE']) {
      t.true(seen[kind] > 20, `${kind} happened ${seen[kind]} times`)
    }
  })
}
