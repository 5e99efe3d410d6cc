// The databases that stores are tested on, in one table, so that one suite runs on all of them: how to start a server,
// which clients there are, and what a test does behind the store's back with the server's own tools.
// It must know nothing of the rules.

import { createRequire } from 'node:module'
import * as etcd from '../../servers/etcd.mjs'
import * as mysql from '../../servers/mysql.mjs'
import * as postgres from '../../servers/postgres.mjs'
import * as redis from '../../servers/redis.mjs'
import { stopAfter } from '../../servers/server.mjs'

const require = createRequire(import.meta.url)
const { DatabaseStore } = require('../../../target/rooms/lib/lease/stores/database.js')
const { Gateway } = require('../../../target/rooms/lib/lease/stores/etcd/gateway.js')
const { recordKey } = require('../../../target/rooms/lib/lease/stores/etcd/keys.js')
const { readOptions } = require('../../../target/rooms/lib/lease/stores/etcd/options.js')
const { EtcdRecords } = require('../../../target/rooms/lib/lease/stores/etcd/records.js')
const { mysqlClient } = require('../../../target/rooms/lib/lease/stores/mysql/client.js')
const { MysqlRecords } = require('../../../target/rooms/lib/lease/stores/mysql/records.js')
const { postgresClient } = require('../../../target/rooms/lib/lease/stores/postgres/client.js')
const { PostgresRecords } = require('../../../target/rooms/lib/lease/stores/postgres/records.js')
const { redisClient } = require('../../../target/rooms/lib/lease/stores/redis/client.js')
const { RedisRecords } = require('../../../target/rooms/lib/lease/stores/redis/records.js')

export { DatabaseStore }

const hashOf = (group) => `flakeforge:{${group}}:records`

const REDIS = {
  isInstalled: () => redis.wantRedis() !== undefined,
  /** A server that keeps what it acknowledges, as `durable` wants it. */
  start: () => redis.startRedis('--appendonly', 'yes', '--appendfsync', 'always'),
  urlOf: ({ url }) => url,
  clients: redis.CLIENTS,
  recordsOf: (client) => new RedisRecords(redisClient(client)),
  get: async ({ cli }, group, name) => (await cli('HGET', hashOf(group), name)) || null,
  put: ({ cli }, group, name, text) => cli('HSET', hashOf(group), name, text),
  remove: ({ cli }, group, name) => cli('HDEL', hashOf(group), name),
  cannotListGroups: true, // it would have to search all keys
  /** Ends a server without a word. */
  crash: (server) => server.kill(),
  /** The parts of an identity that this database knows. */
  identity: ['process'],
}

const POSTGRES = {
  isInstalled: () => postgres.wantPostgres() !== undefined,
  start: () => postgres.startPostgres({ fsync: 'on' }),
  urlOf: ({ url }) => url,
  clients: Object.fromEntries(
    Object.entries(postgres.CLIENTS).map(([name, connect]) => [name, async ({ url }) => connect(url)]),
  ),
  recordsOf: (client) => new PostgresRecords(postgresClient(client)),
  get: async (server, ...key) => {
    const [row] = await server.query('SELECT value FROM flakeforge_record WHERE group_name = $1 AND name = $2', key)
    return row?.value ?? null
  },
  put: (server, ...record) =>
    server.query(
      `INSERT INTO flakeforge_record (group_name, name, value) VALUES ($1, $2, $3)
        ON CONFLICT (group_name, name) DO UPDATE SET value = EXCLUDED.value`,
      record,
    ),
  remove: (server, ...key) => server.query('DELETE FROM flakeforge_record WHERE group_name = $1 AND name = $2', key),
  crash: (server) => server.kill('SIGQUIT'), // ends the processes of its sessions too
  identity: ['process', 'history'],
}

const ETCD = {
  isInstalled: () => etcd.wantEtcd() !== undefined,
  start: () => etcd.startEtcd(),
  urlOf: ({ url }) => url.replace(/^http:/, 'etcd:'),
  clients: {
    fetch: async ({ url }) => ({ client: { endpoints: url }, end: () => {} }),
  },
  /** For tests with windows of some ms: etcd's own clock has whole seconds. */
  fastClients: {
    'fetch with a clock of ms': async ({ url }) => {
      const clock = {
        get now() {
          return Date.now()
        },
      }
      return { client: { endpoints: url, fetch: etcd.clockedFetch(clock) }, end: () => {} }
    },
  },
  recordsOf: (client) => new EtcdRecords(new Gateway(readOptions(client))),
  get: async (server, ...key) => (await server.ctl('get', '--print-value-only', recordKey(...key))) || null,
  put: (server, group, name, text) => server.ctl('put', recordKey(group, name), text),
  remove: (server, ...key) => server.ctl('del', recordKey(...key)),
  crash: (server) => server.kill(),
  identity: ['history'],
}

const MYSQL_CLIENTS = ['a pool of mysql2', 'a pool of mariadb']

/** The functions below take the database that they look into with its server. */
const mysqlTable = ({ database }) => `${database}.flakeforge_record`

const MYSQL = {
  isInstalled: () => mysql.wantMysql() !== undefined,
  async start(settings) {
    const server = await mysql.startMysql({ 'innodb-flush-method': 'fsync', ...settings })
    await server.freshUrl('ids')
    return Object.assign(server, { database: 'ids' })
  },
  urlOf: (server) => server.urlOf('ids'),
  clients: Object.fromEntries(
    MYSQL_CLIENTS.map((name) => [name, (server) => mysql.CLIENTS[name](server.urlOf('ids'))]),
  ),
  recordsOf: (client) => new MysqlRecords(mysqlClient(client)),
  get: async (server, ...key) => {
    const query = `SELECT value FROM ${mysqlTable(server)} WHERE group_name = ? AND name = ?`
    const [row] = await server.query(query, key)
    return row === undefined ? null : String(row.value)
  },
  put: (server, ...record) =>
    server.query(`REPLACE INTO ${mysqlTable(server)} (group_name, name, value) VALUES (?, ?, ?)`, record),
  remove: (server, ...key) => server.query(`DELETE FROM ${mysqlTable(server)} WHERE group_name = ? AND name = ?`, key),
  crash: (server) => server.kill(),
  identity: ['process', 'history'],
}

/** All of them, by the names of their test files. */
export const DATABASES = { redis: REDIS, postgres: POSTGRES, etcd: ETCD, mysql: MYSQL }

/** A server of the test's own, which keeps what it acknowledges; and its address. */
export async function startDurable(t, kind, settings) {
  const server = stopAfter(t, await kind.start(settings))
  return { server, url: kind.urlOf(server) }
}
