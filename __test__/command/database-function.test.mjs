// `npx flakeforge schema --function`: IDs that a real PostgreSQL and a real MariaDB make, without equal ones whatever their
// clocks do. The long form of the first test is lab/database-function.

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import { DATABASES, sqlOf } from '../../lab/database-function/databases.mjs'
import { soak } from '../../lab/database-function/soak.mjs'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { CLIENTS, startPgbouncer, startPostgres, wantPgbouncer, wantPostgres } from '../servers/postgres.mjs'
import { HERE, stopAfter } from '../servers/server.mjs'
import { isRefused, jsonOf, linesOf } from '../support/command.mjs'
import { FlakeId, SOME_TIME } from '../support/index.mjs'
import { closeAfter, joinAs } from '../support/lease.mjs'
import { until } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { Clock, canSetClocks } = require('../../lab/chaos/faults/clock.js')
const { Layout, layouts } = FlakeId

const onPostgres = wantPostgres() === undefined ? anyTest.skip : anyTest
const onMariadb = wantMysql() === undefined ? anyTest.skip : anyTest
const behindPgbouncer = wantPostgres() === undefined || wantPgbouncer() === undefined ? anyTest.skip : anyTest

/** Runs a test alone and before the others, because it keeps the processors or the disk busy. */
const alone = (test) => (test === anyTest ? anyTest.serial : test)

/** A server for most tests, which starts with the first of them. */
function shared(start) {
  let starting
  anyTest.after.always(async () => (await starting)?.stop())
  return () => {
    starting ??= start()
    return starting
  }
}

const postgres = shared(() => startPostgres({ fsync: 'on', full_page_writes: 'on' }))
const mariadb = shared(() => startMysql({ 'innodb-flush-method': 'fsync', 'innodb-lock-wait-timeout': 5 }))

let databases = 0
const freshName = () => `app_${++databases}`

/** A new database of the shared PostgreSQL. */
async function freshPostgres(t) {
  const [server, name] = [await postgres(), freshName()]
  await server.query(`CREATE DATABASE ${name}`)
  const url = server.url.replace(/postgres$/, name)
  const { client, end } = CLIENTS.pg(url)
  t.teardown(end)
  return {
    url,
    query: async (text) => (await client.query(text)).rows,
    urlOf: (role) => url.replace('tester@', `${role}@`),
  }
}

/** A new database of the shared MariaDB. `run` runs statements in it. */
async function freshMariadb(t) {
  const [server, name] = [await mariadb(), freshName()]
  const url = await server.freshUrl(name)
  const connections = []
  t.teardown(() => Promise.all(connections.map((connection) => connection.end())))
  const connect = async (to = url) => {
    const connection = await DATABASES.mysql.connect(to)
    connections.push(connection)
    return connection
  }
  return {
    name,
    url,
    connect,
    run: (text) => server.query(`USE ${name}; ${text}`),
    urlOf: (user) => server.urlOf(name, user),
  }
}

/** Layouts that fit, with a node whose bits would show in a wrong place. */
const FITTING = [
  ['flake', [], 681],
  ['twitter', [], 681],
  ['discord', [], 681],
  ['instagram', [], 5461],
  ['snowcast', ['--nodes', '128'], 85],
  ['safe', [], 42],
  ['sonyflake', [], 43_690],
  ['hazelcast', [], 43_690],
  ['{"fields":[["timestamp",41],["shard",13],["counter",10]]}', ['--epoch', '2020-01-01'], 5461],
  [
    '{"tickMs":0.1,"epoch":1700000000000,"fields":[["region",4],["timestamp",44],["counter",8],["worker",8]]}',
    [],
    2730,
  ],
]

/** The layout of a row of FITTING. */
function readLayout([layout, options]) {
  const spec = layout.startsWith('{') ? JSON.parse(layout) : layout
  const [name, value] = options
  if (name === undefined) return new Layout(spec)
  return new Layout(spec, { [name.slice(2)]: name === '--epoch' ? new Date(value) : Number(value) })
}

const AHEAD_MS = 2000 // of the test's clock, which is the server's
const functionName = (index) => `ids_${index}`

/** The IDs of each layout's function have its node and the present time. */
async function decodes(t, name, { run, call }) {
  for (const [index, row] of FITTING.entries()) {
    const [layout, options, node] = row
    await run(
      await sqlOf(name, '--function', functionName(index), '--node', String(node), '--layout', layout, ...options),
    )
    const [before, ids, after] = [Date.now(), await call(functionName(index)), Date.now()]
    t.is(new Set(ids).size, ids.length)
    for (const id of ids) {
      const parts = readLayout(row).decode(BigInt.asUintN(64, BigInt(id)))
      t.is(parts.id, node, `${layout} ${id}`)
      t.true(parts.timestamp >= before - 20 && parts.timestamp <= after + AHEAD_MS, `${layout} ${parts.timestamp}`)
    }
  }
}

for (const [name, test] of Object.entries({ postgres: onPostgres, mysql: onMariadb })) {
  alone(test)(`${name}: no equal IDs while its clock steps, statements are cancelled, and it is killed`, async (t) => {
    const found = await soak(name, DATABASES[name], { ids: name === 'mysql' ? 15_000 : 40_000, crashes: 1 })
    t.log(found)
    t.like(found, { equal: 0, seen: 0, strangers: 0, late: 0, crashes: 1 })
    t.true(found.rows > 0 && found.others > 0 && found.cancelled > 0 && found.rolledBack > 0)
  })
}

onPostgres('postgres: IDs of each layout that fits have the node and the time', async (t) => {
  const server = await freshPostgres(t)
  await decodes(t, 'postgres', {
    run: (sql) => server.query(sql),
    call: async (name) =>
      (await server.query(`SELECT ${name}() AS id FROM generate_series(1, 300)`)).map(({ id }) => id),
  })
})

onMariadb('mysql: IDs of each layout that fits have the node and the time', async (t) => {
  const database = await freshMariadb(t)
  const connection = await database.connect()
  await decodes(t, 'mysql', {
    run: database.run,
    call: async (name) => (await connection.run(`SELECT ${name}() AS id FROM seq_1_to_300`)).map(({ id }) => id),
  })
})

anyTest('a group whose timestamp is reversed makes other IDs than a function, and so has another fingerprint', (t) => {
  const { fingerprintOf } = require('../../target/rooms/lib/stores/database-function.js')
  const { factsOfSpec } = require('../../target/rooms/lib/codec/facts.js')
  const [plain, reversed] = [{}, { mode: 'spread' }].map((mode) => fingerprintOf(factsOfSpec('flake').with(mode)))
  t.is(plain, fingerprintOf(factsOfSpec('flake')))
  t.not(reversed, plain)
})

anyTest('layouts that do not fit are refused by name, and so are wrong names and nodes', async (t) => {
  const refuses = (options, message) => isRefused(t, ['schema', '--function', 'flake_id', ...options], message)
  for (const layout of ['uniqueid', 'chronicle', 'chronicle-micros'])
    await refuses(
      ['--node', '1', '--layout', layout],
      new RegExp(`SQL cannot generate IDs of layout '${layout}', because`),
    )
  await refuses(['--node', '0', '--layout', '{"fields":[["timestamp",42],["counter",22]]}'], /it has no node field/)
  await refuses(['--node', '0', '--layout', '{"fields":[["timestamp",42],["worker",22]]}'], /it has no counter/)
  const reversed = '{"fields":[["timestamp",42],["worker",10],["counter",12]],"mode":"spread"}'
  await refuses(['--node', '0', '--layout', reversed], /may be reversed \(mode\)/)
  await refuses([], /--function needs the number of a node.*'--node 1023'/)
  await refuses(['--node', '1024'], /--node must be a whole number from 0 to 1023 with layout 'flake', not '1024'/)
  await refuses(['--node', '-1'], /--node must be a whole number from 0 to 1023/)
  for (const name of ['app.flake_id', 'Flake', '1st', 'a"b', 'x'.repeat(51)])
    await isRefused(t, ['schema', '--function', name, '--node', '1'], /--function must be 1 to 50 lower-case letters/)
  await isRefused(t, ['schema', '--node', '5'], /--node is about a function that generates IDs: add --function/)
  for (const option of ['--layout', '--epoch', '--nodes', '--mode', '--id-offset'])
    await isRefused(t, ['schema', option, '5'], new RegExp(`${option} is about a function: add --function flake_id`))
  await refuses(['--node', '1', '--id-offset', '5'], /because it has an offset/)
})

onPostgres('postgres: applied twice it changes nothing, and it replaces no other function', async (t) => {
  const server = await freshPostgres(t)
  const sql = await sqlOf('postgres', '--function', 'flake_id', '--node', '1023')
  const [first] = await server.query(`${sql} SELECT 1`).then(() => server.query('SELECT flake_id() AS id'))
  await server.query(sql)
  const [second] = await server.query('SELECT flake_id() AS id')
  t.true(BigInt(second.id) > BigInt(first.id))
  const other = await sqlOf('postgres', '--function', 'flake_id', '--node', '1022')
  await t.throwsAsync(server.query(other), { message: /There is another function public\.flake_id\(\)/ })
  await server.query('CREATE FUNCTION mine() RETURNS bigint LANGUAGE sql AS $$ SELECT 1::bigint $$')
  const mine = await sqlOf('postgres', '--function', 'mine', '--node', '1022')
  await t.throwsAsync(server.query(mine), { message: /There is another function public\.mine\(\)/ })
})

onPostgres('postgres: a role without rights on the sequence calls it, in its own schema and search_path', async (t) => {
  const server = await freshPostgres(t)
  const address = 'postgres://localhost/postgres?schema=ids'
  await server.query(await sqlOf(address, '--function', 'flake_id', '--node', '1023'))
  await server.query(
    `CREATE ROLE member LOGIN; GRANT USAGE ON SCHEMA ids TO member; CREATE SCHEMA evil AUTHORIZATION member;
     GRANT EXECUTE ON FUNCTION ids.flake_id() TO member`,
  )
  const { client, end } = CLIENTS.pg(server.urlOf('member'), { max: 1 })
  t.teardown(end)
  await client.query("CREATE FUNCTION evil.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'")
  await client.query('SET search_path = evil, pg_catalog')
  const { rows } = await client.query('SELECT ids.flake_id() AS id')
  t.is(layouts.flake.decode(BigInt(rows[0].id)).id, 1023)
  await t.throwsAsync(client.query("SELECT setval('ids.flake_id_last', 1)"), { code: '42501' })
  await client.query('SET default_transaction_read_only = on')
  await t.throwsAsync(client.query('SELECT ids.flake_id()'), { code: '25006' })
})

/** Two sessions, whose connections stay open however long they are idle. */
async function twoSessions(t, { url }) {
  const sessions = await Promise.all([1, 2].map(() => DATABASES.postgres.connect(url)))
  t.teardown(() => Promise.all(sessions.map(({ end }) => end())))
  return sessions
}

onPostgres('postgres: neither an open transaction nor a cancelled statement keeps the lock', async (t) => {
  const server = await freshPostgres(t)
  await server.query(await sqlOf('postgres', '--function', 'flake_id', '--node', '1023'))
  const [first, second] = await twoSessions(t, server)
  await first.run('BEGIN; SELECT flake_id()')
  await second.run("SET statement_timeout = '20s'")
  t.is((await second.run('SELECT flake_id()')).length, 1)
  await t.throwsAsync(
    first.run("SET LOCAL statement_timeout = '50ms'; SELECT count(flake_id()) FROM generate_series(1, 1e8)"),
    { code: '57014' },
  )
  await second.run('SELECT flake_id()') // the first transaction has failed, but is still open
  const [{ locks }] = await server.query(
    "SELECT count(*)::int AS locks FROM pg_locks JOIN pg_database ON pg_database.oid = database WHERE relation = 'flake_id_lock'::regclass AND datname = current_database()",
  )
  t.is(locks, 0)
})

onPostgres('postgres: a session that moves the last position to the present is alone', async (t) => {
  const server = await freshPostgres(t)
  await server.query(await sqlOf('postgres', '--function', 'flake_id', '--node', '1023'))
  const [first, second] = await twoSessions(t, server)
  const [{ pid }] = await second.run('SELECT pg_backend_pid() AS pid')
  const waits = async () =>
    (await server.query(`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event_type = 'Lock'`)).length === 1
  const lastOf = async (name) => BigInt((await server.query(`SELECT last_value AS last FROM ${name}`))[0].last)
  await second.run('SELECT flake_id()')
  for (const [what, state] of [
    ['a position in the past has to be moved', "setval('flake_id_last', 1)"],
    ['ahead of the clock, a number counts unless it was taken during a move', "setval('flake_id_moves', 1)"],
  ]) {
    await server.query("SELECT setval('flake_id_last', (SELECT last_value FROM flake_id_last) + (60000::bigint << 12))")
    await second.run('SELECT flake_id()')
    await server.query(`SELECT ${state}`)
    const before = await lastOf('flake_id_last')
    await first.run('BEGIN; LOCK TABLE flake_id_lock IN SHARE ROW EXCLUSIVE MODE') // as a session that moves it
    let made = false
    const call = second.run('SELECT flake_id() AS id').finally(() => {
      made = true
    })
    while (!made && !(await waits()));
    t.false(made, what)
    const taken = await lastOf('flake_id_last')
    t.is(taken, before + 1n)
    await first.run('ROLLBACK')
    const [{ id }] = await call
    const place = await lastOf('flake_id_last')
    t.true(place > taken, 'the number that was taken before is not used')
    t.is(((BigInt(id) >> 22n) << 12n) + (BigInt(id) & 4095n), place)
    t.is((await lastOf('flake_id_moves')) % 2n, 0n)
  }
})

onPostgres('postgres: COPY, a DEFAULT in a savepoint, and two functions in one database', async (t) => {
  const server = await freshPostgres(t)
  for (const [name, node] of [
    ['flake_id', 1023],
    ['other_id', 1022],
  ])
    await server.query(await sqlOf('postgres', '--function', name, '--node', String(node)))
  await server.query(
    'CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT flake_id(), other bigint DEFAULT other_id(), item text)',
  )
  await server.query("COPY orders (item) FROM PROGRAM 'seq 1 500'")
  await server.query(
    "BEGIN; SAVEPOINT a; INSERT INTO orders (item) VALUES ('x'); ROLLBACK TO a; INSERT INTO orders (item) VALUES ('y'); COMMIT",
  )
  const rows = await server.query('SELECT id, other FROM orders')
  t.is(rows.length, 501)
  const nodes = rows.flatMap(({ id, other }) => [id, other].map((each) => layouts.flake.decode(BigInt(each)).id))
  t.deepEqual([...new Set(nodes)].sort(), [1022, 1023])
})

behindPgbouncer('postgres: behind PgBouncer in transaction mode', async (t) => {
  const server = stopAfter(t, await startPostgres())
  await server.query(await sqlOf('postgres', '--function', 'flake_id', '--node', '1023'))
  const bouncer = stopAfter(t, await startPgbouncer(server, 'transaction'))
  const { client, end } = CLIENTS.pg(bouncer.url, { max: 8 })
  t.teardown(end)
  const answers = await Promise.all(Array.from({ length: 400 }, () => client.query('SELECT flake_id() AS id')))
  t.is(new Set(answers.map(({ rows }) => rows[0].id)).size, 400)
})

/** A small counter that is exhausted all the time: IDs stay near the clock, as no tick is used faster than it lasts. */
const TINY = '{"fields":[["timestamp",52],["worker",10],["counter",2]]}'
const nearClock = (t, ids, ended) => {
  const layout = new Layout(JSON.parse(TINY))
  const last = Math.max(...ids.map((id) => layout.decode(BigInt.asUintN(64, BigInt(id))).timestamp))
  t.true(last <= ended + 200, `${last - ended} ms ahead`)
  t.is(new Set(ids).size, ids.length)
}

alone(onPostgres)('postgres: IDs do not run ahead of the clock when the counter is exhausted', async (t) => {
  const server = await freshPostgres(t)
  await server.query(await sqlOf('postgres', '--function', 'tiny', '--node', '1', '--layout', TINY))
  const statement = 'SELECT tiny() AS id FROM generate_series(1, 800)'
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.query(statement)))
  nearClock(
    t,
    answers.flat().map(({ id }) => id),
    Date.now(),
  )
})

alone(onMariadb)('mysql: IDs do not run ahead of the clock when the counter is exhausted', async (t) => {
  const database = await freshMariadb(t)
  await database.run(`${await sqlOf('mysql', '--function', 'tiny', '--node', '1', '--layout', TINY)}`)
  const connections = await Promise.all(Array.from({ length: 8 }, () => database.connect()))
  const answers = await Promise.all(connections.map(({ run }) => run('SELECT tiny() AS id FROM seq_1_to_800')))
  nearClock(
    t,
    answers.flat().map(({ id }) => id),
    Date.now(),
  )
})

/** A test for a database whose clock can be set. */
const withClock = (want) => (want() === undefined || !canSetClocks ? anyTest.skip : anyTest)

for (const [name, database] of Object.entries(DATABASES)) {
  alone(withClock(database.want))(`${name}: no call waits until a clock that was set back has caught up`, async (t) => {
    const clock = new Clock()
    const server = stopAfter(t, await database.start(clock.environment))
    const sessions = await Promise.all(Array.from({ length: 8 }, () => database.connect(database.urlOf(server))))
    await database.apply(server, await sqlOf(name, '--function', 'tiny', '--node', '1', '--layout', TINY))
    let isOver = false
    const work = Promise.all(
      sessions.map(async ({ run }) => {
        for (let i = 0; i < 4; i++) await run(`SELECT tiny() ${'UNION SELECT tiny() '.repeat(19)}`)
      }),
    ).finally(() => {
      isOver = true
    })
    for (let hours = 1; !isOver; hours++) {
      clock.set(-hours * 3_600_000)
      await sleep(5)
    }
    await work
    t.true(clock.offsetMs < 0)
  })
}

withClock(wantPostgres)(
  'postgres: a clock before the epoch is refused, and after a step back the IDs continue',
  async (t) => {
    const clock = new Clock()
    const server = stopAfter(t, await startPostgres({}, { ...HERE, environment: clock.environment }))
    await server.query(await sqlOf('postgres', '--function', 'flake_id', '--node', '1023', '--layout', 'discord'))
    const take = async () => BigInt((await server.query('SELECT flake_id() AS id'))[0].id)
    const first = await take()
    clock.set(-86_400_000)
    t.is(await take(), first + 1n)
    clock.set(-20 * 365 * 86_400_000)
    await t.throwsAsync(take(), {
      code: '22003',
      message: /public\.flake_id\(\): the server's clock \(.*\) is outside/,
    })
  },
)

onMariadb(
  'mysql: a trigger gives rows of an old table their IDs, whatever the zone and clock of the session',
  async (t) => {
    const database = await freshMariadb(t)
    await database.run(`${await sqlOf('mysql', '--function', 'flake_id', '--node', '1023')}
    CREATE TABLE orders (id BIGINT NOT NULL DEFAULT 0 PRIMARY KEY, item TEXT);
    CREATE TRIGGER orders_id BEFORE INSERT ON orders FOR EACH ROW
      SET NEW.id = IF(COALESCE(NEW.id, 0) = 0, flake_id(), NEW.id);
    CREATE USER member@'%'; GRANT INSERT, SELECT ON ${database.name}.orders TO member@'%'`)
    const member = await database.connect(database.urlOf('member'))
    await member.run("SET time_zone = '+05:30', timestamp = 1000000000, sql_mode = 'ANSI,NO_UNSIGNED_SUBTRACTION'")
    const before = Date.now()
    await member.run("INSERT INTO orders (item) VALUES ('a'), ('b')")
    await member.run("INSERT INTO orders VALUES (NULL, 'c'), (7, 'd')")
    const ids = (await member.run('SELECT id FROM orders ORDER BY id')).map(({ id }) => id)
    t.is(ids.shift(), '7')
    t.is(ids.length, 3)
    for (const id of ids) {
      const { id: node, timestamp } = layouts.flake.decode(BigInt(id))
      t.is(node, 1023)
      t.true(timestamp >= before - 20 && timestamp <= Date.now() + AHEAD_MS)
    }
  },
)

/** `slots` shows the node, and join() warns if its group may grant it. */
async function isReserved(t, url, name) {
  const { warnings, stop } = listen(name)
  t.teardown(stop)
  closeAfter(t, await FlakeId.join(url, { group: 'small', slots: 1023, durable: true }))
  closeAfter(t, await FlakeId.join(url, { group: 'else', layout: 'discord', durable: true }))
  closeAfter(t, await FlakeId.join(url, { group: 'all', durable: true }))
  await until(() => warnings.length !== 0)
  t.is(warnings.length, 1)
  t.true(
    warnings[0].startsWith(
      `Group 'all' may grant node 1023, with which the function ${name}() of this database generates IDs.`,
    ),
  )
  t.regex(warnings[0], /slots: 1023/)
  t.true((await linesOf(t, ['slots', url])).includes(`Node 1023 is reserved for the function ${name}().`))
  t.deepEqual((await jsonOf(t, ['slots', url, '--json'])).at(-1), { function: name, node: 1023 })
}

function listen(name) {
  const warnings = []
  const hear = ({ code, message }) =>
    code === 'FLAKEFORGE_NODE_IN_USE' && message.includes(name) && warnings.push(message)
  process.on('warning', hear)
  return { warnings, stop: () => process.off('warning', hear) }
}

/** IDs of the past have a node that is kept, so one that a function has would be used for certain. */
async function isKept(t, url, name) {
  const options = { group: 'old', backfill: 4, durable: true }
  const flake = await joinAs(t, url, options)
  const error = await t.throwsAsync(flake.nextAt(SOME_TIME), { code: 'ERR_FLAKE_BACKFILL', instanceOf: RangeError })
  t.true(
    error.message.startsWith(
      `Group 'old' reserves node 1023 for nextAt(), and the function ${name}() of this database`,
    ),
  )
  t.like(error, { group: 'old', timestamp: SOME_TIME })
  // Another layout has other IDs, and other kept nodes.
  const other = await joinAs(t, url, { ...options, group: 'other', layout: 'discord' })
  t.is(other.decode(await other.nextAt(SOME_TIME)).timestamp, SOME_TIME)
  const apart = await joinAs(t, url, { ...options, group: 'apart', datacenter: 0 })
  t.is(apart.decode(await apart.nextAt(SOME_TIME)).timestamp, SOME_TIME)
  return flake
}

onPostgres('postgres: nextAt() refuses while a function has a kept node', async (t) => {
  const server = await freshPostgres(t)
  await server.query(await sqlOf('postgres', '--function', 'flake_id', '--node', '1023'))
  const flake = await isKept(t, server.url, 'public.flake_id')
  await server.query('DROP FUNCTION flake_id()')
  await server.query(await sqlOf('postgres', '--function', 'flake_id_2', '--node', '1019'))
  const id = await flake.nextAt(SOME_TIME)
  t.like(flake.decode(id), { timestamp: SOME_TIME })
  t.true(flake.decode(id).id > 1019)
})

onMariadb('mysql: nextAt() refuses while a function has a kept node', async (t) => {
  const database = await freshMariadb(t)
  await database.run(`${await sqlOf('mysql', '--function', 'flake_id', '--node', '1023')}`)
  await isKept(t, database.url, `${database.name}.flake_id`)
})

onPostgres('postgres: slots shows the node of the function, and join() warns of it', async (t) => {
  const server = await freshPostgres(t)
  await server.query(await sqlOf('postgres', '--function', 'flake_id', '--node', '1023'))
  await isReserved(t, server.url, 'public.flake_id')
})

onMariadb('mysql: slots shows the node of the function, and join() warns of it', async (t) => {
  const database = await freshMariadb(t)
  await database.run(`${await sqlOf('mysql', '--function', 'flake_id', '--node', '1023')}`)
  await isReserved(t, database.url, `${database.name}.flake_id`)
})
