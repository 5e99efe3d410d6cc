// The store's rules (core/src/grants.rs) on a real etcd, one by one. The store's clock is the one of the answers, and
// stands where the test puts it.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { clockedFetch, expireOwners, startEtcd, wantEtcd } from './servers/etcd.mjs'
import { newOwner } from './store-reference.mjs'

const require = createRequire(import.meta.url)
const { etcdStore } = require('../lib/stores/etcd.js')
const { groupKeys } = require('../lib/stores/etcd/keys.js')

const test = wantEtcd() === undefined ? anyTest.skip : anyTest

const START = 1_900_000_000_000
const CONFIG = { fingerprint: 'flake/42+10+12', slots: 3, ttlMs: 30_000, skewMs: 5000, create: true }

let server

test.before(async () => {
  server = await startEtcd()
})

test.after.always(async () => {
  await server?.stop()
})

/** A store whose clock is `clock.now`. */
const storeAt = (clock) => etcdStore({ endpoints: server.url, fetch: clockedFetch(clock) })

let groups = 0

/** A new group, open on a store of its own: its calls with the group and what is usual filled in. */
async function openGroup(options = {}) {
  groups += 1
  const group = `group ${groups}`
  const clock = { now: START }
  const store = storeAt(clock)
  const callsOf = (store) => ({
    open: (more) => store.open(group, { ...CONFIG, ...options, ...more }),
    acquire: (more) => store.acquire(group, { owner: newOwner(), host: 'host', clientNow: clock.now, ...more }),
    renew: (slot, owner, more) => store.renew(group, { slot, owner, clientNow: clock.now, ...more }),
    release: (slot, owner, last) => store.release(group, { slot, owner, last }),
    destroy: () => store.destroy(group),
    list: () => store.list(group),
  })
  const calls = callsOf(store)
  await calls.open()
  const recordKey = groupKeys(group).record
  return {
    group,
    clock,
    ...calls,
    other: () => callsOf(storeAt(clock)),
    recordKey,
    record: () => server.readRecord(recordKey),
    lose: () => server.ctl('del', '--prefix', recordKey.replace(/record$/, '')),
    passTo: async (now) => {
      clock.now = now
      await expireOwners(server, group, now)
    },
  }
}

const quiet = { code: 'ERR_FLAKE_QUIET' }
const exhausted = { code: 'ERR_FLAKE_EXHAUSTED' }

test('a grant is a slot and a window from now to now + ttl', async (t) => {
  const { acquire, list } = await openGroup()
  const owner = newOwner()
  const host = 'a host\nof two lines/ü\ud800'
  const window = { slot: 0, lo: START, hi: START + 30_000 }
  t.deepEqual(await acquire({ owner, host }), { ...window, storeNow: START })
  t.deepEqual(await list(), [{ ...window, owner, host }])
})

test('open comes first', async (t) => {
  const store = storeAt({ now: START })
  const steps = [
    store.acquire('never open', { owner: newOwner(), host: 'h', clientNow: START }),
    store.renew('never open', { slot: 0, owner: newOwner(), clientNow: START }),
    store.release('never open', { slot: 0, owner: newOwner(), last: 0 }),
  ]
  for (const step of steps) await t.throwsAsync(step, { code: 'ERR_FLAKE_STORE', message: /'never open'.*open\(\)/ })
})

test('an absent group may be a lost one: nothing is granted for the longest ttl and the skew', async (t) => {
  const { open, acquire, renew, clock, lose } = await openGroup()
  await lose()
  const until = START + 60_000 + 5000 + 1
  t.like(await t.throwsAsync(acquire(), quiet), { retryAt: new Date(until), storeNow: START })
  t.deepEqual((await t.throwsAsync(renew(0, newOwner()), quiet)).retryAt, new Date(until), 'the wait does not grow')
  await open({ create: true })
  await t.throwsAsync(acquire(), quiet, 'create is for a group that is not there')
  clock.now = START + 65_000
  await t.throwsAsync(acquire(), quiet)
  clock.now = START + 66_000
  t.is((await acquire()).slot, 0)
})

test('only create makes a group that grants at once', async (t) => {
  const { acquire, record } = await openGroup({ create: false })
  await t.throwsAsync(acquire(), quiet)
  t.is((await record()).quietUntil, START + 65_001)
})

test('a renewal makes an absent group too, and a release does not', async (t) => {
  const { renew, release, lose, list, recordKey } = await openGroup()
  await lose()
  await release(0, newOwner(), START)
  t.deepEqual(await server.keysUnder(recordKey), [])
  t.deepEqual(await list(), [])
  t.deepEqual((await t.throwsAsync(renew(0, newOwner()), quiet)).retryAt, new Date(START + 65_001))
})

const DIFFERENCES = [
  [{ fingerprint: 'flake/41+13+10' }, 'fingerprint flake/42+10+12', 'fingerprint flake/41+13+10'],
  [{ slots: 4 }, 'slots 3', 'slots 4'],
  [{ ttlMs: 20_000 }, 'ttlMs 30000', 'ttlMs 20000'],
  [{ skewMs: 4000 }, 'skewMs 5000', 'skewMs 4000'],
  [{ slots: 4, ttlMs: 20_000 }, 'slots 3, ttlMs 30000', 'slots 4, ttlMs 20000'],
]

for (const [change, theirs, ours] of DIFFERENCES) {
  test(`another ${Object.keys(change).join(' and ')} is a mismatch that names both, at every step`, async (t) => {
    const { group, open, acquire, renew, release, list, record, other, recordKey } = await openGroup()
    const owner = newOwner()
    const { slot } = await acquire({ owner })
    const mismatch = { code: 'ERR_FLAKE_CONFIG_MISMATCH' }
    const before = [await record(), await list()]
    const error = await t.throwsAsync(other().open(change), mismatch)
    t.like(error, { theirs, ours })
    for (const text of [`group '${group}'`, theirs, ours]) t.true(error.message.includes(text), error.message)
    t.deepEqual([await record(), await list()], before)
    await server.editRecord(recordKey, change)
    const changed = await record()
    for (const step of [open(), acquire(), renew(slot, owner), release(slot, owner, START)]) {
      t.like(await t.throwsAsync(step, mismatch), { theirs: ours, ours: theirs })
    }
    t.deepEqual([await record(), await list()], [changed, before[1]], 'nothing is written')
  })
}

test("a client's clock outside the store's second by more than the skew gets nothing", async (t) => {
  const { acquire, renew, list } = await openGroup()
  const owner = newOwner()
  const { slot } = await acquire({ owner })
  const before = await list()
  const cases = [
    [START - 5001, -5001],
    [START + 999 + 5001, 5001],
  ]
  for (const [clientNow, skewMs] of cases) {
    for (const step of [acquire({ clientNow }), renew(slot, owner, { clientNow })]) {
      t.is((await t.throwsAsync(step, { code: 'ERR_FLAKE_CLOCK_SKEW', message: /5000 ms/ })).skewMs, skewMs)
    }
  }
  t.deepEqual(await list(), before)
  t.is((await renew(slot, owner, { clientNow: START - 5000 })).slot, slot)
  t.is((await renew(slot, owner, { clientNow: START + 999 + 5000 })).slot, slot, 'the header is rounded down')
})

test('what a refused step found out stays: the quiet group of a client with a wrong clock', async (t) => {
  const { acquire, record, lose } = await openGroup()
  await lose()
  await t.throwsAsync(acquire({ clientNow: 0 }), { code: 'ERR_FLAKE_CLOCK_SKEW' })
  t.is((await record()).quietUntil, START + 65_001)
})

test('the same owner again gets the same grant, after its window a new one', async (t) => {
  const { acquire, renew, list, clock, passTo } = await openGroup()
  const owner = newOwner()
  const first = await acquire({ owner })
  await acquire()
  t.deepEqual(await acquire({ owner, host: 'another' }), first)
  clock.now += 10_000
  const renewed = await renew(first.slot, owner)
  t.deepEqual(await acquire({ owner }), renewed, 'as it was renewed')
  t.is((await list()).length, 2)
  await passTo(renewed.hi + 1000)
  const again = await acquire({ owner, host: 'new' })
  t.deepEqual(again, { slot: 2, lo: clock.now, hi: clock.now + 30_000, storeNow: clock.now })
  t.deepEqual(await acquire({ owner }), again)
})

test('order: the slot of this host with the oldest end, one never used, the oldest end', async (t) => {
  const { acquire, release, clock } = await openGroup({ slots: 5 })
  const held = []
  for (const host of ['b', 'a', 'a', 'b']) {
    const owner = newOwner()
    held.push({ owner, ...(await acquire({ owner, host })) })
  }
  t.deepEqual(
    held.map(({ slot }) => slot),
    [0, 1, 2, 3],
  )
  for (const [slot, last] of [
    [0, 40],
    [1, 30],
    [2, 20],
    [3, 10],
  ])
    await release(slot, held[slot].owner, START + last)
  clock.now += 1000
  t.is((await acquire({ host: 'a' })).slot, 2)
  t.is((await acquire({ host: 'a' })).slot, 1)
  t.is((await acquire({ host: 'a' })).slot, 4, 'no free slot was its own: one never used')
  t.is((await acquire({ host: 'c' })).slot, 3, 'the oldest end')
  t.is((await acquire({ host: 'c' })).slot, 0)
  await t.throwsAsync(acquire({ host: 'c' }), exhausted)
})

test('of equal ends the lowest slot, by number and not by text; a host is no prefix of another', async (t) => {
  const { acquire, release, clock } = await openGroup({ slots: 12 })
  const held = []
  for (let i = 0; i < 12; i++) {
    const owner = newOwner()
    held.push({ owner, ...(await acquire({ owner, host: 'a/b' })) })
  }
  for (const { slot, owner } of held) await release(slot, owner, START)
  clock.now += 1000
  for (let slot = 0; slot < 6; slot++) t.is((await acquire({ host: 'a/b' })).slot, slot)
  for (let slot = 6; slot < 12; slot++) t.is((await acquire({ host: 'a' })).slot, slot)
})

test('exhausted: the time when the next slot frees, and not a ms earlier', async (t) => {
  const { acquire, renew, clock, passTo } = await openGroup({ slots: 2 })
  const owner = newOwner()
  const first = await acquire({ owner })
  clock.now += 5000
  const second = await acquire()
  t.like(await t.throwsAsync(acquire(), exhausted), { retryAt: new Date(first.hi + 1), storeNow: clock.now })
  clock.now += 5000
  await renew(first.slot, owner)
  t.deepEqual((await t.throwsAsync(acquire(), exhausted)).retryAt, new Date(second.hi + 1))
  await passTo(second.hi)
  await t.throwsAsync(acquire(), exhausted)
  await passTo(second.hi + 1000)
  t.like(await acquire(), { slot: second.slot, lo: clock.now })
})

test('a slot that is over but whose owner lives is not free; its owner gets a new window', async (t) => {
  const { group, acquire, renew, clock } = await openGroup({ slots: 1 })
  const owner = newOwner()
  const { hi } = await acquire({ owner })
  clock.now = hi + 10_000
  t.like(await t.throwsAsync(acquire(), exhausted), { retryAt: new Date(clock.now + 1000) })
  t.deepEqual(await renew(0, owner), { slot: 0, lo: clock.now, hi: clock.now + 30_000, storeNow: clock.now })
  clock.now += 40_000
  await expireOwners(server, group, clock.now)
  t.is((await acquire()).lo, clock.now)
  t.is(await renew(0, owner), 'lost')
})

test('many that are over but live: the first that is free, and past the limit of one look nothing is guessed', async (t) => {
  const { acquire, renew, clock, passTo, group } = await openGroup({ slots: 20 })
  const held = []
  for (let i = 0; i < 20; i++) {
    const owner = newOwner()
    held.push({ owner, ...(await acquire({ owner, host: `h${i}` })) })
  }
  clock.now += 40_000
  await t.throwsAsync(acquire({ host: 'h19' }), exhausted, 'its own slot is past the limit of the live ones')
  const { alive } = groupKeys(group)
  const dead = async (slot) => {
    const key = (await server.keysUnder(alive)).find((name) => name.endsWith(`/${String(slot).padStart(5, '0')}`))
    await server.ctl('del', key)
  }
  await dead(5)
  t.is((await acquire({ host: 'new' })).slot, 5)
  await dead(15)
  await t.throwsAsync(acquire({ host: 'new' }), exhausted)
  for (const { slot, owner } of held.slice(0, 15)) if (slot !== 5) await renew(slot, owner)
  t.is((await acquire({ host: 'new' })).slot, 15, 'found once the others have moved on')
  await passTo(clock.now + 31_000)
  t.is((await acquire({ host: 'h19' })).slot, 19)
})

test('a renewal moves the end and never lowers it, nor the start', async (t) => {
  const { acquire, renew, clock, list } = await openGroup()
  const owner = newOwner()
  const { lo, hi } = await acquire({ owner })
  clock.now += 10_000
  t.deepEqual(await renew(0, owner), { slot: 0, lo, hi: hi + 10_000, storeNow: clock.now })
  clock.now -= 4000
  t.deepEqual(await renew(0, owner), { slot: 0, lo, hi: hi + 10_000, storeNow: clock.now }, 'the clock stepped back')
  t.is((await list())[0].host, 'host')
  for (const [slot, other] of [
    [0, newOwner()],
    [1, owner],
    [7, owner],
  ])
    t.is(await renew(slot, other), 'lost')
})

test('a release gives the rest back, but nothing that was used', async (t) => {
  const { acquire, renew, release, list, clock } = await openGroup()
  const owner = newOwner()
  const { lo, hi } = await acquire({ owner, host: 'a' })
  await release(0, newOwner(), lo)
  t.is((await list())[0].hi, hi, "another's word counts for nothing")
  await release(0, owner, lo + 1234)
  t.deepEqual(await list(), [{ slot: 0, host: 'a', lo, hi: lo + 1234 }])
  t.is(await renew(0, owner), 'lost')
  await release(0, owner, lo)
  t.is((await list())[0].hi, lo + 1234, 'once')
  clock.now += 1000
  await t.notThrowsAsync(acquire({ host: 'b' }))
  t.is((await list()).length, 2, 'still over the end: one never used')
  clock.now += 1000
  t.like(await acquire({ host: 'a' }), { slot: 0, lo: clock.now })
})

test('a release never lowers the end below lo - 1, and never raises it', async (t) => {
  const { acquire, release, list } = await openGroup()
  const [a, b] = [newOwner(), newOwner()]
  await acquire({ owner: a })
  await acquire({ owner: b })
  await release(0, a, 5)
  await release(1, b, START + 10 ** 9)
  t.deepEqual(
    (await list()).map(({ hi }) => hi),
    [START - 1, START + 30_000],
  )
})

test('destroy ends the group for all; a new one of the name starts above it', async (t) => {
  const { group, open, acquire, renew, release, destroy, list, clock, other, recordKey } = await openGroup()
  const owner = newOwner()
  const { hi } = await acquire({ owner })
  const second = other()
  await second.open()
  await destroy()
  t.deepEqual(await list(), [])
  t.deepEqual(await server.keysUnder(groupKeys(group).slots), [])
  t.like(await server.readRecord(recordKey), { destroyed: true, floor: hi })
  t.is(await renew(0, owner), 'destroyed')
  t.is(await release(0, owner, START), undefined)
  await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_DESTROYED' })
  await t.throwsAsync(second.acquire(), { code: 'ERR_FLAKE_DESTROYED' })
  await destroy()
  t.like(await server.readRecord(recordKey), { destroyed: true, floor: hi })

  await open({ slots: 7, create: false })
  t.deepEqual((await t.throwsAsync(acquire(), exhausted)).retryAt, new Date(hi + 1))
  clock.now = hi + 1000
  t.like(await acquire(), { slot: 0, lo: clock.now })
  await second.open({ slots: 7, create: false })
  t.is((await second.acquire()).slot, 1, 'who knew the old group need not fear for the new one')
})

test('destroy of an absent group leaves a tombstone above all that may have been lost', async (t) => {
  const { destroy, lose, record } = await openGroup()
  await lose()
  await destroy()
  t.like(await record(), { destroyed: true, floor: START + 65_000 })
  await storeAt({ now: START }).destroy('never there')
  t.like(await server.readRecord(groupKeys('never there').record), { destroyed: true, floor: START + 65_000 })
})

test('destroy in the quiet period hands it on', async (t) => {
  const { open, acquire, destroy, clock } = await openGroup({ create: false })
  clock.now += 1000
  await destroy()
  await open({ create: true })
  t.deepEqual((await t.throwsAsync(acquire(), quiet)).retryAt, new Date(START + 65_001))
})

test("one group's keys are never another's", async (t) => {
  const store = storeAt({ now: START })
  const names = [
    'a',
    'a/b',
    'a/',
    'a/slots',
    'A',
    'ä',
    'a%2Fb',
    ' a',
    'a\ud800',
    'a\udfff',
    'a\\ud800',
    'x'.repeat(128),
  ]
  const request = () => ({ owner: newOwner(), host: 'h', clientNow: START })
  for (const name of names) await store.open(name, CONFIG)
  for (const name of names) t.is((await store.acquire(name, request())).slot, 0, name)
  await store.destroy('a')
  for (const name of names.slice(1)) t.is((await store.list(name)).length, 1, name)
})
