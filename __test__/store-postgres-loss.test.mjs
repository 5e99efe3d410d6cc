// What a real PostgreSQL may lose, and what the store then does: nothing is granted until lost windows are over.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { CLIENTS, serverNow, startPostgres, startStandby, untilPast, wantPostgres } from './servers/postgres.mjs'
import { newOwner } from './store-reference.mjs'

const { postgresStore } = createRequire(import.meta.url)('../lib/stores/postgres.js')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest.serial

const CONFIG = { fingerprint: 'f', slots: 3, ttlMs: 300, skewMs: 500, create: true }
const QUIET = { code: 'ERR_FLAKE_QUIET' }

let shared
let databases = 0

anyTest.before(async () => {
  if (wantPostgres() !== undefined) shared = await startPostgres()
})

anyTest.after.always(() => shared?.stop())

/** A store on a server that runs, and the same client to do harm with. */
function connect(t, url) {
  const { client, end } = CLIENTS.pg(url)
  t.teardown(end)
  return { store: postgresStore(client), server: { query: async (text) => (await client.query(text)).rows } }
}

/** A store on a database of this test's own. */
async function connectAlone(t) {
  databases += 1
  const database = `database${databases}`
  await shared.query(`CREATE DATABASE ${database}`)
  return connect(t, shared.url.replace(/postgres$/, database))
}

/** A server that this test may stop, and a store on it. */
async function startAlone(t, settings) {
  const server = await startPostgres(settings)
  t.teardown(() => server.stop())
  return { server, store: connect(t, server.url).store }
}

/** A group with one slot taken, and calls with what is usual filled in. */
async function hold(store, options) {
  const config = { ...CONFIG, ...options }
  await store.open('g', config)
  const owner = newOwner()
  const acquire = (more) => store.acquire('g', { owner: newOwner(), host: 'host', clientNow: Date.now(), ...more })
  const grant = await acquire({ owner })
  const renew = () => store.renew('g', { slot: grant.slot, owner, clientNow: Date.now() })
  return { owner, grant, acquire, renew, config }
}

const LOSSES = {
  'every table truncated': 'TRUNCATE flakeforge_group, flakeforge_slot, flakeforge_counter',
  'every table dropped': 'DROP TABLE flakeforge_group, flakeforge_slot, flakeforge_counter',
  'the groups truncated': 'TRUNCATE flakeforge_group',
}

for (const [what, statement] of Object.entries(LOSSES)) {
  for (const first of ['renew', 'acquire']) {
    test(`${what}: ${first} makes the group anew, and it waits for the longest ttl`, async (t) => {
      const { server, store } = await connectAlone(t)
      const { acquire, renew, grant } = await hold(store, { ttlMs: 60_000 })
      await server.query(statement)
      const steps = { renew, acquire }
      const error = await t.throwsAsync(steps[first](), QUIET)
      t.is(error.retryAt.getTime(), error.storeNow + 60_000 + CONFIG.skewMs + 1)
      t.true(error.retryAt > grant.hi)
      for (const step of Object.values(steps)) {
        t.deepEqual((await t.throwsAsync(step(), QUIET)).retryAt, error.retryAt)
      }
    })
  }
}

const SLOT_LOSSES = {
  truncated: 'TRUNCATE flakeforge_slot',
  dropped: 'DROP TABLE flakeforge_slot',
  'without the newest': 'DELETE FROM flakeforge_slot WHERE slot = 0',
}

for (const [what, statement] of Object.entries(SLOT_LOSSES)) {
  test(`the slots alone ${what}: what was granted of them ends first`, async (t) => {
    const { server, store } = await connectAlone(t)
    const { acquire, renew, grant } = await hold(store)
    await server.query(statement)
    const error = await t.throwsAsync(renew(), QUIET)
    t.is(error.retryAt.getTime(), error.storeNow + CONFIG.ttlMs + CONFIG.skewMs + 1)
    t.deepEqual((await t.throwsAsync(acquire(), QUIET)).retryAt, error.retryAt)
    await untilPast(server, error.retryAt - 1)
    t.is(await renew(), 'lost')
    const next = await acquire()
    t.is(next.slot, 0)
    t.true(next.lo > grant.hi)
  })
}

test('destroy where the slots are gone: the group that follows waits for lost windows', async (t) => {
  const { server, store } = await connectAlone(t)
  const { acquire, config } = await hold(store)
  await server.query('TRUNCATE flakeforge_slot')
  await store.destroy('g')
  await store.open('g', config)
  await t.throwsAsync(acquire(), QUIET)
})

const incarnation = async (server) => (await server.query('SELECT incarnation FROM flakeforge_group'))[0].incarnation

test('a promoted standby is another incarnation, for slots and counters', async (t) => {
  const { server: primary, store } = await startAlone(t)
  const { acquire, renew, owner, grant, config } = await hold(store, { ttlMs: 2000 })
  await store.advance('c', 5n, 0n)
  const standby = await startStandby(primary)
  t.teardown(() => standby.stop())

  const { store: onStandby } = connect(t, standby.url)
  await t.throwsAsync(onStandby.open('g', config), { code: 'ERR_FLAKE_STORE', message: /takes no writes.*primary/ })

  await renew() // the copy took its time
  const late = await acquire() // on its way when the primary is lost
  t.is(late.slot, 1)
  const before = await incarnation(primary)
  await primary.kill('SIGQUIT')
  await standby.query('SELECT pg_promote(true)')

  await onStandby.open('g', config)
  const clientNow = Date.now()
  const error = await t.throwsAsync(onStandby.renew('g', { slot: grant.slot, owner, clientNow }), QUIET)
  t.true(error.retryAt > late.hi, 'past all that the primary can have granted')
  t.not(await incarnation(standby), before)
  t.is((await incarnation(standby)).split('/')[0], before.split('/')[0], 'the same system on another timeline')
  await t.throwsAsync(onStandby.acquire('g', { owner: newOwner(), host: 'host', clientNow }), QUIET)

  await t.throwsAsync(onStandby.advance('c', 5n), { code: 'ERR_FLAKE_STORE', message: /may have lost blocks.*skipTo/ })
  t.is(await onStandby.advance('c', 0n, 100n), 100n)
  t.is(await onStandby.advance('c', 5n), 100n)

  await untilPast(standby, error.retryAt - 1)
  const renewed = await onStandby.renew('g', { slot: grant.slot, owner, clientNow: Date.now() })
  t.true(renewed.lo > late.hi)
  t.is(renewed.lo, renewed.storeNow)
  await t.throwsAsync(renew(), { code: 'ERR_FLAKE_STORE' })
})

test('in a quiet period a release gives nothing back', async (t) => {
  const { server, store } = await connectAlone(t)
  const { owner, grant } = await hold(store, { ttlMs: 60_000 })
  await server.query(`UPDATE flakeforge_group SET incarnation = 'another'`)
  await store.release('g', { slot: grant.slot, owner, last: grant.lo })
  t.deepEqual(await store.list('g'), [{ slot: 0, host: 'host', lo: grant.lo, hi: grant.hi }])
  const [{ quiet_until: quietUntil }] = await server.query('SELECT quiet_until FROM flakeforge_group')
  t.true(Number(quietUntil) > (await serverNow(server)), 'the release noted the loss')
})

test('a tombstone of another incarnation: the group that follows waits for the longest ttl', async (t) => {
  const { server, store } = await connectAlone(t)
  const { acquire, config } = await hold(store)
  await store.destroy('g')
  await server.query(`UPDATE flakeforge_group SET incarnation = 'another'`)
  await store.destroy('g')
  await store.open('g', config)
  const error = await t.throwsAsync(acquire(), QUIET)
  t.true(error.retryAt - error.storeNow > 59_000)
})

for (const signal of ['SIGINT', 'SIGQUIT']) {
  const how = { SIGINT: 'a restart', SIGQUIT: 'a crash' }[signal]
  test(`${how} of the same server is no other incarnation, and loses nothing`, async (t) => {
    const { server, store } = await startAlone(t, { fsync: 'on' })
    const { renew, acquire, owner, grant } = await hold(store, { ttlMs: 60_000 })
    await store.advance('c', 5n, 0n)
    await server.kill(signal)
    await server.start()
    t.like((await store.list('g'))[0], { owner, hi: grant.hi })
    const renewed = await renew()
    t.is(renewed.lo, grant.lo)
    t.is((await acquire()).slot, 1)
    t.is(await store.advance('c', 5n), 5n)
  })
}

test('a grant is on disk when it is answered, also where the database does not wait for that', async (t) => {
  const settings = { fsync: 'on', synchronous_commit: 'off', wal_writer_delay: '10s', autovacuum: 'off' }
  const { server, store } = await startAlone(t, settings)
  const { acquire, renew } = await hold(store, { ttlMs: 60_000 })
  await store.advance('c', 1n, 0n)
  await server.query('CREATE TABLE other (x int)')
  const [{ pid }] = await server.query(`SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`)
  process.kill(pid, 'SIGSTOP') // or it would write for others soon
  t.teardown(() => process.kill(pid, 'SIGKILL'))
  const isOnDisk = async () => {
    const [row] = await server.query('SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() AS yes')
    return row.yes
  }
  const release = async () => {
    const owner = newOwner()
    const grant = await acquire({ owner })
    await server.query('INSERT INTO other VALUES (1)')
    await store.release('g', { slot: grant.slot, owner, last: grant.lo })
  }
  for (const step of [acquire, renew, release, () => store.advance('c', 1n)]) {
    await server.query('INSERT INTO other VALUES (1)')
    t.false(await isOnDisk(), 'the database does not wait')
    await step()
    t.true(await isOnDisk())
  }
  const [setting] = await server.query('SHOW synchronous_commit')
  t.is(setting.synchronous_commit, 'off', 'for the steps only')
})
