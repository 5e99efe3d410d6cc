// A leased generator whose clock and the store's differ, or where the difference cannot be known.

import '../support/clocks.mjs' // before flakeforge
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { replaceClocks } from '../support/clocks.mjs'
import { happens, joined, leaseOptions, tryJoin } from '../support/lease.mjs'
import { LEASE, MemoryStore } from '../support/store.mjs'
import { until } from '../support/waits.mjs'

test.serial('a clock that differs by more than skewMs', async (t) => {
  for (const offsetMs of [1000, -1000]) {
    const error = await t.throwsAsync(tryJoin(new MemoryStore({ offsetMs }), leaseOptions()), {
      code: 'ERR_FLAKE_CLOCK_SKEW',
    })
    t.true(Math.abs(error.skewMs + offsetMs) < 500, String(error.skewMs))
    t.regex(error.message, offsetMs > 0 ? /behind/ : /ahead/)
  }
})

test.serial('a store whose clock is ahead: IDs only once ours has reached it', async (t) => {
  const store = new MemoryStore({ offsetMs: 800 })
  const { flake } = await joined(t, { skewMs: 1300 }, store)
  const [{ lo }] = store.windows
  t.true(Date.now() >= lo, 'join resolves when IDs can be generated')
  t.true(flake.decode(flake.next()).timestamp >= lo)
})

test.serial('a clock that is set forward later: the skew is why the lease expires', async (t) => {
  const { flake, store } = await joined(t)
  store.offsetMs = -5000
  await sleep(LEASE.ttlMs + 200)
  const error = t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  t.is(error.cause?.code, 'ERR_FLAKE_CLOCK_SKEW')
  store.offsetMs = 0
  t.is((await flake.nextAsync()).length, 8)
})

test.serial('after a machine was suspended, the first rejected call brings the next window at once', async (t) => {
  // Timers stop meanwhile, and the wall clock does not.
  replaceClocks(t, { setTimeout: () => ({ unref() {} }) })
  for (const ask of [
    (flake) => t.throws(() => flake.next(), { code: 'ERR_FLAKE_OVERFLOW' }),
    (flake) => flake.nextAsync(),
  ]) {
    const { flake, store } = await joined(t)
    await until(() => Date.now() > flake.expires.getTime())
    t.is(store.count('renew'), 0, 'no timer has fired')
    const renewed = happens(flake, 'renewed')
    const asked = ask(flake)
    t.is(store.count('renew'), 1)
    await renewed
    await asked
    t.is(flake.next().length, 8)
  }
})
