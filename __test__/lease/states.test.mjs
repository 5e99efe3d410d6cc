// The states of a leased generator: how it changes between them, the result of each call in each, and the events. The
// store is the test's own, and works; faults.test.mjs covers failures.

import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { WITH_NODES } from '../support/dialects.mjs'
import { isAscending, numberOf } from '../support/index.mjs'
import {
  afterEvents,
  allCalls,
  allRefuse,
  happens,
  joinAs,
  joined,
  leaseOptions,
  named,
  record,
  tryJoin,
  waitingCalls,
} from '../support/lease.mjs'
import { giveAway, LEASE, MemoryStore } from '../support/store.mjs'
import { until } from '../support/waits.mjs'

// --- attached ---

test.serial('attached: every call gives IDs of the slot, in order', async (t) => {
  const { flake, store } = await joined(t)
  t.is(flake.state, 'attached')
  t.is(flake.slot, 0)
  const ids = []
  for (const call of Object.values(allCalls)) ids.push(await call(flake))
  t.is(ids.length, Object.keys(allCalls).length)
  const single = [
    flake.nextBigInt(),
    numberOf(flake.next()),
    BigInt(flake.nextString()),
    numberOf(await flake.nextAsync()),
  ]
  t.true(isAscending(single))
  for (const id of single) t.is(flake.decode(id).id, 0)
  t.is(flake.stats.batches, 3)
  t.deepEqual(
    store.calls.map(([step]) => step),
    ['acquire'],
  )
})

test.serial('expires is the end of the window, and advances with it', async (t) => {
  const { flake, store } = await joined(t)
  t.deepEqual(flake.expires, new Date(store.windows[0].hi))
  await happens(flake, 'renewed')
  t.deepEqual(flake.expires, new Date(store.windows.at(-1).hi))
  t.true(store.windows.at(-1).hi > store.windows[0].hi)
})

test.serial('lineage is that of the group, which a renewal may change', async (t) => {
  const { flake, store } = await joined(t)
  t.is(flake.lineage, store.group().lineage)
  store.group().lineage = 'feedfeedfeedfeed'
  await happens(flake, 'renewed')
  t.is(flake.lineage, 'feedfeedfeedfeed')
  await flake.detach()
  t.is(flake.lineage, 'feedfeedfeedfeed')
})

test.serial('attach() while attached changes nothing', async (t) => {
  const { flake, store } = await joined(t)
  const told = record(flake)
  await Promise.all([flake.attach(), flake.attach()])
  await flake.attach()
  await afterEvents()
  t.is(store.count('acquire'), 1)
  t.deepEqual(told, [])
})

// --- detached ---

test.serial('detached: every call reports it, and so do the properties', async (t) => {
  const { flake } = await joined(t)
  const last = flake.nextBigInt()
  const told = record(flake)
  await flake.detach()
  t.is(flake.state, 'detached')
  t.is(flake.slot, undefined)
  t.is(flake.expires, undefined)
  for (const error of await allRefuse(t, flake, 'ERR_FLAKE_DETACHED')) {
    t.is(error?.group, 'default')
    t.true(Object.hasOwn(error ?? {}, 'slot'))
    t.is(error?.slot, undefined)
    t.regex(error?.message, /attach\(\)/)
  }
  await afterEvents()
  t.deepEqual(told, [['detached', { group: 'default', slot: 0 }]])
  t.is(flake.decode(last).id, 0, 'IDs can still be read')
  t.is(flake.stats.ids, 1)
})

test.serial('detach() releases the slot with the ms of the last ID, rounded up', async (t) => {
  for (const { name: layout, tickMs, maxAheadMs } of WITH_NODES) {
    const ahead = Number.isFinite(maxAheadMs) ? { maxAheadMs: 0 } : {} // windows are shorter than the default of some
    const { flake, store } = await joined(t, { layout, ...ahead, epoch: undefined, group: layout })
    const { timestamp } = flake.decode(await flake.nextAsync())
    await flake.detach()
    const [, , { slot, owner, last }] = store.calls.at(-1)
    t.is(slot, 0)
    t.is(owner, store.windows[0].owner)
    t.true(Number.isInteger(last), String(last))
    t.true(last + 1 >= timestamp + tickMs - 1e-3, `${layout}: ${last} for ${timestamp}`)
    t.true(last <= timestamp + tickMs, `${layout}: ${last} for ${timestamp}`)
  }
})

test.serial('detach() without an ID sends −1, and the window is free at once', async (t) => {
  const { flake, store } = await joined(t, { slots: 1 })
  const [{ lo }] = store.windows
  await flake.detach()
  t.is(store.calls.at(-1)[2].last, -1)
  t.is(store.group().slots.get(0).hi, lo - 1)
  await flake.attach()
  t.is(flake.slot, 0)
})

test.serial('detach() twice, and twice at once, releases once', async (t) => {
  const { flake, store } = await joined(t)
  const told = record(flake)
  await Promise.all([flake.detach(), flake.detach()])
  await flake.detach()
  await afterEvents()
  t.is(store.count('release'), 1)
  t.deepEqual(named(told), ['detached'])
})

test.serial('no renewal after detach()', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  const { length } = store.calls
  await sleep(LEASE.ttlMs)
  t.is(store.calls.length, length)
})

test.serial('calls that are waiting at detach() get its code', async (t) => {
  const { flake, store } = await joined(t)
  const { slot } = flake
  store.group().slots.get(slot).owner = 'f'.repeat(32)
  store.before = async (step) => step === 'acquire' && new Promise(() => {})
  await happens(flake, 'lost')
  const waiting = Object.entries(waitingCalls).map(([name, call]) => [name, call(flake)])
  await sleep(50)
  await flake.detach()
  for (const [name, promise] of waiting) await t.throwsAsync(promise, { code: 'ERR_FLAKE_DETACHED' }, name)
})

// --- attach again ---

test.serial('attach() after detach(): IDs continue above the last one, with the same generator', async (t) => {
  const { flake, store } = await joined(t, { slots: 4 })
  const told = record(flake)
  const before = [...flake.takeBigInts(100)]
  await flake.detach()
  await sleep(5) // past the ms of the last ID, until which the slot stays taken
  await flake.attach()
  t.is(flake.state, 'attached')
  t.is(flake.slot, 0, 'the slot that this host held last')
  t.true(isAscending([...before, ...flake.takeBigInts(100)]))
  await afterEvents()
  t.deepEqual(told, [
    ['detached', { group: 'default', slot: 0 }],
    ['attached', { group: 'default', slot: 0 }],
  ])
  const [first, second] = store.windows
  t.true(second.lo > before.map((id) => flake.decode(id).timestamp).at(-1))
  t.not(first.owner, second.owner)
})

test.serial('attach() may give another slot: then the node number changes', async (t) => {
  const { flake, store, options } = await joined(t, { datacenter: 2 })
  t.like(flake, { id: 64, worker: 0 })
  await flake.detach()
  const other = await joinAs(t, store, options)
  t.is(other.slot, 0)
  await flake.attach()
  t.is(flake.slot, 1)
  t.like(flake, { id: 65, worker: 1, datacenter: 2 })
  t.like(flake.decode(flake.next()), { id: 65, worker: 1 })
})

test.serial('attach() twice at once: one acquisition, both resolve', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  await afterEvents()
  const told = record(flake)
  await Promise.all([flake.attach(), flake.attach(), flake.attach()])
  t.is(store.count('acquire'), 2)
  t.is(flake.state, 'attached')
  await afterEvents()
  t.deepEqual(named(told), ['attached'])
})

// --- close ---

test.serial('close() is detach() and the end of the timer, also when called twice', async (t) => {
  const { flake, store } = await joined(t)
  const told = record(flake)
  await Promise.all([flake.close(), flake.close()])
  await flake.close()
  await afterEvents()
  t.is(store.count('release'), 1)
  t.deepEqual(named(told), ['detached'])
  t.is(flake.state, 'detached')
  await allRefuse(t, flake, 'ERR_FLAKE_DETACHED')
})

test.serial('close() is final, and every call fails with the same message', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  store.before = (step) => step === 'acquire' && new Promise(() => {})
  const attaching = flake.attach()
  await sleep(5)
  const closing = flake.close()
  const errors = [await t.throwsAsync(attaching, { code: 'ERR_FLAKE_DETACHED' })]
  await closing
  const { length } = store.calls
  for (const call of ['attach', 'destroy'])
    errors.push(await t.throwsAsync(flake[call](), { code: 'ERR_FLAKE_DETACHED' }))
  errors.push(...(await allRefuse(t, flake, 'ERR_FLAKE_DETACHED')))
  for (const error of errors) {
    t.is(error.message, "This generator of group 'default' is closed. Call join() for a new one.")
    t.is(error.group, 'default')
  }
  t.is(store.calls.length, length, 'the store is not asked again')
  await t.notThrowsAsync(flake.detach())
})

test.serial('Symbol.asyncDispose is close()', async (t) => {
  const { flake, store } = await joined(t)
  t.is(typeof flake[Symbol.asyncDispose], 'function')
  await flake[Symbol.asyncDispose]()
  t.is(flake.state, 'detached')
  t.is(store.count('release'), 1)
})

test.serial("the user's own store is never closed", async (t) => {
  const store = new MemoryStore()
  let closed = 0
  store.close = async () => closed++
  const { flake } = await joined(t, {}, store)
  await flake.close()
  store.fail()
  await t.throwsAsync(tryJoin(store, leaseOptions()))
  t.is(closed, 0)
})

// --- destroyed ---

test.serial('destroy(): every call reports it, permanently', async (t) => {
  const { flake, store } = await joined(t)
  const told = record(flake)
  const last = flake.nextBigInt()
  await flake.destroy()
  t.is(flake.state, 'destroyed')
  t.is(flake.slot, undefined)
  t.is(flake.expires, undefined)
  for (const error of await allRefuse(t, flake, 'ERR_FLAKE_DESTROYED')) t.is(error?.group, 'default')
  const error = await t.throwsAsync(flake.attach(), { code: 'ERR_FLAKE_DESTROYED' })
  t.is(error.group, 'default')
  await afterEvents()
  t.deepEqual(named(told), ['destroyed'])
  t.is(told[0][1].group, 'default')
  for (const call of ['detach', 'destroy', 'close']) await t.notThrowsAsync(flake[call](), call)
  t.is(flake.state, 'destroyed')
  t.is(store.count('destroy'), 1)
  t.true(flake.decode(last).timestamp > 0)
})

test.serial('destroy() of a detached member, which stays ended', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  await flake.destroy()
  t.is(flake.state, 'destroyed')
  t.true(store.group().destroyed)
  await allRefuse(t, flake, 'ERR_FLAKE_DESTROYED')
})

// --- lost ---

test.serial(
  'lost: its generator is retired at once, then another slot and node number, without another attach()',
  async (t) => {
    const { flake, store } = await joined(t)
    const told = record(flake)
    const before = [...flake.takeBigInts(10)]
    giveAway(store, 0)
    let answer
    store.before = (step) => step === 'acquire' && new Promise((resolve) => (answer = resolve))
    const detail = await happens(flake, 'lost')
    t.like(detail, { group: 'default', slot: 0 })
    t.like(detail.cause, { code: 'ERR_FLAKE_LEASE_EXPIRED', group: 'default', slot: 0, cause: undefined })
    t.regex(detail.cause.message, /no longer lists this generator as the holder/)
    t.is(flake.state, 'detached')
    t.is(flake.slot, undefined)
    const blocking = Object.entries(allCalls).filter(([name]) => !(name in waitingCalls))
    for (const error of await allRefuse(t, flake, 'ERR_FLAKE_DETACHED', Object.fromEntries(blocking))) {
      t.regex(error?.message, /another/)
      t.is(error?.cause, detail.cause)
    }
    const waiting = Object.values(waitingCalls).map((call) => call(flake))
    answer()
    store.work()
    const ids = await Promise.all(waiting)
    t.is(flake.state, 'attached')
    t.is(flake.slot, 1)
    t.is(flake.id, 1)
    const singles = [ids[0], ids[1], ids[3]]
    t.true(isAscending([before.at(-1), ...singles].map(numberOf).toSorted((a, b) => (a < b ? -1 : 1))))
    for (const id of singles) t.is(flake.decode(id).id, 1)
    await afterEvents()
    t.deepEqual(named(told).slice(-2), ['lost', 'attached'])
    t.deepEqual(told.at(-1)[1], { group: 'default', slot: 1 })
    t.is(store.count('release'), 0, "another member's slot is not released")
  },
)

test.serial('attach() while a lost slot is being replaced waits for the same one', async (t) => {
  const { flake, store } = await joined(t)
  store.group().slots.get(0).owner = 'f'.repeat(32)
  await happens(flake, 'lost')
  await flake.attach()
  t.is(flake.state, 'attached')
  t.is(store.count('acquire'), 2)
})

test.serial('the reason for a lost slot includes a failure just before, and none long before', async (t) => {
  const { flake, store } = await joined(t)
  store.fail()
  await until(() => store.count('renew') >= 1)
  await sleep(20)
  store.work()
  await happens(flake, 'renewed')
  giveAway(store, flake.slot)
  const [{ cause }] = await Promise.all([happens(flake, 'lost'), happens(flake, 'attached')])
  t.is(cause.cause, undefined)
  store.fail()
  const { length } = store.calls
  await until(() => store.calls.length !== length)
  giveAway(store, flake.slot)
  store.work()
  const later = await happens(flake, 'lost')
  t.like(later.cause, { code: 'ERR_FLAKE_LEASE_EXPIRED', slot: 1 })
  t.is(later.cause.cause.code, 'ERR_FLAKE_STORE')
})

test.serial('a lost slot that cannot be replaced: detached, and every call reports why', async (t) => {
  const { flake, store } = await joined(t)
  const told = record(flake)
  store.group().slots.get(0).owner = 'f'.repeat(32)
  store.group().config.slots = 7
  await happens(flake, 'detached')
  const { cause } = told.at(-1)[1]
  t.is(cause.code, 'ERR_FLAKE_CONFIG_MISMATCH')
  for (const error of await allRefuse(t, flake, 'ERR_FLAKE_DETACHED')) t.is(error.cause, cause)
  await flake.detach()
  for (const error of await allRefuse(t, flake, 'ERR_FLAKE_DETACHED')) t.is(error.cause, undefined)
})
