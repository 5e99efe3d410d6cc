// Waiting calls and time: the one timer, the life of the process, clocks that step, stop or fail, and the promises and
// iterators over such calls. Anything that ends or outlives a process runs in a child process.

import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import {
  allWell,
  called,
  FlakeId,
  freshNode,
  HOUR,
  inOrder,
  isAscending,
  jsonOfChild,
  manualClock,
  real,
  runChild,
  SOME_TIME,
  submit,
  turn,
  turnOnUntil,
  until,
  useUp,
} from '../support/index.mjs'

// --- timers and the life of the process ---

const COUNTED = ['--require', path.join(import.meta.dirname, '..', 'workers', 'armed.cjs')]

const TIMERS = `
  const { armed } = timerCounts
  let done = 0
  const each = () => { done++ }
  process.on('exit', () => console.log(JSON.stringify({ done, most: timerCounts.most, first, left: armed.size })))
`

const CROWDS = {
  '100 000 outstanding calls, on an own clock that is behind': [
    `let polls = 0
    const flake = new FlakeId({ clock: () => 1e12 + polls++ })
    flake.next()
    polls = -3000
    for (let i = 0; i < 100_000; i++) flake.next(each)
    const first = armed.size
    polls = 1`,
    100_000,
  ],
  '100 000 outstanding calls, on the real clock': [
    `const flake = new FlakeId({ seqMask: 2047 })
    for (let i = 0; i < 100_000; i++) flake.next(each)
    const first = armed.size`,
    100_000,
  ],
  'many generators that wait': [
    `for (let id = 0; id < 200; id++) {
      const flake = new FlakeId({ id, seqMask: 1 })
      for (let i = 0; i < 50; i++) flake.next(each)
    }
    const first = armed.size`,
    10_000,
  ],
}

for (const [what, [source, done]] of Object.entries(CROWDS)) {
  test(`one timer for ${what}`, async (t) => {
    t.deepEqual(await jsonOfChild(t, `${TIMERS}${source}`, COUNTED), { done, most: 1, first: 1, left: 0 })
  })
}

test('the process stays alive while a call waits, and exits when none does', async (t) => {
  const { code, stdout } = await runChild(`
    const clock = () => clock.now
    clock.now = 1e12
    const flake = new FlakeId({ clock })
    flake.take(4096)
    flake.next(() => console.log('served'))
    flake.nextAsync().then(() => console.log('served too'))
    setTimeout(() => { clock.now += 1 }, 300).unref() // only the waiting calls keep the process alive`)
  t.is(stdout, 'served\nserved too\n')
  t.is(code, 0)
})

test('a generator without waiting calls does not keep the process alive', async (t) => {
  const { code, signal, stdout } = await runChild(`
    const flake = new FlakeId({ seqMask: 1 })
    for (let i = 0; i < 20; i++) flake.next((error, id) => console.log(id.length))
    for (let i = 0; i < 100; i++) new FlakeId({ id: i }).next()`)
  t.deepEqual({ code, signal }, { code: 0, signal: null })
  t.is(stdout, '8\n'.repeat(20))
})

// --- clocks ---

test('a clock that was an hour behind and is corrected: the callbacks get their IDs', async (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock })
  const first = flake.next()
  clock.now -= HOUR
  const record = []
  submit(flake, 100, record)
  const promise = flake.nextAsync()
  await sleep(50)
  t.is(record.length, 0)
  clock.now += HOUR
  await until(record, 100)
  t.true(inOrder(record) && allWell(record))
  t.true(isAscending([first, ...record.map(({ id }) => id), await promise]))
})

test('a cursor that is ahead of the real clock: the callbacks wait for it', async (t) => {
  const id = freshNode()
  const ahead = new FlakeId({ id, seqMask: 1, maxAheadMs: Number.POSITIVE_INFINITY }).takeBigInts(4000)
  const flake = new FlakeId({ id })
  const record = []
  submit(flake, 10, record)
  await turn()
  t.is(record.length, 0)
  await until(record, 10)
  t.true(isAscending([ahead.at(-1), ...record.map((entry) => entry.id)]))
})

test('a blocked generator does not delay another', async (t) => {
  const clock = manualClock()
  const blocked = new FlakeId({ clock })
  useUp(blocked)
  const [behind, free] = [[], []]
  submit(blocked, 5, behind)
  submit(real({ seqMask: 7 }), 500, free)
  await until(free, 500)
  t.true(inOrder(free) && allWell(free))
  t.is(behind.length, 0)
  clock.now += 1
  await until(behind, 5)
  t.true(inOrder(behind) && allWell(behind))
})

test('a generator that waits long does not delay another on the real clock', async (t) => {
  const { order } = await jsonOfChild(
    t,
    `const order = []
    new FlakeId({ id: 1, seqMask: 1, maxAheadMs: Infinity }).take(2 * 900)
    new FlakeId({ id: 1 }).next(() => order.push('far'))
    const flake = new FlakeId({ id: 2, seqMask: 1 })
    let done = 0
    for (let i = 0; i < 6; i++) flake.next(() => { if (++done === 6) order.push('near') })
    process.on('exit', () => console.log(JSON.stringify({ order })))`,
  )
  t.deepEqual(order, ['near', 'far'])
})

// --- errors ---

const THROW = Symbol('what makes the clock of a test throw')

const outOfRange = { code: 'ERR_FLAKE_TIME_RANGE', instanceOf: RangeError }

test('where waiting does not help, the callback gets the error, asynchronously', async (t) => {
  for (const time of [-1, 2 ** 42]) {
    const flake = new FlakeId({ clock: () => time })
    const record = []
    t.is(
      flake.next((...args) => record.push(args)),
      undefined,
    )
    t.is(record.length, 0)
    await turn()
    t.is(record.length, 1)
    const [error, id] = record[0]
    t.true(error instanceof RangeError)
    t.is(error.code, 'ERR_FLAKE_TIME_RANGE')
    t.is(error.timestamp, time)
    t.is(id, undefined)
    await t.throwsAsync(() => flake.nextAsync(), outOfRange)
    await t.throwsAsync(() => flake.takeAsync(3), outOfRange)
    await t.throwsAsync(async () => {
      for await (const _ of flake) t.fail()
    }, outOfRange)
  }
})

test('a clock that throws: the callback gets the error itself', async (t) => {
  const failure = new Error('no time')
  const flake = new FlakeId({
    clock: () => {
      throw failure
    },
  })
  t.is(await new Promise((resolve) => flake.next(resolve)), failure)
  t.is(await t.throwsAsync(() => flake.nextAsync()), failure)
  t.is(await t.throwsAsync(() => flake.takeAsync(2)), failure)
})

test('a clock that throws undefined fails the calls too', async (t) => {
  const flake = new FlakeId({
    clock: () => {
      throw undefined
    },
  })
  const rejected = (promise) =>
    promise.then(
      () => 'an ID',
      (error) => error,
    )
  t.is(await rejected(flake.nextAsync()), undefined)
  t.is(await rejected(flake.takeAsync(2)), undefined)
  t.is(await rejected(flake.nextAsync({})), undefined)
  t.is(await rejected(flake[Symbol.asyncIterator]().next()), undefined)
})

for (const [name, change, expected] of [
  ['throws', () => THROW, { message: 'no time' }],
  ['leaves the range', () => -1, outOfRange],
  ['returns no time', () => 'x', { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError }],
]) {
  test(`a clock that ${name} while calls wait: they get the error, in order, and later calls continue`, async (t) => {
    const clock = manualClock()
    const time = () => {
      if (clock.now === THROW) throw new Error('no time')
      return clock.now
    }
    const flake = new FlakeId({ clock: time })
    useUp(flake)
    const record = []
    submit(flake, 5, record)
    const promises = [flake.nextAsync(), flake.takeAsync(3)]
    await sleep(10)
    t.is(record.length, 0)
    clock.now = change()
    for (const promise of promises) await t.throwsAsync(promise, expected)
    t.is(record.length, 5)
    t.true(inOrder(record))
    t.true(record.every(({ error, id }) => error instanceof Error && id === undefined))
    clock.now = SOME_TIME + 1
    t.is(flake.decode(await called(flake)).counter, 0)
  })
}

test('the error of one waiting call does not take the ID of the next', async (t) => {
  const clock = manualClock()
  let failures = 0
  const flake = new FlakeId({
    seqMask: 1,
    clock: () => {
      if (failures > 0) {
        failures--
        throw new Error('once')
      }
      return clock.now
    },
  })
  useUp(flake)
  const record = []
  submit(flake, 3, record)
  clock.now += 1
  failures = 1
  await until(record, 3)
  t.true(inOrder(record))
  t.is(record[0].error.message, 'once')
  t.deepEqual(
    record.slice(1).map(({ id }) => flake.decode(id).counter),
    [0, 1],
  )
})

// --- promises and iteration ---

test('takeAsync waits for as many ticks as it needs, and does not block', async (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock, seqMask: 7 })
  const promise = flake.takeAsync(20)
  t.is(await Promise.race([promise, sleep(20)]), undefined, 'it waits as long as the clock does not move')
  const ids = await turnOnUntil(clock, promise)
  t.is(ids.length, 160)
  t.deepEqual(
    Array.from({ length: 20 }, (_, i) => flake.decode(ids.subarray(i * 8, i * 8 + 8)).counter),
    Array.from({ length: 20 }, (_, i) => i % 8),
  )
})

test('takeAsync on the real clock, in sequence and in parallel', async (t) => {
  const flake = real()
  const batches = await Promise.all([10_000, 1, 0, 5000, 4096].map((n) => flake.takeAsync(n)))
  t.deepEqual(
    batches.map((batch) => batch.length / 8),
    [10_000, 1, 0, 5000, 4096],
  )
  const ids = Buffer.concat(batches)
  t.true(isAscending(Array.from({ length: ids.length / 8 }, (_, i) => ids.subarray(i * 8, i * 8 + 8))))
})

test('for await continues over overflow, and ends with break', async (t) => {
  const ids = []
  for await (const id of real({ seqMask: 63 })) if (ids.push(id) === 2000) break
  t.is(ids.length, 2000)
  t.true(isAscending(ids))
})

// --- a clock that waits itself ---

// In a child process, because errors here happen in a timer.
const NESTING = `
  let now = 1e12
  let more = 0
  const calls = []
  const ask = () => {
    const i = calls.push(0) - 1
    flake.next((error) => { calls[i] += error ? 1000 : 1 })
  }
  const flake = new FlakeId({
    clock: () => {
      const n = more
      more = 0
      for (let i = 0; i < n; i++) ask()
      return now
    },
  })
  flake.take(4096)
  process.on('exit', () => console.log(JSON.stringify(calls)))
`

test('a clock that calls next(callback) of the same generator loses no callback: at the first call', async (t) => {
  const calls = await jsonOfChild(
    t,
    `${NESTING}
    more = 1
    ask()
    now += 1`,
  )
  t.deepEqual(calls, [1, 1])
})

test('a clock that calls next(callback) of the same generator loses none and calls none twice: while waiting', async (t) => {
  const calls = await jsonOfChild(
    t,
    `${NESTING}
    for (let i = 0; i < 10; i++) ask()
    more = 300
    now += 1`,
  )
  t.is(calls.length, 310)
  t.true(calls.every((n) => n === 1))
})
