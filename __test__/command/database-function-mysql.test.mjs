// The function of `flakeforge schema mysql --function`: nothing that one session may do or set takes the place of its state,
// moves the IDs of the others or stops them, and its script takes nothing over that it did not make.

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { DATABASES, sqlOf } from '../../lab/database-function/databases.mjs'
import { isMysql, startMysql, startReplica, untilCaughtUp, wantMysql } from '../servers/mysql.mjs'
import { findProgram, stopAfter } from '../servers/server.mjs'
import { COMMAND } from '../support/command.mjs'
import { FlakeId } from '../support/index.mjs'

const require = createRequire(import.meta.url)
const { Clock, canSetClocks } = require('../../lab/chaos/faults/clock.js')
const { Layout } = FlakeId
const run = promisify(execFile)

const test = wantMysql() === undefined ? anyTest.skip : anyTest
const withClock = wantMysql() === undefined || !canSetClocks ? anyTest.skip : anyTest

const functionSql = (...options) => sqlOf('mysql', '--function', 'flake_id', '--node', '1023', ...options)

/** A server of this test with the database `app`. */
async function startApp(t, settings, environment) {
  const server = stopAfter(t, await startMysql(settings, environment))
  await server.query('CREATE DATABASE app')
  const connect = async (user, database = 'app') => {
    const connection = await DATABASES.mysql.connect(server.urlOf(database, user))
    t.teardown(() => connection.end().catch(() => {}))
    return connection
  }
  const apply = async (...options) => server.query(`USE app; ${await functionSql(...options)}`)
  return { server, connect, apply }
}

const stateOf = async (server) => {
  const [{ name }] = await server.query(
    "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'flakeforge'",
  )
  return name
}

const idsOf = async ({ run: ask }, count = 1) =>
  (await ask(`SELECT flake_id() AS id FROM mysql.help_keyword LIMIT ${count}`)).map(({ id }) => BigInt(id))

/** The same for a role that may only call it. */
const callOf = async ({ run: ask }, name = 'app.flake_id') => BigInt((await ask(`SELECT ${name}() AS id`))[0].id)

const msOf = (id) => Number(id >> 22n)

test('no temporary table of a session takes the place of the state', async (t) => {
  const { server, connect, apply } = await startApp(t)
  await apply()
  const table = await stateOf(server)
  await server.query(`CREATE USER few@'%', all_of_them@'%';
    GRANT EXECUTE, CREATE TEMPORARY TABLES, SELECT, INSERT ON app.* TO few@'%';
    GRANT EXECUTE, CREATE TEMPORARY TABLES, INSERT ON *.* TO all_of_them@'%'`)
  const shadow = `CREATE TEMPORARY TABLE flakeforge.${table} (
    place BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, connection BIGINT UNSIGNED NOT NULL, PRIMARY KEY (place, connection)
  ) ENGINE = InnoDB`
  const few = await connect('few')
  await t.throwsAsync(few.run(shadow), { code: 'ER_DBACCESS_DENIED_ERROR' })
  const all = await connect('all_of_them')
  const before = await callOf(all)
  await all.run(shadow)
  await t.throwsAsync(callOf(all), { message: /PARTITION \(\) clause on non partitioned table/ })
  await t.throwsAsync(
    all.run(`${shadow.replace(table, 'other')} PARTITION BY RANGE (place) (PARTITION whole VALUES LESS THAN MAXVALUE)`),
  )
  t.true((await callOf(few)) > before)
})

test('a role with rights on the database of the application neither moves nor stops the IDs of others', async (t) => {
  const { server, connect, apply } = await startApp(t, { 'innodb-lock-wait-timeout': 2, 'lock-wait-timeout': 2 })
  await apply()
  await server.query(`CREATE TABLE app.orders (id BIGINT NOT NULL DEFAULT 0, n INT);
    CREATE TRIGGER app.orders_id BEFORE INSERT ON app.orders FOR EACH ROW SET NEW.id = flake_id();
    CREATE USER app@'%'; GRANT ALL ON app.* TO app@'%'`)
  const [role, other] = [await connect('app'), await connect('root')]
  const table = await stateOf(server)
  for (const statement of [
    `SELECT * FROM flakeforge.${table} LOCK IN SHARE MODE`,
    `INSERT INTO flakeforge.${table} VALUES (1 << 53, 0)`,
    `LOCK TABLES flakeforge.${table} WRITE`,
    `TRUNCATE flakeforge.${table}`,
  ])
    await t.throwsAsync(role.run(statement), { message: /denied/ }, statement)
  const ids = []
  for (const held of [
    ...(isMysql ? [] : ['LOCK TABLES orders WRITE']), // MySQL also locks what the triggers of a table use
    'LOCK TABLES orders READ',
    'BEGIN; INSERT INTO orders (n) VALUES (1)',
  ]) {
    for (const part of held.split('; ')) await role.run(part)
    ids.push(...(await idsOf(other, 3)))
    await role.run('UNLOCK TABLES')
    await role.run('COMMIT')
  }
  t.deepEqual(
    [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)),
    ids,
  )
})

test('sessions in long transactions do not wait for each other, and no row stays', async (t) => {
  const { server, connect, apply } = await startApp(t, { 'innodb-lock-wait-timeout': 5 })
  await apply()
  await server.query('CREATE TABLE app.orders (id BIGINT PRIMARY KEY)')
  const connections = await Promise.all(Array.from({ length: 16 }, () => connect('root')))
  // None commits until all have their rows.
  for (const session of connections) await session.run('BEGIN')
  for (let i = 0; i < 3; i++)
    await Promise.all(connections.map((session) => session.run('INSERT INTO orders VALUES (flake_id()), (flake_id())')))
  for (const session of connections) await session.run('COMMIT')
  const [{ made }] = await connections[0].run('SELECT COUNT(*) AS made FROM orders')
  t.is(made, '96')
  t.deepEqual(await connections[0].run(`SELECT * FROM flakeforge.${await stateOf(server)}`), [])
})

const HOUR_MS = 3_600_000
const ALLOWED_MS = 2000

test('no setting of a session moves the IDs of others ahead', async (t) => {
  // One of these zones has summer time now, and the other has not.
  for (const zone of ['Australia/Sydney', 'Europe/Berlin']) {
    const { connect, apply } = await startApp(t, {}, { TZ: zone })
    await apply()
    const [session, other] = [await connect('root'), await connect('root')]
    for (const setting of [
      'timestamp = 1782000000', // a July
      'timestamp = 1768000000', // a January
      'timestamp = 4000000000',
      "time_zone = '+14:00'",
      'div_precision_increment = 0',
      'auto_increment_increment = 65535, auto_increment_offset = 65535',
      "sql_mode = 'NO_UNSIGNED_SUBTRACTION'",
    ]) {
      if (isMysql && setting.startsWith('auto_increment')) continue // only an administrator may set it
      await session.run(`SET ${setting}`).catch(() => {}) // MariaDB has no timestamp that far in the future
      const places = (await idsOf(session, 50)).map((made) => ((made >> 22n) << 12n) | (made & 4095n))
      t.false(
        places.every((place) => place % 65_535n === 0n),
        'its increment is that of the session',
      )
      const [id] = await idsOf(other)
      const ahead = msOf(id) - Date.now()
      t.true(Math.abs(ahead) < ALLOWED_MS, `${zone}, ${setting}: ${ahead} ms ahead`)
    }
  }
})

withClock(
  'a long statement over the change to summer time moves nothing ahead, nor does the hour that comes twice',
  async (t) => {
    const clock = new Clock()
    const { connect, apply } = await startApp(t, {}, { ...clock.environment, TZ: 'Europe/Berlin' })
    await apply()
    const [session, other] = [await connect('root'), await connect('root')]
    for (const change of [Date.UTC(2027, 2, 28, 1), Date.UTC(2027, 9, 31, 0), Date.UTC(2027, 9, 31, 1)]) {
      clock.set(change - 1000 - Date.now())
      await session.run('SELECT flake_id(), SLEEP(0.5) FROM mysql.help_keyword LIMIT 5')
      const now = Date.now() + clock.offsetMs
      t.true(now > change)
      const [id] = await idsOf(other)
      const ahead = msOf(id) - now
      t.true(
        ahead < ALLOWED_MS && ahead > -HOUR_MS - ALLOWED_MS,
        `${new Date(change).toISOString()}: ${ahead} ms ahead`,
      )
    }
  },
)

test('with --sysdate-is-now there is no clock, so the script is refused, and later the function', async (t) => {
  const { server, apply } = await startApp(t, { 'sysdate-is-now': 1 })
  await t.throwsAsync(apply(), { message: /Start the server without --sysdate-is-now/ })
  const sql = (await functionSql()).replace(/\nCALL .*/, '')
  await server.query(`USE app; ${sql}`)
  await t.throwsAsync(server.query('SELECT app.flake_id()'), { message: /flake_id\(\): start the server without/ })
})

test('what would give replicas other IDs, or stop all inserts, is refused with the remedy', async (t) => {
  for (const [settings, message] of [
    [{ 'log-bin': 'log' }, /Set log_bin_trust_function_creators = 1 here and on each replica/],
    [
      { 'log-bin': 'log', 'log-bin-trust-function-creators': 1, 'binlog-format': 'STATEMENT' },
      /Set binlog_format to ROW/,
    ],
    [{ 'innodb-autoinc-lock-mode': 0 }, /Set innodb_autoinc_lock_mode to 1 or 2/],
  ]) {
    const { server, apply } = await startApp(t, settings)
    await t.throwsAsync(apply(), { message })
    t.deepEqual(await server.query('SHOW TABLES IN flakeforge'), [])
    await t.throwsAsync(server.query('SELECT app.flake_id()'), { code: 'ER_SP_DOES_NOT_EXIST' })
  }
})

test('a replica with its own binary log has the rows and their IDs; a session in STATEMENT is refused', async (t) => {
  const LOG = { 'log-bin': 'log', 'log-bin-trust-function-creators': 1 }
  const { server, connect, apply } = await startApp(t, LOG)
  const replica = stopAfter(t, await startReplica(server, LOG))
  await apply()
  await server.query(`CREATE TABLE app.orders (id BIGINT NOT NULL DEFAULT 0, n INT);
    CREATE TRIGGER app.orders_id BEFORE INSERT ON app.orders FOR EACH ROW SET NEW.id = flake_id()`)
  const session = await connect('root')
  await session.run('INSERT INTO orders (n) VALUES (1), (2), (3)')
  await untilCaughtUp(replica, server)
  const rows = 'SELECT CAST(id AS CHAR) AS id, n FROM app.orders ORDER BY id'
  t.deepEqual(await replica.query(rows), await server.query(rows))
  await session.run("SET binlog_format = 'STATEMENT'")
  await t.throwsAsync(session.run('INSERT INTO orders (n) VALUES (4)'), {
    message: /set binlog_format to ROW or MIXED/,
  })
})

test('the state belongs to the layout, the epoch and the node, and what is not ours is not taken', async (t) => {
  const { server, apply } = await startApp(t)
  await apply()
  const table = await stateOf(server)
  t.is(table, 'node_1023_d10e3c90', 'docs/data/database-defaults.md names it')
  await apply() // it changes nothing
  const other =
    /Drop flake_id\(\) or choose another name. It exists: DEFINER root@127.0.0.1, COMMENT flakeforge node 1023/
  await t.throwsAsync(apply('--epoch', '2020-01-01'), { message: other })
  const take = async () => (await server.query('SELECT CAST(app.flake_id() AS CHAR) AS id'))[0].id
  const first = BigInt(await take())
  // Another epoch, and then the first one again, with the state that it left.
  await server.query('DROP FUNCTION app.flake_id')
  await apply('--epoch', '2020-01-01')
  const { timestamp } = new Layout('flake', { epoch: new Date('2020-01-01') }).decode(BigInt(await take()))
  t.true(Math.abs(timestamp - Date.now()) < ALLOWED_MS)
  await server.query('DROP FUNCTION app.flake_id')
  await server.query(
    `INSERT INTO flakeforge.${table} VALUES (${((first >> 22n) << 12n) + 60_000_000n}, 0); DELETE FROM flakeforge.${table}`,
  )
  await apply()
  t.true(BigInt(await take()) > first + (14_000n << 22n), 'the state was not kept')
  await server.query('DROP FUNCTION app.flake_id')

  const COLUMNS =
    '(place BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, connection BIGINT UNSIGNED NOT NULL, PRIMARY KEY (place, connection))'
  const [{ comment }] = await server.query(
    `SELECT TABLE_COMMENT AS comment FROM information_schema.TABLES WHERE TABLE_NAME = '${table}'`,
  )
  for (const [made, found] of [
    [
      `TABLE flakeforge.${table} ${COLUMNS} PARTITION BY RANGE (place) (PARTITION whole VALUES LESS THAN MAXVALUE)`,
      'BASE TABLE, InnoDB, partitioned, ',
    ],
    [`TABLE flakeforge.${table} ${COLUMNS} COMMENT = '${comment}'`, 'BASE TABLE, InnoDB, , flakeforge node 1023'],
    [`VIEW flakeforge.${table} AS SELECT 1 AS place, 2 AS connection`, 'VIEW, VIEW'],
  ]) {
    await server.query(`DROP TABLE IF EXISTS flakeforge.${table}; CREATE ${made}`)
    const message = `Drop flakeforge.${table}, which is not ours: ${found}`
    const error = await t.throwsAsync(apply())
    t.true(error.message.startsWith(message), error.message)
    await t.throwsAsync(take(), { code: 'ER_SP_DOES_NOT_EXIST' })
  }
  await server.query(`DROP VIEW flakeforge.${table}`)
  await apply()
  await server.query(
    `CREATE TRIGGER flakeforge.mine BEFORE INSERT ON flakeforge.${table} FOR EACH ROW SET NEW.place = 5`,
  )
  await t.throwsAsync(apply(), { message: `Drop the trigger of flakeforge.${table}: mine` })
})

test('two databases of a server with one node make no equal IDs', async (t) => {
  const { server, connect, apply } = await startApp(t)
  await apply()
  await server.query(`CREATE DATABASE second; USE second; ${await functionSql()}`)
  const sessions = [await connect('root'), await connect('root', 'second')]
  const found = await Promise.all(sessions.map((session) => idsOf(session, 900)))
  t.is(new Set(found.flat()).size, 1800)
})

test('the client stops at the first error, also for a file that it was told to read, and nothing foreign changes', async (t) => {
  const { server } = await startApp(t)
  await server.query('CREATE FUNCTION app.flake_id() RETURNS INT RETURN 1')
  const { stdout: script } = await run(process.execPath, [
    COMMAND,
    'schema',
    'mysql',
    '--function',
    'flake_id',
    '--node',
    '1023',
  ])
  const client = [findProgram('mariadb'), ['--no-defaults', `--socket=${server.folder}/socket`, '-uroot', 'app']]
  for (const options of [[], ['--force']]) {
    const running = run(client[0], [...client[1], ...options])
    running.child.stdin.end(script)
    const { stderr = '' } = await running.catch((error) => error)
    t.regex(stderr, /Drop flake_id\(\) or choose another name/)
    t.deepEqual(await server.query('SELECT app.flake_id() AS it'), [{ it: 1 }])
  }
})

test('names are data: a layout and a field whose names have quotes, a backslash and delimiters', async (t) => {
  const { server, connect } = await startApp(t)
  const evil = "x\\'// DROP TABLE victim// -- `$$ %s [grün] \n;"
  const layout = JSON.stringify({
    name: evil,
    fields: [
      ['timestamp', 42],
      [evil, 10],
      ['counter', 12],
    ],
  })
  const { stdout: script } = await run(process.execPath, [
    COMMAND,
    'schema',
    'mysql',
    '--function',
    'select',
    '--node',
    '3',
    '--layout',
    layout,
  ])
  await server.query('CREATE TABLE app.victim (x INT)')
  for (const mode of ['', 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES']) {
    await server.query(`SET GLOBAL sql_mode = '${mode}'`)
    const running = run(findProgram('mariadb'), [
      '--no-defaults',
      `--socket=${server.folder}/socket`,
      '-uroot',
      '--force',
      'app',
    ])
    running.child.stdin.end(script)
    t.is((await running).stderr, '')
  }
  t.is((await server.query('SHOW TABLES IN app')).length, 1)
  const id = await callOf(await connect('root'), 'app.`select`')
  t.is(new Layout(JSON.parse(layout)).decode(id).id, 3)
})
