// A process that opens stores, for tls.test.mjs: NODE_EXTRA_CA_CERTS is read when a process starts. Prints the error of a call
// to each, as JSON.

import { createRequire } from 'node:module'
import { openStore } from 'flakeforge/lease'

const require = createRequire(import.meta.url)
const rooms = (name) => require(`../../target/rooms/lib/stores/${name}.js`)

const { DatabaseStore } = rooms('database')
const { readAddress } = rooms('redis/address')
const { MysqlRecords } = rooms('mysql/records')
const { PostgresRecords } = rooms('postgres/records')

const ioredis = (name) => (url) => rooms('redis/own-ioredis').openIoredis(require(name), readAddress(url))
const redisStore = (open) => (url) => new DatabaseStore(new (rooms('redis/records').RedisRecords)(open(url)))

/** How each client package opens an address. */
const OPEN = {
  ioredis: redisStore(ioredis('ioredis')),
  iovalkey: redisStore(ioredis('iovalkey')),
  redis: redisStore((url) => rooms('redis/own-node-redis').openNodeRedis(require('redis'), readAddress(url))),
  pg: (url) => new DatabaseStore(new PostgresRecords(rooms('postgres/url').openPg(require('pg'), url))),
  postgres: (url) =>
    new DatabaseStore(new PostgresRecords(rooms('postgres/url').openPostgresJs(require('postgres'), url))),
  mysql2: (url) => new DatabaseStore(new MysqlRecords(rooms('mysql/url').openMysql2(require('mysql2'), url), 'd')),
  mariadb: (url) => new DatabaseStore(new MysqlRecords(rooms('mysql/url').openMariadb(require('mariadb'), url), 'd')),
  fetch: openStore,
}

// Loading takes longer than some limits, so all packages are loaded before the first call.
const clients = JSON.parse(process.argv[2])
for (const [name] of clients) if (name !== 'fetch') require(name)

async function failureOf([name, url]) {
  try {
    const store = OPEN[name](url)
    await store.list('any').finally(() => store.close())
    return null
  } catch ({ message }) {
    return message
  }
}

// A few at a time, or they would keep each other from their time limits.
const failures = []
let next = 0
async function openSome() {
  while (next < clients.length) {
    const i = next++
    failures[i] = await failureOf(clients[i])
  }
}
await Promise.all([openSome(), openSome(), openSome()])
console.log(JSON.stringify(failures))
process.exit()
