// MySQL's own rules about records, on a real MariaDB (or MySQL: ../servers/mysql.mjs): sessions and their settings, clocks and time zones, the identity,
// and which servers and sessions are rejected. Rules for all databases are in behaviour/.

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import anyTest from 'ava'
import mariadbCallback from 'mariadb/callback'
import mysql2 from 'mysql2/promise'
import { CLIENTS, isMysql, startMysql, startReplica, untilCaughtUp, WRITTEN } from '../servers/mysql.mjs'
import { startProxy } from '../servers/proxy.mjs'
import { findProgram, stopAfter, until } from '../servers/server.mjs'
import { put, slotName, textOf } from '../support/records.mjs'
import { freshUrl, isInstalled, newClient, server, startAlone } from './mysql-shared.mjs'

const require = createRequire(import.meta.url)
const { isPassing } = require('../../target/rooms/lib/base/errors.js')
const { HINTS } = require('../../target/rooms/lib/stores/mysql/statement.js')
const { mysqlClient } = require('../../target/rooms/lib/stores/mysql/client.js')
const { MysqlRecords } = require('../../target/rooms/lib/stores/mysql/records.js')
const { tablesIn } = require('../../target/rooms/lib/stores/mysql/place.js')
const { insert, update } = require('../../target/rooms/lib/stores/mysql/swap.js')
const { openClient } = require('../../target/rooms/lib/stores/mysql/url.js')

const { Clock, NEEDS, canSetClocks } = require('../../lab/chaos/faults/clock.js')

const run = promisify(execFile)
// One after the other, so that the steps of one do not wait for the servers of another to start.
const test = isInstalled ? anyTest.serial : anyTest.skip
/** For what only one of the two databases can do. */
const testMariadb = isMysql ? anyTest.skip : test
const testMysql = isMysql ? test : anyTest.skip
/** For those that wait for a time limit. */
const testBeside = isInstalled ? anyTest : anyTest.skip

const OPTION = { code: 'ERR_FLAKE_OPTION' }
const STORE = { code: 'ERR_FLAKE_STORE' }
const TRANSACTION = { ...OPTION, message: /It is in a transaction\. Use the pool/ }
const POOL = 'a pool of mysql2'

/** The records of an address, by a client of this kind. */
async function connect(t, url, kind = POOL, options = {}) {
  const client = await newClient(t, url, kind, options)
  return { client, records: new MysqlRecords(mysqlClient(client)) }
}

/** A separate connection of the test, to hold a lock or a transaction. */
async function session(t, url, options) {
  const connection = await mysql2.createConnection({ uri: url, multipleStatements: true, ...options })
  t.teardown(() => connection.destroy())
  return connection
}

/** Texts that columns, connections or clients might take for each other, or change. */
// biome-ignore format: one kind a line
const TEXTS = [
  'a', 'A', 'a ', 'a  ', 'ä', 'a\u0308', '€', '🐘', ' ', '',
  "'", '\\', '\\\\', '?', ':name', '%', '\0', '\n',
]

/** Sessions as users have them. */
const SESSIONS = {
  'no mode': `SET sql_mode = ''`,
  'the modes of other sessions': `SET sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'`,
  ...(!isMysql && { "Oracle's mode": `SET sql_mode = 'ORACLE,EMPTY_STRING_IS_NULL'` }),
  'an old character set': 'SET NAMES latin1',
  'a character set of several bytes': 'SET NAMES sjis',
  'wide literals': 'SET collation_connection = utf16_bin',
  'texts that fold': 'SET NAMES utf8mb4 COLLATE utf8mb4_general_ci',
  'a limit for rows': 'SET sql_select_limit = 1',
  'a time zone': `SET time_zone = '-11:30'`,
  'a clock that has stopped': 'SET timestamp = 1000000000',
  'safe updates': 'SET sql_safe_updates = 1',
}

for (const [what, statement] of Object.entries(SESSIONS)) {
  test(`a session with ${what} gives the same results`, async (t) => {
    const url = await freshUrl()
    const plain = (await connect(t, url)).records
    const { identity } = await plain.read('g', ['group'])
    const { client, records } = await connect(t, url, 'a connection of mysql2')
    await client.query(statement)
    const [[before]] = await client.query('SHOW VARIABLES WHERE Variable_name IN ("sql_mode")').catch(() => [[]])
    for (const [i, text] of TEXTS.entries()) {
      t.true(await put(records, text, slotName(i), text), `${what} ${JSON.stringify(text)}`)
      t.is(await textOf(plain, text, slotName(i)), text)
    }
    const names = TEXTS.map((_, i) => slotName(i))
    t.deepEqual(
      (await records.read('ä', names)).values,
      TEXTS.map((text) => (text === 'ä' ? text : null)),
    )
    for (const other of TEXTS.filter((text) => text !== 'a')) {
      t.false(await records.swap('a', slotName(0), other, 'b', identity), JSON.stringify(other))
    }
    const answer = await records.read('g', ['group'])
    t.deepEqual(answer.identity, identity)
    t.true(Math.abs(answer.now - Date.now()) < 5000)
    const [[after]] = await client.query('SHOW VARIABLES WHERE Variable_name IN ("sql_mode")').catch(() => [[]])
    t.deepEqual(after, before, 'the session is unchanged')
  })
}

test('a swap that changes nothing is never true, whatever a client counts', async (t) => {
  const url = await freshUrl()
  for (const [kind, options] of [
    [POOL, {}],
    [POOL, { flags: '-FOUND_ROWS' }],
    ['a pool of mariadb', {}],
    ['a pool of mariadb', { foundRows: false }],
  ]) {
    const { records } = await connect(t, url, kind, options)
    await put(records, 'g', 'group', 'a')
    const { identity } = await records.read('g', ['group'])
    t.false(await records.swap('g', 'group', 'a', 'a', identity))
  }
})

test('a value that is too long is rejected, never truncated', async (t) => {
  const url = await freshUrl()
  const { client, records } = await connect(t, url, 'a connection of mysql2')
  await client.query(`SET sql_mode = ''`)
  const longest = `${'€'.repeat(8192 / 3)}..`
  t.true(await put(records, 'g', 'group', longest))
  t.is(await textOf(records, 'g', 'group'), longest)
  await t.throwsAsync(put(records, 'g', 'counter', `${longest}.`), { ...STORE, message: /8193 bytes, .* at most 8192/ })

  await client.query('DELETE FROM flakeforge_record')
  await client.query('ALTER TABLE flakeforge_record MODIFY value varbinary(40) NOT NULL') // the table's own row has 36
  const [fits, tooLong] = ['x'.repeat(40), 'x'.repeat(41)]
  await t.throwsAsync(put(records, 'g', 'group', tooLong), { ...STORE, message: /too long/ })
  t.true(await put(records, 'g', 'group', fits))
  const { identity } = await records.read('g', ['group'])
  await t.throwsAsync(records.swap('g', 'group', fits, tooLong, identity), { ...STORE, message: /too long/ })
  t.is(await textOf(records, 'g', 'group'), fits)
})

test('SYSDATE that equals NOW, in another time zone and with a stopped clock', async (t) => {
  const own = await startAlone(t, { 'sysdate-is-now': 1, 'default-time-zone': '+13:00' })
  const { client, records } = await connect(t, await freshUrl(own), 'a connection of mysql2')
  for (const statement of ['SET timestamp = DEFAULT', 'SET timestamp = 1000000000']) {
    await client.query(statement)
    if (isMysql && statement !== 'SET timestamp = DEFAULT') {
      await t.throwsAsync(records.read('g', ['group']), { ...STORE, message: /clock is stopped.*timestamp = DEFAULT/ })
      continue
    }
    const start = Date.now()
    const { now } = await records.read('g', ['group'])
    t.true(now >= start - 1 && now <= Date.now() + 1, statement)
  }
})

/** A server in Berlin whose clock shows this time. */
async function startInBerlin(t, time) {
  const clock = new Clock(time - Date.now())
  const own = await startMysql({}, { TZ: 'Europe/Berlin', ...clock.environment })
  t.teardown(() => own.stop())
  const setClock = async (later) => {
    await own.kill()
    clock.set(later - Date.now())
    await own.start()
  }
  return { own, setClock }
}

const HOUR_MS = 3_600_000

test('at the end of summer time the clock advances, and the identity is the same in all time zones', async (t) => {
  if (!canSetClocks) return t.log(`SKIPPED: that needs ${NEEDS}`) || t.pass()
  // In this night Berlin had the hour from 02:00 to 03:00 twice; the second began at this time.
  const second = Date.UTC(2026, 9, 25, 1)
  const { own, setClock } = await startInBerlin(t, second - HOUR_MS / 2)
  const url = await freshUrl(own)
  const first = await (await connect(t, url)).records.read('g', ['group'])
  t.true(Math.abs(first.now - (second - HOUR_MS / 2)) < HOUR_MS / 4)
  await setClock(second + HOUR_MS / 2)
  const { records } = await connect(t, url)
  const later = await records.read('g', ['group'])
  t.true(Math.abs(later.now - (second + HOUR_MS / 2)) < HOUR_MS / 4, 'the same by the clocks on the wall')
  t.is(later.identity.history, first.identity.history)

  const { client, records: elsewhere } = await connect(t, url, 'a connection of mysql2')
  for (const zone of ['+00:00', '+01:00', '+02:00', '-11:30', '+13:00']) {
    await client.query('SET time_zone = ?', [zone])
    const { now, identity } = await elsewhere.read('g', ['group'])
    t.deepEqual(identity, later.identity)
    t.true(now >= later.now && now < later.now + HOUR_MS / 4)
  }
})

// --- identity ---

/** Makes a dump, runs this in between, and restores the dump. */
async function putDumpBack(url, between = () => {}, ...tables) {
  const options = ['--host=127.0.0.1', `--port=${server.port}`, '--user=root', new URL(url).pathname.slice(1)]
  const { stdout: dump } = await run(findProgram('mariadb-dump'), [...options, ...tables])
  await between()
  const putting = run(findProgram('mariadb'), options)
  putting.child.stdin.end(dump)
  await putting
}

for (const tables of [[], ['flakeforge_record'], ['--no-create-info', '--replace', 'flakeforge_record']]) {
  test(`a restored dump is another history, each time: ${tables.join(' ') || 'all tables'}`, async (t) => {
    const url = await freshUrl()
    const { records } = await connect(t, url)
    await put(records, 'g', 'group', 'x')
    const histories = new Set()
    for (const to of ['y', 'z']) {
      const before = await records.read('g', ['group'])
      histories.add(before.identity.history)
      await putDumpBack(url, () => records.swap('g', 'group', before.values[0], to, before.identity), ...tables)
      t.false(await records.swap('g', 'group', before.values[0], 'lost', before.identity))
      const after = await records.read('g', ['group'])
      t.deepEqual(after.values, before.values)
      t.false(histories.has(after.identity.history))
      t.false(await records.swap('g', 'group', before.values[0], 'lost', before.identity))
    }
  })
}

test('OPTIMIZE TABLE keeps the history; a table that is dropped and recreated has another', async (t) => {
  const { client, records } = await connect(t, await freshUrl())
  await put(records, 'g', 'group', 'x')
  const before = await records.read('g', ['group'])
  const [[{ created }]] = await client.query('SELECT UNIX_TIMESTAMP() AS created')
  await until(async () => (await client.query('SELECT UNIX_TIMESTAMP() AS now'))[0][0].now > created)
  await client.query('OPTIMIZE TABLE flakeforge_record, flakeforge_process')
  const optimized = await records.read('g', ['group'])
  t.deepEqual(optimized.values, ['x'])
  t.is(optimized.identity.history, before.identity.history)
  t.not(optimized.identity.process, before.identity.process, 'the server cannot tell this from an older table')
  await client.query('DROP TABLE flakeforge_record')
  const remade = await records.read('g', ['group'])
  t.deepEqual(remade.values, [null])
  t.not(remade.identity.history, before.identity.history)
})

/** Waits until the server's clock shows another second. */
async function nextSecond(client) {
  const now = async () => (await client.query('SELECT UNIX_TIMESTAMP() AS now'))[0][0].now
  const start = await now()
  await until(async () => (await now()) > start)
}

test('an older table that is restored as a file or by its name is another process', async (t) => {
  const { client, records } = await connect(t, await freshUrl())
  await put(records, 'g', 'group', 'x')
  await nextSecond(client)
  await client.query('CREATE TABLE older LIKE flakeforge_record')
  await client.query('INSERT INTO older SELECT * FROM flakeforge_record')
  const before = await records.read('g', ['group'])
  t.true(await records.swap('g', 'group', 'x', 'y', before.identity))
  await nextSecond(client) // MariaDB notes the time of the RENAME, MySQL keeps that of the creation
  await client.query('RENAME TABLE flakeforge_record TO newer, older TO flakeforge_record')
  const after = await records.read('g', ['group'])
  t.deepEqual(after.values, ['x'])
  t.not(after.identity.process, before.identity.process)
  t.false(await records.swap('g', 'group', 'x', 'z', before.identity))
})

test('SET GLOBAL server_id: the identity is the same for old and new connections', async (t) => {
  const own = await startAlone(t, { 'server-id': 1 })
  const url = await freshUrl(own)
  const { records: old } = await connect(t, url, 'a connection of mysql2')
  const before = await old.read('g', ['group'])
  await own.query('SET GLOBAL server_id = 42')
  const { records } = await connect(t, url, 'a connection of mysql2')
  const { identity } = await records.read('g', ['group'])
  t.not(identity.history, before.identity.history)
  t.deepEqual((await old.read('g', ['group'])).identity, identity)
})

test('a promoted replica, and a primary that was made to follow, have other histories', async (t) => {
  const primary = await startAlone(t, { 'server-id': 1, 'log-bin': 'log', 'sync-binlog': 0 })
  const replica = stopAfter(t, await startReplica(primary, { 'log-bin': 'log', 'read-only': 1 }))
  const url = await freshUrl(primary)
  const { records } = await connect(t, url)
  await put(records, 'g', 'group', 'x')
  const before = await records.read('g', ['group'])
  await untilCaughtUp(replica, primary)
  const { records: onReplica } = await connect(t, url.replace(String(primary.port), String(replica.port)))
  await t.throwsAsync(onReplica.read('g', ['group']), {
    ...STORE,
    message: /takes no writes.*primary|read_only.*primary/,
  })

  // Its row about processes comes from the primary: it must have its own row, and not stop when the primary restarts.
  await replica.query('STOP SLAVE; SET GLOBAL read_only = 0')
  const promoted = await onReplica.read('g', ['group'])
  t.deepEqual(promoted.values, ['x'])
  t.not(promoted.identity.history, before.identity.history)
  t.not(promoted.identity.process, before.identity.process)
  await primary.restart()
  let renamed
  await until(async () => {
    renamed = await records.read('g', ['group']).catch(() => undefined)
    return renamed !== undefined
  })
  t.not(renamed.identity.process, before.identity.process)
  await records.swap('g', 'group', 'x', 'y', renamed.identity)
  await replica.query('START SLAVE')
  await untilCaughtUp(replica, primary)
  await replica.query('STOP SLAVE')
  t.is(await textOf(onReplica, 'g', 'group'), 'y', 'the writes of a swap reach replicas')
  const [status] = await replica.query('SHOW SLAVE STATUS')
  t.is(status.Last_SQL_Error, '')

  if (isMysql) return // it shows no store how often it was made to follow
  await primary.query(`CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 1`)
  t.not((await records.read('g', ['group'])).identity.history, renamed.identity.history)
  t.false(await records.swap('g', 'group', 'y', 'z', renamed.identity))
})

// --- rejected input ---

/** Whoever has these rights can write to a server that is read_only. */
const NO_ADMIN = isMysql
  ? 'REVOKE SUPER, CONNECTION_ADMIN ON *.* FROM member'
  : 'REVOKE SUPER, READ_ONLY ADMIN ON *.* FROM member'

test('a server that does not keep its writes, or takes none, is rejected at each step', async (t) => {
  const own = await startAlone(t)
  const url = await freshUrl(own)
  await own.query(`CREATE USER member; GRANT ALL ON *.* TO member; ${NO_ADMIN}`)
  const tables = tablesIn(new URL(url).pathname.slice(1))
  const { client, records } = await connect(t, url)
  const { records: ofMember } = await connect(t, url.replace('root@', 'member@'))
  await put(records, 'g', 'group', 'a')
  const { identity } = await ofMember.read('g', ['group'])
  for (const [setting, undo, message] of [
    ['read_only = 1', 'read_only = 0', /read_only.*Use the address of the primary/],
    ['innodb_flush_log_at_trx_commit = 2', 'innodb_flush_log_at_trx_commit = 1', /trx_commit is 2.*Set it to 1/],
    ['innodb_flush_log_at_trx_commit = 0', 'innodb_flush_log_at_trx_commit = 1', /trx_commit is 0.*Set it to 1/],
  ]) {
    await own.query(`SET GLOBAL ${setting}`)
    for (const text of [
      update(tables, { group: 'g', name: 'group', from: 'a', to: 'b', identity }),
      insert(tables, { group: 'g', name: 'counter', to: 'b', identity }),
    ]) {
      t.is((await client.query(text))[0].affectedRows, 0, setting)
    }
    if (setting.startsWith('read_only')) {
      await t.throwsAsync(ofMember.swap('g', 'group', 'a', 'b', identity), { ...STORE, message: /primary/ })
    }
    for (const each of [records, ofMember]) {
      await t.throwsAsync(each.read('g', ['group']), { ...STORE, message })
      await t.throwsAsync(each.swap('g', 'group', 'a', 'b', identity), { ...STORE, message })
    }
    await own.query(`SET GLOBAL ${undo}`)
  }
  t.is(await textOf(records, 'g', 'group'), 'a')
})

test('a replica is rejected at each step, read_only or not, and nothing is written there', async (t) => {
  const settings = { 'log-bin': 'log', 'log-slave-updates': 1, ...(!isMysql && { 'gtid-strict-mode': 1 }) }
  const primary = await startAlone(t, { 'server-id': 1, ...settings })
  const url = await freshUrl(primary)
  const replica = stopAfter(t, await startReplica(primary, settings))
  const urlAtReplica = url.replace(String(primary.port), String(replica.port))
  const written = async () => (await replica.query(`SELECT ${WRITTEN} AS gtid`))[0].gtid
  const refused = { ...STORE, message: /primary/ }
  for (const round of ['before there are tables', 'with tables', 'after a restart']) {
    await untilCaughtUp(replica, primary)
    const before = await written()
    const { records } = await connect(t, urlAtReplica)
    for (const statement of ['SET GLOBAL read_only = 0', 'SET GLOBAL read_only = 1', 'STOP SLAVE IO_THREAD']) {
      await replica.query(statement)
      await t.throwsAsync(records.read('g', ['group']), refused, `${round}, ${statement}`)
      await t.throwsAsync(records.look('g', ['group']), refused)
      await t.throwsAsync(records.swap('g', 'group', null, 'x', { history: '', process: '' }), refused)
      await t.throwsAsync(records.groups(), refused)
      if (statement.startsWith('STOP')) await replica.query('SET GLOBAL read_only = 0')
    }
    await t.throwsAsync(records.read('g', ['group']), { ...STORE, message: /It is a replica/ })
    t.is(await written(), before, round)
    await replica.query('START SLAVE')
    if (round === 'before there are tables') await put((await connect(t, url)).records, 'g', 'group', 'x')
    if (round === 'with tables') await replica.restart()
  }
  // The statement of a swap compares this too: a server may begin to follow another after the check.
  await replica.query('STOP SLAVE')
  const { client, records } = await connect(t, urlAtReplica)
  const tables = tablesIn(new URL(urlAtReplica).pathname.slice(1))
  const { identity, values } = await records.read('g', ['group'])
  t.deepEqual(values, ['x'])
  await replica.query('START SLAVE')
  t.is(
    (await client.query(update(tables, { group: 'g', name: 'group', from: 'x', to: 'y', identity })))[0].affectedRows,
    0,
  )
  t.is((await client.query(insert(tables, { group: 'g', name: 'counter', to: 'y', identity })))[0].affectedRows, 0)
})

test('a replication format that would lose the writes of a swap is rejected', async (t) => {
  const own = await startAlone(t, { 'log-bin': 'log', 'binlog-format': 'STATEMENT' })
  const { records } = await connect(t, await freshUrl(own))
  await t.throwsAsync(records.read('g', ['group']), { ...STORE, message: /binlog_format is STATEMENT.*ROW or MIXED/ })
})

test('tables of another engine are rejected', async (t) => {
  const url = await freshUrl()
  const { client, records } = await connect(t, url)
  await records.read('g', ['group'])
  await client.query('ALTER TABLE flakeforge_process ENGINE = InnoDB')
  await t.throwsAsync(records.read('g', ['group']), { ...STORE, message: /flakeforge_process.*MEMORY/ })
  await client.query('ALTER TABLE flakeforge_process ENGINE = MEMORY')
  await records.read('g', ['group'])
  await client.query('ALTER TABLE flakeforge_record ENGINE = MyISAM')
  await t.throwsAsync(records.read('g', ['group']), { ...STORE, message: /flakeforge_record.*InnoDB/ })
})

testMysql('a connection of mariadb is refused, with the way out', async (t) => {
  const { records } = await connect(t, await freshUrl(), 'a connection of mariadb')
  await t.throwsAsync(records.read('g', ['group']), {
    ...OPTION,
    message: /does not show .* transaction\. Use its pool/,
  })
})

const CONNECTIONS = Object.keys(CLIENTS).filter((name) => name.includes('connection'))
for (const kind of CONNECTIONS.filter((name) => !(isMysql && name.includes('mariadb')))) {
  const query = (client, text) => (client.promise?.() ?? client).query(text)

  test(`${kind} that begins or ends a transaction at the same time`, async (t) => {
    const { client, records } = await connect(t, await freshUrl(), kind)
    await put(records, 'g', 'group', 'a')
    const { identity } = await records.read('g', ['group'])
    const swap = () => records.swap('g', 'group', 'a', 'b', identity).catch(({ code }) => code)
    // The transaction comes before the swap's own check, or between the check and the swap.
    for (const order of ['before', 'after']) {
      const begins = () => query(client, 'START TRANSACTION')
      const begun = order === 'before' ? begins() : undefined
      const swapped = swap()
      await Promise.all([begun ?? begins(), begun])
      const outcome = await swapped
      await query(client, 'ROLLBACK')
      t.is(await textOf(records, 'g', 'group'), outcome === true ? 'b' : 'a', `${order}: ${outcome}`)
      if (outcome === true) await records.swap('g', 'group', 'b', 'a', identity)
    }
    // A read within it, whose end is already on its way: it is rejected, or shows the state after the end.
    const begun = query(client, 'START TRANSACTION')
    const read = textOf(records, 'g', 'group').catch(({ code }) => code)
    await new Promise((resolve) => process.nextTick(resolve)) // it has been sent
    const ended = query(client, 'COMMIT')
    await Promise.all([begun, ended])
    t.true(['a', OPTION.code].includes(await read))
  })

  test(`${kind} without autocommit is rejected`, async (t) => {
    const { client, records } = await connect(t, await freshUrl(), kind)
    const { identity } = await records.read('g', ['group'])
    await query(client, 'SET autocommit = 0')
    await t.throwsAsync(records.read('g', ['group']), { ...OPTION, message: /autocommit is off/ })
    await t.throwsAsync(records.swap('g', 'group', null, 'b', identity), OPTION)
    await query(client, 'ROLLBACK')
    await query(client, 'SET autocommit = 1')
    t.is(await textOf(records, 'g', 'group'), null)
  })
}

testMariadb('the statement of a swap changes nothing inside a transaction that began after the check', async (t) => {
  const url = await freshUrl()
  const { client, records } = await connect(t, url, 'a connection of mysql2')
  await put(records, 'g', 'group', 'a')
  const { identity } = await records.read('g', ['group'])
  const tables = tablesIn(new URL(url).pathname.slice(1))
  const texts = [
    update(tables, { group: 'g', name: 'group', from: 'a', to: 'b', identity }),
    insert(tables, { group: 'g', name: 'counter', to: 'b', identity }),
  ]
  for (const begin of ['START TRANSACTION', 'SET autocommit = 0']) {
    await client.query(begin)
    for (const text of texts) t.is((await client.query(text))[0].affectedRows, 0, begin)
    await client.query('ROLLBACK')
  }
  await client.query('SET autocommit = 1')
  for (const text of texts) t.is((await client.query(text))[0].affectedRows, 1)
})

test('a pool whose connections start in a transaction is rejected', async (t) => {
  const url = await freshUrl()
  const { client, records } = await connect(t, url, POOL, { connectionLimit: 1 })
  await records.read('g', ['group'])
  const taken = await client.getConnection()
  await taken.beginTransaction()
  taken.release() // forgotten
  await t.throwsAsync(records.read('g', ['group']), TRANSACTION)
})

test('a session that shows uncommitted writes is rejected', async (t) => {
  const { client, records } = await connect(t, await freshUrl(), 'a connection of mysql2')
  await client.query('SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED')
  await t.throwsAsync(records.read('g', ['group']), { ...STORE, message: /may be rolled back.*READ UNCOMMITTED/ })
  for (const level of ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE']) {
    await client.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`)
    const { identity } = await records.read('g', [level])
    t.true(await records.swap('g', level, null, 'x', identity))
    t.is(await textOf(records, 'g', level), 'x')
  }
})

test('a client without a database gets that error', async (t) => {
  const { records } = await connect(t, server.url)
  await t.throwsAsync(records.read('g', ['group']), { ...STORE, message: /no database\. Name one/ })
})

test('the callback version of mariadb is not accepted as a client', (t) => {
  const pool = mariadbCallback.createPool({ host: '127.0.0.1', port: 1, minimumIdle: 0 })
  t.throws(() => mysqlClient(pool), { ...OPTION, message: /callback.*require\('mariadb'\)/ })
  pool.end()
})

// --- time ---

testBeside(
  "a lock that another session holds: an error within a second, whatever the session's own timeout",
  async (t) => {
    const url = await freshUrl()
    const { records } = await connect(t, url)
    await put(records, 'g', 'group', 'a')
    const { identity } = await records.read('g', ['group'])
    const other = await session(t, url)
    await other.query('START TRANSACTION; SELECT * FROM flakeforge_record FOR UPDATE')
    const { client, records: patient } = await connect(t, url, 'a connection of mysql2')
    await client.query('SET innodb_lock_wait_timeout = 50, lock_wait_timeout = 50')
    if (isMysql) await server.query('SET GLOBAL innodb_lock_wait_timeout = 1') // it takes no such setting for a statement
    for (const one of isMysql ? [(await connect(t, url)).records] : [records, patient]) {
      const error = await t.throwsAsync(one.swap('g', 'group', 'a', 'b', identity), {
        ...STORE,
        message: /Lock wait timeout/,
      })
      t.true(isPassing(error))
    }
  },
)

testMariadb('MariaDB gets no hints with a write: from version 12 on, it warns about unknown ones', async (t) => {
  const alone = await startAlone(t, { 'log-output': 'TABLE' })
  await alone.query('SET GLOBAL general_log = 1')
  const { records } = await connect(t, await freshUrl(alone))
  await put(records, 'g', 'group', 'a')
  const { identity } = await records.read('g', ['group'])
  t.true(await records.swap('g', 'group', 'a', 'b', identity))
  const logged = await alone.query('SELECT CONVERT(argument USING utf8mb4) AS text FROM mysql.general_log')
  const ours = logged.map(({ text }) => text).filter((text) => text.startsWith('/* flakeforge'))
  const writes = ours.filter((text) => /\b(INSERT|UPDATE)\b/.test(text))
  t.true(writes.length >= 4)
  for (const text of writes) t.notRegex(text, /SET_VAR/)
  t.is(ours.filter((text) => text.includes('SET_VAR')).length, 1, 'the question which of the two it is')
})

test('MySQL gets a strict mode that it does not warn about', (t) => {
  for (const mode of ['STRICT_ALL_TABLES', 'NO_ZERO_IN_DATE', 'NO_ZERO_DATE', 'ERROR_FOR_DIVISION_BY_ZERO']) {
    t.true(HINTS.includes(mode), mode)
  }
})

test('a deadlock is not a swap', async (t) => {
  const url = await freshUrl()
  const { records } = await connect(t, url)
  await put(records, 'g', 'a', 'x')
  const { identity } = await records.read('g', ['group'])
  await server.query(`CREATE TRIGGER ${new URL(url).pathname.slice(1)}.deadlock BEFORE UPDATE ON flakeforge_record FOR EACH ROW
    SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213`)
  t.false(await records.swap('g', 'a', 'x', 'y', identity))
})

testBeside(
  "mariadb: a dead connection is closed without a KILL, which might hit another client's session",
  async (t) => {
    const own = await startAlone(t)
    const proxy = stopAfter(t, await startProxy(own.port))
    const { client, records } = await connect(
      t,
      (await freshUrl(own)).replace(own.port, proxy.port),
      'a pool of mariadb',
      { connectionLimit: 1, minDelayValidation: 600_000 }, // or it first checks whether the connection is alive
    )
    await put(records, 'g', 'group', 'a')
    proxy.lose()
    await own.restart('SIGKILL') // it counts its sessions from 1 again
    await t.throwsAsync(records.read('g', ['group']), { ...STORE, message: /no answer within 5000 ms/ })
    t.is(await textOf(records, 'g', 'group'), 'a')
    await client.end()
    const [{ Value: kills }] = await own.query(`SHOW GLOBAL STATUS LIKE 'Com_kill'`)
    t.is(kills, '0')
  },
)

test('a URL needs a database, and its error hides the password', (t) => {
  const error = t.throws(() => openClient('mysql://root:secret@localhost'), {
    ...OPTION,
    message: /mysql:\/\/HOST\/DATABASE/,
  })
  t.notRegex(error.message, /secret/)
})
