// Named counters on a real Redis: exact up to 2^64 - 1, and silent only when nothing can have been lost.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import fc from 'fast-check'
import { CLIENTS, startRedis, wantRedis } from './servers/redis.mjs'

const { redisStore } = createRequire(import.meta.url)('../lib/stores/redis.js')

const test = wantRedis() === undefined ? anyTest.skip : anyTest

const MAX = 2n ** 64n - 1n

let server
let store
let end

test.before(async () => {
  server = await startRedis()
  const connected = await CLIENTS.ioredis(server)
  end = connected.end
  store = redisStore(connected.client)
})

test.after.always(async () => {
  end?.()
  await server?.stop()
})

const refused = (message) => ({ code: 'ERR_FLAKE_STORE', message })

test('a counter begins where init says, once, and grows', async (t) => {
  t.is(await store.advance('orders', 10_000n, 0n), 0n)
  t.is(await store.advance('orders', 5n, 0n), 10_000n)
  t.is(await store.advance('orders', 1n), 10_005n)
  t.is(await store.advance('orders', 0n), 10_006n)
  t.is(await store.advance('orders', 0n, 0n), 10_006n, 'init and no block of an older place')
  t.is(await store.advance('others', 1n, 7n), 7n, 'a counter of its own')
})

test('an absent counter without init is gone', async (t) => {
  await t.throwsAsync(store.advance('absent', 1n), refused(/'absent'. It was removed.*skipTo/))
  await t.throwsAsync(store.advance('absent', 0n), refused(/was removed/))
  t.is(await store.advance('absent', 0n, 12n), 12n)
  t.is(await store.advance('absent', 3n), 12n)
})

test('skipTo goes forwards only', async (t) => {
  await store.advance('skip', 100n, 0n)
  t.is(await store.advance('skip', 0n, 50n), 100n)
  t.is(await store.advance('skip', 0n, 10n ** 18n), 10n ** 18n)
  t.is(await store.advance('skip', 1n), 10n ** 18n)
})

test('the last block ends at 2^64 - 1, and one beyond it changes nothing', async (t) => {
  t.is(await store.advance('last', 10n, MAX - 10n), MAX - 10n)
  for (const by of [1n, 10n, MAX]) await t.throwsAsync(store.advance('last', by), refused(/18446744073709551615/))
  t.is(await store.advance('last', 0n), MAX)
  await t.throwsAsync(store.advance('too far', 2n, MAX - 1n), refused(/2\^64/))
  await t.throwsAsync(store.advance('too far', 1n), refused(/was removed/))
  t.is(await store.advance('max', 0n, MAX), MAX)
})

test('sums are exact, whatever the digits', async (t) => {
  const value = fc.bigInt({ min: 0n, max: MAX })
  const edge = fc
    .tuple(fc.integer({ min: 0, max: 19 }), fc.bigInt({ min: -2n, max: 2n }))
    .map(([digits, near]) => 10n ** BigInt(digits) + near)
    .filter((number) => number >= 0n)
  const number = fc.oneof(value, edge)
  let counters = 0
  await fc.assert(
    fc.asyncProperty(number, number, async (init, by) => {
      counters += 1
      const name = `sum ${counters}`
      if (init + by > MAX) {
        await t.throwsAsync(store.advance(name, by, init), refused(/2\^64/))
      } else {
        t.is(await store.advance(name, by, init), init)
        t.is(await store.advance(name, 0n), init + by)
      }
    }),
    { numRuns: 300 },
  )
})

test('concurrent blocks do not overlap', async (t) => {
  await store.advance('many', 0n, 0n)
  const starts = await Promise.all(Array.from({ length: 200 }, () => store.advance('many', 1000n)))
  t.deepEqual(
    starts.sort((a, b) => Number(a - b)),
    Array.from({ length: 200 }, (_, i) => BigInt(i) * 1000n),
  )
})

test('another incarnation stops a counter until skipTo', async (t) => {
  await store.advance('lossy', 100n, 0n)
  await server.cli('HSET', 'flakeforge:{lossy}:counter', 'incarnation', 'another')
  for (const args of [[1n], [0n], [1n, 0n], [1n, 500n]]) {
    await t.throwsAsync(store.advance('lossy', ...args), refused(/may have lost blocks.*'lossy'.*skipTo/))
  }
  t.is(await store.advance('lossy', 0n, 500n), 500n)
  t.is(await store.advance('lossy', 1n), 500n)
})

test('a counter and a group of one name are apart, and a counter never expires', async (t) => {
  await store.advance('both', 1n, 0n)
  await store.open('both', { fingerprint: 'f', slots: 1, ttlMs: 2000, skewMs: 500, create: true })
  await store.destroy('both')
  t.is(await store.advance('both', 1n), 1n)
  t.is(await server.cli('TTL', 'flakeforge:{both}:counter'), '-1')
})
