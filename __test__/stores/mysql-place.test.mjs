// Where the records of a MySQL store are: sessions that move to another database, names that need quotes, the option
// `database`, and addresses with parameters.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import mariadb from 'mariadb'
import mysql2 from 'mysql2'
import { isMysql } from '../servers/mysql.mjs'
import { put, textOf } from '../support/records.mjs'
import { openGroup, works } from '../support/steps.mjs'
import { freshUrl, isInstalled, newClient, server, startAlone } from './mysql-shared.mjs'

const require = createRequire(import.meta.url)
const { isRefusedWrite } = require('../../target/rooms/lib/base/errors.js')
const { DatabaseStore } = require('../../target/rooms/lib/stores/database.js')
const { mysqlStore, openMysql } = require('../../target/rooms/lib/stores/mysql.js')
const { readAddress } = require('../../target/rooms/lib/stores/mysql/address.js')
const { mysqlClient } = require('../../target/rooms/lib/stores/mysql/client.js')
const { MysqlRecords } = require('../../target/rooms/lib/stores/mysql/records.js')
const { openMariadb, openMysql2 } = require('../../target/rooms/lib/stores/mysql/url.js')

const test = isInstalled ? anyTest.serial : anyTest.skip

const OPTION = { code: 'ERR_FLAKE_OPTION' }
const STORE = { code: 'ERR_FLAKE_STORE' }
const nameOf = (url) => new URL(url).pathname.slice(1)
const query = (client, text) => (client.promise?.() ?? client).query(text)
const tablesOf = async (database) =>
  (
    await server.query('SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?', [database])
  ).map(({ name }) => name)

test('place() names the host, the port and the database', async (t) => {
  const url = await freshUrl()
  const records = new MysqlRecords(mysqlClient(await newClient(t, url, 'a pool of mysql2')))
  const [{ name }] = await server.query('SELECT @@hostname AS name')
  t.is(await records.place(), `${name}:${server.port}/${nameOf(url)}`)
})

for (const kind of ['a pool of mysql2', 'a pool of mariadb']) {
  test(`${kind}: the option names any database, from a session in another one or in none`, async (t) => {
    const names = ['a`b', `it's "quoted"`, 'with space', 'grün 漢字', 'a.b', '$&', 'select', 'x'.repeat(64)]
    for (const database of names) {
      await server.query(`CREATE DATABASE IF NOT EXISTS \`${database.replaceAll('`', '``')}\` CHARACTER SET utf8mb4`)
      for (const url of [await freshUrl(), server.url]) {
        const options = kind.includes('mariadb') && url === server.url ? { database: undefined } : {}
        const client = await newClient(t, url, kind, { connectionLimit: 1, ...options })
        await query(client, `SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'`)
        const store = mysqlStore(client, { database })
        await works(t, store)
        t.true((await store.records.place()).endsWith(`/${database}`))
      }
      t.deepEqual((await tablesOf(database)).sort(), ['flakeforge_process', 'flakeforge_record'])
    }
  })
}

test('the database is found at the first call, and again if that call failed', async (t) => {
  const [client, name] = [
    await newClient(t, server.url, 'a pool of mysql2', { connectionLimit: 1 }),
    nameOf(await freshUrl()),
  ]
  const records = new MysqlRecords(mysqlClient(client))
  await t.throwsAsync(records.read('g', ['group']), { message: /no database\. Name one/ })
  await query(client, `USE ${name}`)
  await put(records, 'g', 'group', 'a')
  t.deepEqual((await tablesOf(name)).length, 2)
})

test('invalid options are rejected', async (t) => {
  const client = await newClient(t, await freshUrl(), 'a pool of mysql2')
  for (const database of ['', 1, {}, 'a\0b', 'end ', 'x'.repeat(65), '🐘', '\ud800']) {
    t.throws(() => mysqlStore(client, { database }), { ...OPTION, message: /database/ }, JSON.stringify(database))
  }
  t.throws(() => mysqlStore(client, { schema: 'x' }), { ...OPTION, message: /schema/ })
  t.throws(() => mysqlStore(client, Object.create({ database: 'inherited' })), OPTION)
})

const OWN_CLIENTS = { mysql2: (url) => openMysql2(mysql2, url), mariadb: (url) => openMariadb(mariadb, url) }

/** MySQL's passwords need a key that mariadb does not take from the server over an unencrypted connection. */
const needsTls = (t, store) =>
  t.throwsAsync(
    openGroup(store, 'g').then(({ acquire }) => acquire()),
    { ...STORE, message: /only over an encrypted connection: add ssl=true/ },
  )

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: an address with escapes, on a server without autocommit`, async (t) => {
    const own = await startAlone(t, { autocommit: 0 })
    await own.query('SET autocommit = 1; CREATE DATABASE `a b/c`')
    await own.query(`CREATE USER 'p@q' IDENTIFIED BY 'x:y/z%'; GRANT ALL ON *.* TO 'p@q'; COMMIT`)
    const url = `mysql://p%40q:x%3Ay%2Fz%25@127.0.0.1:${own.port}/a%20b%2Fc`
    const { database } = readAddress(url)
    const store = new DatabaseStore(new MysqlRecords(open(url), database))
    t.teardown(() => store.close())
    if (isMysql && name === 'mariadb') await needsTls(t, store)
    else await works(t, store)
  })

  test(`${name}: a user with read access only gets an error at the first write, with the way out`, async (t) => {
    const own = await startAlone(t)
    const url = await freshUrl(own)
    const setUp = new MysqlRecords(open(url), nameOf(url))
    await put(setUp, 'g', 'group', 'a')
    await setUp.close()
    await own.query(`CREATE USER reader; GRANT SELECT ON *.* TO reader`)
    const records = new MysqlRecords(open(url.replace('root@', 'reader@')), nameOf(url))
    const { identity } = await records.read('g', ['group'])
    const refused = await t.throwsAsync(records.swap('g', 'group', 'a', 'b', identity), {
      message: /schema mysql.*denied/,
    })
    t.true(isRefusedWrite(refused))
    t.is(await textOf(records, 'g', 'group'), 'a')
    await records.close()
  })
}

test('a warning next to a write is not a swap', async (t) => {
  const url = await freshUrl()
  const records = new MysqlRecords(mysqlClient(await newClient(t, url, 'a pool of mariadb')))
  await put(records, 'g', 'group', 'a')
  await server.query(
    `ALTER TABLE ${nameOf(url)}.flakeforge_record ADD tenth DECIMAL(3, 1) AS (IF(value = 'b', 1.25, 1)) STORED`,
  )
  const { identity } = await records.read('g', ['group']) // after the change: CREATE_TIME is part of the identity
  const error = await t.throwsAsync(records.swap('g', 'group', 'a', 'b', identity), { message: /warned.*truncated/ })
  t.false(isRefusedWrite(error))
})

test('addresses with parameters that only one package knows are rejected by name', (t) => {
  for (const name of [
    'database',
    'charset',
    'timezone',
    'initSql',
    'connectionLimit',
    'flags',
    'socketPath',
    'autocommit',
  ]) {
    t.throws(() => openMysql(`mysql://root:secret@localhost/d?${name}=1`), {
      ...OPTION,
      message: new RegExp(`without \\?${name}=`),
    })
  }
  for (const [query, message] of [
    ['ssl=1', /without \?ssl=: it is 'true' or 'false'/],
    ['ssl={"ca":"x"}', /\?sslmode= and \?sslrootcert= say more/],
    ['sslmode=prefer', /without \?sslmode=: it is one of disable, require, verify-full, no-verify/],
    ['ssl=false&sslmode=require', /without \?ssl=: it contradicts the rest, which is require/],
    ['ssl=false&sslrootcert=ca.pem', /without \?sslrootcert=: it contradicts the rest, which is disable/],
    ['sslmode=disable&ssl=true', /without \?ssl=: it contradicts the rest, which is disable/],
  ]) {
    t.throws(() => readAddress(`mysql://localhost/d?${query}`), { ...OPTION, message })
  }
  const tls = { isChecked: true, files: {} }
  t.deepEqual(readAddress('mysql://[::1]/d?ssl=true'), { host: '::1', port: 3306, database: 'd', tls })
  t.deepEqual(readAddress('mysql://h:1/d?sslmode=no-verify').tls, { isChecked: false, files: {} })
})

for (const table of ['flakeforge_record', 'flakeforge_process']) {
  test(`a temporary table of the session that hides ${table} is refused, and nothing is written to it`, async (t) => {
    const url = await freshUrl()
    const records = new MysqlRecords(mysqlClient(await newClient(t, url, 'a pool of mysql2')))
    await put(records, 'g', 'group', 'a')
    const client = await newClient(t, url, 'a pool of mysql2', { connectionLimit: 1 })
    await query(client, `CREATE TABLE copy LIKE ${table}`)
    await query(client, `CREATE TEMPORARY TABLE ${table} LIKE copy`)
    await t.throwsAsync(textOf(new MysqlRecords(mysqlClient(client)), 'g'), {
      code: 'ERR_FLAKE_STORE',
      message: new RegExp(`temporary table ${table}, which hides the store's own. Drop it`),
    })
    const [[{ rows }]] = await query(client, `SELECT COUNT(*) AS \`rows\` FROM ${table}`)
    t.is(rows, 0)
    await query(client, `DROP TEMPORARY TABLE ${table}`)
    t.is(await textOf(records, 'g'), 'a')
  })
}

for (const table of ['flakeforge_record', 'flakeforge_process']) {
  test(`a view in the place of ${table} is refused before it can call a function with the rights of the reader`, async (t) => {
    const url = await freshUrl()
    const client = await newClient(t, url, 'a pool of mysql2', { connectionLimit: 1 })
    await put(new MysqlRecords(mysqlClient(client)), 'g', 'group', 'a')
    await query(client, `RENAME TABLE ${table} TO kept`)
    await query(client, 'CREATE TABLE called (who TEXT)')
    await query(
      client,
      `CREATE FUNCTION call_it() RETURNS INT MODIFIES SQL DATA SQL SECURITY INVOKER
        BEGIN INSERT INTO called VALUES (CURRENT_USER()); RETURN 1; END`,
    )
    await query(client, `CREATE SQL SECURITY INVOKER VIEW ${table} AS SELECT * FROM kept WHERE call_it() = 1`)
    const message = new RegExp(`${table} is not a table\\. Drop or rename it`)
    const open = () => new MysqlRecords(mysqlClient(client))
    for (const use of [() => textOf(open(), 'g'), () => open().groups(), () => open().names('g')])
      await t.throwsAsync(use(), { code: 'ERR_FLAKE_STORE', message })
    t.deepEqual((await query(client, 'SELECT * FROM called'))[0], [])
  })
}
