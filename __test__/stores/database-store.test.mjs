// lib/stores/database.ts: how a step runs over a store that reads and swaps records, however slow or wrong that
// is: how long it is tried, and what is written afterwards. The clock is the test's own, so no test waits. The tests of
// core/src/lease/grants.rs cover what the steps decide.

import '../support/clocks.mjs' // before flakeforge
import crypto from 'node:crypto'
import { createRequire } from 'node:module'
import test from 'ava'
import { replaceClocks } from '../support/clocks.mjs'
import { FlakeId, turn } from '../support/index.mjs'

const require = createRequire(import.meta.url)
const errors = require('../../target/rooms/lib/base/errors.js')
const { DatabaseStore } = require('../../target/rooms/lib/stores/database.js')
const { readJoinOptions } = require('../../target/rooms/lib/lease/join-options.js')
const { PastIds } = require('../../target/rooms/lib/lease/past-ids.js')
const { createGroup } = FlakeId

const CONFIG = { fingerprint: 'bits', slots: 4, ttlMs: 30_000, skewMs: 5000, durable: false }
const OWNER = 'a'.repeat(32)
const STEP_MS = 10_000
/** The quiet period of a group from create(), and of a group that other processes may have used. */
const [SHORT_MS, LONG_MS] = [1000 + CONFIG.skewMs + 1, 60_000 + CONFIG.skewMs + 1]

const never = () => new Promise(() => {})
const wanted = (joins = true) => ({ config: CONFIG, owner: OWNER, host: 'h', joins })

/** Waits until everything has happened that can happen without a timer. */
async function rest() {
  for (let i = 0; i < 5; i++) await turn()
}

/** A clock for flakeforge that does not move until the test moves it. */
class Time {
  now = Date.UTC(2026, 0, 1)
  #timers = []

  setTimeout = (call, ms, ...args) => {
    this.#timers.push({ at: this.now + ms, call: () => call(...args) })
    return { unref() {} }
  }

  /** Moves the clock, timer by timer, and lets all effects of each happen. */
  async pass(ms) {
    const end = this.now + ms
    await rest()
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.splice(this.#timers.indexOf(next), 1)
      this.now = Math.max(this.now, next.at)
      next.call()
      await rest()
    }
    this.now = end
  }
}

/** Records in memory. A test may replace `read` and `swap`. */
class Records {
  identity = { history: 'h', process: 'p' }
  swaps = 0
  #values = new Map()

  constructor(time) {
    this.time = time
  }

  read = async (group, names) => this.show(group, names)

  swap = async (...request) => {
    this.swaps++
    return this.write(...request)
  }

  show(group, names) {
    const values = names.map((name) => this.#values.get(`${group}/${name}`) ?? null)
    return { now: this.time.now, identity: this.identity, values }
  }

  write(group, name, from, to, identity) {
    const key = `${group}/${name}`
    const isSame = ['history', 'process'].every((part) => identity[part] === this.identity[part])
    if (!isSame || (this.#values.get(key) ?? null) !== from) return false
    this.#values.set(key, to)
    return true
  }

  /** The records, and the function that puts them back. */
  save() {
    const saved = new Map(this.#values)
    return () => (this.#values = new Map(saved))
  }

  async names(group) {
    return [...this.#values.keys()].filter((key) => key.startsWith(`${group}/`)).map((key) => key.split('/')[1])
  }
}

function empty(t) {
  const time = new Time()
  replaceClocks(t, { unixNow: () => time.now, setTimeout: time.setTimeout })
  const records = new Records(time)
  return { time, records, store: new DatabaseStore(records) }
}

/** A store with a group whose quiet period is over. */
async function ready(t) {
  const made = empty(t)
  const creating = made.store.create('g', CONFIG)
  await made.time.pass(0)
  await made.time.pass(SHORT_MS)
  await creating
  made.records.swaps = 0
  return made
}

/** The state of a promise so far: its value, or its error. */
function outcomeOf(promise) {
  const outcome = {}
  promise.then(
    (value) => Object.assign(outcome, { value }),
    (error) => Object.assign(outcome, { error }),
  )
  return outcome
}

/** Lets time pass in small steps until the promise has settled. */
async function settled(time, promise, ms = 2 * STEP_MS) {
  const outcome = outcomeOf(promise)
  const end = time.now + ms
  while (!('value' in outcome || 'error' in outcome) && time.now < end) await time.pass(50)
  return outcome
}

/** Makes the next read wait for the returned function. */
function holdRead(records) {
  const { read } = records
  let go
  const held = new Promise((resolve) => {
    go = resolve
  })
  records.read = async (...request) => {
    records.read = read
    const look = records.show(...request)
    await held
    return look
  }
  return go
}

/** The warnings of this test. */
function warningsOf(t) {
  const warnings = []
  const listener = (warning) => warnings.push(warning)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  return warnings
}

// --- a store that lost what it acknowledged ---

test.serial('an earlier group does not tell which slots were used, living or ended', async (t) => {
  const { store, records, time } = await ready(t)
  const rewind = [records.save()]
  const first = await store.acquire('g', wanted())
  t.is(await store.usedUntil('g', [0, 1, 2, 3], first.lineage), first.hi + LONG_MS - CONFIG.skewMs - 1)
  await store.destroy('g')
  rewind.push(records.save())
  await t.throwsAsync(store.usedUntil('g', [3], first.lineage), { code: 'ERR_FLAKE_DESTROYED' })
  await time.pass(LONG_MS)
  const { lineage } = await store.acquire('g', { ...wanted(), config: { ...CONFIG, fingerprint: 'other bits' } })
  t.true((await store.usedUntil('g', [3], lineage)) > first.hi)
  for (const back of rewind) {
    back()
    records.identity = { ...records.identity, history: `${records.identity.history}+` }
    const error = await t.throwsAsync(store.usedUntil('g', [3], lineage), { code: 'ERR_FLAKE_STORE' })
    t.regex(error.message, /another group 'g'.*nextAt\(\) does not know.*IDs from next\(\)/)
  }
})

/** A member that makes IDs of the past in the group of this lineage. `member.lineage` may change. */
function pastOf(store, settings, lineage) {
  const member = { lineage, assertHolds: () => {} }
  const past = new PastIds(store, member, settings)
  const made = (n, date) => Promise.all(Array.from({ length: n }, async () => (await past.next(date)).toString('hex')))
  return { member, made }
}

test.serial('IDs of the past after a loss, the end of the group and the next one: none twice', async (t) => {
  const { time, records, store } = empty(t)
  const settings = readJoinOptions({ group: 'g', backfill: 1, durable: true, slots: 4, ttlMs: 30_000, skewMs: 5000 })
  const join = async (by) => {
    await settled(time, by.create('g', settings.config), 2 * LONG_MS)
    const request = { ...wanted(), config: settings.config, owner: crypto.randomUUID().replaceAll('-', '') }
    return (await settled(time, by.acquire('g', request))).value.lineage
  }
  const lineage = await join(store)
  const back = records.save()
  const idle = pastOf(new DatabaseStore(records), settings, lineage)
  await t.throwsAsync(idle.made(1, -1), { code: 'ERR_FLAKE_TIME_RANGE' }, 'it has looked at its group')
  const moved = pastOf(store, settings, lineage)
  const old = time.now - 1
  const ids = await moved.made(3, old)

  back()
  records.identity = { ...records.identity, history: 'promoted' }
  const other = new DatabaseStore(records)
  await other.destroy('g')
  await t.throwsAsync(idle.made(1, old), { code: 'ERR_FLAKE_DESTROYED' })
  const next = pastOf(other, settings, await join(other))
  t.not(next.member.lineage, lineage)
  await t.throwsAsync(idle.made(1, old), { code: 'ERR_FLAKE_STORE', message: /another group 'g'/ })
  await t.throwsAsync(next.made(1, old), { code: 'ERR_FLAKE_BACKFILL' })
  await time.pass(LONG_MS)
  ids.push(...(await next.made(32, time.now)))
  moved.member.lineage = next.member.lineage // it lost its slot, and has one of the next group
  await t.throwsAsync(moved.made(1, time.now), { code: 'ERR_FLAKE_STORE' }, 'it knows of lost numbers')
  t.is(new Set(ids).size, 35)
})

// --- invalid answers of a store ---

test.serial('a place or a time that is not a 64-bit number is rejected, and never treated as missing', async (t) => {
  const { store, records } = await ready(t)
  const wrong = [{ position: -1 }, { position: -1n }, { position: 2n ** 64n }, { position: 1.5 }, { now: Number.NaN }]
  for (const part of wrong) {
    records.read = async (...request) => ({ ...records.show(...request), ...part })
    await t.throwsAsync(store.acquire('g', wanted()), { code: 'ERR_FLAKE_STORE' }, String(Object.entries(part)))
    await t.throwsAsync(store.advance('c', 1n, 0n), { code: 'ERR_FLAKE_STORE' })
  }
  for (const position of [0, 0n, 7, 2n ** 64n - 1n]) {
    records.read = async (...request) => ({ ...records.show(...request), position })
    t.is((await store.acquire('g', wanted())).slot >= 0, true)
  }
  t.is(records.swaps, 4, 'one for each grant, because a fact that only a read shows may be lost')
})

test.serial('a number beyond 64 bits is not turned into another number', async (t) => {
  const { store, records } = empty(t)
  for (const call of [
    () => store.advance('c', 2n ** 64n + 1n, 0n),
    () => store.advance('c', 1n, 2n ** 64n),
    () => store.advance('c', 1n, -1n),
    () => store.advance('c', 0n, 2n ** 64n),
  ]) {
    await t.throwsAsync(call)
  }
  t.is(records.swaps, 0)
})

test.serial('a config that the rules do not allow is rejected before the store is asked', async (t) => {
  const { store, records } = empty(t)
  records.read = () => t.fail('the store was asked')
  for (const part of [{ ttlMs: 60_001 }, { ttlMs: 0 }, { skewMs: -1 }]) {
    const config = { ...CONFIG, ...part }
    await t.throwsAsync(store.acquire('g', { ...wanted(), config }), {
      code: 'ERR_FLAKE_OPTION',
      message: /^config must be/,
    })
  }
})

// --- the time of a step ---

test.serial('a step that has not ended after 10 s fails, and writes nothing afterwards', async (t) => {
  const { store, records, time } = await ready(t)
  const goOn = holdRead(records)
  const outcome = outcomeOf(store.acquire('g', wanted()))
  await time.pass(STEP_MS - 1)
  t.deepEqual(outcome, {})
  await time.pass(1)
  t.is(outcome.error?.code, 'ERR_FLAKE_STORE')
  t.regex(outcome.error.message, /did not finish a step within 10000 ms/)
  t.is(outcome.error.cause?.code, 'ETIMEDOUT')
  goOn()
  await time.pass(0)
  t.is(records.swaps, 0, 'no call waits for it any more')
})

test.serial('a step that ends just in time returns its answer', async (t) => {
  const { store, records, time } = await ready(t)
  const goOn = holdRead(records)
  const outcome = outcomeOf(store.acquire('g', wanted()))
  await time.pass(3000) // less than the clocks may differ
  goOn()
  await time.pass(0)
  t.is(records.swaps, 1)
  t.is(outcome.value?.storeNow, time.now)
})

test.serial('the calls of a step are abandoned when its time is over', async (t) => {
  const { store, records, time } = await ready(t)
  const goOn = holdRead(records)
  const swapped = new Promise((resolve) => {
    records.swap = async (...request) => resolve(request.at(-1))
  })
  store.acquire('g', wanted()).catch(() => {})
  await time.pass(3000)
  goOn()
  const signal = await swapped
  t.false(signal.aborted)
  await time.pass(STEP_MS - 3000)
  t.true(signal.aborted)
})

test.serial('a step is abandoned at once by the signal of its caller', async (t) => {
  const { store, records, time } = await ready(t)
  const reading = new Promise((resolve) => {
    records.read = (...request) => {
      resolve(request.at(-1))
      return never()
    }
  })
  const controller = new AbortController()
  const outcome = outcomeOf(store.acquire('g', { ...wanted(), signal: controller.signal }))
  const signal = await reading
  t.deepEqual([signal.aborted, outcome], [false, {}])
  controller.abort()
  t.true(signal.aborted)
  await time.pass(STEP_MS) // these records ignore it, so the step ends by its time
  t.is(outcome.error?.code, 'ERR_FLAKE_STORE')
  await t.throwsAsync(store.acquire('g', { ...wanted(), signal: controller.signal }), { message: /failed/ })
})

test.serial('a read that fails because its caller has aborted is not tried again', async (t) => {
  const { store, records, time } = await ready(t)
  const controller = new AbortController()
  let reads = 0
  records.read = (_group, _names, signal) => {
    reads++
    return new Promise((_, reject) => {
      signal.addEventListener('abort', ({ target: { reason } }) => reject(new Error('failed', { cause: reason })))
    })
  }
  const outcome = outcomeOf(store.acquire('g', { ...wanted(), signal: controller.signal }))
  await time.pass(0)
  controller.abort()
  await time.pass(STEP_MS)
  t.is(outcome.error?.code, 'ERR_FLAKE_STORE')
  t.is(reads, 1)
})

test.serial('a step whose caller aborts between two attempts reads nothing more', async (t) => {
  const { store, records, time } = await ready(t)
  const controller = new AbortController()
  let reads = 0
  records.read = async (...request) => {
    reads++
    return records.show(...request)
  }
  records.swap = async () => {
    records.swaps++
    return false
  }
  const outcome = outcomeOf(store.acquire('g', { ...wanted(), signal: controller.signal }))
  await time.pass(0) // it pauses after the second swap
  t.is(records.swaps, 2)
  const before = reads
  controller.abort()
  await time.pass(STEP_MS)
  t.is(outcome.error?.code, 'ERR_FLAKE_STORE')
  t.is(reads, before)
})

test.serial(
  'a renewal without an answer ends after a third of ttlMs, so another one fits into the window',
  async (t) => {
    const { store, records, time } = await ready(t)
    for (const [ttlMs, stepMs] of [
      [2000, 666],
      [9000, 3000],
      [30_000, STEP_MS],
      [60_000, STEP_MS],
    ]) {
      const reading = new Promise((resolve) => {
        records.read = (...request) => {
          resolve(request.at(-1))
          return never()
        }
      })
      const outcome = outcomeOf(store.renew('g', { config: { ...CONFIG, ttlMs }, slot: 0, owner: OWNER, hi: time.now }))
      const signal = await reading
      await time.pass(stepMs - 1)
      t.deepEqual(outcome, {}, String(ttlMs))
      t.false(signal.aborted)
      await time.pass(1)
      t.is(outcome.error?.code, 'ERR_FLAKE_STORE', String(ttlMs))
      t.true(outcome.error.message.includes(` ${stepMs} ms`), outcome.error.message)
      t.true(signal.aborted, 'its connection is abandoned')
    }
  },
)

test.serial('a read or a listing that never ends, in every step', async (t) => {
  const { store, records, time } = await ready(t)
  records.read = never
  const held = { config: CONFIG, slot: 0, owner: OWNER, hi: 0, last: -1 }
  const steps = {
    create: () => store.create('g', CONFIG),
    acquire: () => store.acquire('g', wanted(false)),
    renew: () => store.renew('g', held),
    release: () => store.release('g', held),
    destroy: () => store.destroy('g'),
    advance: () => store.advance('g', 1n, 0n),
    list: () => store.list('g'),
    has: () => store.has('g'),
  }
  const outcomes = Object.entries(steps).map(([step, run]) => [step, outcomeOf(run())])
  await time.pass(STEP_MS)
  for (const [step, { error }] of outcomes) t.is(error?.code, 'ERR_FLAKE_STORE', step)
})

// --- swaps that fail or lie ---

test.serial(
  'a swap that fails but wrote: a read shows it, and it is written again until its answer is clean',
  async (t) => {
    const { store, records, time } = await ready(t)
    const { swap } = records
    const texts = new Set()
    records.swap = async (...request) => {
      const isDone = await swap(...request)
      texts.add(request[3])
      if (texts.size < 3) throw new Error('connection reset')
      return isDone
    }
    const { value } = await settled(time, store.acquire('g', wanted()))
    t.is(value?.hi, value?.storeNow + CONFIG.ttlMs)
    t.is(texts.size, 3, 'each time as a new text')
  },
)

test.serial('a swap that fails and did not write: the next read shows that, and it is tried again', async (t) => {
  const { store, records, time } = await ready(t)
  const { swap } = records
  records.swap = async () => {
    records.swap = swap
    throw new Error('connection reset')
  }
  const { value } = await settled(time, store.acquire('g', wanted()))
  t.true(Number.isInteger(value?.slot))
  t.is(records.swaps, 1)
})

test.serial('swaps that keep failing: an error after 10 s, with the last failure as its cause', async (t) => {
  const { store, records, time } = await ready(t)
  const cause = new Error('read-only')
  records.swap = async () => {
    records.swaps++
    throw cause
  }
  const start = time.now
  const { error } = await settled(time, store.acquire('g', wanted()))
  t.is(error?.code, 'ERR_FLAKE_STORE')
  t.is(error.cause, cause)
  t.true(time.now - start >= STEP_MS)
})

for (const answer of [true, false, 'true', 1, undefined]) {
  test.serial(`swaps that answer ${JSON.stringify(answer)} and write nothing: an error, and no slot`, async (t) => {
    const { store, records, time } = await ready(t)
    records.swap = async () => {
      records.swaps++
      return answer
    }
    const { value, error } = await settled(time, store.acquire('g', wanted()))
    t.is(value, undefined)
    t.is(error?.code, 'ERR_FLAKE_STORE')
    t.regex(error.message, new RegExp(`tried to write ${records.swaps} times`))
    const { swaps } = records
    t.true(swaps > 10 && swaps < 1000, `${swaps} swaps`)
    await time.pass(1000)
    t.is(records.swaps, swaps, 'none after the error')
    t.deepEqual(await store.list('g'), [])
  })
}

test.serial('an error names two alternating servers, and nothing more is written', async (t) => {
  const { store, records } = empty(t)
  const names = [records.identity, { history: 'other', process: 'p' }]
  const outcomes = []
  for (let turn = 0; turn < 5; turn++) {
    records.identity = names[turn % 2]
    outcomes.push(await store.acquire('g', wanted()).catch((error) => error))
  }
  t.deepEqual(
    outcomes.map(({ code }) => code),
    [...Array(4).fill('ERR_FLAKE_QUIET'), 'ERR_FLAKE_STORE'],
  )
  const { message } = outcomes[4]
  for (const name of [`'h' (process 'p')`, `'other' (process 'p')`]) t.true(message.includes(name), message)
  const { swaps } = records
  await t.throwsAsync(store.acquire('g', wanted()), { code: 'ERR_FLAKE_STORE' })
  t.is(records.swaps, swaps)
})

// --- create ---

test.serial('create waits for the end of the short quiet period, and then slots are granted at once', async (t) => {
  const { store, time } = empty(t)
  const warnings = warningsOf(t)
  const outcome = outcomeOf(store.create('g', CONFIG))
  await time.pass(0)
  await time.pass(SHORT_MS - 1)
  t.deepEqual(outcome, {})
  await t.throwsAsync(store.acquire('g', wanted()), { code: 'ERR_FLAKE_QUIET' })
  await time.pass(1)
  t.deepEqual(outcome, { value: true })
  t.true(Number.isInteger((await store.acquire('g', wanted())).slot))
  t.false(await store.create('g', CONFIG), 'it exists')
  t.deepEqual(warnings, [])
})

test.serial('create where other members have joined before: a warning says how long they wait', async (t) => {
  const { store } = empty(t)
  const warnings = warningsOf(t)
  await t.throwsAsync(store.acquire('g', wanted()), { code: 'ERR_FLAKE_QUIET' })
  t.false(await store.create('g', CONFIG))
  await rest()
  t.deepEqual(
    warnings.map(({ code }) => code),
    ['FLAKEFORGE_QUIET'],
  )
  t.regex(
    warnings[0].message,
    /^Group 'g' already exists and grants no slot for 66 s, until .* before any process joins/,
  )
})

test.serial('create where a group has just ended: a warning says how long it waits', async (t) => {
  const { store, time } = await ready(t)
  const warnings = warningsOf(t)
  await store.destroy('g')
  const outcome = outcomeOf(store.create('g', CONFIG))
  await time.pass(0)
  t.is(warnings.length, 1)
  t.is(warnings[0].code, 'FLAKEFORGE_QUIET')
  t.regex(warnings[0].message, /^Group 'g' grants no slot for 66 s/)
  await time.pass(LONG_MS - 1)
  t.deepEqual(outcome, {})
  await time.pass(1)
  t.deepEqual(outcome, { value: true })
})

test.serial('createGroup that is aborted during a read writes nothing afterwards', async (t) => {
  const { store, records, time } = empty(t)
  const goOn = holdRead(records)
  const controller = new AbortController()
  const outcome = outcomeOf(createGroup(store, { group: 'g', signal: controller.signal }))
  await time.pass(0)
  controller.abort('enough')
  await time.pass(100) // how long it waits for the step
  t.is(outcome.error, 'enough')
  goOn()
  await time.pass(0)
  t.is(records.swaps, 0)
  t.deepEqual(await records.names('g'), [])
})

// --- durable ---

test.serial('durable: before each step the store is asked whether it can be trusted', async (t) => {
  const { store, records, time } = empty(t)
  const refusal = errors.optionError(RangeError, 'durable', true, 'fsync is off')
  let asked = 0
  let isFine = false
  records.checkDurable = async () => {
    asked++
    if (!isFine) throw refusal
  }
  const request = { ...wanted(), config: { ...CONFIG, durable: true } }
  for (const call of [
    () => store.acquire('g', request),
    () => store.create('g', request.config),
    () => store.advance('c', 1n, 0n, true),
  ]) {
    t.is(await t.throwsAsync(call()), refusal)
  }
  t.is(asked, 3)
  t.deepEqual(await records.names('g'), [])
  t.is((await store.advance('other', 5n, 0n, false)).number, 0n, 'without durable it is not asked')
  isFine = true
  const { value } = await settled(time, store.acquire('g', request))
  t.true(Number.isInteger(value?.slot), 'nothing is quiet')
  t.is((await store.advance('c', 1n, 0n, true)).number, 0n)
  t.is(asked, 5)

  // A problem may be fixed later: a running member must not end because of it.
  isFine = false
  const { slot, hi } = value
  const held = { config: request.config, slot, owner: OWNER, hi }
  for (const call of [() => store.renew('g', held), () => store.advance('c', 1n, 0n, true)]) {
    t.is((await t.throwsAsync(call(), { code: 'ERR_FLAKE_STORE', message: refusal.message })).cause, refusal)
  }
  const down = new Error('connect ECONNREFUSED')
  records.checkDurable = async () => {
    throw down
  }
  for (const call of [() => store.renew('g', held), () => store.advance('c', 1n, 0n, true)]) {
    t.is((await t.throwsAsync(call(), { code: 'ERR_FLAKE_STORE' })).cause, down)
  }
  records.checkDurable = async () => {}
  t.like(await store.renew('g', held), { slot })
})

// --- groups ---

test.serial('a record that cannot be read is rejected by its name at each step, and stays unchanged', async (t) => {
  const { store, records } = await ready(t)
  const { slot } = await store.acquire('g', wanted())
  const unreadable = (name) => ({ code: 'ERR_FLAKE_RECORD', message: new RegExp(`^Record '${name}' of 'g' `) })
  const textOf = (name) => records.show('g', [name]).values[0]
  const put = (name, text) => records.write('g', name, textOf(name), text, records.identity)
  const group = textOf('group')
  const renewal = { config: CONFIG, slot, owner: OWNER, hi: 0 }
  const steps = {
    acquire: () => store.acquire('g', wanted(false)),
    'acquire that joins': () => store.acquire('g', wanted()),
    create: () => store.create('g', CONFIG),
    renew: () => store.renew('g', renewal),
    release: () => store.release('g', { ...renewal, last: 0 }),
    destroy: () => store.destroy('g'),
    list: () => store.list('g'),
    has: () => store.has('g'),
  }
  for (const text of ['hello', 'flakeforge2 in an unknown form', group.slice(0, -1), group.replace(' ', '  ')]) {
    put('group', text)
    for (const [what, step] of Object.entries(steps)) {
      const error = await t.throwsAsync(step, unreadable('group'), `${what}: ${text}`)
      t.is(error.record, 'group')
      t.is(error.message.includes('newer version'), text.startsWith('flakeforge2'))
    }
    t.is(textOf('group'), text)
  }
  put('group', group)

  const name = `slot${String(slot).padStart(10, '0')}`
  const other = await store.acquire('g', { ...wanted(), owner: 'b'.repeat(32) })
  put(name, 'hello')
  for (const what of ['renew', 'release']) await t.throwsAsync(steps[what], unreadable(name), what)
  const { slots, faults } = await t.throwsAsync(steps.list, unreadable(name))
  t.deepEqual([slots.map((row) => row.slot), faults.length], [[other.slot], 1], 'the others are in the error')
  put(name, 'flakeforge2 needs=1.4 slot in an unknown form')
  const refused = { ...unreadable(name), message: / was written by a newer .*which needs flakeforge 1\.4/ }
  await t.throwsAsync(store.acquire('g', { ...wanted(), owner: 'c'.repeat(32) }), refused)
})

test.serial('a counter that has no number left, or other members, says so and stays unchanged', async (t) => {
  const { store, records } = empty(t)
  const last = 2n ** 64n - 1n
  await store.advance('c', 1n, last - 1n)
  const before = records.show('c', ['counter']).values
  await t.throwsAsync(store.advance('c', 1n), { code: 'ERR_FLAKE_STORE', message: /18446744073709551615.*2\^64 - 1/ })
  const error = await t.throwsAsync(store.advance('c', 1n, 0n, true), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  t.like(error, { theirs: 'durable false', ours: 'durable true' })
  t.true(error.message.includes(`'c'`))
  t.deepEqual(records.show('c', ['counter']).values, before)
})

test.serial('groups lists living ones, and those with unreadable records', async (t) => {
  const { store, records } = await ready(t)
  const { identity } = records
  records.groups = async () => ['odd', 'g', 'a counter']
  records.write('odd', 'group', null, 'flakeforge2 group', identity)
  records.write('a counter', 'counter', null, 'flakeforge1 counter', identity)
  t.deepEqual(await store.groups(), ['g', 'odd'])
  records.read = async () => {
    throw new Error('gone')
  }
  await t.throwsAsync(store.groups(), { code: 'ERR_FLAKE_STORE' })
})
