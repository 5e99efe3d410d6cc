// Where the records of a PostgreSQL store are: in the schema that it was opened with, whatever the role, the
// search_path and the session. On real servers, and behind a real PgBouncer that uses another session for each
// statement.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import pg from 'pg'
import postgres from 'postgres'
import { CLIENTS, startPgbouncer, startPostgres, wantPgbouncer, wantPostgres } from '../servers/postgres.mjs'
import { stopAfter } from '../servers/server.mjs'
import { openGroup, stepsOf, works } from '../support/steps.mjs'

const require = createRequire(import.meta.url)
const { DatabaseStore } = require('../../target/rooms/lib/stores/database.js')
const { openPostgres, postgresStore } = require('../../target/rooms/lib/stores/postgres.js')
const { readAddress } = require('../../target/rooms/lib/stores/postgres/address.js')
const { PostgresRecords } = require('../../target/rooms/lib/stores/postgres/records.js')
const { schemaFor } = require('../../target/rooms/lib/stores/postgres/schema.js')
const { openPg, openPostgresJs } = require('../../target/rooms/lib/stores/postgres/url.js')

const isHere = wantPostgres() !== undefined
const test = isHere ? anyTest : anyTest.skip
const bouncerTest = isHere && wantPgbouncer() !== undefined ? anyTest : anyTest.skip

const OPTION = { code: 'ERR_FLAKE_OPTION' }

let server
let databases = 0

anyTest.before(async () => {
  if (isHere) server = await startPostgres()
})

anyTest.after.always(() => server?.stop())

/** A database for this test only: its address, and a client of its owner. */
async function newDatabase(t) {
  databases += 1
  const name = `place${databases}`
  await server.query(`CREATE DATABASE ${name}`)
  const url = server.url.replace(/postgres$/, name)
  return { url, owner: connect(t, url) }
}

/** A client of this package. */
function connect(t, url, name = 'pg') {
  const { client, end } = CLIENTS[name](url)
  t.teardown(end)
  return client
}

/** The schemas that contain a table of ours. */
const tables = async (owner) => {
  const { rows } = await owner.query(
    "SELECT schemaname FROM pg_tables WHERE tablename = 'flakeforge_record' ORDER BY 1",
  )
  return rows.map(({ schemaname }) => schemaname)
}

const OWN_CLIENTS = { pg: (url) => openPg(pg, url), 'postgres.js': (url) => openPostgresJs(postgres, url) }

/** A store on our own client of this package. */
function ownStore(t, name, url) {
  const store = new DatabaseStore(new PostgresRecords(OWN_CLIENTS[name](url), readAddress(url)))
  t.teardown(() => store.close())
  return store
}

for (const name of Object.keys(OWN_CLIENTS)) {
  test(`${name}: the table is in public, whatever the search_path of the session`, async (t) => {
    const { url, owner } = await newDatabase(t)
    await owner.query('CREATE SCHEMA tenant')
    await works(t, ownStore(t, name, `${url}?options=-c%20search_path%3Dtenant`))
    t.deepEqual(await tables(owner), ['public'])
  })

  test(`${name}: ?schema= names another schema, which must exist`, async (t) => {
    const { url, owner } = await newDatabase(t)
    const store = ownStore(t, name, `${url}?schema=My%20IDs`)
    await t.throwsAsync(stepsOf(store, 'g').acquire({ joins: true }), { message: /schema 'My IDs' is missing/ })
    await owner.query('CREATE SCHEMA "My IDs"')
    await works(t, store)
    t.deepEqual(await tables(owner), ['My IDs'])
    t.is(await store.records.place(), `127.0.0.1:${server.port}/${new URL(url).pathname.slice(1)}, schema My IDs`)
  })

  test(`${name}: the other parts of an address lead to the same server, user, database and session`, async (t) => {
    const { url, owner } = await newDatabase(t)
    await owner.query('CREATE ROLE "ro le" SUPERUSER LOGIN').catch(() => {})
    const { port, pathname } = new URL(url)
    const address = `postgres://ro%20le:a%40b@/${pathname.slice(1)}?host=127.0.0.1&port=${port}&application_name=my%20app&pgbouncer=true`
    await works(t, ownStore(t, name, address))
    const seen = await owner.query("SELECT usename FROM pg_stat_activity WHERE application_name = 'my app'")
    t.is(seen.rows[0]?.usename, 'ro le')
  })
}

test('postgresStore(pool, { schema }): two stores on one pool have different tables', async (t) => {
  const { url, owner } = await newDatabase(t)
  const pool = connect(t, url)
  for (const schema of ['ids', 'more', 'public']) {
    await owner.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    await works(t, postgresStore(pool, { schema }))
  }
  t.deepEqual(await tables(owner), ['ids', 'more', 'public'])
})

test('invalid schemas and unknown options are rejected', (t) => {
  const { client, end } = CLIENTS.pg('postgres://127.0.0.1:1/none')
  t.teardown(end)
  for (const schema of ['', 'a\nb', 'a\0b', 'pg_catalog', 'information_schema', 'x'.repeat(64), 5]) {
    const error = t.throws(() => postgresStore(client, { schema }), OPTION)
    t.is(error.option, 'schema')
  }
  t.throws(() => postgresStore(client, { shema: 'ids' }), { ...OPTION, message: /shema/ })
  t.throws(() => postgresStore(client, 'ids'), OPTION)
  t.throws(() => postgresStore(client, Object.create({ schema: 'inherited' })), OPTION)
})

test('parameters that the packages interpret differently are rejected by name', (t) => {
  const wrong = [
    'search_path=ids',
    'currentSchema=ids',
    'channel_binding=require',
    'connection_limit=5',
    'sslmode=prefer',
    'sslmode=verify-ca',
    'ssl=1',
    'target_session_attrs=any',
    'statement_timeout=5',
    'port=x',
  ]
  for (const parameter of wrong) {
    const [name] = parameter.split('=')
    const error = t.throws(() => openPostgres(`postgres://u:secret@h/db?${parameter}`), OPTION)
    t.true(error.message.includes(`?${name}=`), error.message)
    t.notRegex(error.message, /secret/)
  }
  t.throws(() => openPostgres('postgres://a,b/db'), { ...OPTION, message: /address of one server/ })
})

test('a table elsewhere on the search_path, and none in the schema: the error names both, and nothing is created', async (t) => {
  const { url, owner } = await newDatabase(t)
  await owner.query(`CREATE SCHEMA tenant; ${schemaFor('tenant')}`)
  const store = ownStore(t, 'pg', `${url}?options=-c%20search_path%3Dtenant,public`)
  const both = { message: /public\.flakeforge_record.*missing.*tenant\.flakeforge_record.*\?schema=tenant/ }
  for (const step of [() => store.list('g'), stepsOf(store, 'g').create]) await t.throwsAsync(step(), both)
  t.deepEqual(await tables(owner), ['tenant'])
  await works(t, ownStore(t, 'pg', `${url}?schema=tenant`))
})

test('functions with the same names in a schema before pg_catalog change nothing', async (t) => {
  const { url, owner } = await newDatabase(t)
  const false_ = [
    'clock_timestamp() RETURNS timestamptz',
    'txid_current_if_assigned() RETURNS bigint',
    'current_database() RETURNS name',
  ]
  await owner.query('CREATE SCHEMA evil')
  for (const head of false_)
    await owner.query(`CREATE FUNCTION evil.${head} LANGUAGE sql AS 'SELECT NULL::${head.split(' ').pop()}'`)
  await owner.query("CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'evil'::text $$")
  await works(t, ownStore(t, 'pg', `${url}?options=-c%20search_path%3Devil,pg_catalog`))
})

bouncerTest(
  'behind PgBouncer, where another client has changed the search_path, members never share a slot',
  async (t) => {
    const own = stopAfter(t, await startPostgres({ fsync: 'on' }))
    const bouncer = stopAfter(t, await startPgbouncer(own))
    await own.query('CREATE SCHEMA tenant_a')
    const group = await openGroup(postgresStore(connect(t, bouncer.url)), 'orders', { slots: 6 })
    const other = connect(t, bouncer.url)
    // Each session of the server that PgBouncer has; it gives them to all clients afterwards.
    await Promise.all([1, 2, 3].map(() => other.query('SELECT pg_sleep(0.1); SET search_path TO tenant_a')))
    const { rows } = await other.query('SHOW search_path')
    t.is(rows[0].search_path, 'tenant_a', 'the session is one that was changed')
    const members = Object.keys(CLIENTS).flatMap((name) =>
      [1, 2].map(() => postgresStore(connect(t, bouncer.url, name))),
    )
    const grants = await Promise.all(members.map((store) => stepsOf(store, 'orders', { slots: 6 }).acquire()))
    const mine = await group.acquire()
    t.is(new Set([mine, ...grants].map(({ slot }) => slot)).size, 5)
    t.deepEqual(await tables(connect(t, own.url)), ['public'])
  },
)
