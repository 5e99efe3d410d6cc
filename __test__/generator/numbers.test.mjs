// IDs as JavaScript numbers: nextNumber() and takeNumbers(). They are the IDs that other calls would give, exact to the
// last digit; where one would not fit, the call throws and takes no number.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import fc from 'fast-check'
import { FlakeId, manualClock, SOME_TIME, throwsCode } from '../support/index.mjs'
import { joined } from '../support/lease.mjs'
import { once } from '../support/waits.mjs'

const { layouts } = FlakeId
const LIMIT = 2n ** 53n
const DAY = 86_400_000
const YEAR = 365.25 * DAY
const NUMBERS = ['safe', 'chronicle-micros']
const at = (now, options) => new FlakeId({ layout: 'safe', clock: () => now, ...options })

/** A layout whose IDs reach 2^53 at this time (Unix ms), in the middle of its own time. */
const until = (end) => ({
  name: 'mine',
  epoch: end - 2 ** 41,
  fields: Object.entries({ zero: 10, timestamp: 42, node: 6, counter: 6 }),
})

const isSafe = (number) => typeof number === 'number' && Number.isSafeInteger(number)
const isRising = (numbers) => numbers.every((number, i) => i === 0 || numbers[i - 1] < number)

// --- the same IDs ---

const calls = fc.array(fc.tuple(fc.constantFrom('one', 'batch'), fc.nat({ max: 100 }), fc.nat({ max: 30 })), {
  maxLength: 20,
})

for (const layout of [...NUMBERS, until(Date.now() + 30 * YEAR)]) {
  test(`they equal the IDs that a twin gives as bigints: ${layout.name ?? layout}`, (t) => {
    const property = fc.property(calls, fc.nat({ max: 60 }), (list, id) => {
      const clock = manualClock()
      const options = { layout, id, clock, maxAheadMs: 10_000 }
      const [flake, twin] = [new FlakeId(options), new FlakeId(options)]
      for (const [kind, n, step] of list) {
        clock.now += step
        const made = kind === 'one' ? [flake.nextNumber()] : flake.takeNumbers(n)
        const expected = kind === 'one' ? [twin.nextBigInt()] : twin.takeBigInts(n)
        t.true(kind === 'one' || made instanceof Float64Array)
        t.true([...made].every(isSafe))
        t.deepEqual([...made].map(BigInt), [...expected])
      }
      t.deepEqual({ ...flake.stats, since: 0 }, { ...twin.stats, since: 0 })
    })
    t.notThrows(() => fc.assert(property))
  })
}

test('one generator gives numbers, bigints, bytes and text in one series', (t) => {
  const flake = at(SOME_TIME, { node: 5 })
  const base = (SOME_TIME - Date.UTC(2020, 0)) * 4096 + 5 * 64
  t.is(flake.nextNumber(), base)
  t.is(flake.nextBigInt(), BigInt(base + 1))
  t.deepEqual([...flake.takeNumbers(2)], [base + 2, base + 3])
  t.is(flake.next().readBigUInt64BE(), BigInt(base + 4))
  t.is(flake.nextString(), String(base + 5))
  t.is(flake.nextNumber(), base + 6)
  t.like(flake.decode(base + 6), { timestamp: SOME_TIME, node: 5, counter: 6 })
})

test('on the real clock, more than fit in a tick, with each suitable layout', (t) => {
  for (const layout of NUMBERS) {
    const flake = new FlakeId({ layout, id: 9 })
    const made = [...Array.from({ length: 300 }, () => flake.nextNumber()), ...flake.takeNumbers(5000)]
    t.true(made.every(isSafe))
    t.true(isRising(made))
    const { timestamp, id } = flake.decode(made[0])
    t.true(Math.abs(timestamp - Date.now()) < 20_000)
    t.is(id, 9)
  }
})

test('takeNumbers: any size, each array with its own memory', (t) => {
  const flake = at(SOME_TIME)
  const all = []
  for (let n = 0; n < 20; n++) {
    const taken = flake.takeNumbers(n)
    t.is(taken.length, n)
    t.is(taken.buffer.byteLength, n * 8)
    all.push(taken)
  }
  t.is(new Set(all.map(({ buffer }) => buffer)).size, 20)
  t.true(isRising(all.flatMap((taken) => [...taken])), 'no array has changed later')
  for (const n of [-1, 1.5, Number.NaN, 2 ** 53, '1x']) {
    t.is(t.throws(() => flake.takeNumbers(n), { code: 'ERR_FLAKE_OPTION' }).option, 'n')
  }
})

// --- unsuitable layouts ---

for (const name of Object.keys(layouts).filter((name) => !NUMBERS.includes(name))) {
  test(`${name} has too many bits: the error names the layout, the date from which on, and the way out`, (t) => {
    const flake = new FlakeId({ layout: name })
    for (const call of [() => flake.nextNumber(), () => flake.takeNumbers(3), () => flake.takeNumbers(0)]) {
      const error = throwsCode(t, call, 'ERR_FLAKE_OPTION', RangeError)
      t.like(error, { option: 'layout', value: name })
      t.regex(error.message, /9007199254740991.*nextBigInt\(\).*'safe'/)
      t.true(error.message.includes(`'${name}'`))
      const [since] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(error.message)
      if (name === 'uniqueid') return t.is(Date.parse(since), flake.epoch) // its bits are reversed
      const maxAt = (ms) => FlakeId.toBigInt(flake.layout.range(new Date(ms)).max)
      t.true(maxAt(Date.parse(since)) >= LIMIT)
      t.true(maxAt(Date.parse(since) - 2) < LIMIT) // the limit may be within the ms before
    }
    t.like(flake.stats, { ids: 0, batches: 0, overflows: 0 })
  })
}

test('the present decides, not an own clock: IDs must fit for the next ten years', (t) => {
  for (const [years, works] of [
    [-1, false],
    [0, false],
    [9.99, false],
    [10.01, true],
    [60, true],
  ]) {
    const end = Math.round(Date.now() + years * YEAR)
    for (const clock of [undefined, () => end - 5 * YEAR, () => end - 60 * YEAR]) {
      const flake = new FlakeId({ layout: until(end), clock })
      if (works) t.true(isSafe(flake.nextNumber()))
      else throwsCode(t, () => flake.nextNumber(), 'ERR_FLAKE_OPTION', RangeError)
      t.is(typeof flake.nextBigInt(), 'bigint')
    }
  }
})

test('all nodes of a layout can, or none can: also if generators of two layouts share their numbers', (t) => {
  const bits = (fields) => ({ epoch: Date.now() - DAY, fields })
  const tail = Object.entries({ timestamp: 41, node: 6, counter: 6 })
  const narrow = bits([['zero', 11], ...tail])
  const wide = bits([['rack', 11], ...tail])
  const make = [() => new FlakeId({ layout: narrow, node: 3 }), () => new FlakeId({ layout: wide, rack: 0, node: 3 })]
  for (const order of [make, make.toReversed()]) {
    const flakes = order.map((each) => each())
    t.is(FlakeId.toBigInt(flakes[0].next()) >> 12n > 0n, true)
    for (const flake of flakes) {
      if (flake.layout.fields[0][0] === 'zero') t.true(isSafe(flake.nextNumber()))
      else throwsCode(t, () => flake.nextNumber(), 'ERR_FLAKE_OPTION', RangeError)
    }
  }
})

// --- where the IDs of a suitable layout no longer fit ---

test('chronicle-micros: the last number in 2255, and then an error that takes no number', (t) => {
  // The core's decimal ticks have 100 µs: the last whole tick before the 9007199254740991st µs.
  const last = 9007199254740800
  const end = new Date(last / 1000 + 0.1)
  const clock = () => BigInt(last) * 1000n
  const [flake, twin] = [0, 1].map(() => new FlakeId({ layout: 'chronicle-micros', host: 99, clock }))
  t.is(flake.nextNumber(), last + 99)
  t.is(twin.nextBigInt(), BigInt(last + 99))
  const before = flake.stats
  for (const call of [() => flake.nextNumber(), () => flake.takeNumbers(1), () => flake.takeNumbers(1000)]) {
    const error = throwsCode(t, call, 'ERR_FLAKE_TIME_RANGE', RangeError)
    t.is(error.timestamp, Math.ceil(last / 1000 + 0.1))
    t.regex(error.message, /'chronicle-micros'.*9007199254740991.*nextBigInt\(\)/)
    t.true(error.message.includes(end.toISOString().slice(0, 19)))
  }
  t.deepEqual(flake.stats, before)
  t.is(flake.nextBigInt(), twin.nextBigInt(), 'as if no number had been requested')
  t.true(flake.nextBigInt() > LIMIT - 1n)
})

test('a batch that reaches the end throws, and no number is rounded or lost silently', (t) => {
  const end = Math.round(Date.now() + 40 * YEAR)
  const flake = new FlakeId({ layout: until(end), clock: () => end - 2, maxAheadMs: 100 })
  throwsCode(t, () => flake.takeNumbers(200), 'ERR_FLAKE_TIME_RANGE', RangeError)
  t.is(flake.stats.ids, 128, 'as with take(), those already generated are lost')
  t.is(flake.nextBigInt(), LIMIT)
})

// --- overflow, waits and steps back, as for other IDs ---

test('overflow, and a clock that steps back', (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ layout: 'safe', clock, maxAheadMs: 1 })
  t.is(flake.takeNumbers(128).length, 128)
  t.is(throwsCode(t, () => flake.nextNumber(), 'ERR_FLAKE_OVERFLOW').retryAfterMs, 1)
  throwsCode(t, () => flake.takeNumbers(1), 'ERR_FLAKE_OVERFLOW')
  clock.now -= 50
  t.is(throwsCode(t, () => flake.nextNumber(), 'ERR_FLAKE_CLOCK_BACKWARDS').behindMs, 51)
  clock.now += 51
  t.like(flake.decode(flake.nextNumber()), { timestamp: SOME_TIME + 2, counter: 0 })
})

test('it waits within maxWaitMs, and then gives the number of the last try', (t) => {
  const clock = () => (clock.left-- > 0 ? SOME_TIME : SOME_TIME + 20)
  clock.left = Number.POSITIVE_INFINITY
  const flake = new FlakeId({ layout: 'safe', clock, maxAheadMs: 0, maxWaitMs: 10_000 })
  flake.takeNumbers(64)
  clock.left = 5
  t.like(flake.decode(flake.nextNumber()), { timestamp: SOME_TIME + 20, counter: 0 })
  t.true(flake.stats.waits > 0)
  clock.left = Number.POSITIVE_INFINITY
})

test('takeNumbers: the time that n IDs need does not count against maxWaitMs', (t) => {
  const flake = new FlakeId({ layout: 'safe', id: 11, maxAheadMs: 0 })
  const taken = flake.takeNumbers(64 * 20)
  t.true(isRising([...taken]))
  t.true(flake.decode(taken.at(-1)).timestamp - flake.decode(taken[0]).timestamp >= 19)
})

test("an own clock's error is thrown, and no number is taken", (t) => {
  let isBroken = true
  const clock = () => {
    if (isBroken) throw new Error('no time')
    return SOME_TIME
  }
  const flake = new FlakeId({ layout: 'safe', clock })
  t.throws(() => flake.nextNumber(), { message: 'no time' })
  isBroken = false
  t.is(flake.decode(flake.nextNumber()).counter, 0)
})

test('an own clock that generates IDs itself does not disturb the number', (t) => {
  const other = at(SOME_TIME + 77, { node: 7 })
  const flake = new FlakeId({ layout: 'safe', node: 1, clock: () => flake.decode(other.nextNumber()).timestamp })
  t.like(flake.decode(flake.nextNumber()), { timestamp: SOME_TIME + 77, node: 1, counter: 0 })
})

// --- threads, files, leases ---

const WORK = `
  const { parentPort, workerData } = require('node:worker_threads')
  const FlakeId = require(workerData)
  const flake = new FlakeId({ layout: 'safe', node: 40 })
  const numbers = []
  for (let i = 0; i < 200; i++) {
    numbers.push(flake.nextNumber(), ...flake.takeNumbers(3), Number(flake.nextBigInt()), ...flake.takeNumbers(70))
  }
  parentPort.postMessage(numbers)
`

test('threads with one node number never generate a number twice', async (t) => {
  const workerData = new URL('../../dist/index.cjs', import.meta.url).pathname
  const run = async () => (await once(new Worker(WORK, { eval: true, workerData }), 'message'))[0]
  const series = await Promise.all([run(), run(), run()])
  for (const numbers of series) t.true(numbers.every(isSafe) && isRising(numbers))
  t.is(new Set(series.flat()).size, 3 * 200 * 75)
})

test('generators on one shared file', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const shared = path.join(folder, 'cursor')
  const flakes = [0, 1].map(() => new FlakeId({ layout: 'safe', node: 2, shared }))
  const made = Array.from({ length: 200 }, (_, i) => flakes[i % 2].nextNumber())
  t.true(isRising(made))
  t.true(made.every(isSafe))
})

test('a lease: 64 slots, numbers by slot, and an error without one', async (t) => {
  const { flake, store, options } = await joined(t, {
    layout: 'safe',
    epoch: Date.UTC(2020, 0, 2),
    maxAheadMs: 1000,
    host: 'a',
  })
  const other = await FlakeId.join(store, { ...options, host: 'b' })
  t.teardown(() => other.close())
  t.is(store.group(options.group ?? 'default').config.slots, 64)
  t.not(flake.slot, other.slot)
  const made = [flake, other].map((each) => [each.nextNumber(), ...each.takeNumbers(100)])
  for (const [i, { slot }] of [flake, other].entries()) {
    t.true(made[i].every((number) => isSafe(number) && flake.decode(number).node === slot))
  }
  t.is(new Set(made.flat()).size, 202)
  await other.detach()
  for (const call of [() => other.nextNumber(), () => other.takeNumbers(2)]) throwsCode(t, call, 'ERR_FLAKE_DETACHED')
  await other.attach()
  t.true(other.nextNumber() > made[1].at(-1) || other.slot !== flake.slot)
  const plain = await joined(t)
  throwsCode(t, () => plain.flake.nextNumber(), 'ERR_FLAKE_OPTION', RangeError)
})
