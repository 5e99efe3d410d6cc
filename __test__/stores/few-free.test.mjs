// Many members of one process, and few free slots, on a real Redis: all that can get a slot do, and the others learn
// that none is free before their time is over.

import { createRequire } from 'node:module'
import test from 'ava'
import { Redis } from 'ioredis'
import { slotName } from '../support/records.mjs'
import { DATABASES, startDurable } from './databases.mjs'
import { callsOn } from './members.mjs'

const require = createRequire(import.meta.url)
const { FlakeId } = require('../..')
const { openRedis } = require('../../target/rooms/lib/stores/redis.js')

const { redis } = DATABASES
const define = redis.isInstalled() ? test.serial : test.skip
const KEY = 'flakeforge:{g}:records'
const MEMBERS = 20
/** Longer than they wait: taken slots stay taken. */
const TTL_MS = 60_000

/** All slots but these are taken, as this one is. */
async function take(client, { slots, slot, free }) {
  const text = await client.hget(KEY, slotName(slot))
  const taken = Array.from({ length: slots }, (_, i) => i).filter((i) => !free.includes(i))
  await client.hset(KEY, Object.fromEntries(taken.map((i) => [slotName(i), text])))
  if (free.length > 0) await client.hdel(KEY, ...free.map(slotName))
}

const GROUPS = [
  { slots: 16, waitMs: 3000, free: [0, 2, 4, 6, 8, 10, 12, 15] },
  { slots: 65_536, waitMs: 20_000, free: [1, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 65_535] },
]

for (const { slots, waitMs, free } of GROUPS) {
  const title = `${MEMBERS} of one process at ${free.length} free slots of ${slots}: each slot has one, and the others get an error`
  define(title, async (t) => {
    const { url } = await startDurable(t, redis)
    const client = new Redis(url)
    t.teardown(() => client.disconnect())
    const options = { group: 'g', slots, layout: 'hazelcast', durable: true, ttlMs: TTL_MS, waitMs }
    const { slot } = await FlakeId.join(url, options)
    await take(client, { slots, slot, free })
    const joined = await Promise.allSettled(Array.from({ length: MEMBERS }, () => FlakeId.join(url, options)))
    const flakes = joined.flatMap(({ value }) => value ?? [])
    t.teardown(() => Promise.all(flakes.map((flake) => flake.close())))
    t.deepEqual(
      flakes.map(({ slot }) => slot).sort((a, b) => a - b),
      free,
    )
    const refusals = joined.flatMap(({ reason }) => reason?.code ?? [])
    t.deepEqual(refusals, Array(MEMBERS - free.length).fill('ERR_FLAKE_EXHAUSTED'))
  })
}

/** How many scripts the server ran. */
async function scriptsOf({ cli }) {
  const stats = await cli('INFO', 'commandstats')
  return Number(stats.match(/cmdstat_evalsha:calls=(\d+)/)?.[1])
}

define('stores of one address look at each slot of a large group once, together', async (t) => {
  const { server, url } = await startDurable(t, redis)
  const client = new Redis(url)
  t.teardown(() => client.disconnect())
  const options = { slots: 65_536, ttlMs: TTL_MS, durable: true }
  const calls = Array.from({ length: 10 }, () => {
    const store = openRedis(url)
    t.teardown(() => store.close())
    return callsOn({ kind: redis, server, store }, 'g', options)
  })
  const { slot } = await calls[0].acquire({ joins: true })
  await take(client, { slots: options.slots, slot, free: [] })
  const before = await scriptsOf(server)
  const full = { code: 'ERR_FLAKE_EXHAUSTED' }
  await Promise.all(calls.map(({ acquire }) => t.throwsAsync(acquire(), full)))
  const ran = (await scriptsOf(server)) - before
  t.true(ran >= 64 + 2 * calls.length && ran < 2 * 64 + 2 * calls.length, `${ran}`)
})
