// A leased generator whose store fails, waits, refuses or is quiet, or whose own process was held up. IDs are available
// as long as the window lasts, and become available again without help; join-stores.test.mjs covers longer outages.

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { jsonOfChild, numberOf } from '../support/index.mjs'
import {
  afterEvents,
  block,
  blockingCalls,
  happens,
  joined,
  leaseOptions,
  named,
  record,
  tryJoin,
} from '../support/lease.mjs'
import { giveAway, LEASE, MemoryStore } from '../support/store.mjs'
import { until } from '../support/waits.mjs'

const errors = createRequire(import.meta.url)('../../target/rooms/lib/base/errors.js')
const DOWN = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

// --- a store that fails later ---

test.serial('a failing renewal is reported once per outage, with its cause and the remaining time', async (t) => {
  const { flake, store } = await joined(t)
  const told = record(flake)
  for (let outage = 1; outage <= 2; outage++) {
    const cause = DOWN()
    store.fail(cause)
    const { expires } = flake
    const failed = await happens(flake, 'renewal-failed')
    t.is(failed.cause.code, 'ERR_FLAKE_STORE')
    t.is(failed.cause.cause, cause)
    t.deepEqual({ ...failed, cause }, { group: 'default', slot: 0, cause, expires })
    const asked = store.count('renew')
    await until(() => store.count('renew') >= asked + 3)
    t.is(flake.next().length, 8, 'IDs can be generated')
    store.work()
    await happens(flake, 'renewed')
    t.is(named(told).filter((name) => name === 'renewal-failed').length, outage)
  }
  const warned = warnings.filter(({ code }) => code === 'FLAKEFORGE_RENEWAL')
  t.is(warned.length, 1, 'the process is warned of the first one')
  t.regex(
    warned[0].message,
    /^The window of slot 0 in group 'default' was not renewed: .* IDs can be generated until .*'renewal-failed'/,
  )
})

// --- a store that is down at the start ---

test.serial('attach: a store that fails is ERR_FLAKE_STORE, and attach() works when it is back', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  store.fail()
  const error = await t.throwsAsync(flake.attach(), { code: 'ERR_FLAKE_STORE' })
  t.is(error.cause.message, 'connection refused')
  t.is(flake.state, 'detached')
  store.work()
  await flake.attach()
  t.is(flake.state, 'attached')
})

test.serial('destroy: a store that fails is ERR_FLAKE_STORE, and nothing has ended', async (t) => {
  const { flake, store } = await joined(t)
  const cause = DOWN()
  store.fail(cause)
  const error = await t.throwsAsync(flake.destroy(), { code: 'ERR_FLAKE_STORE' })
  t.is(error?.cause, cause)
  t.is(flake.state, 'attached')
  t.notThrows(() => flake.nextBigInt())
  store.work()
  await t.notThrowsAsync(flake.detach())
  await flake.attach()
  await flake.destroy()
  t.is(flake.state, 'destroyed')
})

test.serial('a destroy that failed while detached does not affect later calls', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  store.fail()
  await t.throwsAsync(flake.destroy())
  store.work()
  await t.notThrowsAsync(flake.detach())
  await t.notThrowsAsync(flake.close())
})

test.serial('a failed destroy is not the reason given for a later destroyed group', async (t) => {
  const { flake, store } = await joined(t)
  store.fail()
  await t.throwsAsync(flake.destroy())
  store.work()
  await Promise.all([happens(flake, 'destroyed'), store.destroy('default')])
  await t.notThrowsAsync(flake.destroy())
})

test.serial('detach: a store that fails does not prevent its end; the slot becomes free after the ttl', async (t) => {
  const { flake, store } = await joined(t, { slots: 1 })
  flake.next()
  store.fail()
  await flake.detach()
  t.is(flake.state, 'detached')
  t.is(store.count('release'), 1)
  store.work()
  await flake.attach()
  const [first, second] = store.windows
  t.true(second.lo > first.hi)
})

// The warnings of this file are checked, not printed.
const warnings = []
process.removeAllListeners('warning')
process.on('warning', (warning) => warnings.push(warning))

test.after('no warning was empty or unexpected', (t) => {
  t.true(warnings.length > 0)
  t.is(warnings.filter(({ code }) => code === 'FLAKEFORGE_RENEWAL').length, 1)
  for (const { code, message } of warnings) {
    if (code === 'FLAKEFORGE_RENEWAL') continue
    t.is(code, 'FLAKEFORGE_QUIET')
    t.regex(message, /^Group 'default' is new .*, so no slot is granted for -?\d+ s, until 20/)
  }
})

test.serial('an error whose code is a property of every object is a failure of the store', async (t) => {
  const store = new MemoryStore()
  store.fail({ code: 'constructor' }) // not even an error
  await t.throwsAsync(tryJoin(store, leaseOptions()), { code: 'ERR_FLAKE_STORE' })
})

test.serial('an unreadable record: join() ends at once, because waiting does not help', async (t) => {
  const store = new MemoryStore()
  store.fail(errors.recordError('default', { name: 'group', version: 2 }))
  await t.throwsAsync(tryJoin(store, leaseOptions()), { code: 'ERR_FLAKE_RECORD' })
  t.is(store.count('acquire'), 1)
})

// --- a store that fails later ---

test.serial('an unanswered renewal: ERR_FLAKE_LEASE_EXPIRED too, and the answer, however late, ends it', async (t) => {
  const { flake, store } = await joined(t, { skewMs: 0 })
  let answer
  const { renew } = store
  store.renew = async (...request) => {
    await new Promise((resolve) => (answer = resolve))
    return renew.apply(store, request)
  }
  await sleep(LEASE.ttlMs + 100)
  const error = t.throws(() => flake.nextBigInt())
  t.is(error?.code, 'ERR_FLAKE_LEASE_EXPIRED')
  t.like(error, { group: 'default', slot: 0 })
  const waiting = flake.nextAsync()
  store.renew = renew
  answer()
  t.is(flake.decode(await waiting).id, 0)
})

test.serial('the event loop was blocked for longer than the window: ERR_FLAKE_OVERFLOW, which passes', async (t) => {
  const { flake, store } = await joined(t)
  const before = flake.nextBigInt()
  const { hi } = store.windows.at(-1)
  block(LEASE.ttlMs + 200)
  for (const error of await blocked(flake)) {
    t.is(error.code, 'ERR_FLAKE_OVERFLOW')
    t.true(Number.isInteger(error.retryAfterMs) && error.retryAfterMs > 0)
    t.like(error, { group: 'default', slot: 0 })
  }
  const id = await flake.nextAsync()
  t.true(numberOf(id) > before)
  t.true(flake.decode(id).timestamp > hi)
  t.is(flake.slot, 0)
  t.notThrows(() => flake.nextBigInt())
})

/** The errors of calls before the event loop has turned again. */
const blocked = (flake) =>
  Object.values(blockingCalls).map((call) => {
    try {
      return { code: String(call(flake)) }
    } catch (error) {
      return error
    }
  })

// --- a store that is quiet ---

test.serial('quiet: join waits it out, and one warning explains it for any number of joins', async (t) => {
  const source = `
    import { MemoryStore, LEASE } from ${JSON.stringify(new URL('../support/store.mjs', import.meta.url).href)}
    const store = new MemoryStore()
    const warnings = []
    process.removeAllListeners('warning')
    process.on('warning', ({ code, message }) => warnings.push({ code, message }))
    await (await FlakeId.join(store, LEASE)).close()
    const until = store.group().quietUntil = Date.now() + 2500
    const [flake, other] = await Promise.all([FlakeId.join(store, LEASE), FlakeId.join(store, LEASE)])
    await other.close()
    const late = flake.decode(flake.next()).timestamp >= until
    console.log(JSON.stringify({ warnings, late, asked: store.count('acquire') }))
  `
  const { warnings, late, asked } = await jsonOfChild(t, source)
  t.is(warnings.length, 1)
  t.is(warnings[0].code, 'FLAKEFORGE_QUIET')
  t.regex(warnings[0].message, /no slot is granted for [23] s, until 20.*: await createGroup\(store, options\)/)
  t.true(late)
  t.true(asked > 2)
})

test.serial('a renewal names the end of the window that it knows: the last answered one', async (t) => {
  const { store } = await joined(t)
  const { renew } = store
  store.renew = async function (...request) {
    const answer = await renew.apply(this, request)
    if (this.count('renew') === 2) throw DOWN() // the store did it, but the answer was lost
    return answer
  }
  await until(() => store.count('renew') >= 4)
  const known = store.calls.filter(([step]) => step === 'renew').map(([, , { hi }]) => hi)
  const [granted, first, , third] = store.windows.map(({ hi }) => hi)
  t.deepEqual(known.slice(0, 4), [granted, first, first, third])
})

test.serial('quiet when the window has ended: no IDs before it is over, and then a new window', async (t) => {
  const { flake, store } = await joined(t)
  const first = flake.nextBigInt()
  const { hi } = store.windows.at(-1)
  const end = hi + 1000
  store.fail(DOWN())
  await sleep(hi - Date.now())
  store.group().quietUntil = end
  store.work()
  const renewals = store.count('renew')
  await until(() => store.count('renew') !== renewals)
  await afterEvents()
  const error = t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  t.is(error.cause?.code, 'ERR_FLAKE_QUIET')
  const id = await flake.nextAsync()
  t.true(flake.decode(id).timestamp >= end)
  t.true(numberOf(id) > first)
  const window = store.windows.at(-1)
  t.true(window.lo > hi)
  t.true(flake.decode(id).timestamp >= window.lo)
})

// --- a loss, and no way back at once ---

test.serial('lost while the store is down: keeps trying until it is back', async (t) => {
  const { flake, store } = await joined(t)
  giveAway(store, 0)
  store.before = async (step) => {
    if (step === 'acquire') throw DOWN()
  }
  await happens(flake, 'lost')
  const waiting = flake.nextAsync()
  await until(() => store.count('acquire') >= 4) // it keeps asking
  t.is(flake.state, 'detached')
  store.work()
  t.is(flake.decode(await waiting).id, 1)
})

test.serial('lost, then destroyed', async (t) => {
  const { flake, store } = await joined(t)
  store.group().slots.get(0).owner = 'f'.repeat(32)
  store.before = async (step) => {
    if (step === 'acquire') throw DOWN()
  }
  await happens(flake, 'lost')
  const waiting = flake.nextAsync()
  store.group().destroyed = true
  const destroyed = happens(flake, 'destroyed')
  store.work()
  await destroyed
  await t.throwsAsync(waiting, { code: 'ERR_FLAKE_DESTROYED' })
  t.is(flake.state, 'destroyed')
})
