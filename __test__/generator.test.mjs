// The generator itself: what its calls give and how they agree, what overflow, a clock step and the ends of time do,
// and that no two generators ever make the same ID. Real time only where it is the subject; elsewhere an own clock.

import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import fc from 'fast-check'
import {
  called,
  FlakeId,
  freshNode,
  hexOf,
  isAscending,
  manualClock,
  numberOf,
  SOME_TIME,
  throwsCode,
  turn,
  useUp,
} from './support.mjs'

const { format } = FlakeId
const BASES = ['dec', 'hex', 'bin', 'oct', 'base32']
const PER_TICK = 4096
const LAST_TICK = 2 ** 42 - 1
const MANY = 200_000
const PATIENT = { maxWaitMs: 10_000 } // a synchronous call that waits for the next tick instead of throwing

const fixed = (options = {}) => new FlakeId({ clock: () => SOME_TIME, ...options })
const real = (options = {}) => new FlakeId({ id: freshNode(), ...options })

/** The IDs of `take(n)` or `takeBigInts(n)`, one by one. */
const split = (ids) =>
  ids instanceof BigUint64Array
    ? [...ids]
    : Array.from({ length: ids.length / 8 }, (_, i) => ids.subarray(i * 8, i * 8 + 8))

/** n outcomes of `call`: IDs as bigints, errors as their codes. */
function outcomes(n, call) {
  return Array.from({ length: n }, () => {
    try {
      return numberOf(call())
    } catch (error) {
      return error.code
    }
  })
}

// --- what comes back ---

const oneBuffer = {
  next: (flake) => flake.next(),
  'next(callback)': called,
  nextAsync: (flake) => flake.nextAsync(),
  iterator: (flake) => flake[Symbol.iterator]().next().value,
  asyncIterator: async (flake) => (await flake[Symbol.asyncIterator]().next()).value,
}

for (const [name, call] of Object.entries(oneBuffer)) {
  test(`${name}: a Buffer in an 8-byte ArrayBuffer of its own`, async (t) => {
    const flake = real(PATIENT)
    const [first, second] = [await call(flake), await call(flake)]
    for (const id of [first, second]) {
      t.true(Buffer.isBuffer(id))
      t.is(Object.getPrototypeOf(id), Buffer.prototype)
      t.is(id.length, 8)
      t.is(id.byteOffset, 0)
      t.is(id.buffer.byteLength, 8)
      t.is(new BigInt64Array(id.buffer).length, 1)
    }
    t.not(first.buffer, second.buffer)
    const before = hexOf(second)
    first.fill(0)
    flake.next()
    t.is(hexOf(second), before, 'neither another ID nor a later call changes it')
  })
}

test('take: a Buffer with an ArrayBuffer of its own, takeBigInts: a BigUint64Array', async (t) => {
  for (const ids of [fixed().take(5), await fixed().takeAsync(5)]) {
    t.true(Buffer.isBuffer(ids))
    t.deepEqual([ids.length, ids.byteOffset, ids.buffer.byteLength], [40, 0, 40])
  }
  const numbers = fixed().takeBigInts(5)
  t.true(numbers instanceof BigUint64Array)
  t.deepEqual([numbers.length, numbers.byteOffset, numbers.buffer.byteLength], [5, 0, 40])
})

// --- the ways to get an ID agree ---

/** n IDs of a generator in each call style. */
const styles = {
  next: (flake, n) => Array.from({ length: n }, () => flake.next()),
  nextBigInt: (flake, n) => Array.from({ length: n }, () => flake.nextBigInt()),
  take: (flake, n) => split(flake.take(n)),
  takeBigInts: (flake, n) => split(flake.takeBigInts(n)),
  takeAsync: async (flake, n) => split(await flake.takeAsync(n)),
  iterator: (flake, n) => {
    const ids = []
    for (const id of flake) if (ids.push(id) === n) return ids
  },
  asyncIterator: async (flake, n) => {
    const ids = []
    for await (const id of flake) if (ids.push(id) === n) return ids
  },
  nextAsync: async (flake, n) => {
    const ids = []
    while (ids.length < n) ids.push(await flake.nextAsync())
    return ids
  },
  'next(callback)': (flake, n) => Promise.all(Array.from({ length: n }, () => called(flake))),
  ...Object.fromEntries(
    BASES.map((base) => [
      `nextString('${base}')`,
      (flake, n) => Array.from({ length: n }, () => FlakeId.toBigInt(FlakeId.parse(flake.nextString(base), base))),
    ]),
  ),
  'nextString()': (flake, n) => Array.from({ length: n }, () => BigInt(flake.nextString())),
}

for (const [name, idsOf] of Object.entries(styles)) {
  test(`${name}: the IDs of a fixed clock, to the last of the tick`, async (t) => {
    const ids = await idsOf(fixed({ datacenter: 9, worker: 7 }), PER_TICK)
    const start = (BigInt(SOME_TIME) << 22n) | (9n << 17n) | (7n << 12n)
    t.is(ids.length, PER_TICK)
    t.true(ids.every((id, i) => numberOf(id) === start + BigInt(i)))
  })

  test(`${name}: ${MANY} IDs of the real clock, in order, none twice`, async (t) => {
    const flake = real(PATIENT)
    const before = Date.now()
    const ids = await idsOf(flake, MANY)
    const after = Date.now()
    t.is(ids.length, MANY)
    t.true(isAscending(ids))
    for (const id of [ids[0], ids.at(-1)]) {
      const { tick, id: node } = flake.decode(id)
      t.is(node, flake.id)
      t.true(tick >= before && tick <= after)
    }
  })
}

test('the call styles of one generator go on from one another', async (t) => {
  const flake = fixed()
  const ids = []
  for (const idsOf of Object.values(styles)) ids.push(...(await idsOf(flake, 3)))
  t.deepEqual(
    ids.map((id) => flake.decode(numberOf(id)).counter),
    ids.map((_, i) => i),
  )
})

test('decode is the inverse: time, counter and node number', (t) => {
  const nodes = fc.record({ datacenter: fc.nat({ max: 31 }), worker: fc.nat({ max: 31 }) })
  const ticks = fc.integer({ min: 0, max: LAST_TICK })
  const epochs = fc.integer({ min: -1e12, max: SOME_TIME })
  const property = fc.property(nodes, ticks, epochs, (node, tick, epoch) => {
    const flake = new FlakeId({ ...node, epoch, clock: () => epoch + tick })
    for (const counter of [0, 1, 2]) {
      const parts = flake.decode(flake.next())
      t.assert(parts.timestamp === epoch + tick && parts.date.getTime() === epoch + tick)
      t.assert(parts.tick === BigInt(tick) && parts.counter === counter)
      t.assert(parts.datacenter === node.datacenter && parts.worker === node.worker && parts.id === flake.id)
    }
  })
  t.notThrows(() => fc.assert(property, { numRuns: 2000 }))
})

test('the layout says what the bits mean, and until when they suffice', (t) => {
  const { layout } = new FlakeId()
  t.like(layout, { name: 'flake', epoch: 0 })
  t.deepEqual(layout.fields, [
    ['timestamp', 42],
    ['datacenter', 5],
    ['worker', 5],
    ['counter', 12],
  ])
  t.is(layout.end.getTime(), 2 ** 42)
  t.is(layout.signedEnd.getTime(), 2 ** 41)
  const later = new FlakeId({ epoch: 1e12 }).layout
  t.is(later.end.getTime(), 1e12 + 2 ** 42)
  t.is(later.signedEnd.getTime(), 1e12 + 2 ** 41)
})

// --- a failed call ---

const syncCalls = {
  next: (flake) => flake.next(),
  nextBigInt: (flake) => flake.nextBigInt(),
  nextString: (flake) => flake.nextString(),
  iterator: (flake) => flake[Symbol.iterator]().next().value,
}

for (const [name, call] of Object.entries(syncCalls)) {
  test(`${name}: overflow and a clock step throw, and take no number`, (t) => {
    const clock = manualClock()
    const flake = new FlakeId({ clock, seqMask: 7 })
    for (let i = 0; i < 8; i++) call(flake)
    for (let i = 0; i < 3; i++) {
      const { retryAfterMs } = throwsCode(t, () => call(flake), 'ERR_FLAKE_OVERFLOW')
      t.is(retryAfterMs, 1)
    }
    clock.now -= 5
    for (let i = 0; i < 3; i++) {
      const { behindMs, retryAfterMs } = throwsCode(t, () => call(flake), 'ERR_FLAKE_CLOCK_BACKWARDS')
      t.is(behindMs, 5)
      t.true(retryAfterMs >= 5)
    }
    clock.now = SOME_TIME + 1
    t.like(flake.decode(flake.next()), { timestamp: SOME_TIME + 1, counter: 0 })
    clock.now = SOME_TIME
    throwsCode(t, () => call(flake), 'ERR_FLAKE_CLOCK_BACKWARDS')
    clock.now = SOME_TIME + 1
    t.is(flake.decode(flake.next()).counter, 1)
  })

  test(`${name}: a clock that throws takes no number`, (t) => {
    const clock = manualClock()
    const flake = new FlakeId({ clock: () => clock() })
    const failure = new Error('no time')
    flake.next()
    clock.now = undefined
    throwsCode(t, () => call(flake), 'ERR_FLAKE_OPTION', TypeError)
    const throwing = new FlakeId({
      clock: () => {
        throw failure
      },
    })
    t.is(
      t.throws(() => call(throwing)),
      failure,
    )
    t.is(throwing.stats.ids, 0)
    clock.now = SOME_TIME
    t.is(flake.decode(flake.next()).counter, 1)
  })
}

test('messages name the values and the way out', (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock, seqMask: 7 })
  useUp(flake)
  t.regex(t.throws(() => flake.next()).message, /\b8 IDs\b.*maxWaitMs/)
  clock.now -= 1234
  t.regex(t.throws(() => flake.next()).message, /\b1230 ms\b|\b1234 ms\b/)
  clock.now = -5
  t.regex(t.throws(() => flake.next()).message, /1969-12-31T23:59:59\.995Z.*epoch/)
})

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

/** Puts the cursor of a node so many ms ahead of the real clock. */
function putAhead(id, ms) {
  new FlakeId({ id, seqMask: 1, maxAheadMs: Number.POSITIVE_INFINITY }).takeBigInts(ms * 2)
}

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

// --- take ---

test('take: across ticks of the real clock, whatever the size', (t) => {
  const flake = real()
  const ids = [1, 4095, 4096, 4097, 8192, 10_000, 20_001, 3].flatMap((n) => {
    const taken = [...flake.takeBigInts(n)]
    t.is(taken.length, n)
    return taken
  })
  t.true(isAscending(ids))
})

test('take: a thread that is held up between two steps is no reason to throw', (t) => {
  const now = performance.now
  const heldUp = () => {
    const until = now.call(performance) + 2
    while (now.call(performance) < until);
    return now.call(performance)
  }
  const flake = real()
  t.teardown(() => {
    performance.now = now
  })
  performance.now = heldUp // any statement may take 2 ms, when another process runs
  for (let i = 0; i < 10; i++) t.is(flake.take(PER_TICK + 1).length, (PER_TICK + 1) * 8)
})

test('take: larger than a tick, with an own clock that moves on each time it is asked', async (t) => {
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
    t.notThrows(() => flake.take(n), 'as long as n IDs need is not held against maxWaitMs')
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

test('take: with a smaller seqMask', (t) => {
  const ids = [...real({ seqMask: 7 }).takeBigInts(100)]
  t.true(isAscending(ids))
  t.true(ids.every((id) => (id & 4095n) <= 7n))
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

// --- an own clock ---

test('a clock may give a bigint of Unix ns', (t) => {
  const ms = (time, epoch = 0) => {
    const flake = new FlakeId({ epoch, clock: () => time })
    return flake.decode(flake.next()).timestamp
  }
  t.is(ms(BigInt(SOME_TIME) * 1_000_000n), SOME_TIME)
  t.is(ms(BigInt(SOME_TIME) * 1_000_000n + 999_999n), SOME_TIME)
  t.is(ms(0n), 0)
  t.is(ms(-1n, -10), -1, 'the ms in which it lies, before 1970 too')
  t.is(ms(-1_000_000n, -10), -1)
  t.is(ms(-1_000_001n, -10), -2)
  t.throws(() => ms(-1n), { code: 'ERR_FLAKE_TIME_RANGE' })
})

test('a fraction of a ms belongs to the ms in which it lies', (t) => {
  for (const now of [5.5, 5.000001, 5.999, 5.9999999, SOME_TIME + 0.5, SOME_TIME + 0.99, 0.1, -0.5, -9.25]) {
    const flake = new FlakeId({ epoch: -10, clock: () => now })
    t.is(flake.decode(flake.next()).timestamp, Math.floor(now), String(now))
  }
})

for (const [value, Type] of [
  [Number.NaN, RangeError],
  [Number.POSITIVE_INFINITY, RangeError],
  [Number.NEGATIVE_INFINITY, RangeError],
  [undefined, TypeError],
  [null, TypeError],
  ['5', TypeError],
  [true, TypeError],
  [{}, TypeError],
  [new Date(5), TypeError],
]) {
  test(`a clock that returns ${typeof value} ${String(value)} is an error`, async (t) => {
    const clock = manualClock()
    const flake = new FlakeId({ clock })
    clock.now = value
    for (const call of [...Object.values(syncCalls), (flake) => flake.take(1)]) {
      const error = throwsCode(t, () => call(flake), 'ERR_FLAKE_OPTION', Type)
      t.is(error.option, 'clock')
      t.is(error.value, value)
    }
    await t.throwsAsync(() => flake.nextAsync(), { code: 'ERR_FLAKE_OPTION' })
    await t.throwsAsync(() => flake.takeAsync(1), { code: 'ERR_FLAKE_OPTION' })
    clock.now = SOME_TIME
    t.is(flake.decode(flake.next()).counter, 0)
  })
}

/** A generator whose clock does something of its own, once for each time it is asked from outside. */
function busyClock(options, act) {
  let busy = false
  const time = manualClock()
  const flake = new FlakeId({
    ...options,
    clock: () => {
      if (!busy) {
        busy = true
        try {
          act(flake, time)
        } finally {
          busy = false
        }
      }
      return time()
    },
  })
  return { flake, time }
}

/** What a clock may do meanwhile, each of which leaves its own traces in what the addon shares. */
const meanwhile = {
  'makes IDs of the same generator': (flake, made) => made.push(flake.next(), flake.nextBigInt()),
  'makes texts of the same generator': (flake, made) =>
    made.push(BigInt(flake.nextString()), BigInt(`0x${flake.nextString('hex')}`)),
  'takes from the same generator': (flake, made) => made.push(...split(flake.take(3)), ...flake.takeBigInts(2)),
  'makes IDs of another': () => other.next(),
  'formats something': () => BASES.map((base) => format(Buffer.alloc(8, 0xee), base)),
  'fails elsewhere': () => failsQuietly(() => stuck.next()),
}
const other = new FlakeId({
  id: 1000,
  clock: () => SOME_TIME,
  maxAheadMs: Number.POSITIVE_INFINITY,
})
const stuck = new FlakeId({ id: 1001, clock: () => -12345 })

function failsQuietly(call) {
  try {
    call()
  } catch {
    return
  }
  throw new Error('it should have failed')
}

for (const [name, act] of Object.entries(meanwhile)) {
  for (const base of BASES) {
    test(`a clock that ${name} corrupts nothing: nextString('${base}')`, (t) => {
      const made = []
      const { flake } = busyClock({ id: 5 }, (flake) => act(flake, made))
      const texts = []
      for (let i = 0; i < 100; i++) {
        texts.push(flake.nextString(base))
        made.push(FlakeId.parse(texts.at(-1), base))
      }
      t.true(isAscending(made))
      t.true(made.every((id) => flake.decode(numberOf(id)).id === 5))
      t.true(texts.every((text) => format(FlakeId.parse(text, base), base) === text))
    })
  }

  test(`a clock that ${name} corrupts nothing: next, nextBigInt, take`, (t) => {
    const made = []
    const { flake } = busyClock({ id: 5 }, (flake) => act(flake, made))
    for (let i = 0; i < 100; i++) {
      made.push(flake.next())
      made.push(flake.nextBigInt())
      made.push(...split(flake.take(3)))
      made.push(...flake.takeBigInts(3))
    }
    t.true(isAscending(made))
    t.true(made.every((id) => flake.decode(numberOf(id)).id === 5))
  })

  test(`a clock that ${name} corrupts nothing: waiting and failing`, (t) => {
    const made = []
    let asked = 0
    const { flake, time } = busyClock({ id: 5, seqMask: 7, ...PATIENT }, (flake, time) => {
      if (++asked % 16 > 0) return // so that ticks are used up, and the clock acts while a call waits
      time.now += 1
      act(flake, made)
    })
    for (let i = 0; i < 30; i++) {
      const text = flake.nextString('base32')
      made.push(FlakeId.parse(text, 'base32'))
      const id = flake.next()
      made.push(id)
    }
    t.true(flake.stats.waits > 0)
    t.true(isAscending(made))
    time.now = -999_999
    const error = throwsCode(t, () => flake.next(), 'ERR_FLAKE_TIME_RANGE', RangeError)
    t.is(error.timestamp, time.now)
  })
}

test('the errors of one generator say nothing of another whose clock was asked meanwhile', (t) => {
  const { flake, time } = busyClock({}, () => failsQuietly(() => stuck.next()))
  flake.next()
  time.now -= 77
  t.is(throwsCode(t, () => flake.next(), 'ERR_FLAKE_CLOCK_BACKWARDS').behindMs, 77)
})

test('a clock is not asked before the first ID', (t) => {
  let asked = 0
  const flake = new FlakeId({ clock: () => ++asked })
  t.is(asked, 0)
  flake.next()
  t.is(asked, 1)
})

test('a generator with its own clock shares its numbers with no other', (t) => {
  const [a, b] = [fixed({ id: 3 }), fixed({ id: 3 })]
  t.deepEqual(a.next(), b.next())
  t.is(a.stats.ids, 1)
})

// --- stats ---

test('stats count IDs, batches, overflows and clock steps', (t) => {
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
  useUp(flake)
  t.like(flake.stats, { ids: 16, batches: 2, overflows: 1 })
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

test('stats: aheadMs falls as the real clock goes on', (t) => {
  const id = freshNode()
  putAhead(id, 100_000)
  const { aheadMs } = new FlakeId({ id }).stats
  t.true(aheadMs > 0 && aheadMs <= 100_000)
})

test('stats belong to the generators that are alike, and to them only', (t) => {
  const id = freshNode()
  const [a, b] = [new FlakeId({ id }), new FlakeId({ datacenter: id >> 5, worker: id & 31 })]
  const others = [{ seqMask: 1023 }, { maxAheadMs: 5 }, { epoch: 5 }].map((more) => new FlakeId({ id, ...more }))
  a.take(3)
  b.take(4)
  t.like(a.stats, { ids: 7, batches: 2 })
  t.deepEqual(a.stats.ids, b.stats.ids)
  for (const other of others) t.is(other.stats.ids, 0)
})

// --- who shares a cursor ---

/** Makes `n` IDs, each with the generator whose turn it is. */
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

test('seqMask, maxAheadMs and maxWaitMs do not part the cursor', (t) => {
  const id = freshNode()
  const some = [{ seqMask: 4095 }, { seqMask: 1 }, { seqMask: 255 }, { maxAheadMs: 2 }, { maxWaitMs: 9999 }]
  const ids = inTurn(
    some.map((options) => new FlakeId({ id, ...PATIENT, ...options })),
    5000,
  )
  t.true(isAscending(ids))
})

test('another epoch and another node have cursors of their own', (t) => {
  const id = freshNode()
  putAhead(id, 60_000)
  throwsCode(t, () => new FlakeId({ id }).next(), 'ERR_FLAKE_CLOCK_BACKWARDS')
  throwsCode(t, () => new FlakeId({ id, seqMask: 255 }).next(), 'ERR_FLAKE_CLOCK_BACKWARDS')
  t.notThrows(() => new FlakeId({ id, epoch: 1 }).next())
  t.notThrows(() => new FlakeId({ id: freshNode() }).next())
})

test('a generator for each ID never collides', (t) => {
  const id = freshNode()
  const ids = Array.from({ length: 100_000 }, () => new FlakeId({ id, ...PATIENT }).nextBigInt())
  t.true(isAscending(ids))
})

test('a generator for each ID never collides, when they are collected in between', async (t) => {
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

test('a generator that is used on is not hurt by others that were collected', async (t) => {
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
