// What a group's members see on a real database, by each of its clients. The rules themselves are tested in the core; here
// is what a server, a client or the loop between them could break.
// Times are compared with what the store itself answered, never with how long a test took.

import anyTest from 'ava'
import { hasClock, Puppet } from '../../support/processes.mjs'
import { edited, fieldsOf, newOwner, slotName } from '../../support/records.mjs'
import { turns } from '../../support/turns.mjs'
import { DatabaseStore } from './databases.mjs'

export const CONFIG = {
  fingerprint: 'flake/42+10+12',
  slots: 3,
  ttlMs: 60_000,
  skewMs: 5000,
  durable: false,
  scale: 1,
}
const TTL = CONFIG.ttlMs
/** How long a group is quiet of which nothing is known. */
const QUIET_MS = 60_000 + CONFIG.skewMs + 1
const QUIET = { code: 'ERR_FLAKE_QUIET' }
const EXHAUSTED = { code: 'ERR_FLAKE_EXHAUSTED' }
const DESTROYED = { code: 'ERR_FLAKE_DESTROYED' }

const DIFFERENCES = [
  [{ fingerprint: 'flake/41+13+10' }, 'a layout with flake/42+10+12', 'a layout with flake/41+13+10'],
  [{ slots: 4 }, 'slots 3', 'slots 4'],
  [{ ttlMs: 30_000 }, 'ttlMs 60000', 'ttlMs 30000'],
  [{ skewMs: 4000 }, 'skewMs 5000', 'skewMs 4000'],
  [{ durable: true }, 'durable false', 'durable true'],
  [{ slots: 4, ttlMs: 30_000 }, 'slots 3, ttlMs 60000', 'slots 4, ttlMs 30000'],
]

/** What is wrong with a record, as a change of its text. A newer version may write anything after its first word. */
export const DAMAGES = {
  'a digit that was edited': (text) =>
    text.replace(/( quiet| hi| value)=(\d)/, (_, name, digit) => `${name}=${(Number(digit) + 1) % 10}`),
  'its end cut off': (text) => text.slice(0, -1),
  'a space more': (text) => text.replace(' ', '  '),
  'something else': () => 'hello',
  'another kind of record': (text) => edited(text.replace(/^(\w+) \w+/, '$1 other'), {}),
  'a newer version': () => 'flakeforge2 of which nothing is known',
}

let groups = 0

/** So many tests of a file at once: each step must end within 10 s, also on a busy machine. */
const AT_ONCE = 6

/** A name that no other test has. */
export const freshName = () => `test ${groups++}`

/** Calls on one group through `store`, with what is usual filled in; and what is done by hand, with the server's tools. */
export function callsOn({ kind, server, store, records }, group, options) {
  const config = { ...CONFIG, ...options }
  const get = (name = 'group') => kind.get(server, group, name)
  return {
    group,
    create: (more) => store.create(group, { ...config, ...more }),
    acquire: ({ owner = newOwner(), host = 'host', joins = false, ...more } = {}) =>
      store.acquire(group, { config: { ...config, ...more }, owner, host, joins }),
    renew: (slot, owner, { hi = 0, ...more } = {}) =>
      store.renew(group, { config: { ...config, ...more }, slot, owner, hi }),
    release: (slot, owner, last, more) => store.release(group, { config: { ...config, ...more }, slot, owner, last }),
    destroy: () => store.destroy(group),
    list: () => store.list(group),
    has: () => store.has(group),
    /** The store's clock. */
    now: async () => (await records.read(group, ['group'])).now,
    text: get,
    fields: async (name) => fieldsOf(await get(name)),
    put: (name, text) => kind.put(server, group, name, text),
    edit: async (name, change) => kind.put(server, group, name, edited(await get(name), change)),
    forget: () => kind.forget(server, group),
  }
}

/** A new group that grants slots. Where its members do not vouch for the store, its quiet period is ended by hand. */
export async function openGroup(member, options) {
  const calls = callsOn(member, freshName(), options)
  if (options?.durable) {
    await calls.create()
    return calls
  }
  await calls.acquire({ joins: true }).catch((error) => {
    if (error.code !== QUIET.code) throw error
  })
  await calls.edit('group', { quiet: 0 })
  return calls
}

/**
 * Starts the server of a database for a test file. Gives `member(name)`, which makes all that `callsOn` wants on the one
 * client of that name; `test`, which skips where the server is not installed; and `server()`.
 */
export function serve(kind) {
  const isInstalled = kind.isInstalled()
  const clients = { ...kind.clients, ...kind.fastClients }
  const connected = new Map()
  const ends = []
  let server

  anyTest.before(async () => {
    if (isInstalled) server = await kind.start()
  })

  anyTest.after.always(async () => {
    for (const end of ends) await end()
    await server?.stop()
  })

  async function connect(name) {
    const { client, end } = await clients[name](server)
    ends.push(end)
    return client
  }

  function clientOf(name) {
    if (!connected.has(name)) connected.set(name, connect(name))
    return connected.get(name)
  }

  /** A member on the client of this name, with a store of its own, which remembers nothing. */
  async function member(name) {
    const records = kind.recordsOf(await clientOf(name))
    return { kind, server, records, store: new DatabaseStore(records) }
  }

  const run = isInstalled ? anyTest : anyTest.skip
  const inTurn = turns(AT_ONCE)
  const test = (title, body) => run(title, (t) => inTurn(() => body(t)))
  test.serial = run.serial
  return { test, server: () => server, member }
}

/** Tests on a database: most by each client, some by one. */
export function testRules(kind, served) {
  const { test, member, server } = served
  const names = Object.keys(kind.clients)

  /** A test by each client. Its body gets a function that makes a group, and the member behind it. */
  const rule = (title, body, run = test) => {
    for (const name of names) {
      run(`${name}: ${title}`, async (t) => {
        const own = await member(name)
        await body(t, (options) => openGroup(own, options), own)
      })
    }
  }

  /** A test by one client. */
  const once = (title, body) => test(title, async (t) => body(t, await member(names[0])))

  // How a group begins

  rule(
    'a group that may have been lost grants nothing for the longest ttl and the skew, however often it is asked',
    async (t, _, own) => {
      const { acquire, renew, release, list, now, text } = callsOn(own, freshName(), { skewMs: 7000, ttlMs: 2000 })
      await release(0, newOwner(), 0)
      t.deepEqual(await list(), [])
      t.is(await text(), null, 'neither makes a group')
      const before = await now()
      const { retryAt, storeNow } = await t.throwsAsync(acquire({ joins: true }), QUIET)
      t.true(retryAt >= before + 67_001 && retryAt <= storeNow + 67_001, `${retryAt - before}`)
      const record = await text()
      for (const call of [() => acquire(), () => acquire({ joins: true }), () => renew(0, newOwner())]) {
        t.deepEqual((await t.throwsAsync(call, QUIET)).retryAt, retryAt)
      }
      t.is(await text(), record)
      t.deepEqual(await list(), [])
    },
  )

  rule('a quiet period ends when it says', async (t, open) => {
    const { acquire, edit, now } = await open()
    const until = (await now()) + 300
    await edit('group', { quiet: until })
    const tell = () => acquire().catch((error) => error)
    let answer = await tell()
    for (; answer instanceof Error; answer = await tell()) {
      t.is(answer.code, QUIET.code, answer.stack)
      t.is(answer.retryAt.getTime(), until)
    }
    t.true(answer.lo >= until)
  })

  rule('a group whose members vouch for the store grants at once', async (t, _, own) => {
    const { acquire, create, fields, now } = callsOn(own, freshName(), { durable: true })
    const before = await now()
    t.true((await acquire({ joins: true })).lo >= before)
    t.like(await fields(), { state: 'live', durable: 'yes', quiet: '0' })
    t.false(await create(), 'it is there')
  })

  once('create: a group that nobody used grants after a second and the skew, and no other does', async (t, own) => {
    const { acquire, create, now } = callsOn(own, freshName(), { skewMs: 50 })
    const before = await now()
    t.true(await create())
    t.true((await acquire()).lo >= before + 1051)
    t.false(await create())

    const late = callsOn(own, freshName())
    const { retryAt } = await t.throwsAsync(late.acquire({ joins: true }), QUIET)
    t.false(await late.create())
    t.deepEqual((await t.throwsAsync(late.acquire(), QUIET)).retryAt, retryAt)
  })

  once('create: who gave up writes nothing', async (t, { store, kind }) => {
    const name = freshName()
    const waits = new AbortController()
    waits.abort()
    await t.throwsAsync(store.create(name, CONFIG, waits.signal), { code: 'ERR_FLAKE_STORE' })
    t.is(await kind.get(server(), name, 'group'), null)
  })

  rule('other options are a mismatch that names both, and nothing is written', async (t, open, own) => {
    const { group, acquire, create, renew, release, list, text } = await open()
    const owner = newOwner()
    const { slot } = await acquire({ owner })
    const before = [await text(), await list()]
    for (const [change, theirs, ours] of DIFFERENCES) {
      const calls = [() => acquire(change), () => acquire({ ...change, joins: true }), () => create(change)]
      for (const call of calls) {
        const error = await t.throwsAsync(call, { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
        t.like(error, { theirs, ours })
        for (const part of [`group '${group}'`, theirs, ours]) t.true(error.message.includes(part), error.message)
      }
      // The options were the same when the slot was granted, so this is another group.
      t.is(await renew(slot, owner, change), 'destroyed')
      await release(slot, owner, 0, change)
    }
    t.deepEqual([await text(), await list()], before)
    t.is((await callsOn(own, group).renew(slot, owner)).slot, slot)
  })

  if (hasClock) {
    once('a process whose clock is beyond the skew gets nothing, and leaves nothing', async (t, { records }) => {
      for (const offsetMs of [20_000, -20_000]) {
        const group = freshName()
        const puppet = new Puppet(t, { offsetMs })
        const join = puppet.call('join', kind.urlOf(server()), { group, slots: 3, waitMs: 0, durable: true })
        const error = await t.throwsAsync(join, { message: /clock.*5000 ms|clock.*5 s/ })
        t.is(error.code, 'ERR_FLAKE_CLOCK_SKEW', error.stack)
        t.deepEqual(await records.names(group), [])
      }
    })
  }

  // Slots and windows

  rule('a grant is a slot and a window from now to now + ttl', async (t, open) => {
    const { acquire, fields, list, now } = await open()
    const owner = newOwner()
    const host = 'a host=1\nof two lines/ü 100 %41 \u{1f600}'
    const before = await now()
    const grant = await acquire({ owner, host })
    const { slot, lo, hi, storeNow } = grant
    t.deepEqual(grant, { slot, lo, hi, storeNow, lineage: (await fields('group')).lineage })
    t.true(lo >= before && lo <= storeNow && storeNow <= (await now()))
    t.is(hi, lo + TTL)
    t.deepEqual(await list(), [{ slot, lo, hi, owner, host }])
  })

  rule('an owner has one slot at a time', async (t, open) => {
    const { acquire, list, edit, now } = await open()
    const owner = newOwner()
    const { slot, lo, hi } = await acquire({ owner })
    await acquire()
    t.like(await acquire({ owner, host: 'another' }), { slot, lo, hi })
    t.is((await list()).length, 2)
    const end = (await now()) - 1
    await edit(slotName(slot), { lo: end, hi: end })
    t.true((await acquire({ owner })).lo > end, 'after its window a new one')
  })

  rule('a machine gets a slot back that it had, and a host whose name begins alike is another', async (t, open) => {
    const { acquire, release, edit } = await open({ slots: 4 })
    const held = []
    for (const host of ['a', 'a b', 'a%20b', 'A']) {
      const owner = newOwner()
      held.push({ owner, host, ...(await acquire({ owner, host })) })
    }
    for (const { slot, owner } of held) {
      await release(slot, owner, 0)
      await edit(slotName(slot), { lo: 1, hi: 1 })
    }
    for (const { slot, host } of held.toReversed()) t.is((await acquire({ host })).slot, slot, host)
  })

  rule('none is free: an error that says when one may be, and then it is', async (t, open) => {
    const { group, acquire, edit, now } = await open({ slots: 2 })
    const first = await acquire()
    const second = await acquire()
    const error = await t.throwsAsync(acquire(), EXHAUSTED)
    t.is(error.group, group)
    t.is(error.retryAt.getTime(), Math.min(first.hi, second.hi) + 1)
    t.true(error.storeNow >= second.storeNow)
    const last = (await now()) + 100
    await edit(slotName(second.slot), { hi: last })
    let grant
    while (grant === undefined) {
      grant = await acquire().catch(({ code, retryAt }) => {
        t.is(code, EXHAUSTED.code)
        t.is(retryAt.getTime(), last + 1)
      })
    }
    t.is(grant.slot, second.slot)
    t.true(grant.lo > last)
  })

  rule('a renewal moves the end and keeps the beginning', async (t, open) => {
    const { acquire, renew, list, edit, now } = await open()
    const owner = newOwner()
    const { slot, lo, lineage } = await acquire({ owner })
    await edit(slotName(slot), { hi: lo + 30_000 })
    const before = await now()
    const renewed = await renew(slot, owner)
    const { hi, storeNow } = renewed
    t.deepEqual(renewed, { slot, lo, hi, storeNow, lineage })
    t.true(hi >= before + TTL && hi <= storeNow + TTL)
    t.like(await list(), [{ slot, lo, hi, owner, host: 'host' }])
    await edit(slotName(slot), { hi: lo + 10_000_000 })
    t.like(await renew(slot, owner), { lo, hi: lo + 10_000_000 }, 'it never lowers the end')
  })

  rule('a renewal after the end is a new window', async (t, open) => {
    const { acquire, renew, edit, now } = await open()
    const owner = newOwner()
    const { slot } = await acquire({ owner })
    const end = (await now()) - 1
    await edit(slotName(slot), { lo: 1, hi: end })
    const { lo, hi } = await renew(slot, owner)
    t.true(lo > end)
    t.is(hi, lo + TTL)
  })

  rule('a slot without a record, of another or of nobody is lost', async (t, open) => {
    const { acquire, renew, release } = await open()
    const owner = newOwner()
    const { slot, lo } = await acquire({ owner })
    t.is(await renew(slot, newOwner()), 'lost')
    t.is(await renew((slot + 1) % 3, owner), 'lost')
    await release(slot, owner, lo)
    t.is(await renew(slot, owner), 'lost')
  })

  rule('a release gives the rest back, which nobody else can', async (t, open) => {
    const { acquire, release, list } = await open({ slots: 1 })
    const owner = newOwner()
    const { slot, lo, hi } = await acquire({ owner, host: 'a' })
    await release(slot, newOwner(), lo)
    t.like(await list(), [{ owner, hi }])
    await release(slot, owner, lo + 100)
    t.deepEqual(await list(), [{ slot, host: 'a', lo, hi: lo + 100 }])
    await release(slot, owner, lo)
    t.like(await list(), [{ hi: lo + 100 }], 'once')
    const next = async () => (await acquire({ host: 'b' }).catch(() => undefined)) ?? next()
    t.true((await next()).lo > lo + 100)
  })

  rule('a release of what was never used ends before the window', async (t, open) => {
    const { acquire, release, list } = await open({ slots: 1 })
    const owner = newOwner()
    const { slot, lo } = await acquire({ owner })
    await release(slot, owner, -1)
    t.deepEqual(await list(), [{ slot, host: 'host', lo, hi: lo - 1 }])
    t.true((await acquire()).lo >= lo)
  })

  // How a group ends

  rule('destroy ends the group for every member; its successor waits for all windows', async (t, open) => {
    const options = { durable: true, ttlMs: 30_000 }
    const { acquire, renew, release, destroy, list, has, now, text } = await open(options)
    const owner = newOwner()
    const { slot, lo, hi } = await acquire({ owner })
    t.true(await has())
    const before = await now()
    await destroy()
    const tombstone = await text()
    await destroy()
    t.is(await text(), tombstone, 'ended once')
    t.false(await has())
    await t.throwsAsync(acquire(), DESTROYED)
    t.is(await renew(slot, owner, { hi }), 'destroyed')
    t.is(await release(slot, owner, lo), undefined)
    t.deepEqual(await list(), [])

    const { retryAt } = await t.throwsAsync(acquire({ joins: true, slots: 2 }), QUIET)
    t.true(retryAt >= before + 35_001 && retryAt <= (await now()) + 35_001)
    t.is(await renew(slot, owner, { hi, slots: 2 }), 'destroyed', 'in the quiet period of the successor too')
    t.true(await has())
    t.deepEqual(await list(), [])
  })

  rule('a group has a lineage of its own, and the one that follows has another', async (t, open) => {
    const [group, other] = [await open(), await open()]
    const { lineage } = await group.acquire()
    t.regex(lineage, /^[0-9a-f]{16}$/)
    t.not((await other.acquire()).lineage, lineage)
    await group.destroy()
    await t.throwsAsync(group.acquire({ joins: true }), QUIET)
    await group.edit('group', { quiet: 0 })
    t.not((await group.acquire()).lineage, lineage)
  })

  rule('destroy of a group that may have been lost: its successor waits for the longest ttl', async (t, open, own) => {
    for (const { acquire, destroy, now } of [await open({ ttlMs: 2000 }), callsOn(own, freshName())]) {
      const before = await now()
      await destroy()
      const after = await now()
      const { retryAt } = await t.throwsAsync(acquire({ joins: true }), QUIET)
      t.true(retryAt >= before + QUIET_MS && retryAt <= after + QUIET_MS, `${retryAt - before}`)
    }
  })

  rule('destroy in a quiet period hands it on', async (t, open) => {
    const { acquire, destroy, edit, now } = await open({ durable: true, ttlMs: 2000, skewMs: 100 })
    const until = (await now()) + 100_000
    await edit('group', { quiet: until })
    await destroy()
    t.is((await t.throwsAsync(acquire({ joins: true }), QUIET)).retryAt.getTime(), until)
  })

  rule(
    'the groups of a store are those that are alive',
    async (t, open, { store }) => {
      const [alive, ended] = [await open(), await open()]
      await ended.destroy()
      t.false(await store.has('never made'))
      t.is(store.groups === undefined, kind.cannotListGroups === true)
      if (store.groups === undefined) return
      const found = await store.groups()
      t.true(found.includes(alive.group))
      t.false(found.includes(ended.group))
      t.deepEqual(found, found.toSorted())
    },
    test.serial,
  )

  // Records that cannot be read

  const unreadable = (group, record) => ({
    code: 'ERR_FLAKE_RECORD',
    message: new RegExp(`^Record '${record}' of '${group}' `),
  })

  rule('a group whose record cannot be read is refused by name, and stays as it is', async (t, open) => {
    for (const [what, damage] of Object.entries(DAMAGES)) {
      const { group, acquire, create, renew, release, destroy, list, has, text, put } = await open()
      const owner = newOwner()
      const { slot } = await acquire({ owner })
      const damaged = damage(await text())
      await put('group', damaged)
      const asked = [() => acquire(), () => acquire({ joins: true }), () => create(), destroy, list, has]
      for (const call of [...asked, () => renew(slot, owner), () => release(slot, owner, 0)]) {
        const error = await t.throwsAsync(call, unreadable(group, 'group'), what)
        t.is(error.record, 'group')
        t.is(error.message.includes('newer version'), what === 'a newer version')
      }
      t.is(await text(), damaged, what)
    }
  })

  rule("a slot whose record cannot be read is nobody's, and the others are granted", async (t, open) => {
    for (const [what, damage] of Object.entries(DAMAGES)) {
      const { group, acquire, renew, release, list, text, put } = await open({ slots: 2 })
      const owner = newOwner()
      const { slot } = await acquire({ owner })
      const name = slotName(slot)
      const damaged = damage(await text(name))
      await put(name, damaged)
      await t.throwsAsync(renew(slot, owner), unreadable(group, name), what)
      await t.throwsAsync(release(slot, owner, 0), unreadable(group, name), what)
      const other = await acquire()
      t.not(other.slot, slot)
      const { retryAt } = await t.throwsAsync(acquire(), EXHAUSTED)
      t.is(retryAt.getTime(), other.hi + 1)
      const error = await t.throwsAsync(list(), unreadable(group, name))
      t.deepEqual([error.slots.map((row) => row.slot), error.faults.length], [[other.slot], 1])
      await put(slotName(other.slot), damaged)
      await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_RECORD' }, 'no slot is left to wait for')
      t.is(await text(name), damaged, what)
    }
  })

  // Many slots. This runs alone, because the steps of all other tests would be too slow beside 200 members.

  rule(
    '200 members at once get slots of their own among 1 100, and the list shows them all',
    async (t, open) => {
      const { acquire, list } = await open({ slots: 1100, durable: true })
      const owners = Array.from({ length: 200 }, newOwner)
      const grants = await Promise.all(owners.map((owner, i) => acquire({ owner, host: `host ${i % 50}` })))
      const bySlot = grants.map(({ slot }, i) => ({ slot, owner: owners[i] })).sort((a, b) => a.slot - b.slot)
      t.is(new Set(bySlot.map(({ slot }) => slot)).size, 200)
      t.deepEqual(
        (await list()).map(({ slot, owner }) => ({ slot, owner })),
        bySlot,
      )
    },
    test.serial,
  )
}
