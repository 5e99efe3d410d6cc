// SegmentId's own logic with a working counter: options, the forms of next(), fetching in advance, init and close.
// Failures are in faults.test.mjs, the real stores in stores.test.mjs.

import test from 'ava'
import { allWell, called, inOrder, numberOf, submit, throwsCode, turn, until } from '../../support/index.mjs'
import { Counters, LAST, NAME, opened, range, SegmentId, take } from '../../support/segment.mjs'
import { gate } from '../../support/waits.mjs'

// --- the calls ---

test('next(), next(null), next(callback), nextAsync and nextBigInt: one sequence, 8 bytes big-endian', async (t) => {
  const { segment } = await opened(t)
  t.deepEqual(segment.next(), Buffer.from('0000000000000000', 'hex'))
  t.deepEqual(segment.next(null), Buffer.from('0000000000000001', 'hex'))
  t.deepEqual(segment.next(undefined), Buffer.from('0000000000000002', 'hex'))
  t.is(segment.nextBigInt(), 3n)
  t.deepEqual(await segment.nextAsync(), Buffer.from('0000000000000004', 'hex'))
  t.deepEqual(await called(segment), Buffer.from('0000000000000005', 'hex'))
  take(segment, 250)
  t.deepEqual(segment.next(), Buffer.from('0000000000000100', 'hex'))
})

test('each ID has its own bytes', async (t) => {
  const { segment } = await opened(t)
  const [a, b] = [segment.next(), segment.next()]
  a.fill(0xff)
  t.is(numberOf(b), 1n)
  t.is(numberOf(segment.next()), 2n)
})

test('lineage names the counter when it last gave a block', async (t) => {
  const { segment, store } = await opened(t)
  t.is(segment.lineage, store.lineage)
  store.lineage = '00000000000000bb'
  t.not(segment.lineage, store.lineage, 'it has not asked')
  await segment.skipTo(1_000_000)
  t.is(segment.lineage, store.lineage)
})

// --- options ---

const BAD = [
  ['name', [undefined, null, 5, {}, '', 'x'.repeat(129), 'a{b', 'a}b', 'a\nb', 'a\u0000']],
  ['block', [0, -1, 2 ** 32 + 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 'many', '', 5n, {}, true]],
  ['init', [-1, -1n, 1.5, Number.NaN, 2 ** 53, '5', LAST + 1n, 2n ** 64n, {}, true]],
]

for (const [option, values] of BAD) {
  test(`bad values of '${option}' are rejected, and the store is not asked`, async (t) => {
    const store = new Counters()
    for (const value of values) {
      const call = SegmentId.open(store, { name: NAME, [option]: value })
      const error = await t.throwsAsync(call, { code: 'ERR_FLAKE_OPTION' }, `${typeof value} ${String(value)}`)
      t.is(error.option, option)
      t.true(error instanceof TypeError || error instanceof RangeError)
    }
    t.deepEqual(store.calls, [])
  })
}

test('invalid options and stores are rejected', async (t) => {
  for (const options of [undefined, null, {}, 'invoices', [], { name: NAME, blocks: 5 }]) {
    await t.throwsAsync(SegmentId.open(new Counters(), options), { code: 'ERR_FLAKE_OPTION' })
  }
  for (const store of [5, {}, () => {}, 'nonsense://host']) {
    await t.throwsAsync(SegmentId.open(store, { name: NAME }), { code: 'ERR_FLAKE_OPTION' })
  }
})

test('init and skipTo reject invalid IDs, and change nothing', async (t) => {
  const { segment, store } = await opened(t)
  for (const value of [undefined, null, -1, -1n, 1.5, Number.NaN, '5', 2 ** 53, LAST + 1n]) {
    await t.throwsAsync(segment.init(value), { code: 'ERR_FLAKE_OPTION' })
    await t.throwsAsync(segment.skipTo(value), { code: 'ERR_FLAKE_OPTION' })
  }
  t.is(store.calls.length, 1)
  t.true(await segment.init(5), 'it is not too late yet')
  t.is(segment.nextBigInt(), 6n)
})

test('by hand there is no SegmentId', (t) => {
  throwsCode(t, () => new SegmentId(), 'ERR_FLAKE_OPTION', TypeError)
  throwsCode(t, () => new SegmentId({ name: NAME }), 'ERR_FLAKE_OPTION', TypeError)
  throwsCode(t, () => new SegmentId(Symbol('made by open()'), { name: NAME }), 'ERR_FLAKE_OPTION', TypeError)
})

test('null and numeric text are read as by FlakeId: absent, and the number', async (t) => {
  const { segment, store } = await opened(t, { block: '3', init: null })
  t.deepEqual(store.calls, [[3n, 0n]])
  t.is(segment.nextBigInt(), 0n)
  const other = await opened(t, { block: null }, store)
  t.deepEqual(store.calls.at(-1), [10_000n, 0n])
  t.is(other.segment.nextBigInt(), 3n)
})

test('the largest block, and the smallest', async (t) => {
  const store = new Counters()
  const { segment } = await opened(t, { block: 2 ** 32 }, store)
  const { segment: small } = await opened(t, { block: 1 }, store)
  t.is(segment.nextBigInt(), 0n)
  t.is(small.nextBigInt(), 2n ** 32n)
  t.is(numberOf(await small.nextAsync()), 2n ** 32n + 1n)
  t.is(store.values.get(NAME) >= 2n ** 32n + 2n, true)
})

// --- blocks ---

test('across many blocks no call fails as long as the event loop turns now and then', async (t) => {
  const { segment } = await opened(t, { block: 100 })
  const ids = []
  for (let i = 0; i < 200; i++) {
    ids.push(...take(segment, 45))
    await turn()
  }
  t.deepEqual(ids, range(0, 9000))
})

test('the next block is requested when half of this one is used, once', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  take(segment, 5)
  await turn()
  t.is(store.calls.length, 1)
  take(segment, 1)
  await turn()
  t.is(store.calls.length, 2)
  take(segment, 4)
  await turn()
  t.is(store.calls.length, 2)
})

test('used up within one turn: ERR_FLAKE_OVERFLOW, and no ID is lost', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  t.deepEqual(take(segment, 12), [...range(0, 10), 'ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_OVERFLOW'])
  const error = t.throws(() => segment.next(), { code: 'ERR_FLAKE_OVERFLOW' })
  t.true(error.retryAfterMs > 0)
  const told = []
  submit(segment, 25, told)
  t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_OVERFLOW' })
  await until(told, 25)
  t.true(inOrder(told))
  t.deepEqual(
    told.map(({ id }) => numberOf(id)),
    range(10, 25),
  )
})

test('after a late block, the next ones are requested earlier', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  take(segment, 11)
  await turn()
  const before = store.calls.length
  take(segment, 1)
  await turn()
  t.is(store.calls.length, before + 1)
})

// --- init ---

test('init(n): the next ID is n + 1, inside the first block and beyond it', async (t) => {
  for (const value of [0, 7, 98, 99, 100, 12_345, 2n ** 63n]) {
    const { segment } = await opened(t, { block: 100 })
    t.true(await segment.init(value), String(value))
    t.is(segment.nextBigInt(), BigInt(value) + 1n)
    t.is(numberOf(await segment.nextAsync()), BigInt(value) + 2n)
  }
})

test('init(n) skips no ID and gives none twice', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  t.true(await segment.init(6))
  const ids = []
  for (let i = 0; i < 30; i++) ids.push(numberOf(await segment.nextAsync()))
  t.deepEqual(ids, range(7, 30))
})

test('init(n) too late: an ID was generated, it was called before, or another member was first', async (t) => {
  const store = new Counters()
  const { segment } = await opened(t, {}, store)
  const { segment: second } = await opened(t, {}, store)
  t.false(await second.init(50_000))
  t.is(second.nextBigInt(), 10_000n)
  t.is(segment.nextBigInt(), 0n)
  t.false(await segment.init(5))
  t.is(segment.nextBigInt(), 1n)
  const { segment: other } = await opened(t)
  t.true(await other.init(5))
  t.false(await other.init(50))
  t.is(other.nextBigInt(), 6n)
  const { segment: skipped } = await opened(t)
  await skipped.skipTo(100)
  t.false(await skipped.init(5))
  t.is(skipped.nextBigInt(), 10_000n)
})

test('init(n) below a block that another member took is too late, and changes nothing', async (t) => {
  const store = new Counters()
  const { segment } = await opened(t, {}, store)
  await opened(t, {}, store)
  t.false(await segment.init(15_000))
  t.is(segment.nextBigInt(), 0n)
  t.is(store.values.get(NAME), 20_000n)
})

test('init(n) beyond the first block: calls meanwhile wait, and get no ID twice or from below', async (t) => {
  for (const isFirst of [true, false]) {
    const store = new Counters()
    const { segment } = await opened(t, {}, store)
    const others = isFirst ? [] : take((await opened(t, {}, store)).segment, 5)
    const told = []
    const answer = segment.init(15_000)
    submit(segment, 5, told)
    t.deepEqual(take(segment, 2), ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_OVERFLOW'])
    t.is(await answer, isFirst)
    const ids = take(segment, 5)
    await until(told, 5)
    t.true(allWell(told))
    ids.push(...told.map(({ id }) => numberOf(id)), ...take(segment, 5))
    t.is(new Set([...ids, ...others]).size, ids.length + others.length)
    t.true(ids.every((id) => (isFirst ? id > 15_000n : id < 10_000n)))
  }
})

test('the option init: a new counter starts after it, an existing one does not', async (t) => {
  const store = new Counters()
  const { segment } = await opened(t, { init: 41n }, store)
  t.is(segment.nextBigInt(), 42n)
  const { segment: second } = await opened(t, { init: 1_000_000 }, store)
  t.is(second.nextBigInt(), 10_042n)
  t.false(await second.init(5_000_000))
  const { segment: third } = await opened(t, { init: 5 })
  t.false(await third.init(100), 'the option counted as the one call')
  t.is(third.nextBigInt(), 6n)
})

// --- the end of 64 bits ---

test('the last ID is 2^64 - 2: then ERR_FLAKE_STORE, for waiting calls too', async (t) => {
  const { segment } = await opened(t, { block: 2, init: LAST - 4n })
  t.deepEqual([numberOf(await segment.nextAsync()), numberOf(await segment.nextAsync())], [LAST - 3n, LAST - 2n])
  t.deepEqual([numberOf(await segment.nextAsync()), numberOf(await segment.nextAsync())], [LAST - 1n, LAST])
  await t.throwsAsync(segment.nextAsync(), { code: 'ERR_FLAKE_STORE', message: /2\^64/ })
  t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_STORE' })
})

// --- close() ---

test('close() ends the waiting calls, each with an error and in order', async (t) => {
  const { segment, store } = await opened(t, { block: 1 })
  store.fail(new Error('connection refused'))
  segment.nextBigInt()
  const told = []
  submit(segment, 5, told)
  await segment.close()
  await until(told, 5)
  t.true(inOrder(told))
  for (const { error } of told) t.is(error.code, 'ERR_FLAKE_DETACHED')
})

test('after close() every call throws and the store is not asked', async (t) => {
  const { segment, store } = await opened(t)
  segment.nextBigInt()
  await segment.close()
  await segment.close()
  const { length } = store.calls
  t.throws(() => segment.next(), { code: 'ERR_FLAKE_DETACHED', message: /closed/ })
  await t.throwsAsync(segment.nextAsync(), { code: 'ERR_FLAKE_DETACHED' })
  t.is(store.calls.length, length)
})

test('after close() neither init nor skipTo reopens it', async (t) => {
  const { segment, store } = await opened(t)
  await segment.close()
  for (const call of [() => segment.init(5), () => segment.init(50_000), () => segment.skipTo(100)]) {
    await t.throwsAsync(call, { code: 'ERR_FLAKE_DETACHED' })
    t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_DETACHED' })
  }
  t.is(store.calls.length, 1)
})

test('close() while init and skipTo wait for the store: the one in progress completes, the others are rejected', async (t) => {
  const { segment, store } = await opened(t)
  const { promise, open } = gate()
  store.before = () => promise
  const begun = segment.init(50_000)
  await turn()
  const waits = segment.skipTo(100_000)
  const closed = segment.close()
  open()
  t.true(await begun)
  await t.throwsAsync(waits, { code: 'ERR_FLAKE_DETACHED' })
  await closed
  t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_DETACHED' })
  t.is(store.values.get(NAME), 60_001n)
})

for (const [what, ask] of [
  ['a block', (segment) => segment.nextBigInt()],
  ['skipTo', (segment) => segment.skipTo(100_000)],
]) {
  test(`close() waits at most 5 s for a silent store, and later answers give no ID: ${what}`, async (t) => {
    const { segment, store } = await opened(t, { block: 1 })
    const { promise, open } = gate()
    store.before = () => promise
    const asked = ask(segment)
    await turn()
    await segment.close() // ends without an answer
    t.is(store.calls.length, 2)
    open()
    await asked
    await turn()
    t.throws(() => segment.nextBigInt(), { code: 'ERR_FLAKE_DETACHED' })
    t.throws(() => segment.takeBigInts(1), { code: 'ERR_FLAKE_DETACHED' })
  })
}

test('await using', async (t) => {
  const { segment } = await opened(t)
  await segment[Symbol.asyncDispose]()
  t.throws(() => segment.next())
})

test('durable: the store learns whether it can be trusted, and only true and false are accepted', async (t) => {
  for (const durable of [undefined, null, false, true]) {
    const { store } = await opened(t, { durable })
    t.is(store.durable, durable === true)
  }
  for (const durable of ['true', 1, 0, '', {}]) {
    const error = await t.throwsAsync(opened(t, { durable }), { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError })
    t.is(error.option, 'durable')
  }
})

// --- stats ---

test('stats: every taken number is handed out, remaining, or dropped', async (t) => {
  const { segment, store } = await opened(t, { block: 100 })
  const none = { ids: 0, taken: 100, buffered: 100, dropped: 0, waits: 0, waitedMs: 0 }
  t.like(segment.stats, none)
  t.true(segment.stats.since instanceof Date && Date.now() - segment.stats.since < 60_000)
  await segment.init(7)
  t.like(segment.stats, { ...none, buffered: 92, dropped: 8 }, 'init left out 0 to 7')
  segment.take(5)
  segment.nextString()
  await segment.nextAsync()
  t.like(segment.stats, { ids: 7, taken: 100, buffered: 85, dropped: 8, waits: 0 })
  const { promise, open } = gate()
  store.before = () => promise
  const start = performance.now()
  const waits = segment.takeAsync(90)
  await turn()
  open()
  await waits
  const longest = performance.now() - start
  const { ids, taken, buffered, dropped, waits: count, waitedMs } = segment.stats
  t.deepEqual([ids, dropped, count], [97, 8, 1])
  t.is(ids + buffered + dropped, taken)
  t.true(waitedMs > 0 && waitedMs <= longest)
  await segment.skipTo(1000)
  t.like(segment.stats, { ids: 97, taken: taken + 100, buffered: 100, dropped: 8 + buffered })
  await segment.close()
  t.like(segment.stats, { ids: 97, buffered: 0, dropped: taken + 100 - 97 })
})

test('stats: init beyond the first block', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  t.true(await segment.init(99))
  t.like(segment.stats, { ids: 0, taken: 20, buffered: 10, dropped: 10 })
})
