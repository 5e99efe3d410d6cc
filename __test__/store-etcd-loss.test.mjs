// An etcd that loses what it acknowledged: wiped, restored from a snapshot, replaced by another cluster. And what is no
// loss: a restart. The store's clock is the server's own here, unless a test says otherwise.

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { clockedFetch, startEtcd, wantEtcd } from './servers/etcd.mjs'
import { findProgram, until } from './servers/server.mjs'
import { newOwner } from './store-reference.mjs'

const require = createRequire(import.meta.url)
const { etcdStore } = require('../lib/stores/etcd.js')
const { counterKey, groupKeys } = require('../lib/stores/etcd/keys.js')

const run = promisify(execFile)
const test = wantEtcd() === undefined ? anyTest.skip : anyTest

const GROUP = 'orders'
const CONFIG = { fingerprint: 'f', slots: 8, ttlMs: 3000, skewMs: 500, create: false }
const START = 1_900_000_000_000
const UNKNOWN_MS = 60_000 + CONFIG.skewMs + 1
const KNOWN_MS = CONFIG.ttlMs + CONFIG.skewMs + 1

const quiet = { code: 'ERR_FLAKE_QUIET' }
const refused = (message) => ({ code: 'ERR_FLAKE_STORE', message })

/** A server that only this test uses. */
async function ownEtcd(t, options) {
  const server = await startEtcd(options)
  t.teardown(() => server.stop())
  return server
}

/** The calls of one client: a store of its own, with the group and what is usual filled in. */
function client(server, clock) {
  const store = etcdStore({ endpoints: server.url, ...(clock ? { fetch: clockedFetch(clock) } : {}) })
  const now = () => clock?.now ?? Date.now()
  return {
    store,
    open: (more) => store.open(GROUP, { ...CONFIG, ...more }),
    acquire: (more) => store.acquire(GROUP, { owner: newOwner(), host: 'h', clientNow: now(), ...more }),
    renew: (slot, owner) => store.renew(GROUP, { slot, owner, clientNow: now() }),
    release: (slot, owner, last) => store.release(GROUP, { slot, owner, last }),
    list: () => store.list(GROUP),
    destroy: () => store.destroy(GROUP),
    advance: (...args) => store.advance('numbers', ...args),
  }
}

/** How long a step's answer says that it is quiet. */
async function quietMs(t, step) {
  const { retryAt, storeNow } = await t.throwsAsync(step, quiet)
  return retryAt.getTime() - storeNow
}

/** Stops the server, and starts it with what a snapshot holds. */
async function restore(server, file, options = []) {
  await server.wipe()
  const settings = { name: server.name, 'initial-advertise-peer-urls': server.peerUrl, 'data-dir': server.data }
  const args = Object.entries({ ...settings, 'initial-cluster': `${server.name}=${server.peerUrl}` })
  const words = ['snapshot', 'restore', file, ...args.flatMap(([name, value]) => [`--${name}`, value]), ...options]
  await run(findProgram('etcdctl'), words, { env: { ...process.env, ETCDCTL_API: '3' } })
  await server.start()
}

test.serial('a wiped member: quiet, for clients old and new, and no renewal raises an end', async (t) => {
  const server = await ownEtcd(t)
  const old = client(server)
  await old.open({ create: true })
  const owner = newOwner()
  const { slot } = await old.acquire({ owner })
  await server.wipe()
  await server.start()
  t.is(await quietMs(t, old.renew(slot, owner)), UNKNOWN_MS)
  const fresh = client(server)
  await fresh.open()
  await t.throwsAsync(fresh.acquire(), quiet)
  await t.throwsAsync(old.acquire(), quiet)
  t.deepEqual(await old.list(), [])
})

test.serial(
  'a wiped member whose group was made anew as a known new one: who holds a window of the old one ends that',
  async (t) => {
    const server = await ownEtcd(t)
    const clock = { now: START }
    const [old, fresh] = [client(server, clock), client(server, clock)]
    await old.open({ create: true })
    const owner = newOwner()
    await old.acquire({ owner })
    await server.ctl('del', '--prefix', 'flakeforge/') // no revision goes back
    clock.now += 1000
    await fresh.open({ create: true })
    clock.now += 1000
    t.is(await quietMs(t, old.renew(0, owner)), KNOWN_MS - 1000, 'all that was lost was granted before the new record')
    await t.throwsAsync(fresh.acquire(), quiet)
    clock.now += 3000
    t.is((await fresh.acquire()).slot, 0)
    t.is(await old.renew(0, owner), 'lost')
  },
)

test.serial('a record that was made anew long ago is no reason to be quiet', async (t) => {
  const server = await ownEtcd(t)
  const clock = { now: START }
  const [old, fresh] = [client(server, clock), client(server, clock)]
  await old.open({ create: true })
  await server.ctl('del', '--prefix', 'flakeforge/')
  await fresh.open({ create: true })
  clock.now += 60_000
  const { record } = groupKeys(GROUP)
  const before = await server.readRecord(record)
  t.is((await old.acquire()).slot, 0)
  t.deepEqual(await server.readRecord(record), before)
})

test.serial('a record that is older than the one a client remembers is a loss', async (t) => {
  const server = await ownEtcd(t)
  const clock = { now: START }
  const old = client(server, clock)
  const { record } = groupKeys(GROUP)
  await old.open({ create: true })
  const before = await server.ctl('get', '--print-value-only', record)
  await server.ctl('del', '--prefix', 'flakeforge/')
  clock.now += 60_000
  await old.open({ create: true })
  await server.ctl('put', record, before)
  t.is(await quietMs(t, old.acquire()), KNOWN_MS)
})

test.serial('a restart of the same member is no loss', async (t) => {
  const server = await ownEtcd(t)
  const old = client(server)
  await old.open({ create: true })
  const owner = newOwner()
  const grant = await old.acquire({ owner })
  await old.advance(10n, 0n)
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    await server.kill(signal)
    await server.start()
    const renewed = await old.renew(grant.slot, owner)
    t.is(renewed.lo, grant.lo)
    t.true(renewed.hi >= grant.hi)
    const fresh = client(server)
    await fresh.open()
    t.not((await fresh.acquire()).slot, grant.slot)
  }
  t.is(await old.advance(10n), 10n)
})

test.serial(
  'a snapshot restored: quiet for clients that have seen more; afterwards each has a window of its own',
  async (t) => {
    const server = await ownEtcd(t)
    const [one, two] = [client(server), client(server)]
    for (const each of [one, two]) await each.open({ create: true })
    const owner = newOwner()
    const kept = await one.acquire({ owner })
    const file = join(server.folder, 'snapshot')
    await server.ctl('snapshot', 'save', file)
    const lostOwner = newOwner()
    const lost = await two.acquire({ owner: lostOwner })
    const renewed = await one.renew(kept.slot, owner)
    await restore(server, file)

    const said = await quietMs(t, one.renew(kept.slot, owner))
    t.is(said, KNOWN_MS)
    await t.throwsAsync(one.acquire(), quiet)
    t.true((await quietMs(t, two.renew(lost.slot, lostOwner))) <= KNOWN_MS)
    const fresh = client(server)
    await fresh.open()
    const { retryAt } = await t.throwsAsync(fresh.acquire(), quiet)
    await until(() => Date.now() >= retryAt.getTime() + 1000) // the store's clock is rounded down
    t.is(await two.renew(lost.slot, lostOwner), 'lost')
    const again = await one.renew(kept.slot, owner)
    t.true(again.lo > renewed.hi, 'a window of its own')
    t.true((await fresh.acquire()).lo > lost.hi)
  },
)

test.serial(
  'a snapshot restored under a new token is another cluster: quiet for all, also who never saw it before',
  async (t) => {
    const server = await ownEtcd(t)
    const old = client(server)
    await old.open({ create: true })
    await old.advance(10n, 0n)
    const file = join(server.folder, 'snapshot')
    await server.ctl('snapshot', 'save', file)
    await restore(server, file, ['--initial-cluster-token', 'another'])
    const fresh = client(server)
    await fresh.open()
    t.true((await quietMs(t, fresh.acquire())) <= KNOWN_MS)
    await t.throwsAsync(fresh.advance(10n), refused(/skipTo/))
    t.is(await fresh.advance(0n, 100n), 100n)
    t.is(await fresh.advance(10n), 100n)
  },
)

test.serial('a loss that a refused step saw is not forgotten', async (t) => {
  const server = await ownEtcd(t)
  const clock = { now: START }
  const old = client(server, clock)
  await old.open({ create: true })
  clock.cluster = '12345'
  const { record } = groupKeys(GROUP)
  await server.editRecord(record, { skewMs: 1 })
  await t.throwsAsync(old.acquire(), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  await server.editRecord(record, { skewMs: CONFIG.skewMs })
  clock.now += 1000
  t.is(await quietMs(t, old.acquire()), KNOWN_MS)
  clock.now += KNOWN_MS + 1000
  t.is((await old.acquire()).slot, 0, 'and is answered for once')
})

test.serial('a loss before or in the quiet period of a destroyed group is handed on to the next', async (t) => {
  const server = await ownEtcd(t)
  const clock = { now: START }
  const old = client(server, clock)
  await old.open({ create: true })
  clock.cluster = '12345'
  await old.destroy()
  await old.open({ create: true })
  t.is(await quietMs(t, old.acquire()), KNOWN_MS)

  clock.now += 10_000
  await old.acquire()
  await old.destroy()
  clock.cluster = '54321'
  await old.destroy()
  await old.open({ create: true })
  t.is(await quietMs(t, old.acquire()), UNKNOWN_MS, 'an old tombstone that came back')
})

test.serial('a release in the quiet period leaves the end where it is', async (t) => {
  const server = await ownEtcd(t)
  const clock = { now: START }
  const old = client(server, clock)
  await old.open({ create: true })
  const owner = newOwner()
  const { hi, lo } = await old.acquire({ owner })
  clock.cluster = '12345'
  await old.release(0, owner, lo)
  t.deepEqual(await old.list(), [{ slot: 0, host: 'h', lo, hi }])
  t.is(await quietMs(t, old.acquire()), KNOWN_MS, 'the release noted the loss')
})

test.serial('a holder that lives through the quiet period keeps its slot', async (t) => {
  const server = await ownEtcd(t)
  const clock = { now: START, keptAlive: 0 }
  const old = client(server, clock)
  await old.open({ create: true, slots: 1 })
  const owner = newOwner()
  const { hi } = await old.acquire({ owner })
  clock.cluster = '12345'
  const { keptAlive } = clock
  await t.throwsAsync(old.renew(0, newOwner()), quiet)
  t.is(clock.keptAlive, keptAlive, "another's word keeps nothing alive")
  await t.throwsAsync(old.renew(0, owner), quiet)
  t.is(clock.keptAlive, keptAlive + 1, 'so that its etcd lease does not run out')
  clock.now = hi + 1000
  await t.throwsAsync(old.acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.is((await old.renew(0, owner)).lo, clock.now)
})

test.serial(
  'the end of a crashed owner: free once window and etcd lease are over; a lost etcd lease is made anew',
  async (t) => {
    const server = await ownEtcd(t)
    const each = client(server)
    await each.open({ create: true, slots: 1, ttlMs: 2000 })
    const owner = newOwner()
    const { hi } = await each.acquire({ owner })
    const lease = async () => (await server.ctl('lease', 'list')).split('\n').slice(1)
    const [id] = await lease()
    await server.ctl('lease', 'revoke', id)
    await each.renew(0, owner)
    t.deepEqual(await lease(), [id])
    t.is((await server.keysUnder(groupKeys(GROUP).alive)).length, 1)
    await until(async () => (await server.keysUnder(groupKeys(GROUP).alive)).length === 0)
    let grant
    await until(async () => {
      grant = await each.acquire().catch(({ code }) => t.is(code, 'ERR_FLAKE_EXHAUSTED'))
      return typeof grant === 'object'
    })
    t.true(grant.lo > hi)
    await each.release(0, newOwner(), grant.lo)
  },
)

test.serial('a release ends the etcd lease', async (t) => {
  const server = await ownEtcd(t)
  const each = client(server)
  await each.open({ create: true })
  const owner = newOwner()
  const { slot, lo } = await each.acquire({ owner })
  await each.release(slot, owner, lo)
  t.is(await server.ctl('lease', 'list'), 'found 0 leases')
  t.deepEqual(await server.keysUnder(groupKeys(GROUP).alive), [])
  t.deepEqual(await server.keysUnder(groupKeys(GROUP).owners(owner)), [])
})

test.serial('counters: blocks up to 2^64 - 1, each once', async (t) => {
  const server = await ownEtcd(t)
  const { advance } = client(server)
  await t.throwsAsync(advance(1n), refused(/'numbers'. It was removed.*skipTo/))
  t.is(await advance(10n, 5n), 5n)
  t.is(await advance(10n, 5n), 15n, 'init is for the first')
  t.is(await advance(0n), 25n)
  t.is(await advance(0n, 7n), 25n, 'skipTo never goes back')
  const max = 2n ** 64n - 1n
  t.is(await advance(0n, max - 3n), max - 3n)
  await t.throwsAsync(advance(4n), refused(/18446744073709551612.*2\^64/))
  t.is(await advance(3n), max - 3n)
  t.is(await advance(0n), max)
  await t.throwsAsync(advance(1n), refused(/2\^64/))
  const members = Array.from({ length: 8 }, () => etcdStore({ endpoints: server.url }))
  const values = await Promise.all(
    members.flatMap((store) => [store.advance('many', 7n, 0n), store.advance('many', 7n, 0n)]),
  )
  t.deepEqual(
    values.sort((a, b) => Number(a - b)),
    Array.from({ length: 16 }, (_, i) => BigInt(7 * i)),
  )
})

test.serial('counters that are gone or went back: an error until one member says where to go on', async (t) => {
  const server = await ownEtcd(t)
  const [one, two] = [client(server), client(server)]
  await one.advance(10n, 0n)
  const file = join(server.folder, 'snapshot')
  await server.ctl('snapshot', 'save', file)
  t.is(await two.advance(10n), 10n)
  t.is(await one.advance(10n), 20n)
  await restore(server, file)
  for (const each of [one, two, one]) await t.throwsAsync(each.advance(10n, 0n), refused(/may have lost.*skipTo/))
  t.is(await one.advance(0n, 1000n), 1000n)
  t.is(await one.advance(10n), 1000n)
  t.is(await two.advance(10n), 1010n, 'one word is enough for all')

  await server.ctl('del', counterKey('numbers'))
  await t.throwsAsync(one.advance(10n), refused(/was removed.*skipTo/))
  await t.throwsAsync(one.advance(10n, 0n), refused(/was removed.*skipTo/), 'it was given more than that')
  await server.ctl('put', counterKey('numbers'), JSON.stringify({ ...(await copy(two)), value: '1' }))
  await t.throwsAsync(two.advance(10n), refused(/may have lost/), 'less than this member was given')

  async function copy(each) {
    await each.advance(0n, 2000n)
    return server.readRecord(counterKey('numbers'))
  }
})

test.serial(
  'a look that was overtaken, and that a restored store agrees with again, gives no block twice',
  async (t) => {
    const server = await ownEtcd(t)
    const isLate = { isNext: false }
    const store = etcdStore({
      endpoints: server.url,
      fetch: async (url, options) => {
        const { isNext } = isLate
        isLate.isNext = false
        const response = await fetch(url, options)
        const text = await response.text() // all of it is here before the server ends
        if (isNext) await new Promise((resolve) => Object.assign(isLate, { resolve, isThere: true }))
        return new Response(text, { headers: response.headers })
      },
    })
    await store.advance('numbers', 10n, 0n)
    const file = join(server.folder, 'snapshot')
    await server.ctl('snapshot', 'save', file)
    isLate.isNext = true
    const late = store.advance('numbers', 10n)
    await until(() => isLate.isThere)
    t.is(await store.advance('numbers', 10n), 10n)
    await restore(server, file)
    isLate.resolve()
    await t.throwsAsync(late, refused(/may have lost/))
  },
)

test.serial('a counter that this client first sees after a loss', async (t) => {
  const server = await ownEtcd(t)
  const [one, two] = [client(server), client(server)]
  await one.advance(10n, 0n)
  const file = join(server.folder, 'snapshot')
  await server.ctl('snapshot', 'save', file)
  await two.open({ create: true })
  await restore(server, file)
  for (let i = 0; i < 2; i++) await t.throwsAsync(two.advance(10n), refused(/may have lost/))
})

test.serial('a key that holds something else is an error that names it', async (t) => {
  const server = await ownEtcd(t)
  const { record } = groupKeys(GROUP)
  await server.ctl('put', record, 'hello')
  const error = await t.throwsAsync(client(server).open(), refused(/hello/))
  t.true(error.message.includes(record))
  t.true(error.cause instanceof SyntaxError)
})
