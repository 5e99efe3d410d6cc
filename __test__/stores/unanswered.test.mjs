// A client whose promises never settle: a member waits for them only for a time, and goes on with the next connection.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import * as iovalkey from 'iovalkey'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startProxy } from '../servers/proxy.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const rooms = '../../target/rooms/lib/stores'
const { postgresClient } = require(`${rooms}/postgres/client.js`)
const { redisStore } = require(`${rooms}/redis.js`)
const { BUDGET } = require(`${rooms}/time-budget.js`)

const withRedis = wantRedis() === undefined ? anyTest.skip : anyTest
const withPostgres = wantPostgres() === undefined ? anyTest.skip : anyTest
const withMysql = wantMysql() === undefined ? anyTest.skip : anyTest

async function linkTo(t, server) {
  const proxy = await startProxy(server.port)
  t.teardown(() => proxy.stop())
  return proxy
}

for (const [name, Kind] of Object.entries({ ioredis: Redis, iovalkey: iovalkey.Valkey }))
  withRedis(
    `${name} that forgets its commands: the member renews on the next connection, as do other stores`,
    async (t) => {
      const proxy = await linkTo(t, stopAfter(t, await startRedis()))
      const client = new Kind({ port: proxy.port, autoResendUnfulfilledCommands: false })
      client.on('error', () => {})
      t.teardown(() => client.disconnect())
      const group = `g${name}`
      await FlakeId.createGroup(lease.redisStore(client), { group, ttlMs: 9000, skewMs: 1000 })
      const flake = await FlakeId.join(lease.redisStore(client), { group, ttlMs: 9000, skewMs: 1000 })
      const renewed = once(flake, 'renewed')
      proxy.lose() // the renewal is sent, and not answered
      await once(flake, 'renewal-failed')
      proxy.cut()
      await renewed
      t.is(typeof flake.nextBigInt(), 'bigint')
      t.is((await lease.redisStore(client).list(group)).length, 1)
      await flake.close()
    },
  )

/** How often a client sends a script. */
function counterOf(client) {
  const { evalsha } = client
  const sent = { count: 0 }
  client.evalsha = (...args) => {
    sent.count++
    return evalsha.apply(client, args)
  }
  return sent
}

withRedis('a call that was given up blocks the next ones while its connection may still answer', async (t) => {
  const server = stopAfter(t, await startRedis())
  const proxy = await linkTo(t, server)
  const client = new Redis({ port: proxy.port, autoResendUnfulfilledCommands: false })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  const store = lease.redisStore(client)
  await store.list('g')
  proxy.lose()
  const sent = counterOf(client)
  await Promise.all([1, 2].map(() => t.throwsAsync(store.list('g'))))
  const first = sent.count
  await t.throwsAsync(store.list('g'))
  t.is(sent.count, first, 'nothing more is sent on a connection that does not answer')
  proxy.cut()
  t.deepEqual(await store.list('g'), [])
})

withRedis(
  'a call that was given up counts as lost at last, although its client and connection say nothing',
  async (t) => {
    const proxy = await linkTo(t, stopAfter(t, await startRedis()))
    const client = new Redis({ port: proxy.port, autoResendUnfulfilledCommands: false })
    client.on('error', () => {})
    t.teardown(() => client.disconnect())
    const store = redisStore(client) // of the rooms, whose limits are not those of other tests
    await store.list('g')
    const sent = counterOf(client)
    proxy.lose()
    const usual = BUDGET.GIVEN_UP_MS
    BUDGET.GIVEN_UP_MS = BUDGET.ANSWER_MS + 3000
    t.teardown(() => {
      BUDGET.GIVEN_UP_MS = usual
    })
    const start = performance.now()
    await t.throwsAsync(store.list('g'))
    t.is(sent.count, 1)
    const next = t.throwsAsync(store.list('g'))
    await until(() => sent.count === 2, { limitMs: 20_000 })
    t.true(performance.now() - start >= BUDGET.GIVEN_UP_MS)
    await next
  },
)

withPostgres(
  'pg: a pool that forgets a request for a connection is asked again, and one that is late is used once',
  async (t) => {
    const server = stopAfter(t, await startPostgres())
    const { Pool } = require('pg')
    const pool = new Pool({ connectionString: server.url })
    t.teardown(() => pool.end())
    let requests = 0
    const { connect } = pool
    pool.connect = (callback) => {
      requests++
      if (requests === 1) return // for ever
      connect.call(pool, callback)
    }
    const runner = postgresClient(pool)
    const call = () => runner.run("SELECT '{}'::text", [])
    await t.throwsAsync(call(), { code: 'ERR_FLAKE_STORE' })
    t.is(requests, 1)
    await until(
      () =>
        call().then(
          () => true,
          () => false,
        ),
      { limitMs: 60_000 },
    )
    t.is(requests, 2, 'one request at a time')
    t.is(pool.idleCount, 1)
  },
)

async function losesItsConnection(t, store, close) {
  await FlakeId.createGroup(store, { group: 'g', ttlMs: 3000, skewMs: 500 })
  const flake = await FlakeId.join(store, { group: 'g', ttlMs: 3000, skewMs: 500 })
  await close()
  await until(() => {
    try {
      flake.next()
      return false
    } catch (error) {
      return error.code === 'ERR_FLAKE_LEASE_EXPIRED'
    }
  })
  const error = t.throws(() => flake.next(), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  t.regex(error.message, /The only connection of this client has ended.*a pool or an address.*a new client/)
  t.regex(error.message, /No renewal can succeed with this client\.$/)
  t.notRegex(error.message, /after a renewal/)
  await flake.close()
}

withPostgres('pg: a Client whose connection has ended does not promise a renewal', async (t) => {
  const server = stopAfter(t, await startPostgres())
  const proxy = await linkTo(t, server)
  const { Client } = require('pg')
  const url = new URL(server.url)
  url.port = proxy.port
  const client = new Client({ connectionString: url.href })
  client.on('error', () => {})
  await client.connect()
  await losesItsConnection(t, lease.postgresStore(client), () => proxy.cut())
})

for (const [name, packageName] of [
  ['mysql2', 'mysql2/promise'],
  ['mariadb', 'mariadb'],
])
  withMysql(`${name}: a connection that has ended does not promise a renewal`, async (t) => {
    const server = stopAfter(t, await startMysql())
    await server.query('CREATE DATABASE one')
    const proxy = await linkTo(t, server)
    const connection = await require(packageName).createConnection({
      host: '127.0.0.1',
      port: proxy.port,
      user: 'root',
      database: 'one',
    })
    connection.on('error', () => {})
    await losesItsConnection(t, lease.mysqlStore(connection), () => proxy.cut())
  })
