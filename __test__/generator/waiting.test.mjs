// Waiting calls: next(callback), nextAsync, takeAsync and async iteration. Callbacks run later, in the order of the
// calls, once each, in the async context of the call, whatever overflow, clocks and other callbacks do. Anything that
// ends or outlives a process runs in a child process.

import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import {
  allWell,
  called,
  FlakeId,
  inOrder,
  isAscending,
  jsonOfChild,
  manualClock,
  OUTSTANDING,
  PER_TICK,
  real,
  runChild,
  submit,
  turn,
  turnOnUntil,
  until,
  useUp,
} from '../support/index.mjs'

// --- when, in which order, how often ---

// Serial, because callbacks of other tests may have used up the time of this turn of the event loop.
test.serial('a callback runs on process.nextTick, in its turn: before promises, timers and immediates', async (t) => {
  const order = []
  await new Promise((resolve) => {
    // Outside the promise that runs this test: inside, promises come before process.nextTick.
    setImmediate(() => {
      const flake = real()
      queueMicrotask(() => order.push('promise'))
      setImmediate(() => resolve(order.push('immediate')))
      process.nextTick(() => order.push('tick before'))
      flake.next(() => order.push('callback'))
      process.nextTick(() => order.push('tick after'))
      order.push('end of the call')
    })
  })
  t.deepEqual(order, ['end of the call', 'tick before', 'callback', 'tick after', 'promise', 'immediate'])
})

for (const seqMask of [4095, 1023, 63]) {
  test(`${OUTSTANDING} outstanding: in order, each once, across overflow; seqMask ${seqMask}`, async (t) => {
    const flake = real({ seqMask })
    const record = []
    submit(flake, OUTSTANDING, record)
    t.is(record.length, 0, 'none was called synchronously')
    await until(record, OUTSTANDING)
    await sleep(20) // time for a callback that comes twice
    t.is(record.length, OUTSTANDING)
    t.true(inOrder(record))
    t.true(allWell(record))
    t.true(isAscending(record.map(({ id }) => id)))
  })
}

test('waiting calls are served in order when the clock advances', async (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock, seqMask: 7 })
  const record = []
  submit(flake, 50, record)
  await until(record, 8)
  await sleep(20)
  t.is(record.length, 8, 'and not before')
  for (let ticks = 2; ticks <= 7; ticks++) {
    clock.now += 1
    await until(record, Math.min(ticks * 8, 50))
  }
  t.is(record.length, 50)
  t.true(inOrder(record) && allWell(record))
  t.deepEqual(
    record.map(({ id }) => flake.decode(id).counter),
    record.map((_, i) => i % 8),
  )
})

test('a call does not overtake waiting ones', async (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock, seqMask: 1 })
  const record = []
  submit(flake, 4, record)
  await until(record, 2)
  clock.now += 10
  flake.next((error, id) => record.push({ i: 4, error, id }))
  clock.now += 1
  const last = called(flake)
  await turnOnUntil(clock, last)
  await until(record, 5)
  t.true(inOrder(record) && allWell(record))
})

test('callbacks that call again continue forever', async (t) => {
  const flake = real({ seqMask: 63 })
  const ids = []
  await new Promise((resolve, reject) => {
    const again = (error, id) => {
      if (error) reject(error)
      else if (ids.push(id) < 1000) flake.next(again)
      else resolve()
    }
    flake.next(again)
  })
  t.true(isAscending(ids))
})

test('synchronous calls in between are allowed, and repeat no ID', async (t) => {
  const flake = real({ maxWaitMs: 10_000 })
  const record = []
  const between = []
  for (let i = 0; i < 50; i++) {
    submit(flake, 200, record)
    between.push(flake.nextBigInt(), flake.nextBigInt())
    between.push(...flake.takeBigInts(100))
    if (i % 10 === 0) await turn()
  }
  await until(record, 10_000)
  t.true(allWell(record))
  t.true(isAscending(between))
  const waited = record.map(({ id }) => FlakeId.toBigInt(id))
  t.true(isAscending(waited))
  t.is(new Set([...waited, ...between]).size, waited.length + between.length)
})

test('stats count each wait once, and no call that did not wait', async (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock })
  useUp(flake)
  const start = performance.now()
  for (const waits of [1, 2]) {
    const record = []
    submit(flake, PER_TICK, record)
    clock.now += 1
    await until(record, PER_TICK)
    t.is(flake.stats.waits, waits)
  }
  clock.now += 1
  const { waits, waitedMs } = flake.stats
  t.true(waitedMs > 0 && waitedMs <= performance.now() - start)
  await called(flake)
  await called(flake)
  t.like(flake.stats, { waits, waitedMs })
})

test('in a loop of calls that never lets the event loop turn, waiting calls are served when the clock advances', (t) => {
  const clock = manualClock()
  const flake = new FlakeId({ clock })
  useUp(flake)
  submit(flake, 10, [])
  t.is(flake.stats.ids, PER_TICK)
  clock.now += 1
  for (let i = 0; i < 1000 && flake.stats.ids === PER_TICK; i++) flake.next(() => {})
  t.true(flake.stats.ids > PER_TICK + 10)
})

// --- callbacks that throw ---

const THROWING = `
  const caught = []
  const order = []
  process.on('uncaughtException', (error) => caught.push(error.message))
  const thrower = (name) => () => {
    order.push(name)
    throw new Error(name)
  }
  const noted = (name) => () => order.push(name)
  const clock = () => clock.now
  clock.now = 1e12
  const used = (seqMask) => {
    const flake = new FlakeId({ seqMask, clock })
    for (let i = 0; i <= seqMask; i++) flake.next()
    return flake
  }
  process.on('exit', () => console.log(JSON.stringify({ caught, order })))
`

/** The calls, the order in which all callbacks ran, and which of them threw. */
const THROWERS = {
  'loses none behind it: called at once': [
    `const flake = new FlakeId()
    for (const name of ['a', 'b', 'c', 'd']) flake.next(name < 'c' ? thrower(name) : noted(name))`,
    'abcd',
    'ab',
  ],
  'loses none behind it: after waiting': [
    `const flake = used(7)
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) flake.next('acdf'.includes(name) ? thrower(name) : noted(name))
    clock.now += 1`,
    'abcdef',
    'acdf',
  ],
  'does not change the order: a call made in a callback comes after those before it': [
    `const flake = used(7)
    flake.next(() => {
      flake.next(noted('d'))
      thrower('a')()
    })
    flake.next(noted('b'))
    flake.next(noted('c'))
    clock.now += 1`,
    'abcd',
    'a',
  ],
}

for (const [what, [source, order, caught]] of Object.entries(THROWERS)) {
  test(`a callback that throws ${what}`, async (t) => {
    t.deepEqual(await jsonOfChild(t, `${THROWING}${source}`), { caught: [...caught], order: [...order] })
  })
}

test('a callback that throws loses none behind it: thousands, across overflow', async (t) => {
  const { caught, order } = await jsonOfChild(
    t,
    `${THROWING}
    const flake = new FlakeId({ seqMask: 255 })
    for (let i = 0; i < 5000; i++) flake.next(i % 50 === 0 ? thrower(i) : noted(i))`,
  )
  t.is(order.length, 5000)
  t.is(
    order.find((i, place) => i !== place),
    undefined,
    'the first out of order',
  )
  t.is(caught.length, 100)
})

test('without a handler, a callback that throws ends the process as any other error does', async (t) => {
  const { code, stdout, stderr } = await runChild(`
    process.on('exit', () => console.log('exit'))
    new FlakeId().next(() => { throw new Error('out of a callback') })`)
  t.not(code, 0)
  t.is(stdout, 'exit\n')
  t.regex(stderr, /out of a callback/)
})

// --- async context ---

test('AsyncLocalStorage: each callback runs in the context of its call, at once and after waiting', async (t) => {
  const storage = new AsyncLocalStorage()
  const flake = real({ seqMask: 15 })
  const seen = []
  for (let i = 0; i < 500; i++) storage.run({ i }, () => flake.next(() => seen.push([i, storage.getStore()?.i])))
  flake.next(() => seen.push([undefined, storage.getStore()]))
  await until(seen, 501)
  t.true(flake.stats.waits > 0)
  t.true(seen.every(([wanted, found]) => wanted === found))
})
