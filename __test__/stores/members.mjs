// A group on a real database as its members see it, by each of its clients. The core tests the rules themselves; these
// tests cover what a server, a client or the loop between them could break. Times are compared with the store's own
// answers, never with how long a test took.

import anyTest from 'ava'
import { hasClock, Puppet } from '../support/processes.mjs'
import { edited, fieldsOf, newOwner, slotName } from '../support/records.mjs'
import { CONFIG, openGroup as openSteps, stepsOf } from '../support/steps.mjs'
import { testInTurn, turns } from '../support/turns.mjs'
import { DatabaseStore } from './databases.mjs'

const EXHAUSTED = { code: 'ERR_FLAKE_EXHAUSTED' }

/** Faults of a record, as changes of its text. A newer version may write anything after its first word. */
const DAMAGES = {
  'an edited digit': (text) =>
    text.replace(/( quiet| hi)=(\d)/, (_, name, digit) => `${name}=${(Number(digit) + 1) % 10}`),
  'its end truncated': (text) => text.slice(0, -1),
  'a space more': (text) => text.replace(' ', '  '),
  'something else': () => 'hello',
  'another kind of record': (text) => edited(text.replace(/^(\w+) \w+/, '$1 other'), {}),
  'a newer version': () => 'flakeforge2 in an unknown form',
}

let groups = 0

/** This many tests of a file at once: each step must end within 10 s, also on a busy machine. */
const AT_ONCE = 6

/** A name that no other test has. */
export const freshName = () => `test ${groups++}`

/** The steps on one group, and changes by hand with the server's tools. */
export function callsOn({ kind, server, store, records }, group, options) {
  const get = (name = 'group') => kind.get(server, group, name)
  return {
    ...stepsOf(store, group, options),
    group,
    has: () => store.has(group),
    /** The store's clock. */
    now: async () => (await records.read(group, ['group'])).now,
    text: get,
    fields: async (name) => fieldsOf(await get(name)),
    put: (name, text) => kind.put(server, group, name, text),
    edit: async (name, change) => kind.put(server, group, name, edited(await get(name), change)),
  }
}

/** A new group that grants slots. Where its members do not trust the store, its quiet period is ended by hand. */
export async function openGroup(member, options) {
  const calls = callsOn(member, freshName(), options)
  if (options?.durable) await calls.create()
  else await openSteps(member.store, calls.group, options)
  return calls
}

/**
 * Starts the server of a database for a test file. Returns `member(name)`, which creates everything for `callsOn` on
 * the one client of that name; `test`, which skips where the server is not installed; and `server()`.
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

  /** A member on the client of this name, with a separate store, which remembers nothing. */
  async function member(name) {
    const records = kind.recordsOf(await clientOf(name))
    return { kind, server, records, store: new DatabaseStore(records) }
  }

  const run = isInstalled ? anyTest : anyTest.skip
  const test = testInTurn(run, AT_ONCE)
  test.serial = isInstalled ? anyTest.serial : run
  return { test, server: () => server, member }
}

/** Tests on a database: most by each client, some by one. */
export function testRules(kind, served) {
  const { test, member, server } = served
  const names = Object.keys(kind.clients)

  /** A test by each client. Its body gets a function that creates a group, and the member behind it. */
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

  once('create: after giving up it writes nothing', async (t, { store, kind }) => {
    const name = freshName()
    const waits = new AbortController()
    waits.abort()
    await t.throwsAsync(store.create(name, CONFIG, waits.signal), { code: 'ERR_FLAKE_STORE' })
    t.is(await kind.get(server(), name, 'group'), null)
  })

  if (hasClock) {
    once('a process whose clock is beyond the skew gets nothing, and leaves nothing', async (t, { records }) => {
      for (const offsetMs of [20_000, -20_000]) {
        const group = freshName()
        const puppet = new Puppet(t, { offsetMs })
        const join = puppet.call('join', kind.urlOf(server()), { group, slots: 3, waitMs: 30_000, durable: true })
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
    t.is(hi, lo + CONFIG.ttlMs)
    t.deepEqual(await list(), [{ slot, lo, hi, owner, host }])
  })

  rule('a machine gets a slot back that it had, and a host with the same prefix is another', async (t, open) => {
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

  // Groups

  rule(
    'the groups of a store are the living ones',
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

  rule('a group with an unreadable record is rejected by name, and stays unchanged', async (t, open) => {
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

  rule('a slot of a newer version stops the step that meets it, though others are free', async (t, open) => {
    const { group, acquire, list, text, put } = await open({ slots: 2 })
    const other = await acquire()
    const newer = slotName(1 - other.slot)
    const later = 'flakeforge2 needs=1.4 slot in an unknown form'
    await put(newer, later)
    const before = await text(slotName(other.slot))
    const refused = { ...unreadable(group, newer), message: / was written by a newer .*which needs flakeforge 1\.4/ }
    await t.throwsAsync(acquire(), refused)
    const error = await t.throwsAsync(list(), unreadable(group, newer))
    t.deepEqual(
      error.slots.map(({ slot }) => slot),
      [other.slot],
    )
    t.deepEqual([await text(newer), await text(slotName(other.slot))], [later, before])
  })

  rule('a slot with an unreadable record is not granted, and the others are', async (t, open) => {
    const { 'a newer version': _, ...damages } = DAMAGES
    for (const [what, damage] of Object.entries(damages)) {
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

  // Many slots. This runs alone, because the steps of all other tests would be too slow next to 100 members. All 200 at
  // once share one event loop, which on a busy machine takes longer than a step may.

  rule(
    '200 members, 100 at once, get different slots of 1 100, and the list shows them all',
    async (t, open) => {
      const { acquire, list } = await open({ slots: 1100, durable: true })
      const [owners, inTurn] = [Array.from({ length: 200 }, newOwner), turns(100)]
      const grants = await Promise.all(
        owners.map((owner, i) => inTurn(() => acquire({ owner, host: `host ${i % 50}` }))),
      )
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
