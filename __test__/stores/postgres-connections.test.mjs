// How many connections of a real PostgreSQL the members have while it does not answer: a commit waits for a standby
// that is down, the server is frozen, or a lock is held. The server itself counts them.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import pg from 'pg'
import postgres from 'postgres'
import { CLIENTS, startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { openGroup, stepsOf, works } from '../support/steps.mjs'

const require = createRequire(import.meta.url)
const { createGroup, FlakeId } = require('../../dist/index.cjs')
const { isPassing } = require('../../target/rooms/lib/base/errors.js')
const { DatabaseStore } = require('../../target/rooms/lib/stores/database.js')
const { postgresStore } = require('../../target/rooms/lib/stores/postgres.js')
const { ListedStore } = require('../../target/rooms/lib/stores/quorum/listed-store.js')
const { PostgresRecords } = require('../../target/rooms/lib/stores/postgres/records.js')
const { openPg, openPostgresJs } = require('../../target/rooms/lib/stores/postgres/url.js')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

const MEMBERS = 8
const STORE = { code: 'ERR_FLAKE_STORE' }
const MAY_RUN = { ...STORE, message: /may still run a statement that was given up/ }

/** A server for this test only. `connections()`: those of members, and how many of them wait for a standby. */
async function startCounted(t) {
  const server = stopAfter(t, await startPostgres())
  const connections = async () => {
    const [row] = await server.query(
      `SELECT count(*)::int AS all, (count(*) FILTER (WHERE wait_event = 'SyncRep'))::int AS waiting
       FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    )
    return row
  }
  const setStandby = async (name) => {
    await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await server.query('SELECT pg_reload_conf()')
    await until(
      async () => (await server.query('SHOW synchronous_standby_names'))[0].synchronous_standby_names === name,
    )
  }
  return { server, connections, setStandby }
}

test('the calls of an older step go first, also where the store is one of a list', async (t) => {
  const { server } = await startCounted(t)
  const store = new DatabaseStore(new PostgresRecords(openPg(pg, server.url)))
  t.teardown(() => store.close())
  await openGroup(store, 'group')
  const { records } = store
  const listed = new ListedStore({ label: 'one', records })
  const kinds = {
    'a store': (signal) => records.read('group', ['group'], signal),
    'of a list': (step) => listed.read('read', 'group', ['group'], { ms: 5000, step }),
  }
  for (const [what, read] of Object.entries(kinds)) {
    const [older, younger] = [new AbortController().signal, new AbortController().signal]
    const ended = []
    const call = async (name, signal) => {
      await read(signal)
      ended.push(name)
    }
    await Promise.all([call('first', older), call('second', younger), call('third', younger), call('fourth', older)])
    t.deepEqual(ended, ['first', 'fourth', 'second', 'third'], what)
  }
})

const OWN_CLIENTS = { pg: (url) => openPg(pg, url), 'postgres.js': (url) => openPostgresJs(postgres, url) }

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: while a standby is down, a member has at most two connections, and continues when it is back`, async (t) => {
    const { server, connections, setStandby } = await startCounted(t)
    const stores = Array.from({ length: MEMBERS }, () => new DatabaseStore(new PostgresRecords(open(server.url))))
    t.teardown(() => Promise.all(stores.map((store) => store.close())))
    const members = []
    for (const [i, store] of stores.entries()) members.push(await openGroup(store, `group ${i}`))
    await setStandby('absent')
    let isDown = true
    t.teardown(() => {
      isDown = false // else a failure below would leave the loops running
    })
    const failures = []
    // Each retries like a lease, until every one of them was refused three times.
    const trying = members.map(async ({ acquire }, i) => {
      failures[i] = 0
      while (isDown) {
        await t.throwsAsync(acquire(), STORE)
        failures[i] += 1
      }
    })
    const most = { all: 0, waiting: 0 }
    await until(
      async () => {
        const now = await connections()
        for (const key of Object.keys(most)) most[key] = Math.max(most[key], now[key])
        return failures.every((count) => count >= 3)
      },
      { state: () => `failures: ${failures}` },
    )
    isDown = false
    await Promise.all(trying)
    t.is(most.waiting, MEMBERS, 'one commit of each')
    t.true(most.all <= 2 * MEMBERS, `${most.all} connections`)
    await setStandby('')
    await until(async () => (await connections()).waiting === 0)
    for (const { acquire } of members) t.truthy(await acquire())
  })
}

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: a client knows which statements another one of its process left running, and sends nothing`, async (t) => {
    const { server, connections, setStandby } = await startCounted(t)
    const openStore = () => new DatabaseStore(new PostgresRecords(open(server.url)))
    const first = openStore()
    await openGroup(first, 'group')
    const others = [openStore(), openStore()]
    t.teardown(() => Promise.all(others.map((store) => store.close())))
    for (const store of others) await stepsOf(store, 'group').list()
    await setStandby('absent')
    const error = await t.throwsAsync(stepsOf(first, 'group').acquire(), MAY_RUN)
    t.true(isPassing(error))
    await first.close()
    for (let i = 0; i < 3; i++) {
      const store = openStore()
      await t.throwsAsync(stepsOf(store, 'group').acquire(), MAY_RUN)
      await store.close()
    }
    for (const store of others) await t.throwsAsync(stepsOf(store, 'group').acquire(), MAY_RUN)
    t.is((await connections()).waiting, 1)
    await until(async () => (await connections()).all <= 3) // including those of the two that are open
    await setStandby('')
    await until(async () => (await connections()).waiting === 0)
    for (const store of others) t.truthy(await stepsOf(store, 'group').acquire())
  })
}

test('join() waits for the statements that an earlier join() left running, and has two connections meanwhile', async (t) => {
  const { server, connections, setStandby } = await startCounted(t)
  const options = { group: 'g', slots: 2 }
  await createGroup(server.url, options)
  await setStandby('absent')
  const most = { all: 0, waiting: 0 }
  const look = async () => {
    const now = await connections()
    for (const key of Object.keys(most)) most[key] = Math.max(most[key], now[key])
    return now
  }
  for (let i = 0; i < 3; i++) {
    const joining = t.throwsAsync(FlakeId.join(server.url, { ...options, waitMs: 7000 }), MAY_RUN)
    await Promise.all([joining, look()])
    await look()
  }
  const joining = FlakeId.join(server.url, { ...options, waitMs: 300_000 })
  await until(async () => (await look()).waiting === 1)
  t.like(most, { waiting: 1 })
  t.true(most.all <= 2, `${most.all} connections`)
  await setStandby('')
  const flake = await joining
  t.is(flake.state, 'attached')
  await flake.close()
})

for (const name of Object.keys(CLIENTS)) {
  test(`${name}: 30 groups on one client of the user leave it its other connection`, async (t) => {
    const { server, connections, setStandby } = await startCounted(t)
    const client =
      name === 'pg'
        ? new pg.Pool({ connectionString: server.url, max: 2 })
        : postgres(server.url, { max: 2, onnotice: () => {} })
    t.teardown(() => (name === 'pg' ? client.end() : client.end({ timeout: 0 })))
    const groups = []
    for (let i = 0; i < 30; i++) groups.push(await openGroup(postgresStore(client), `group ${i}`))
    await Promise.all(groups.map(({ acquire }) => acquire()))
    await setStandby('absent')
    // The user's postgres.js is refused then, before it writes.
    const [code, waiting] = name === 'pg' ? ['ERR_FLAKE_STORE', 1] : ['ERR_FLAKE_OPTION', 0]
    await Promise.all(groups.map(({ acquire }) => t.throwsAsync(acquire(), { code })))
    t.is((await connections()).waiting, waiting)
    const rows = await (name === 'pg' ? client.query('SELECT 1 AS one') : client.unsafe('SELECT 1 AS one'))
    t.is((rows.rows ?? rows)[0].one, 1, 'the user can still use it')
    await setStandby('')
    await until(async () => (await connections()).waiting === 0)
    await Promise.all(groups.map(({ acquire }) => acquire()))
    await works(t, postgresStore(client))
  })
}
