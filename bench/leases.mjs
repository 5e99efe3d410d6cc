// Leases on real servers, which this starts: what a lease costs on the hot path, and how long a step takes on each store
// with few slots taken and with many.

import { randomBytes } from 'node:crypto'
import { startEtcd } from '../__test__/servers/etcd.mjs'
import { startPostgres } from '../__test__/servers/postgres.mjs'
import { startRedis } from '../__test__/servers/redis.mjs'
import FlakeId from '../index.mjs'
import stores from '../lib/stores/open.js'
import report from './report.js'

const { median, ofProcess, printPromises } = report
const INTERLEAVED = 9
const STEPS = 300
const CONFIG = { fingerprint: 'bench', slots: 4096, ttlMs: 60_000, skewMs: 5_000, create: true }

const SERVERS = {
  redis: [() => startRedis(), 1],
  postgres: [() => startPostgres({ fsync: 'on' }), 2],
  etcd: [() => startEtcd(), 5],
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

const request = () => ({ owner: randomBytes(16).toString('hex'), host: 'bench', clientNow: Date.now() })

/** Median ms of acquire and of renew while this many slots are taken. */
async function steps(store, taken) {
  const group = `taken-${taken}`
  await store.open(group, CONFIG)
  for (let i = 0; i < taken; i++) await store.acquire(group, { ...request(), host: `h${i}` })
  const held = []
  const acquire = await p50(STEPS, async () => {
    const asked = request()
    const { slot } = await store.acquire(group, asked)
    held.push({ slot, owner: asked.owner })
  })
  const renew = await p50(STEPS, (i) => store.renew(group, { ...held[i], clientNow: Date.now() }))
  return { acquire, renew }
}

/** On each store: every step with ten slots taken, and with a thousand. */
async function measureSteps(name) {
  const [start] = SERVERS[name]
  const server = await start()
  const { store, close } = stores.openStore(server.url.replace(/^http:/, 'etcd:'))
  try {
    const few = await steps(store, 10)
    const many = await steps(store, 1000)
    return { few, many }
  } finally {
    await close()
    await server.stop()
  }
}

/** next() with a lease and without one, taking turns. */
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
  for (const name of Object.keys(SERVERS)) measured[name] = await measureSteps(name)
  print(measured)
}

function print({ hot, ...rest }) {
  console.log(`\nLeases, medians\n\nnext() ${hot[0].toFixed(1)} ns, leased ${hot[1].toFixed(1)} ns`)
  const promises = [['next() with a lease / without', () => hot[1] / hot[0], 1.05]]
  for (const [name, [, bar]] of Object.entries(SERVERS)) {
    for (const step of ['acquire', 'renew']) {
      const { few, many } = rest[name]
      promises.push([`${name}: ${step}, p50 in ms, 10 slots taken`, () => few[step], bar])
      promises.push([`${name}: ${step}, 1 000 slots taken / 10`, () => many[step] / few[step], 1.25])
    }
  }
  printPromises(promises)
}
