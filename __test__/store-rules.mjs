// The store's rules (core/src/grants.rs) on a real server, one by one, for the stores that have a clock of ms.
// Times are compared with what the store itself answered, never with how long a test took.

import anyTest from 'ava'
import { newOwner } from './store-reference.mjs'

export const CONFIG = { fingerprint: 'flake/42+10+12', slots: 3, ttlMs: 60_000, skewMs: 5000, create: true }
const SHORT = { ttlMs: 40, skewMs: 5000 }

const DIFFERENCES = [
  [{ fingerprint: 'flake/41+13+10' }, 'fingerprint flake/42+10+12', 'fingerprint flake/41+13+10'],
  [{ slots: 4 }, 'slots 3', 'slots 4'],
  [{ ttlMs: 30_000 }, 'ttlMs 60000', 'ttlMs 30000'],
  [{ skewMs: 4000 }, 'skewMs 5000', 'skewMs 4000'],
  [{ slots: 4, ttlMs: 30_000 }, 'slots 3, ttlMs 60000', 'slots 4, ttlMs 30000'],
]

let groups = 0

/** A new group on a store, open: its calls with the group and what is usual filled in, and what is done `byHand`. */
async function openGroup(store, byHand, options = {}) {
  groups += 1
  const group = `group ${groups}`
  const open = (more) => store.open(group, { ...CONFIG, ...options, ...more })
  await open()
  return {
    group,
    open,
    acquire: (more) => store.acquire(group, { owner: newOwner(), host: 'host', clientNow: Date.now(), ...more }),
    renew: (slot, owner, more) => store.renew(group, { slot, owner, clientNow: Date.now(), ...more }),
    release: (slot, owner, last) => store.release(group, { slot, owner, last }),
    destroy: () => store.destroy(group),
    list: () => store.list(group),
    ...byHand(group),
  }
}

/**
 * Tests of every rule, one per client of a store. Gives what makes more of them: `rule(title, body)`, whose body gets ava's
 * `t`, a function that opens a group, and the store.
 *
 * @param {object} kind
 * @param {boolean} kind.isInstalled
 * @param {() => Promise<object>} kind.start starts the server that all tests share
 * @param {Record<string, (server: object) => Promise<{ client: object, end: () => unknown }>>} kind.clients
 * @param {(client: object) => object} kind.storeOf
 * @param {(server: object) => Promise<number>} kind.serverNow its clock, in Unix ms
 * @param {(server: object, ms: number) => Promise<void>} kind.untilPast
 * @param {(server: object, group: string) => object} kind.byHand what a test does behind the store's back: `forget` the
 * group's record, `edit` its `quietUntil`, `floor` or options, read the whole `record` (undefined: there is none), and `moveEnd` of
 * the one slot there is
 */
export function testRules({ isInstalled, start, clients, storeOf, serverNow, untilPast: untilPastOn, byHand }) {
  const test = isInstalled ? anyTest : anyTest.skip
  const stores = {}
  const ends = []
  let server

  const now = () => serverNow(server)
  const untilPast = (ms) => untilPastOn(server, ms)

  test.before(async () => {
    server = await start()
    for (const [name, connect] of Object.entries(clients)) {
      const { client, end } = await connect(server)
      ends.push(end)
      stores[name] = storeOf(client)
    }
  })

  test.after.always(async () => {
    await Promise.all(ends.map((end) => end()))
    await server?.stop()
  })

  function rule(title, body) {
    for (const name of Object.keys(clients)) {
      test(`${name}: ${title}`, (t) => {
        const open = (options) => openGroup(stores[name], (group) => byHand(server, group), options)
        return body(t, open, stores[name])
      })
    }
  }

  rule('a grant is a slot and a window from now to now + ttl', async (t, open) => {
    const { acquire, list } = await open()
    const owner = newOwner()
    const grant = await acquire({ owner, host: 'a host\nof two lines' })
    const { storeNow } = grant
    t.deepEqual(grant, { slot: 0, lo: storeNow, hi: storeNow + 60_000, storeNow })
    t.deepEqual(await list(), [{ slot: 0, owner, host: 'a host\nof two lines', lo: storeNow, hi: storeNow + 60_000 }])
  })

  rule('an absent group may be a lost one: nothing is granted for the longest ttl and the skew', async (t, open) => {
    const { open: reopen, acquire, renew, forget, edit } = await open()
    await forget()
    const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
    t.is(error.retryAt.getTime(), error.storeNow + 60_000 + 5000 + 1)
    const again = await t.throwsAsync(renew(0, newOwner()), { code: 'ERR_FLAKE_QUIET' })
    t.deepEqual(again.retryAt, error.retryAt, 'the wait does not grow')

    await reopen({ create: true })
    await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' }, 'create is for a group that is not there')
    await edit({ quietUntil: await now() })
    t.is((await acquire()).slot, 0, 'the last quiet ms is quietUntil - 1')
  })

  rule('only create makes a group that grants at once', async (t, open) => {
    const { acquire } = await open({ create: false })
    await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
  })

  rule('a renewal makes an absent group too, and it is quiet', async (t, open) => {
    const { renew, forget } = await open()
    await forget()
    const error = await t.throwsAsync(renew(0, newOwner()), { code: 'ERR_FLAKE_QUIET' })
    t.is(error.retryAt.getTime(), error.storeNow + 60_000 + 5000 + 1)
  })

  rule('a release does not make a group', async (t, open) => {
    const { release, forget, record } = await open()
    await forget()
    t.is(await release(0, newOwner(), Date.now()), undefined)
    t.is(await record(), undefined)
  })

  for (const [change, theirs, ours] of DIFFERENCES) {
    rule(`another ${Object.keys(change).join(' and ')} is a mismatch that names both`, async (t, open) => {
      const { group, open: reopen, acquire, renew, release, list, record, edit } = await open()
      const owner = newOwner()
      const { slot } = await acquire({ owner })
      const [before, slots] = [await record(), await list()]
      const mismatch = { code: 'ERR_FLAKE_CONFIG_MISMATCH' }
      const error = await t.throwsAsync(reopen(change), mismatch)
      t.like(error, { theirs, ours })
      for (const text of [`group '${group}'`, theirs, ours]) t.true(error.message.includes(text), error.message)
      t.deepEqual([await record(), await list()], [before, slots])
      t.like(await renew(slot, owner), { slot }, 'who opened it before goes on')
      await edit(change)
      const [edited, renewed] = [await record(), await list()]
      for (const call of [reopen(), acquire(), renew(slot, owner), release(slot, owner, 0)]) {
        t.like(await t.throwsAsync(call, mismatch), { theirs: ours, ours: theirs })
      }
      t.deepEqual([await record(), await list()], [edited, renewed], 'nothing is written')
    })
  }

  rule('a client clock beyond the skew gets nothing, and what it made stays', async (t, open) => {
    const { acquire, renew, release, list, forget } = await open()
    const owner = newOwner()
    const { slot } = await acquire({ owner })
    const before = await list()
    for (const [clientNow, sign] of [
      [Date.now() + 20_000, 1],
      [Date.now() - 20_000, -1],
    ]) {
      for (const call of [acquire({ clientNow }), renew(slot, owner, { clientNow })]) {
        const error = await t.throwsAsync(call, { code: 'ERR_FLAKE_CLOCK_SKEW', message: /5000 ms/ })
        t.true(sign * error.skewMs > 5000, String(error.skewMs))
      }
    }
    t.deepEqual(await list(), before)
    await release(slot, owner, 0)
    await forget()
    await t.throwsAsync(acquire({ clientNow: 0 }), { code: 'ERR_FLAKE_CLOCK_SKEW' })
    await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
  })

  rule('the same owner again gets the same grant', async (t, open) => {
    const { acquire, list } = await open()
    const owner = newOwner()
    const first = await acquire({ owner })
    await acquire()
    const again = await acquire({ owner, host: 'another' })
    t.deepEqual(again, { ...first, storeNow: again.storeNow })
    t.is((await list()).length, 2)
  })

  rule('the same owner after its window gets a new one', async (t, open) => {
    const { acquire } = await open(SHORT)
    const owner = newOwner()
    const first = await acquire({ owner })
    await untilPast(first.hi)
    const again = await acquire({ owner })
    t.true(again.lo > first.hi)
  })

  rule('order: the slot of this host with the oldest end, one never used, the oldest end', async (t, open) => {
    const { acquire, release } = await open({ slots: 5 })
    const start = await now()
    const held = []
    for (const host of ['b', 'a', 'a', 'b']) {
      const owner = newOwner()
      held.push({ owner, ...(await acquire({ owner, host })) })
    }
    t.deepEqual(
      held.map(({ slot }) => slot),
      [0, 1, 2, 3],
    )
    await untilPast(Math.max(...held.map(({ lo }) => lo)))
    for (const slot of [3, 2, 1, 0]) await release(slot, held[slot].owner, start - 100)
    // All ends are lo - 1: the slots' own order, and of one host the oldest.
    t.is((await acquire({ host: 'a' })).slot, 1)
    t.is((await acquire({ host: 'a' })).slot, 2)
    t.is((await acquire({ host: 'a' })).slot, 4, 'no free slot was its own: one never used')
    t.is((await acquire({ host: 'c' })).slot, 0, 'the oldest end')
    t.is((await acquire({ host: 'c' })).slot, 3)
    await t.throwsAsync(acquire({ host: 'c' }), { code: 'ERR_FLAKE_EXHAUSTED' })
  })

  rule('of equal ends the lowest slot, by number and not by text', async (t, open) => {
    const { acquire, release, list } = await open({ slots: 12 })
    const owners = Array.from({ length: 12 }, newOwner)
    const grants = await Promise.all(owners.map((owner) => acquire({ owner, host: 'a' })))
    const last = Math.max(...grants.map(({ lo }) => lo))
    await untilPast(last)
    for (const [i, { slot }] of grants.entries()) await release(slot, owners[i], last)
    t.deepEqual(new Set((await list()).map(({ hi }) => hi)), new Set([last]))
    for (let slot = 0; slot < 6; slot++) t.is((await acquire({ host: 'a' })).slot, slot)
    for (let slot = 6; slot < 12; slot++) t.is((await acquire({ host: 'b' })).slot, slot)
  })

  rule('a host whose name begins like another is another', async (t, open) => {
    const { acquire, release } = await open()
    const owner = newOwner()
    const grant = await acquire({ owner, host: 'node' })
    await untilPast(grant.lo)
    await release(grant.slot, owner, grant.lo)
    t.is((await acquire({ host: 'node:1' })).slot, 1)
    t.is((await acquire({ host: 'nod' })).slot, 2)
    t.is((await acquire({ host: 'node' })).slot, 0)
  })

  rule('none free: an error that says when the next one is', async (t, open) => {
    const { group, acquire, release } = await open({ slots: 2 })
    const owner = newOwner()
    const second = await acquire()
    const first = await acquire({ owner })
    const last = first.lo + 20_000
    await release(first.slot, owner, last)
    const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
    t.is(error.group, group)
    t.is(error.retryAt.getTime(), last + 1)
    t.true(error.storeNow >= second.storeNow)
  })

  rule('an end that is past frees the slot, without anybody giving it back', async (t, open) => {
    const { acquire } = await open({ ...SHORT, slots: 1 })
    const first = await acquire()
    await untilPast(first.hi)
    const second = await acquire({ host: 'other' })
    t.is(second.slot, first.slot)
    t.true(second.lo > first.hi)
  })

  rule('a renewal moves the end and keeps the beginning', async (t, open) => {
    const { acquire, renew, list } = await open()
    const owner = newOwner()
    const grant = await acquire({ owner })
    await untilPast(grant.storeNow)
    const renewed = await renew(grant.slot, owner)
    const { storeNow } = renewed
    t.true(storeNow > grant.storeNow)
    t.deepEqual(renewed, { slot: 0, lo: grant.lo, hi: storeNow + 60_000, storeNow })
    t.like((await list())[0], { lo: grant.lo, hi: storeNow + 60_000, owner })
  })

  rule('a renewal after the end is a new window', async (t, open) => {
    const { acquire, renew } = await open(SHORT)
    const owner = newOwner()
    const grant = await acquire({ owner })
    await untilPast(grant.hi)
    const renewed = await renew(grant.slot, owner)
    t.true(renewed.lo > grant.hi)
    t.is(renewed.lo, renewed.storeNow)
    t.is(renewed.hi, renewed.storeNow + SHORT.ttlMs)
  })

  rule('a renewal never lowers the end', async (t, open) => {
    const { acquire, renew, moveEnd } = await open()
    const owner = newOwner()
    const { slot, lo } = await acquire({ owner })
    const far = lo + 10_000_000
    await moveEnd({ slot, owner, lo, hi: far, host: 'host' })
    t.like(await renew(slot, owner), { lo, hi: far })
  })

  rule('a slot without a record, of another or of nobody is lost', async (t, open) => {
    const { acquire, renew, release } = await open()
    const owner = newOwner()
    const { slot, lo } = await acquire({ owner })
    t.is(await renew(slot, newOwner()), 'lost')
    t.is(await renew(slot + 1, owner), 'lost')
    await release(slot, owner, lo)
    t.is(await renew(slot, owner), 'lost')
  })

  rule('a release gives the rest back, and nobody else can', async (t, open) => {
    const { acquire, release, list } = await open({ slots: 1 })
    const owner = newOwner()
    const grant = await acquire({ owner, host: 'a' })
    await untilPast(grant.lo + 5)
    await release(grant.slot, newOwner(), grant.lo)
    await release(7, owner, grant.lo)
    t.like((await list())[0], { owner, hi: grant.hi })
    await release(grant.slot, owner, grant.lo + 5)
    t.deepEqual(await list(), [{ slot: 0, host: 'a', lo: grant.lo, hi: grant.lo + 5 }])
    const next = await acquire({ host: 'b' })
    t.is(next.slot, 0)
    t.true(next.lo > grant.lo + 5)
  })

  rule('a release never raises the end, nor lowers it below lo - 1', async (t, open) => {
    const { acquire, release, list } = await open()
    for (const [host, last, endOf] of [
      ['a', (grant) => grant.hi + 1000, (grant) => grant.hi],
      ['b', (grant) => grant.lo - 1000, (grant) => grant.lo - 1],
    ]) {
      const owner = newOwner()
      const grant = await acquire({ owner, host })
      await release(grant.slot, owner, last(grant))
      t.like(
        (await list()).find((slot) => slot.slot === grant.slot),
        { host, lo: grant.lo, hi: endOf(grant) },
      )
    }
  })

  rule('a slot released ahead of the clock is not free yet, and the others are', async (t, open) => {
    const { acquire, release } = await open({ slots: 2 })
    const owner = newOwner()
    const grant = await acquire({ owner, host: 'a' })
    await release(grant.slot, owner, grant.hi - 1)
    t.is((await acquire({ host: 'a' })).slot, 1)
    const error = await t.throwsAsync(acquire({ host: 'a' }), { code: 'ERR_FLAKE_EXHAUSTED' })
    t.is(error.retryAt.getTime(), grant.hi)
  })

  rule('destroy ends the group for every member and leaves how far it went', async (t, open) => {
    const { open: reopen, acquire, renew, release, destroy, list, edit } = await open()
    const owner = newOwner()
    const grant = await acquire({ owner })
    await destroy()
    await destroy()
    await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_DESTROYED' })
    t.is(await renew(grant.slot, owner), 'destroyed')
    t.is(await release(grant.slot, owner, grant.lo), undefined)
    t.deepEqual(await list(), [])

    await reopen({ create: false, slots: 2 })
    const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
    t.is(error.retryAt.getTime(), grant.hi + 1)
    t.is(await renew(grant.slot, owner), 'lost')
    const floor = await now()
    await edit({ floor })
    await untilPast(floor)
    t.true((await acquire()).lo > floor)
  })

  rule('a group destroyed twice keeps the higher floor', async (t, open) => {
    const { open: reopen, acquire, destroy } = await open()
    const grant = await acquire()
    await destroy()
    await reopen()
    await destroy()
    await reopen({ ttlMs: 2000 })
    const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
    t.is(error.retryAt.getTime(), grant.hi + 1)
  })

  rule('destroying an absent group leaves the floor of a lost one', async (t, open, store) => {
    const { group, open: reopen, acquire, destroy, forget } = await open()
    await forget()
    const before = await now()
    await destroy()
    const after = await now()
    await reopen()
    const { retryAt } = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
    t.true(retryAt >= before + 65_001 && retryAt <= after + 65_001, String(retryAt))

    const unknown = `${group}, never opened`
    await store.destroy(unknown)
    await store.open(unknown, CONFIG)
    const request = { owner: newOwner(), host: 'host', clientNow: Date.now() }
    const error = await t.throwsAsync(store.acquire(unknown, request), { code: 'ERR_FLAKE_EXHAUSTED' })
    t.true(error.retryAt >= after + 65_001)
  })

  rule('a step on a group that was not opened says so', async (t, _, store) => {
    await t.throwsAsync(store.renew('never', { slot: 0, owner: newOwner(), clientNow: 0 }), {
      code: 'ERR_FLAKE_STORE',
      message: /open\(\)/,
    })
    t.deepEqual(await store.list('never'), [])
  })

  rule('1 000 slots are taken, each once, and freed', async (t, open) => {
    const { acquire, release, list } = await open({ slots: 1000 })
    const owners = Array.from({ length: 1000 }, newOwner)
    const takeAll = () => Promise.all(owners.map((owner, i) => acquire({ owner, host: `host ${i % 50}` })))
    const numbers = Array.from({ length: 1000 }, (_, i) => i)
    const grants = await takeAll()
    t.deepEqual(
      grants.map(({ slot }) => slot).sort((a, b) => a - b),
      numbers,
    )
    t.deepEqual(
      (await list()).map(({ slot }) => slot),
      numbers,
    )
    await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
    await untilPast(Math.max(...grants.map(({ lo }) => lo)))
    await Promise.all(grants.map(({ slot, lo }, i) => release(slot, owners[i], lo)))
    t.true((await list()).every(({ owner }) => owner === undefined))
    const again = await takeAll()
    t.is(new Set(again.map(({ slot }) => slot)).size, 1000)
    const lasts = new Map(grants.map(({ slot, lo }) => [slot, lo]))
    t.true(again.every(({ slot, lo }) => lo > lasts.get(slot)))
  })

  return rule
}
