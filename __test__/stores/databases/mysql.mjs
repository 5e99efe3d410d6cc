// MariaDB and the clients of MySQL, for tests that run on all databases: how to start a server, changes behind the
// store's back, how to break it, and a row for each client.

import { createRequire } from 'node:module'
import mariadb from 'mariadb'
import mysql2Callback from 'mysql2'
import mysql2 from 'mysql2/promise'
import * as mysql from '../../servers/mysql.mjs'
import { until } from '../../servers/server.mjs'

const require = createRequire(import.meta.url)
const { mysqlClient } = require('../../../target/rooms/lib/stores/mysql/client.js')
const { MysqlRecords } = require('../../../target/rooms/lib/stores/mysql/records.js')
const { openMariadb, openMysql2 } = require('../../../target/rooms/lib/stores/mysql/url.js')
const { mysqlStore, openMysql } = require('../../../target/rooms/lib/stores/mysql.js')

/** The database of a site that was just started. */
const FIRST = 'ids'

/** Server settings that keep acknowledged writes. */
const KEEPS = { 'innodb-flush-method': 'fsync' }

async function startServer(settings = {}) {
  const server = await mysql.startMysql(settings)
  const url = await server.freshUrl(FIRST)
  return { server, url, database: FIRST, stop: () => server.stop() }
}

/** A primary whose commits wait for its replica, however long that takes. */
async function startReplicated() {
  const site = await startServer({
    'server-id': 1,
    'log-bin': 'log',
    'sync-binlog': 0,
    'rpl-semi-sync-master-timeout': 1_000_000_000,
    'rpl-semi-sync-master-wait-point': 'AFTER_SYNC',
  })
  const { server } = site
  const settings = { 'log-bin': 'log', 'read-only': 1, 'rpl-semi-sync-slave-enabled': 1 }
  const replica = await mysql.startReplica(server, settings)
  await server.query('SET GLOBAL rpl_semi_sync_master_enabled = 1')
  await untilFollowed(server, 1)
  const stop = async () => {
    await replica.stop()
    await site.stop()
  }
  return { ...site, replica, stop }
}

/** Waits until this many replicas acknowledge the server's writes. */
const untilFollowed = (server, count) =>
  until(async () => {
    const [{ Value }] = await server.query(`SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'`)
    return Number(Value) === count
  })

/** The functions below take the database that they look into with its server. */
const table = ({ database = FIRST }) => `${database}.flakeforge_record`

const query = (client, text) => (client.promise?.() ?? client).query(text)

const transaction = {
  begin: (client) => query(client, 'START TRANSACTION'),
  end: (client) => query(client, 'ROLLBACK'),
  refused: { message: /It is in a transaction\. Use the pool/ },
}

/** Options that change the form of an answer, one at a time. */
const each = (options) => Object.entries(options).map(([name, value]) => ({ [name]: value }))

const MYSQL2_OPTIONS = each({
  typeCast: () => 'x',
  rowsAsArray: true,
  nestTables: true,
  namedPlaceholders: true,
  bigNumberStrings: true,
  supportBigNumbers: true,
  multipleStatements: true,
  dateStrings: true,
  timezone: '+05:00',
  decimalNumbers: true,
  charset: 'latin1',
  flags: '-FOUND_ROWS',
  disableEval: true,
  jsonStrings: true,
  resetOnRelease: true,
  compress: true,
})
const MARIADB_OPTIONS = each({
  typeCast: () => 'x',
  rowsAsArray: true,
  nestTables: true,
  namedPlaceholders: true,
  metaAsArray: true,
  bigIntAsNumber: true,
  bigNumberStrings: true,
  multipleStatements: true,
  dateStrings: true,
  timezone: '+05:00',
  decimalAsNumber: true,
  charset: 'latin1',
  foundRows: false,
  pipelining: false,
  initSql: `SET sql_mode = 'ANSI_QUOTES'`,
  sessionVariables: { sql_mode: '' },
  insertIdAsNumber: true,
  bitOneIsBoolean: false,
  checkNumberRange: true,
  jsonStrings: true,
  ...(!mysql.isMysql && { queryTimeout: 5000 }), // a pool with it does not connect to MySQL
  compress: true,
})

async function take(pool) {
  const connection = await pool.getConnection()
  return () => connection.release()
}

/** A client that a user created, by its name among those of the server. */
const user = (name, more) => ({
  connect: ({ url }, options) => mysql.CLIENTS[name](url, options),
  move: async (client) => {
    await query(client, 'CREATE DATABASE IF NOT EXISTS elsewhere')
    await query(client, 'USE elsewhere')
  },
  ...more,
})

const pool = (name, more) => user(name, { moveOptions: { connectionLimit: 1 }, ...more })
const connection = (name) => user(name, { isOneConnection: true, transaction })

const own = (open) => ({
  isOurs: true,
  connect: async ({ url }) => {
    const client = open(url)
    return { client, end: () => client.close() }
  },
  recordsOf: (client) => new MysqlRecords(client),
})

const lent = { pool: { options: { connectionLimit: 1 }, take }, drops: true }

const ROWS = {
  'a pool of mysql2': pool('a pool of mysql2', { isFull: true, options: MYSQL2_OPTIONS, ...lent }),
  'a pool of mariadb': pool('a pool of mariadb', { isFull: true, options: MARIADB_OPTIONS, ...lent }),
  'a pool of mysql2 with callbacks': pool('a pool of mysql2 with callbacks'),
  'a connection of mysql2': connection('a connection of mysql2'),
  'a connection of mysql2 with callbacks': connection('a connection of mysql2 with callbacks'),
  ...(!mysql.isMysql && { 'a connection of mariadb': connection('a connection of mariadb') }), // MySQL: ../mysql-records
  'a URL, by mysql2': own((url) => openMysql2(mysql2Callback, url)),
  'a URL, by mariadb': own((url) => openMariadb(mariadb, url)),
}

const setGlobal =
  (setting) =>
  ({ server }) =>
    server.query(`SET GLOBAL ${setting}`)

/** A trigger that rejects each change of a record with this error. */
const refusing = (what, errno, message) => ({
  what,
  break: ({ server, database }) =>
    server.query(`CREATE TRIGGER ${database}.refuse BEFORE UPDATE ON ${database}.flakeforge_record FOR EACH ROW
      SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'no'`),
  mend: ({ server, database }) => server.query(`DROP TRIGGER ${database}.refuse`),
  message,
})

const NO_WRITES = /takes no writes\. Use the address of the primary/

export const MYSQL = {
  /** The calls of a client run one after the other. */
  takesTurns: true,
  isInstalled: () => mysql.wantMysql() !== undefined,
  keeps: KEEPS,
  /** A server that keeps acknowledged writes. */
  async start(settings) {
    const { server } = await startServer({ ...KEEPS, ...settings })
    return Object.assign(server, { database: FIRST })
  },
  urlOf: (server) => server.urlOf(FIRST),
  sites: { server: startServer, replicated: startReplicated },
  rows: ROWS,
  recordsOf: (client) => new MysqlRecords(mysqlClient(client)),
  storeOf: mysqlStore,
  openUrl: openMysql,
  get: async (server, ...key) => {
    const [row] = await server.query(`SELECT value FROM ${table(server)} WHERE group_name = ? AND name = ?`, key)
    return row === undefined ? null : String(row.value)
  },
  put: (server, ...record) =>
    server.query(`REPLACE INTO ${table(server)} (group_name, name, value) VALUES (?, ?, ?)`, record),
  remove: (server, ...key) => server.query(`DELETE FROM ${table(server)} WHERE group_name = ? AND name = ?`, key),
  async freshPlace(site, name) {
    return { ...site, database: name, url: await site.server.freshUrl(name) }
  },
  async tablesIn({ server, database }) {
    const text = `SELECT TABLE_SCHEMA AS place FROM information_schema.TABLES
      WHERE TABLE_NAME = 'flakeforge_record' AND TABLE_SCHEMA IN (?, 'elsewhere')`
    return (await server.query(text, [database])).map(({ place }) => place)
  },
  /** A session that locks the table of a place, and whether another one waits for it. */
  async lockerOf({ server, database, url }) {
    const connection = await mysql2.createConnection({ uri: url })
    const waiting = `SELECT 1 FROM information_schema.PROCESSLIST
      WHERE STATE LIKE 'Waiting for table metadata lock' AND DB = ?`
    return {
      lock: () => connection.query('LOCK TABLES flakeforge_record WRITE'),
      change: (text) => connection.query(text),
      unlock: () => connection.query('UNLOCK TABLES'),
      isWaiting: async () => (await server.query(waiting, [database])).length > 0,
      now: () => mysql.serverNow(server),
      end: () => connection.end(),
    }
  },
  crash: (server) => server.kill(),
  identity: ['process', 'history'],
  signals: ['SIGTERM', 'SIGKILL'],
  durableNeeds: [
    {
      what: 'sync_binlog 0',
      settings: { ...KEEPS, 'log-bin': 'log' },
      break: setGlobal('sync_binlog = 0'),
      mend: setGlobal('sync_binlog = 1'),
      message: /durable.*sync_binlog is 0.*Set it to 1/,
    },
    { what: 'a disk that is not waited for', settings: {}, message: /nosync/ },
  ],
  refusals: [
    refusing('a table that is full', 1114, /is full\. Free space/),
    refusing('a disk that is full', 1021, /is full\. Free space/),
    refusing('an option of the server', 1290, NO_WRITES),
    refusing('a server in read-only mode', 1836, NO_WRITES),
    refusing('a trigger', 1644, /MySQL: no/),
  ],
  demote: setGlobal('read_only = 1'),
  startOther: async ({ database }) => {
    const server = await mysql.startMysql()
    await server.freshUrl(database)
    return server
  },
  replicaRefuses: /primary/,
  async promote({ server, replica }) {
    await mysql.untilCaughtUp(replica, server)
    await replica.query('STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0')
  },
  strangers: {
    values: [null, 'mysql://', () => {}, { query: () => {} }, mysql2, mariadb, mysql2Callback.createPoolCluster()],
    message: /a pool or connection of mysql2 or mariadb/,
  },
  async connectionsOf({ server, database }) {
    const text = 'SELECT count(*) AS count FROM information_schema.PROCESSLIST WHERE DB = ?'
    return Number((await server.query(text, [database]))[0].count)
  },
  packages: ['mysql2', 'mariadb'],
  program: { file: 'mysql', open: 'openMysql', schemes: ['mysql', 'mariadb'], path: FIRST },
  acknowledgement: {
    sites: ['replicated'],
    async break({ server, replica }) {
      await replica.query('STOP SLAVE')
      await untilFollowed(server, 0)
    },
    async mend({ server, replica }) {
      await replica.query('START SLAVE')
      await untilFollowed(server, 1)
    },
    message: /no answer within/,
  },
}
