// SegmentId where its counter fails, is stopped or was lost, and skipTo, which says where to continue.

import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { numberOf, submit, throwsCode, turn, until } from '../../support/index.mjs'
import {
  Counters,
  counterError,
  mismatchError,
  NAME,
  opened,
  range,
  SegmentId,
  storeError,
  take,
} from '../../support/segment.mjs'
import { gate } from '../../support/waits.mjs'

test('a store that fails at the start: ERR_FLAKE_STORE with its cause', async (t) => {
  const store = new Counters()
  const cause = new Error('connection refused')
  store.fail(cause)
  const error = await t.throwsAsync(SegmentId.open(store, { name: NAME }), { code: 'ERR_FLAKE_STORE' })
  t.is(error.cause, cause)
})

/** Our stores' error for a server that refuses: no call has failed, so the error has no cause. */
const refusal = () => storeError('A store cannot use this MySQL server. It is read_only, so it takes no writes.')

test('a store that refuses at the start: open() fails with its reason', async (t) => {
  const store = new Counters()
  for (const error of [refusal(), mismatchError('counter', 'durable true', 'durable false')]) {
    store.fail(error)
    t.is(await t.throwsAsync(SegmentId.open(store, { name: NAME })), error)
  }
})

test('a store that refuses later: waiting calls continue when it accepts writes again', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  store.fail(refusal())
  t.deepEqual(take(segment, 10), range(0, 10))
  await turn()
  throwsCode(t, () => segment.nextBigInt(), 'ERR_FLAKE_STORE')
  const waiting = segment.nextAsync()
  await until(store.calls, 4) // it is asked again
  store.work()
  t.is(numberOf(await waiting), 10n)
})

test('a permanent refusal is reported to waiting calls', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  const error = mismatchError('counter', 'durable true', 'durable false')
  store.fail(error)
  t.deepEqual(take(segment, 10), range(0, 10))
  t.is(await t.throwsAsync(segment.nextAsync()), error)
})

test('a store that fails later: the remaining IDs, then ERR_FLAKE_STORE; waiting calls continue when it is back', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  const cause = new Error('connection refused')
  store.fail(cause)
  t.deepEqual(take(segment, 10), range(0, 10))
  await sleep(1)
  const error = t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_STORE' })
  t.is(error.cause, cause)
  const told = []
  submit(segment, 15, told)
  await until(store.calls, 4) // it is asked again
  t.is(told.length, 0, 'they wait')
  store.work()
  await until(told, 15)
  t.deepEqual(
    told.map(({ id }) => numberOf(id)),
    range(10, 15),
  )
})

/** Takes an ID now and then until the store is asked again; returns these IDs. */
async function takeUntilAsked(segment, store) {
  const ids = []
  for (const { length } = store.calls; store.calls.length === length; await sleep(5)) ids.push(...take(segment, 1))
  return ids
}

test('a store that fails briefly is not noticed while a block lasts', async (t) => {
  const { segment, store } = await opened(t, { block: 1000 })
  store.fail(new Error('connection refused'))
  const ids = take(segment, 501)
  await turn()
  store.work()
  ids.push(...(await takeUntilAsked(segment, store)))
  await turn()
  ids.push(...take(segment, 1000))
  t.deepEqual(ids, range(0, ids.length))
})

test('a failure that may be over: an ID waits for the other call in progress', async (t) => {
  const { segment, store } = await opened(t, { block: 1000 })
  store.fail(new Error('connection refused'))
  take(segment, 501)
  await turn()
  const { promise, open } = gate()
  store.before = () => promise
  const { length } = await takeUntilAsked(segment, store)
  take(segment, 499 - length)
  throwsCode(t, () => segment.nextBigInt(), 'ERR_FLAKE_OVERFLOW')
  throwsCode(t, () => segment.next(), 'ERR_FLAKE_OVERFLOW')
  throwsCode(t, () => segment.take(3), 'ERR_FLAKE_OVERFLOW')
  open()
  t.is(numberOf(await segment.nextAsync()), 1000n)
})

test('a continuing failure is reported to each call that asks again', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  const cause = new Error('connection refused')
  store.fail(cause)
  take(segment, 10)
  for (const call of [() => segment.next(), () => segment.nextBigInt(), () => segment.take(3)]) {
    await sleep(150) // by then it may be asked again
    t.is(throwsCode(t, call, 'ERR_FLAKE_STORE').cause, cause)
  }
})

test('a failure is no longer reported once a call has worked', async (t) => {
  const store = new Counters()
  store.fail(counterError('behind', NAME))
  const { segment } = await opened(t, { block: 10 }, store)
  throwsCode(t, () => segment.next(), 'ERR_FLAKE_STORE')
  store.work()
  await segment.skipTo(100)
  t.deepEqual(take(segment, 11), [...range(100, 10), 'ERR_FLAKE_OVERFLOW'])
})

const NO_COUNTERS = [undefined, null, 5, '5', -1n, 2n ** 64n, {}]

test('an invalid answer never becomes an ID', async (t) => {
  for (const answer of NO_COUNTERS) {
    const store = Object.assign(new Counters(), { advance: async () => ({ number: answer }) })
    await t.throwsAsync(SegmentId.open(store, { name: NAME }), { code: 'ERR_FLAKE_STORE' }, String(answer))
  }
})

test('a counter that was recreated below our position: ERR_FLAKE_STORE until skipTo', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  store.values.set(NAME, 3n)
  t.deepEqual(take(segment, 10), range(0, 10))
  await turn()
  for (let i = 0; i < 3; i++) {
    t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
    await t.throwsAsync(segment.nextAsync(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
    await sleep(120)
  }
  await segment.skipTo(500)
  t.is(segment.nextBigInt(), 500n)
  t.is(numberOf(await segment.nextAsync()), 501n)
})

test('skipTo below our position, on a recreated counter: ERR_FLAKE_STORE, until one is above', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  segment.nextBigInt()
  store.values.set(NAME, 3n)
  await t.throwsAsync(segment.skipTo(5), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  throwsCode(t, () => segment.nextBigInt(), 'ERR_FLAKE_STORE')
  await t.throwsAsync(segment.nextAsync(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  await segment.skipTo(500)
  t.is(segment.nextBigInt(), 500n)
})

test('a call that waits for such a skipTo gets nothing that the counter gives after it', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  store.values.set(NAME, 3n)
  const { promise, open } = gate()
  store.before = () => promise
  const skipped = segment.skipTo(5)
  await turn()
  t.deepEqual(take(segment, 1), ['ERR_FLAKE_OVERFLOW'])
  const waits = segment.nextAsync()
  open()
  await t.throwsAsync(skipped, { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  await t.throwsAsync(waits, { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  await turn()
  throwsCode(t, () => segment.nextBigInt(), 'ERR_FLAKE_STORE')
})

test('a recreated counter that passes our position without a skipTo does not start us again', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  store.values.set(NAME, 0n)
  take(segment, 10)
  await turn()
  t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_STORE' })
  const { segment: maker } = await opened(t, { block: 1000 }, store)
  take(maker, 5)
  for (let i = 0; i < 3; i++) {
    t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_STORE' })
    await sleep(120)
  }
})

test('skipTo by one member applies to all', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  const { segment: other } = await opened(t, { block: 10 }, store)
  store.values.delete(NAME)
  take(segment, 10)
  take(other, 10)
  await turn()
  for (const each of [segment, other]) {
    t.throws(() => each.nextBigInt(), { code: 'ERR_FLAKE_STORE' })
    await t.throwsAsync(each.nextAsync(), { code: 'ERR_FLAKE_STORE' })
  }
  await segment.skipTo(500)
  t.is(segment.nextBigInt(), 500n)
  let ids
  while (typeof ids !== 'bigint') {
    ;[ids] = take(other, 1)
    await sleep(20)
  }
  t.true(ids >= 510n, String(ids))
})

test('skipTo only moves forward, and drops the remaining IDs', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  t.is(segment.nextBigInt(), 0n)
  await segment.skipTo(0)
  t.is(segment.nextBigInt(), 10n)
  await segment.skipTo(1_000_000n)
  t.is(segment.nextBigInt(), 1_000_000n)
  await segment.skipTo(5)
  t.is(segment.nextBigInt(), 1_000_010n)
})

test('skipTo drops the prefetched block too', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  take(segment, 6)
  await turn()
  await segment.skipTo(1000)
  t.deepEqual(take(segment, 10), range(1000, 10))
})

test('skipTo while calls wait: none of them gets an ID from below', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  const { promise, open } = gate()
  store.before = (by) => (by === 0n ? promise : undefined)
  const skipped = segment.skipTo(1000)
  await turn()
  take(segment, 1)
  const told = []
  submit(segment, 25, told)
  await sleep(250)
  open()
  await skipped
  await until(told, 25)
  t.deepEqual(
    told.map(({ id }) => numberOf(id)),
    range(1000, 25),
  )
})

test('two skipTo at once, and answers in another order', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  let calls = 0
  store.before = () => sleep(calls++ % 2 === 0 ? 40 : 1)
  await Promise.all([segment.skipTo(1000), segment.skipTo(2000), segment.skipTo(1500)])
  const ids = []
  for (let i = 0; i < 40; i++) ids.push(numberOf(await segment.nextAsync()))
  t.is(new Set(ids).size, 40)
  t.true(ids.every((id) => id >= 2000n))
})

test('skipTo on a failing store reports that, and can be repeated', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  const cause = new Error('connection refused')
  store.fail(cause)
  const error = await t.throwsAsync(segment.skipTo(1000), { code: 'ERR_FLAKE_STORE' })
  t.is(error.cause, cause)
  store.work()
  await segment.skipTo(1000)
  t.is(segment.nextBigInt(), 1000n)
})

test('init beyond the first block on a failing store reports that; its block is given once, from its start', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  const { promise, open } = gate()
  const cause = new Error('connection refused')
  store.before = () => promise.then(() => Promise.reject(cause))
  const answer = segment.init(100)
  const early = take(segment, 1)
  await turn()
  early.push(...take(segment, 1))
  open()
  const error = await t.throwsAsync(answer, { code: 'ERR_FLAKE_STORE' })
  t.is(error.cause, cause)
  t.deepEqual(early, ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_OVERFLOW'])
  t.deepEqual(take(segment, 10), range(0, 10))
})

// --- open() on a stopped counter ---

test('open() on a stopped counter resolves, and its calls throw until skipTo', async (t) => {
  const store = new Counters()
  store.fail(counterError('behind', NAME))
  const { segment } = await opened(t, {}, store)
  t.throws(() => segment.next(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_STORE' })
  await t.throwsAsync(segment.nextAsync(), { code: 'ERR_FLAKE_STORE' })
  t.false(await segment.init(5))
  store.work()
  await segment.skipTo(77)
  t.is(segment.nextBigInt(), 77n)
})
