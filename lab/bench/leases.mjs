// Leases on real servers, which this starts: the cost of a lease on the hot path, the time of a step on each database,
// and how many calls and how much time a crowd of new members needs.

import { randomBytes } from 'node:crypto'
import FlakeId from 'flakeforge'
import { mysqlStore, postgresStore } from 'flakeforge/lease'
import mysql2 from 'mysql2/promise'
import pg from 'pg'
import { startEtcd } from '../../__test__/servers/etcd.mjs'
import { startMysql } from '../../__test__/servers/mysql.mjs'
import { startPostgres } from '../../__test__/servers/postgres.mjs'
import { startRedis, startReplica } from '../../__test__/servers/redis.mjs'
import { until } from '../../__test__/servers/server.mjs'
import stores from '../../target/rooms/lib/stores/open.js'
import report from './report.js'

const { median, ofProcess, printPromises } = report
const INTERLEAVED = 9
const STEPS = 300
const WARM_UP = 1000
const CROWD = 300
const NEARLY_ALL = 1000
const CONFIG = { fingerprint: 'bench', slots: 1024, ttlMs: 60_000, skewMs: 100, durable: false }

const CONNECTIONS = 20

/** A crowd in one process needs more connections than a generator has. */
const POOLS = {
  postgres(url) {
    const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
    return { store: postgresStore(pool), close: () => pool.end() }
  },
  mysql(url) {
    const pool = mysql2.createPool({ uri: url, connectionLimit: CONNECTIONS })
    return { store: mysqlStore(pool), close: () => pool.end() }
  },
}

const openUrl = (url) => stores.openGiven(url.replace(/^http:/, 'etcd:'))

/** How to start each server, and its bars: acquire and renew in ms, a crowd in ms. */
const SERVERS = {
  redis: { start: () => startRedis(), step: 0.4, crowd: 200 },
  'redis with a replica': { start: startReplicatedRedis, step: 0.8, crowd: 400 },
  postgres: { start: () => startPostgres({ fsync: 'on' }), step: 3, crowd: 1000 },
  mysql: { start: startOneMysql, step: 4, crowd: 1000 },
  etcd: { start: () => startEtcd(), step: 8, crowd: 5000 },
}

/** A server that needs its replica for each write. */
async function startReplicatedRedis() {
  const server = await startRedis('--min-replicas-to-write', '1')
  const replica = await startReplica(server)
  // The server counts its replicas once a second.
  await until(async () => (await server.cli('INFO', 'replication')).includes('min_slaves_good_slaves:1'))
  const stop = () => Promise.all([server.stop(), replica.stop()])
  return { url: server.url, stop }
}

/** A server with a database, which waits for its disk. */
async function startOneMysql() {
  const server = await startMysql({ 'innodb-flush-method': 'fsync' })
  return Object.assign(server, { url: await server.freshUrl('bench') })
}

const p50 = async (count, step) => {
  const times = []
  for (let i = 0; i < count; i++) {
    const start = performance.now()
    await step(i)
    times.push(performance.now() - start)
  }
  return median(times)
}

const seeker = (host = 'bench') => ({ config: CONFIG, owner: randomBytes(16).toString('hex'), host, joins: true })

const make = (store, group) => store.create(group, CONFIG)

async function take(store, group, asked = seeker()) {
  const { slot, hi } = await store.acquire(group, asked)
  return { config: CONFIG, owner: asked.owner, slot, hi }
}

/** Median ms of acquire and of renew. */
async function steps(store) {
  const held = []
  await make(store, 'steps')
  for (let i = 0; i < WARM_UP; i++) await store.release('steps', { ...(await take(store, 'steps')), last: -1 })
  const acquire = await p50(STEPS, async () => held.push(await take(store, 'steps')))
  const renew = await p50(STEPS, (i) => store.renew('steps', held[i]))
  return { acquire, renew }
}

/** Many new members at once: how long until all have a slot, in ms, and how many calls each needed. */
async function crowd(store, calls, group, hostOf) {
  await make(store, group)
  const before = calls.count
  const start = performance.now()
  await Promise.all(Array.from({ length: CROWD }, (_, i) => take(store, group, seeker(hostOf(i)))))
  return { ms: performance.now() - start, calls: (calls.count - before) / CROWD }
}

/** How many calls the last free slots of a group cost, at most. */
async function search(store, calls) {
  await make(store, 'search')
  const most = { calls: 0 }
  for (let taken = 0; taken < CONFIG.slots; taken++) {
    const before = calls.count
    await take(store, 'search', seeker(`host ${taken}`))
    if (taken >= NEARLY_ALL) most.calls = Math.max(most.calls, calls.count - before)
  }
  return most.calls
}

/** Counts the requests to the database: each read and each swap is one call. */
function counted(records) {
  const calls = { count: 0 }
  for (const name of ['read', 'swap']) {
    const call = records[name].bind(records)
    records[name] = (...args) => {
      calls.count += 1
      return call(...args)
    }
  }
  return calls
}

async function measureDatabase(name) {
  const server = await SERVERS[name].start()
  const one = openUrl(server.url)
  const many = (POOLS[name] ?? openUrl)(server.url)
  const calls = counted(many.store.records)
  try {
    const { acquire, renew } = await steps(one.store)
    const spread = await crowd(many.store, calls, 'spread', (i) => `host ${i}`)
    const oneHost = await crowd(many.store, calls, 'one host', () => 'host')
    return { acquire, renew, spread, oneHost, search: await search(many.store, calls) }
  } finally {
    await Promise.all([one.close(), many.close()])
    await server.stop()
  }
}

/** next() with a lease and without one, alternating. */
function measureHotPath(url) {
  const without = []
  const leased = []
  for (let i = 0; i < INTERLEAVED; i++) {
    without.push(ofProcess('measure.js', 'call', 'next: flakeforge'))
    process.env.BENCH_STORE = url
    leased.push(ofProcess('measure.js', 'call', 'next: leased'))
  }
  return [median(without), median(leased)]
}

export async function run() {
  const redis = await startRedis()
  const measured = {}
  try {
    await FlakeId.createGroup(redis.url, { group: 'bench' })
    measured.hot = measureHotPath(redis.url)
  } finally {
    await redis.stop()
  }
  for (const name of Object.keys(SERVERS)) measured[name] = await measureDatabase(name)
  print(measured)
}

function print({ hot, ...rest }) {
  console.log(`\nLeases, medians\n\nnext() ${hot[0].toFixed(1)} ns, leased ${hot[1].toFixed(1)} ns`)
  const promises = [['next() with a lease / without', () => hot[1] / hot[0], 1.05]]
  for (const [name, bars] of Object.entries(SERVERS)) {
    const { acquire, renew, spread, oneHost, search } = rest[name]
    promises.push([`${name}: acquire, p50 in ms`, () => acquire, bars.step])
    promises.push([`${name}: renew, p50 in ms`, () => renew, bars.step])
    for (const [where, { ms, calls }] of Object.entries({ 'on as many hosts': spread, 'on one host': oneHost })) {
      promises.push([`${name}: ${CROWD} newcomers at once ${where}, ms`, () => ms, bars.crowd])
      promises.push([`${name}: ${CROWD} newcomers at once ${where}, calls each`, () => calls, 6])
    }
    promises.push([`${name}: one of the last 24 slots of 1 024, calls at most`, () => search, 40])
  }
  printPromises(promises)
}
