// Batches of SegmentId: take, takeBigInts and takeAsync give the same as that many single calls, across blocks, or
// nothing.

import test from 'ava'
import { allWell, numberOf, split, submit, throwsCode, turn, until } from '../../support/index.mjs'
import { counterError, LAST, NAME, opened, range, take } from '../../support/segment.mjs'
import { gate } from '../../support/waits.mjs'

const FORMS = {
  take: async (segment, n) => segment.take(n),
  takeBigInts: async (segment, n) => segment.takeBigInts(n),
  takeAsync: (segment, n) => segment.takeAsync(n),
}

const numbers = (ids) => split(ids).map(numberOf)

/** The call's result, as soon as enough IDs are available. */
async function patiently(call) {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_OVERFLOW') throw error
      await turn()
    }
  }
}

test('the three forms: bytes big-endian, bigints, a promise of bytes; one sequence with the single calls', async (t) => {
  const { segment } = await opened(t, { init: 254n })
  const bytes = segment.take(2)
  t.true(Buffer.isBuffer(bytes))
  t.is(bytes.toString('hex'), '00000000000000ff0000000000000100')
  const bigints = segment.takeBigInts(2)
  t.true(bigints instanceof BigUint64Array)
  t.deepEqual([...bigints], [0x101n, 0x102n])
  const later = await segment.takeAsync(2)
  t.true(Buffer.isBuffer(later))
  t.is(later.toString('hex'), '00000000000001030000000000000104')
  t.is(segment.nextBigInt(), 0x105n)
  t.is(segment.next().toString('hex'), '0000000000000106')
})

test('each batch has its own memory', async (t) => {
  const { segment } = await opened(t)
  const [one, two, three] = [segment.take(3), segment.take(3), segment.takeBigInts(3)]
  t.is(one.buffer.byteLength, 24)
  one.fill(0xff)
  t.deepEqual([...numbers(two), ...three], range(3, 6))
})

for (const [form, call] of Object.entries(FORMS)) {
  test(`${form}: inside a block, to its end, over several, and single IDs in between`, async (t) => {
    const { segment } = await opened(t, { block: 10 })
    let expected = 0
    for (const n of [1, 9, 10, 0, 7, 2, 25, 100, 3]) {
      t.deepEqual(numbers(await patiently(() => call(segment, n))), range(expected, n), String(n))
      t.is(await patiently(() => segment.nextBigInt()), BigInt(expected + n))
      expected += n + 1
    }
  })

  test(`${form}: an invalid n takes no ID`, async (t) => {
    const { segment, store } = await opened(t)
    for (const n of [undefined, null, '5', 5n, {}, -1, 1.5, Number.NaN, 2 ** 53]) {
      const error = await t.throwsAsync(async () => call(segment, n), { code: 'ERR_FLAKE_OPTION' }, String(n))
      t.is(error.option, 'n')
    }
    t.is(store.calls.length, 1)
    t.is(segment.nextBigInt(), 0n)
  })

  test(`${form}: after a batch init is too late; after an empty one it is not`, async (t) => {
    const { segment } = await opened(t)
    await call(segment, 0)
    t.true(await segment.init(5))
    const { segment: other } = await opened(t)
    await call(other, 1)
    t.false(await other.init(5))
  })

  test(`${form}: the last ID, and none beyond`, async (t) => {
    const { segment } = await opened(t, { block: 2, init: LAST - 4n })
    t.deepEqual(numbers(await patiently(() => call(segment, 3))), [LAST - 3n, LAST - 2n, LAST - 1n])
    await t.throwsAsync(
      patiently(() => call(segment, 2)),
      { code: 'ERR_FLAKE_STORE', message: /2\^64/ },
    )
    t.is(segment.nextBigInt(), LAST)
  })
}

test('take: all or nothing; the available IDs stay for others', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  segment.take(4)
  const error = throwsCode(t, () => segment.take(7), 'ERR_FLAKE_OVERFLOW')
  t.true(error.retryAfterMs > 0)
  t.regex(error.message, /^7 IDs .* only 6 are available/)
  t.is(segment.nextBigInt(), 4n)
  t.deepEqual(numbers(segment.take(5)), range(5, 5))
  throwsCode(t, () => segment.takeBigInts(1), 'ERR_FLAKE_OVERFLOW')
})

test('take: one call requests all missing IDs, so that the next try succeeds', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  segment.nextBigInt()
  throwsCode(t, () => segment.take(95), 'ERR_FLAKE_OVERFLOW')
  throwsCode(t, () => segment.take(95), 'ERR_FLAKE_OVERFLOW')
  await turn()
  t.deepEqual(numbers(segment.take(95)), range(1, 95))
  t.deepEqual(store.calls[1], [90n, undefined], 'whole blocks: 86 are missing')
})

test('after a take that had to request more, init is too late, and no ID is skipped', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  throwsCode(t, () => segment.take(20), 'ERR_FLAKE_OVERFLOW')
  await turn()
  t.false(await segment.init(5))
  t.deepEqual(numbers(segment.take(20)), range(0, 20))
})

test('take: missing IDs are requested even with a block ahead', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  take(segment, 6)
  await turn()
  throwsCode(t, () => segment.take(30), 'ERR_FLAKE_OVERFLOW')
  await turn()
  t.deepEqual(numbers(segment.take(30)), range(6, 30))
})

test('take: the next block is requested when half of this one is used', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  segment.take(5)
  await turn()
  t.is(store.calls.length, 1)
  segment.takeBigInts(1)
  await turn()
  t.is(store.calls.length, 2)
})

test('takeAsync waits in line with next(callback), and requests what it lacks with one call', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  const told = []
  submit(segment, 3, told)
  const batch = segment.takeAsync(1000)
  submit(segment, 3, told)
  t.deepEqual(numbers(await batch), range(3, 1000))
  await until(told, 6)
  t.true(allWell(told))
  t.deepEqual(
    told.map(({ id }) => numberOf(id)),
    [0n, 1n, 2n, 1003n, 1004n, 1005n],
  )
  t.true(store.calls.length <= 4)
})

test('takeAsync that never gets its IDs takes none: the store is stuck, or the member is closed', async (t) => {
  const { segment, store } = await opened(t, { block: 10 })
  store.fail(counterError('behind', NAME))
  await t.throwsAsync(segment.takeAsync(50), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  t.deepEqual(take(segment, 10), range(0, 10))
  store.work()
  await segment.skipTo(100)
  const { promise, open } = gate()
  store.before = () => promise.then(() => Promise.reject(new Error('connection refused')))
  const waits = segment.takeAsync(50)
  await turn()
  const closed = segment.close()
  open()
  await Promise.all([t.throwsAsync(waits, { code: 'ERR_FLAKE_DETACHED' }), closed])
  throwsCode(t, () => segment.take(1), 'ERR_FLAKE_DETACHED')
  await t.throwsAsync(segment.takeAsync(1), { code: 'ERR_FLAKE_DETACHED' })
})
