// A wrong password is a secret too: rotated yesterday, or mistyped by a character. No client of any database gets it into an
// error, however deep a logger looks.

import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import util from 'node:util'
import anyTest from 'ava'
import { Cluster, Redis } from 'ioredis'
import * as iovalkey from 'iovalkey'
import pg from 'pg'
import postgresJs from 'postgres'
import * as nodeRedis from 'redis'
import * as etcd from '../servers/etcd.mjs'
import * as mysql from '../servers/mysql.mjs'
import * as postgres from '../servers/postgres.mjs'
import * as redis from '../servers/redis.mjs'
import { stopAfter } from '../servers/server.mjs'
import { lease } from '../support/index.mjs'

const require = createRequire(import.meta.url)
const mysql2 = require('mysql2')
const mariadb = require('mariadb')
const rooms = '../../target/rooms/lib/stores'
const { readAddress } = require(`${rooms}/redis/address.js`)
const { openIoredis } = require(`${rooms}/redis/own-ioredis.js`)
const { openNodeRedis } = require(`${rooms}/redis/own-node-redis.js`)
const { openPg, openPostgresJs } = require(`${rooms}/postgres/url.js`)
const { openMariadb, openMysql2 } = require(`${rooms}/mysql/url.js`)
const { PostgresRecords } = require(`${rooms}/postgres/records.js`)
const { MysqlRecords } = require(`${rooms}/mysql/records.js`)
const { RedisRecords } = require(`${rooms}/redis/records.js`)

const SECRET = 'S3cr3tPw'

const printed = (error) =>
  error === undefined
    ? ''
    : [
        util.inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
        JSON.stringify(error),
        JSON.stringify({ ...error, cause: error.cause }),
        printed(error.cause),
        ...(error.errors ?? []).map(printed),
      ].join('\n')

async function staysSecret(t, call) {
  const error = await t.throwsAsync(call)
  t.regex(error.code, /^ERR_FLAKE_/)
  t.false(printed(error).includes(SECRET), printed(error))
  return error
}

const withRedis = redis.wantRedis() === undefined ? anyTest.skip : anyTest
const withPostgres = postgres.wantPostgres() === undefined ? anyTest.skip : anyTest
const withMysql = mysql.wantMysql() === undefined ? anyTest.skip : anyTest
const withEtcd = etcd.wantEtcd() === undefined ? anyTest.skip : anyTest

/** A Redis whose password is another one. */
async function startProtected(t) {
  const server = stopAfter(t, await redis.startRedis())
  await server.cli('CONFIG', 'SET', 'requirepass', 'another')
  return server
}

const PACKAGES = {
  ioredis: (address) => openIoredis({ Redis, Cluster }, address),
  iovalkey: (address) => openIoredis(iovalkey, address),
  'node-redis': (address) => openNodeRedis(nodeRedis, address),
}

for (const [name, open] of Object.entries(PACKAGES))
  withRedis(`redis, by ${name}: an address with a wrong password`, async (t) => {
    const server = await startProtected(t)
    const { port } = server
    for (const url of [
      `redis://:${SECRET}@127.0.0.1:${port}`,
      `redis://default:${SECRET}@127.0.0.1:${port}/1`,
      `redis-sentinel://:${SECRET}@127.0.0.1:${port}#primary`,
      `redis-cluster://:${SECRET}@127.0.0.1:${port}`,
    ]) {
      const runner = open(readAddress(url))
      t.teardown(() => runner.close())
      const error = await staysSecret(t, () => new RedisRecords(runner).read('g', ['group']))
      t.is(error.code, 'ERR_FLAKE_STORE', url)
    }
  })

withRedis("redis, by users' clients with a wrong password", async (t) => {
  const server = await startProtected(t)
  for (const Kind of [Redis, iovalkey.Valkey]) {
    const client = new Kind({ port: server.port, password: SECRET, maxRetriesPerRequest: 1 })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    await staysSecret(t, () => lease.redisStore(client).list('g'))
  }
  const client = nodeRedis.createClient({ url: server.url, password: SECRET })
  client.on('error', () => {})
  client.connect().catch(() => {})
  t.teardown(() => client.destroy())
  await staysSecret(t, () => lease.redisStore(client).list('g'))
})

withRedis('redis: a client that a store refuses is not shown', async (t) => {
  for (const client of [
    new Redis({ lazyConnect: true, password: SECRET, db: Number.NaN }),
    new Redis({ lazyConnect: true, password: SECRET, keyPrefix: 'x' }),
  ]) {
    const error = t.throws(() => lease.redisStore(client), { code: 'ERR_FLAKE_OPTION' })
    t.false(printed(error).includes(SECRET))
  }
})

withRedis('redis: a server that repeats the password', async (t) => {
  const server = stopAfter(t, await redis.startRedis('--rename-command', 'AUTH', ''))
  for (const open of Object.values(PACKAGES)) {
    const url = `redis://:${SECRET}@127.0.0.1:${server.port}`
    lease.openStore(url).close()
    const runner = open(readAddress(url))
    t.teardown(() => runner.close())
    const read = () => new RedisRecords(runner).read('g', ['group'])
    const error = await read().catch((thrown) => thrown)
    t.false(printed(error).includes(SECRET), printed(error))
  }
})

/** A PostgreSQL that asks the role `u` for another password. */
async function startProtectedPostgres(t) {
  const server = stopAfter(t, await postgres.startPostgres({ password_encryption: 'scram-sha-256' }))
  await server.query("CREATE ROLE u LOGIN PASSWORD 'another'")
  const rules = join(server.folder, 'data', 'pg_hba.conf')
  await writeFile(rules, `host all u all scram-sha-256\n${await readFile(rules, 'utf8')}`)
  await server.query('SELECT pg_reload_conf()')
  return server
}

withPostgres('postgres: every client and an address with a wrong password', async (t) => {
  const server = await startProtectedPostgres(t)
  const url = server.urlOf(`u:${SECRET}`)
  const inQuery = `${server.urlOf('u')}?password=${SECRET}`
  for (const address of [url, inQuery])
    for (const open of [(given) => openPg(pg, given), (given) => openPostgresJs(postgresJs, given)]) {
      const runner = open(address)
      t.teardown(() => runner.close())
      const error = await staysSecret(t, () => new PostgresRecords(runner).read('g', ['group']))
      t.regex(error.message, /password authentication failed/)
    }
  for (const open of Object.values(postgres.CLIENTS)) {
    const { client, end } = open(url)
    t.teardown(end)
    await staysSecret(t, () => lease.postgresStore(client).list('g'))
  }
  const single = new pg.Client(url)
  await t.throwsAsync(single.connect())
  await staysSecret(t, () => lease.postgresStore(single).list('g'))
})

withMysql('mysql: every client and an address with a wrong password', async (t) => {
  const server = stopAfter(t, await mysql.startMysql())
  await server.query("CREATE USER u@'%' IDENTIFIED BY 'another'")
  const url = `mysql://u:${SECRET}@127.0.0.1:${server.port}/test`
  for (const open of [(given) => openMysql2(mysql2, given), (given) => openMariadb(mariadb, given)]) {
    const runner = open(url)
    t.teardown(() => runner.close())
    const error = await staysSecret(t, () => new MysqlRecords(runner).read('g', ['group']))
    t.regex(error.message, /Access denied/)
  }
  const options = { host: '127.0.0.1', port: server.port, user: 'u', password: SECRET, database: 'test' }
  for (const pool of [mysql2.createPool(options), mariadb.createPool({ ...options, acquireTimeout: 2000 })]) {
    t.teardown(() => pool.end())
    await staysSecret(t, () => lease.mysqlStore(pool).list('g'))
  }
})

withEtcd('etcd: an address with a wrong password', async (t) => {
  const server = await etcd.startEtcd()
  stopAfter(t, server)
  const [host] = [server.url.replace(/^https?:\/\//, '')]
  await server.ctl('user', 'add', 'root:another')
  await server.ctl('user', 'grant-role', 'root', 'root')
  await server.ctl('auth', 'enable')
  const store = lease.openStore(`etcd://root:${SECRET}@${host}`)
  await staysSecret(t, () => store.list('g'))
})
