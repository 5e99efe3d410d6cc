// PostgreSQL's own rules about records: isolation levels, locks, types, the identity, and what a commit waits for.
// Rules for all databases are in behaviour/.

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import pg from 'pg'
import postgres from 'postgres'
import { CLIENTS, serverNow, startPostgres, stopWalWriter, wantPostgres } from '../servers/postgres.mjs'
import { stopAfter } from '../servers/server.mjs'
import { textOf } from '../support/records.mjs'
import { until } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { isPassing } = require('../../target/rooms/lib/base/errors.js')
const { postgresClient } = require('../../target/rooms/lib/stores/postgres/client.js')
const { PostgresRecords } = require('../../target/rooms/lib/stores/postgres/records.js')
const { schemaFor } = require('../../target/rooms/lib/stores/postgres/schema.js')
const { statementsFor } = require('../../target/rooms/lib/stores/postgres/statements.js')

const [READ, SWAP] = ['read', 'swap'].map((name) => statementsFor({ schema: 'public' })[name].text)
const SCHEMA = schemaFor('public').text

const isHere = wantPostgres() !== undefined
const test = isHere ? anyTest : anyTest.skip
const testAlone = isHere ? anyTest.serial : anyTest.skip

const _NO_WRITES = { code: 'ERR_FLAKE_STORE', message: /takes no writes.*primary/ }
const TRANSACTION = { code: 'ERR_FLAKE_OPTION', message: /outside of a transaction/ }

let server

anyTest.before(async () => {
  if (!isHere) return
  server = await startPostgres()
})

anyTest.after.always(async () => {
  await server?.stop()
})

const recordsOf = (client) => new PostgresRecords(postgresClient(client))

/** Records over a client of this package. */
function connect(t, url, name = 'pg') {
  const { client, end } = CLIENTS[name](url)
  t.teardown(end)
  return recordsOf(client)
}

/** A pool of pg with separate options. */
function poolOf(t, options, url = server.url) {
  const pool = new pg.Pool({ connectionString: url, ...options })
  t.teardown(() => pool.end())
  return pool
}

/** A connection of pg on which a test does by hand what others do. */
async function other(t, url = server.url) {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

let databases = 0

/** The address of a new database. */
async function freshDatabase() {
  databases += 1
  const name = `fresh${databases}`
  await server.query(`CREATE DATABASE ${name}`)
  return server.url.replace(/postgres$/, name)
}

/** Swaps under the current identity. */
async function swap(records, group, name, [from, to]) {
  const { identity } = await records.read(group, [])
  return records.swap(group, name, from, to, identity)
}

test('the identity is the same for every client, whatever its time zone and formats', async (t) => {
  const settings = ['TimeZone=Asia/Kathmandu', 'DateStyle=SQL,DMY', 'extra_float_digits=-15', 'IntervalStyle=iso_8601']
  const options = settings.map((setting) => `-c ${setting}`).join(' ')
  const [plain, odd] = [{}, { options }].map((more) => recordsOf(poolOf(t, more)))
  const { identity, now } = await plain.read('g', [])
  t.deepEqual((await odd.read('g', [])).identity, identity)
  t.regex(identity.history, /^-?\d+\/[0-9A-F]{8}\/\d+\/\d+$/)
  t.regex(identity.process, /^\d{16}$/)
  t.true(now <= (await odd.read('g', [])).now)
  t.true(now <= (await serverNow(server)))
})

// At the same time as others

const isWaiting = async () =>
  (await server.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'`)).length > 0

/**
 * Runs `statements` in a transaction, begins `step`, and ends the transaction once `step` waits; returns its result.
 */
async function whileWaiting(t, statements, step, end = 'COMMIT') {
  const client = await other(t)
  await client.query(`BEGIN; ${statements}`)
  let isOver = false
  const result = step().finally(() => {
    isOver = true
  })
  result.catch(() => {}) // its failure reaches the code below that awaits it
  while (!(await isWaiting())) {
    if (isOver) throw new Error('it did not wait', { cause: await result })
    await sleep(5)
  }
  await client.query(end)
  return result
}

const LEVELS = ['read committed', 'repeatable read', 'serializable']

/** Records whose statements have this isolation level. */
function atLevel(t, level) {
  return recordsOf(poolOf(t, { options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}` }))
}

const setValue = (group, value) =>
  `INSERT INTO flakeforge_record VALUES ('${group}', 'group', '${value}')
   ON CONFLICT (group_name, name) DO UPDATE SET value = EXCLUDED.value`

for (const level of LEVELS) {
  testAlone(`${level}: a swap that waits for another finds what that one wrote`, async (t) => {
    const records = atLevel(t, level)
    const group = `waits, ${level}`
    const { identity } = await records.read(group, [])
    const add = () => records.swap(group, 'group', null, 'ours', identity)
    t.false(await whileWaiting(t, setValue(group, 'theirs'), add))
    t.is(await textOf(records, group, 'group'), 'theirs')
    const change = () => records.swap(group, 'group', 'theirs', 'ours', identity)
    t.false(await whileWaiting(t, setValue(group, 'others'), change))
    t.is(await textOf(records, group, 'group'), 'others')
    const remove = `DELETE FROM flakeforge_record WHERE group_name = '${group}'`
    t.false(await whileWaiting(t, remove, () => records.swap(group, 'group', 'others', 'ours', identity)))
    t.is(await textOf(records, group, 'group'), null)
  })

  testAlone(`${level}: a swap that waits for one that is rolled back succeeds`, async (t) => {
    const records = atLevel(t, level)
    const group = `undone, ${level}`
    const { identity } = await records.read(group, [])
    const theirs = setValue(group, 'theirs')
    const add = () => records.swap(group, 'group', null, 'a', identity)
    t.true(await whileWaiting(t, theirs, add, 'ROLLBACK'))
    const change = () => records.swap(group, 'group', 'a', 'b', identity)
    t.true(await whileWaiting(t, theirs, change, 'ROLLBACK'))
    t.is(await textOf(records, group, 'group'), 'b')
  })

  // flakeforge-check-store has this at the default level.
  if (level === LEVELS[0]) continue
  testAlone(`${level}: of 50 swaps at once, one wins, and the others do not fail`, async (t) => {
    const records = atLevel(t, level)
    const { identity } = await records.read(level, [])
    let from = null
    for (let round = 0; round < 5; round++) {
      const race = (_, i) => records.swap(level, 'group', from, `${round} ${i}`, identity)
      const won = await Promise.all(Array.from({ length: 50 }, race))
      t.is(won.filter(Boolean).length, 1)
      from = `${round} ${won.indexOf(true)}`
      t.is(await textOf(records, level, 'group'), from)
    }
  })
}

testAlone('a lock_timeout of the database: a swap fails with it, a read is tried again', async (t) => {
  const records = recordsOf(poolOf(t, { options: '-c lock_timeout=20' }))
  t.true(await swap(records, 'timeout', 'group', [null, 'a']))
  const { identity } = await records.read('timeout', [])
  const client = await other(t)
  await client.query('BEGIN; LOCK TABLE flakeforge_record')
  const swapping = records.swap('timeout', 'group', 'a', 'b', identity)
  const error = await t.throwsAsync(swapping, { code: 'ERR_FLAKE_STORE', message: /lock timeout/ })
  t.true(isPassing(error))
  const read = records.read('timeout', ['group'])
  await until(isWaiting, { everyMs: 1 })
  await client.query('COMMIT')
  t.deepEqual((await read).values, ['a'])
})

test('a dropped table is missing, and recreated it has another history', async (t) => {
  for (const name of Object.keys(CLIENTS)) {
    const url = await freshDatabase()
    const records = connect(t, url, name)
    const { identity } = await records.read('g', ['group'])
    const owner = await other(t, url)
    await owner.query('DROP TABLE flakeforge_record')
    t.false(await records.swap('g', 'group', null, 'x', identity))
    t.deepEqual(await records.names('g'), [])
    t.deepEqual(await records.groups(), [])
    t.not((await records.read('g', [])).identity.history, identity.history)
  }
})

test('whatever the table contains, now and when statistics were gathered, records are found by its primary key', async (t) => {
  const owner = await other(t, await freshDatabase())
  await owner.query(SCHEMA)
  await owner.query('ALTER TABLE flakeforge_record SET (autovacuum_enabled = off)')
  const add = (group, name, count) =>
    owner.query(
      `INSERT INTO flakeforge_record SELECT ${group}, ${name}, repeat('x', 150) FROM generate_series(1, ${count}) AS i`,
    )
  const check = async (count) => {
    const names = Array.from({ length: count }, (_, i) => `slot${String(i * 7).padStart(10, '0')}`)
    const { rows } = await owner.query(`EXPLAIN ${READ}`, ['g', JSON.stringify(names)])
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    t.regex(plan, /Index Scan (using|on) flakeforge_record_pkey/)
    t.notRegex(plan, /Seq Scan on flakeforge_record/)
  }
  await add(`'g' || i`, `'group'`, 2000)
  await owner.query('ANALYZE flakeforge_record') // each record is called 'group'
  await add(`'g'`, `'slot' || lpad(i::text, 10, '0')`, 20_000)
  for (const count of [1, 33, 1100]) await check(count)
  await owner.query('ANALYZE flakeforge_record')
  for (const count of [1, 33, 1100]) await check(count)
})

// Transactions of the user

const LEAKS = {
  'a Pool of pg': async (t) => {
    const pool = poolOf(t, { max: 1 })
    return { client: pool, query: (text) => pool.query(text) }
  },
  'a Pool of an older pg': async (t) => {
    const pool = poolOf(t, { max: 1 })
    pool.on('connect', (client) => {
      client.getTransactionStatus = undefined
    })
    return { client: pool, query: (text) => pool.query(text) }
  },
  'postgres.js': async (t) => {
    const sql = postgres(server.url, { max: 1, onnotice: () => {} })
    t.teardown(() => sql.end())
    return { client: sql, query: (text) => sql.unsafe(text) }
  },
}

for (const [what, open] of Object.entries(LEAKS)) {
  test(`${what}: a connection that was returned with a snapshot is rejected, and nothing is read or written there`, async (t) => {
    const group = `${what}, snapshot`
    const { client, query } = await open(t)
    const records = recordsOf(client)
    const others = connect(t, server.url)
    const { identity } = await records.read(group, [])
    await query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await query('SELECT FROM flakeforge_record') // the current snapshot
    t.true(await others.swap(group, 'group', null, 'x', identity))
    await t.throwsAsync(records.read(group, ['group']), TRANSACTION)
    await t.throwsAsync(records.swap(group, 'counter', null, 'x', identity), TRANSACTION)
    await t.throwsAsync(records.names(group), TRANSACTION)
    await query('COMMIT')
    t.deepEqual((await records.read(group, ['group', 'counter'])).values, ['x', null])
    t.true(await swap(records, group, 'group', ['x', 'y']))
  })
}

test('the statements themselves reject a transaction with an isolation level other than the default', async (t) => {
  const client = await other(t)
  const { identity } = await connect(t, server.url).read('isolation', [])
  await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE')
  const { history, process } = identity
  const [[read], [written]] = [
    (await client.query(READ, ['isolation', '["group"]'])).rows,
    (await client.query(SWAP, ['isolation', 'group', null, 'x', history, process])).rows,
  ]
  t.true(JSON.parse(read.json_build_object).isInTransaction)
  t.false(JSON.parse(written.json_build_object).isWritten)
})

test('types and transforms of postgres.js that change a text are rejected', async (t) => {
  const parser = (text) => `${text}!`
  const sqlWith = (options) => {
    const sql = postgres(server.url, { onnotice: () => {}, ...options })
    t.teardown(() => sql.end())
    return sql
  }
  const changes = [
    { transform: { value: () => null } },
    { fetch_types: false, transform: { value: () => undefined } },
    { fetch_types: false, transform: { row: () => undefined } },
    { fetch_types: false, types: { text: { to: 25, from: [25], serialize: String, parse: parser } } },
  ]
  for (const change of changes) {
    const refused = { code: 'ERR_FLAKE_OPTION', message: /transform or type parser/ }
    await t.throwsAsync(recordsOf(sqlWith(change)).read('own', ['group']), refused)
  }
})

// Losses

async function startAlone(t, settings) {
  return stopAfter(t, await startPostgres(settings))
}

test('a copy of the database is another history', async (t) => {
  const url = await freshDatabase()
  const own = CLIENTS.pg(url)
  const records = recordsOf(own.client)
  t.true(await swap(records, 'g', 'group', [null, 'a']))
  const { identity } = await records.read('g', [])
  await own.end()
  const [name] = /fresh\d+$/.exec(url)
  await server.query(`CREATE DATABASE copy TEMPLATE ${name}`)
  const copy = await connect(t, url.replace(name, 'copy')).read('g', ['group'])
  t.deepEqual(copy.values, ['a'])
  t.not(copy.identity.history, identity.history)
})

test('a table that gets its rows from another server is rejected, and nothing is written there', async (t) => {
  const primary = await startAlone(t, { wal_level: 'logical' })
  const records = connect(t, primary.url)
  t.true(await swap(records, 'g', 'group', [null, 'a']))
  await primary.query('CREATE PUBLICATION ids FOR TABLE flakeforge_record')
  const subscriber = await startAlone(t)
  const own = connect(t, subscriber.url)
  const { identity } = await own.read('other', ['group'])
  await subscriber.query(`CREATE SUBSCRIPTION ids CONNECTION '${primary.url}' PUBLICATION ids`)
  const refused = { code: 'ERR_FLAKE_STORE', message: /from another server, by a subscription\. Use the address/ }
  for (const name of Object.keys(CLIENTS)) {
    const onSubscriber = connect(t, subscriber.url, name)
    await t.throwsAsync(onSubscriber.read('g', ['group']), refused)
    await t.throwsAsync(onSubscriber.look('g', ['group']), refused)
    t.false(await onSubscriber.swap('other', 'group', null, 'b', identity))
  }
  await subscriber.query('DROP SUBSCRIPTION ids')
  t.true(await own.swap('other', 'group', null, 'b', identity))
})

test('nothing is created where a server or a connection is rejected', async (t) => {
  const url = await freshDatabase()
  const owner = await other(t, url)
  const isThere = async () =>
    (await owner.query(`SELECT to_regclass('flakeforge_record') IS NOT NULL AS yes`)).rows[0].yes
  const leaked = poolOf(t, { max: 1 }, `${url}?options=-c%20default_transaction_isolation%3Dserializable`)
  await leaked.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  await t.throwsAsync(recordsOf(leaked).read('g', ['group']), TRANSACTION)
  t.false(await isThere())
  await owner.query(
    'CREATE ROLE blind LOGIN; GRANT ALL ON SCHEMA public TO blind; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public',
  )
  await t.throwsAsync(connect(t, url.replace('tester@', 'blind@')).read('g', ['group']), { message: /GRANT EXECUTE/ })
  t.false(await isThere())
  await connect(t, url).read('g', ['group'])
  t.true(await isThere())
})

test('a swap is on disk when it is answered, even where the database does not wait for that', async (t) => {
  const settings = { fsync: 'on', synchronous_commit: 'off', wal_writer_delay: '10s', autovacuum: 'off' }
  const own = await startAlone(t, settings)
  const pool = poolOf(t, { max: 1 }, own.url)
  pool.on('error', () => {}) // the server says goodbye
  const records = recordsOf(pool)
  const { identity } = await records.read('g', [])
  await own.query('CREATE TABLE other (x int)')
  const pid = await stopWalWriter(own) // or it would write for others soon
  t.teardown(() => process.kill(pid, 'SIGKILL'))
  const isOnDisk = async () => {
    const [row] = await own.query('SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn() AS yes')
    return row.yes
  }
  // biome-ignore format: pairs
  for (const [from, to] of [[null, 'a'], ['a', 'b']]) {
    await own.query('INSERT INTO other VALUES (1)')
    t.false(await isOnDisk(), 'the database does not wait')
    t.true(await records.swap('g', 'group', from, to, identity))
    t.true(await isOnDisk())
  }
  const [setting] = (await pool.query('SHOW synchronous_commit')).rows
  t.is(setting.synchronous_commit, 'off', 'for the swap only')
})

test('a position is given only with a history', async (t) => {
  const records = connect(t, await freshDatabase())
  t.false('position' in (await records.look('g', [])), 'there is no table yet')
  t.is(typeof (await records.read('g', [])).position, 'bigint')
})

test('a swap waits until it is on disk here and on a standby, whatever the database is set to', async (t) => {
  const url = await freshDatabase()
  const owner = await other(t, url)
  const asked = ['off', 'local', 'remote_write', 'on', 'remote_apply']
  const stores = asked.map((setting) => recordsOf(poolOf(t, { options: `-c synchronous_commit=${setting}` }, url)))
  for (const records of stores) await records.read('g', []) // a store takes no table that has a trigger already
  await owner.query(`
    CREATE TABLE seen (setting text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON flakeforge_record
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()`)
  for (const [i, setting] of asked.entries()) {
    const records = stores[i]
    t.true(await swap(records, setting, 'group', [null, 'a']))
    t.true(await swap(records, setting, 'group', ['a', 'b']))
  }
  const { rows } = await owner.query('SELECT setting FROM seen')
  t.deepEqual(
    rows.map(({ setting }) => setting),
    asked.flatMap((setting) => Array(2).fill(setting === 'remote_apply' ? setting : 'on')),
  )
})
