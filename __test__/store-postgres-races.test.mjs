// Two steps at the same time on a real PostgreSQL, one done by hand so that it ends while the other waits for it.
// A statement sees the tables as they were when it began: each test is a way in which that would lead it astray.

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import pg from 'pg'
import { CLIENTS, serverNow, startPostgres, untilPast, wantPostgres } from './servers/postgres.mjs'
import { newOwner } from './store-reference.mjs'

const { postgresStore } = createRequire(import.meta.url)('../lib/stores/postgres.js')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest.serial

const CONFIG = { fingerprint: 'f', slots: 2, ttlMs: 60_000, skewMs: 5000, create: true }
const FAR = 9_000_000_000_000

let server
let own
let store

anyTest.before(async () => {
  if (wantPostgres() === undefined) return
  server = await startPostgres()
  own = CLIENTS.pg(server.url)
  store = postgresStore(own.client)
})

anyTest.after.always(async () => {
  await own?.end()
  await server?.stop()
})

let groups = 0

async function openGroup(options) {
  groups += 1
  const group = `g${groups}`
  await store.open(group, { ...CONFIG, ...options })
  return {
    group,
    acquire: (more) => store.acquire(group, { owner: newOwner(), host: 'host', clientNow: Date.now(), ...more }),
    renew: (slot, owner) => store.renew(group, { slot, owner, clientNow: Date.now() }),
    slots: (change, slot) =>
      server.query(`UPDATE flakeforge_slot SET ${change} WHERE group_name = $1 AND slot = $2`, [group, slot]),
  }
}

const isWaiting = async () =>
  (await server.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'`)).length > 0

/** Does `statements` by hand, begins `step`, and commits once the step waits; gives the step's result. */
async function whileWaiting(t, statements, step) {
  const other = new pg.Client(server.url)
  await other.connect()
  t.teardown(() => other.end())
  await other.query(`BEGIN; ${statements}`)
  let isOver = false
  const result = step().finally(() => {
    isOver = true
  })
  result.catch(() => {}) // whoever awaits it below hears of it
  while (!(await isWaiting())) {
    if (isOver) throw new Error('the step did not wait', { cause: await result })
    await sleep(5)
  }
  const committed = await serverNow(server)
  await other.query('COMMIT')
  return { result: await result.catch((error) => error), committed }
}

const where = (group, slot) => `WHERE group_name = '${group}' AND slot = ${slot}`
const lockGroup = (group) => `SELECT FROM flakeforge_group WHERE name = '${group}' FOR UPDATE`
const takeSlot = (group, slot) =>
  `UPDATE flakeforge_slot SET owner = 'another', lo = ${FAR - 9}, hi = ${FAR} ${where(group, slot)}`

/** What an acquire writes that uses a slot for the first time. */
const addSlot = (group, slot) =>
  `UPDATE flakeforge_group SET used = used + 1 WHERE name = '${group}';
   INSERT INTO flakeforge_slot VALUES ('${group}', ${slot}, 'another', 'other host', ${FAR - 9}, ${FAR})`

test('a slot that is taken while its old owner renews is lost', async (t) => {
  const { group, acquire, renew, slots } = await openGroup()
  const owner = newOwner()
  const { slot } = await acquire({ owner })
  await slots('hi = lo', slot)
  const { result } = await whileWaiting(t, `${lockGroup(group)}; ${takeSlot(group, slot)}`, () => renew(slot, owner))
  t.is(result, 'lost')
  t.like((await store.list(group))[0], { owner: 'another', lo: FAR - 9, hi: FAR })
})

test('nor does its old owner release it', async (t) => {
  const { group, acquire } = await openGroup()
  const owner = newOwner()
  const { slot, lo } = await acquire({ owner })
  const release = () => store.release(group, { slot, owner, last: lo })
  await whileWaiting(t, takeSlot(group, slot), release)
  t.like((await store.list(group))[0], { owner: 'another', lo: FAR - 9, hi: FAR })
})

test('a renewal that waits for the end of the group hears of it', async (t) => {
  const { group, acquire, renew } = await openGroup()
  const owner = newOwner()
  const { slot } = await acquire({ owner })
  const destroy = `UPDATE flakeforge_group SET destroyed = true, used = 0 WHERE name = '${group}';
    DELETE FROM flakeforge_slot WHERE group_name = '${group}'`
  t.is((await whileWaiting(t, destroy, () => renew(slot, owner))).result, 'destroyed')
})

test('a renewal takes the time after its wait', async (t) => {
  const { group, acquire, renew } = await openGroup()
  const owner = newOwner()
  const { slot } = await acquire({ owner })
  const lock = `SELECT FROM flakeforge_slot ${where(group, slot)} FOR UPDATE`
  const { result, committed } = await whileWaiting(t, lock, () => renew(slot, owner))
  t.true(result.storeNow >= committed)
  t.is(result.hi, result.storeNow + CONFIG.ttlMs)
})

test('the last free slot goes while another waits: exhausted, until the new end', async (t) => {
  const { group, acquire, slots } = await openGroup({ slots: 1 })
  const { slot } = await acquire()
  await slots('hi = lo - 1, owner = NULL', slot)
  const { result } = await whileWaiting(t, `${lockGroup(group)}; ${takeSlot(group, slot)}`, acquire)
  t.is(result.code, 'ERR_FLAKE_EXHAUSTED')
  t.is(result.retryAt.getTime(), FAR + 1)
})

test('a slot that comes free while another waits is found', async (t) => {
  const { group, acquire } = await openGroup({ slots: 1 })
  const { slot } = await acquire()
  const release = `UPDATE flakeforge_slot SET hi = lo - 1, owner = NULL ${where(group, slot)}`
  const touch = `UPDATE flakeforge_group SET used = used WHERE name = '${group}'`
  const { result } = await whileWaiting(t, `${touch}; ${release}`, acquire)
  t.is(result.slot, slot)
})

test('two first uses of a slot: the second waits, gets the next one, and the time after its wait', async (t) => {
  const { group, acquire } = await openGroup()
  const { result, committed } = await whileWaiting(t, addSlot(group, 0), acquire)
  t.is(result.slot, 1)
  t.true(result.lo >= committed)
  t.is(result.hi, result.storeNow + CONFIG.ttlMs)
})

test('a free slot that is being renewed is passed over, and taken once it is left alone', async (t) => {
  const { group, acquire, slots } = await openGroup()
  for (const slot of [0, 1]) {
    await acquire({ host: `host ${slot}` })
    await slots('hi = lo', slot)
  }
  await untilPast(server, (await store.list(group))[1].hi)
  const other = new pg.Client(server.url)
  await other.connect()
  t.teardown(() => other.end())
  await other.query(`BEGIN; SELECT FROM flakeforge_slot ${where(group, 0)} FOR UPDATE`)
  t.is((await acquire({ host: 'host 0' })).slot, 1)
  const waiting = acquire({ host: 'host 0' })
  await sleep(50)
  await other.query('COMMIT')
  t.is((await waiting).slot, 0)
})

test('destroy keeps the end of a slot that was first used while it waited', async (t) => {
  const { group, acquire } = await openGroup({ slots: 9 })
  await acquire()
  await whileWaiting(t, addSlot(group, 1), () => store.destroy(group))
  await store.open(group, CONFIG)
  t.deepEqual(await store.list(group), [])
  const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.is(error.retryAt.getTime(), FAR + 1)
})

test('destroy keeps the end of a slot that was renewed while it waited', async (t) => {
  const { group, acquire } = await openGroup()
  const { slot } = await acquire()
  const renew = `UPDATE flakeforge_slot SET hi = ${FAR} ${where(group, slot)}`
  await whileWaiting(t, renew, () => store.destroy(group))
  await store.open(group, CONFIG)
  const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.is(error.retryAt.getTime(), FAR + 1)
})

test('a group that another makes at the same time is compared, not made again', async (t) => {
  const make = `INSERT INTO flakeforge_group (name, fingerprint, slots, ttl_ms, skew_ms, incarnation, quiet_until)
    VALUES ('made', 'another', 2, 60000, 5000, '', 0)`
  const { result } = await whileWaiting(t, make, () => store.open('made', CONFIG))
  t.like(result, { code: 'ERR_FLAKE_CONFIG_MISMATCH', theirs: 'fingerprint another', ours: 'fingerprint f' })
})

test('a loss that another notes at the same time is noted once', async (t) => {
  const { group, acquire, renew } = await openGroup()
  const owner = newOwner()
  const { slot } = await acquire({ owner })
  const [{ incarnation }] = await server.query('SELECT incarnation FROM flakeforge_group WHERE name = $1', [group])
  await server.query(`UPDATE flakeforge_group SET incarnation = 'another' WHERE name = $1`, [group])
  const change = `incarnation = '${incarnation}', quiet_until = ${FAR}`
  const note = `UPDATE flakeforge_group SET ${change} WHERE name = '${group}'`
  const { result } = await whileWaiting(t, note, () => renew(slot, owner))
  t.is(result.code, 'ERR_FLAKE_QUIET')
  t.is(result.retryAt.getTime(), FAR)
})

test('a block that is taken while another waits is not taken again', async (t) => {
  await store.advance('c', 10n, 0n)
  const take = `UPDATE flakeforge_counter SET value = value + 10 WHERE name = 'c'`
  t.is((await whileWaiting(t, take, () => store.advance('c', 10n))).result, 20n)
})
