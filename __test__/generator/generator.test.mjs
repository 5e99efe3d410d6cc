// The results of a generator's calls, how they agree with one another, and what a failed call leaves behind. Real time
// only where it is the subject; elsewhere an own clock.

import test from 'ava'
import fc from 'fast-check'
import {
  BASES,
  called,
  FlakeId,
  fixed,
  hexOf,
  isAscending,
  LAST_TICK,
  manualClock,
  numberOf,
  PATIENT,
  PER_TICK,
  real,
  SOME_TIME,
  split,
  syncCalls,
  throwsCode,
  useUp,
} from '../support/index.mjs'

const MANY = 200_000

// --- results ---

const oneBuffer = {
  next: (flake) => flake.next(),
  'next(callback)': called,
  nextAsync: (flake) => flake.nextAsync(),
  asyncIterator: async (flake) => (await flake[Symbol.asyncIterator]().next()).value,
}

for (const [name, call] of Object.entries(oneBuffer)) {
  test(`${name}: a Buffer in a separate 8-byte ArrayBuffer`, async (t) => {
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

test('take: a Buffer with a separate ArrayBuffer, takeBigInts: a BigUint64Array', async (t) => {
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

test('a generator is not iterable: code that spreads or compares its arguments must not generate IDs', (t) => {
  const flake = fixed()
  t.throws(() => [...flake], { instanceOf: TypeError })
  t.deepEqual(flake, fixed())
  t.is(flake.stats.ids, 0)
})

test('retryAfterMs is rounded up: waiting that long is always enough', (t) => {
  const clock = manualClock(BigInt(SOME_TIME) * 1_000_000n + 400_000n)
  const flake = new FlakeId({ clock })
  flake.next()
  clock.now -= 2_000_000n
  t.is(throwsCode(t, () => flake.next(), 'ERR_FLAKE_CLOCK_BACKWARDS').retryAfterMs, 2)
  clock.now += 2_000_000n
  useUp(flake)
  t.is(throwsCode(t, () => flake.next(), 'ERR_FLAKE_OVERFLOW').retryAfterMs, 1)
})

test('the call styles of one generator continue from one another', async (t) => {
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

test('the layout tells the meaning of the bits, and how long they suffice', (t) => {
  const { layout } = new FlakeId()
  t.like(layout, { name: 'flake', epoch: 0 })
  t.deepEqual(layout.fields, Object.entries({ timestamp: 42, datacenter: 5, worker: 5, counter: 12 }))
  t.is(layout.end.getTime(), 2 ** 42)
  t.is(layout.signedEnd.getTime(), 2 ** 41)
  const later = new FlakeId({ epoch: 1e12 }).layout
  t.is(later.end.getTime(), 1e12 + 2 ** 42)
  t.is(later.signedEnd.getTime(), 1e12 + 2 ** 41)
})

// --- a failed call ---

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
