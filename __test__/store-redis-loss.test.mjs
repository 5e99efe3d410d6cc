// A Redis that lost what it acknowledged: flushed, evicted, restarted, failed over. Whatever it was, no window may be
// granted that touches one from before.

import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import {
  CLIENTS,
  serverNow,
  startRedis,
  startReplica,
  untilCaughtUp,
  untilLinked,
  untilPast,
  wantRedis,
} from './servers/redis.mjs'
import { newOwner } from './store-reference.mjs'

const require = createRequire(import.meta.url)
const { redisStore } = require('../lib/stores/redis.js')
const clock = require('../lib/stores/redis/clock.js')
const advance = require('../lib/stores/redis/advance.js')

const test = wantRedis() === undefined ? anyTest.skip : anyTest

const TTL_MS = 300
const SKEW_MS = 5000
const QUIET_MS = TTL_MS + SKEW_MS + 1

/** A server, a client, and a group with one slot held. */
async function holdSlot(t, server, options = {}) {
  const { client, end } = await CLIENTS.ioredis(server)
  t.teardown(end)
  const store = redisStore(client)
  const group = randomUUID()
  const config = { fingerprint: 'f', slots: 4, ttlMs: TTL_MS, skewMs: SKEW_MS, create: true, ...options }
  const owner = newOwner()
  const member = {
    group,
    owner,
    store,
    open: (more) => store.open(group, { ...config, create: false, ...more }),
    acquire: (more) => store.acquire(group, { owner: newOwner(), host: 'host', clientNow: Date.now(), ...more }),
    renew: () => store.renew(group, { slot: 0, owner, clientNow: Date.now() }),
    release: (last) => store.release(group, { slot: 0, owner, last }),
    endQuiet: async (at = server) => {
      const key = `flakeforge:{${group}}:group`
      t.true(Number(await at.cli('HGET', key, 'quietUntil')) > (await serverNow(at)))
      await at.cli('HSET', key, 'quietUntil', String(await serverNow(at)))
    },
  }
  await store.open(group, config)
  return { ...member, grant: await member.acquire({ owner }) }
}

async function start(t, ...options) {
  const server = await startRedis(...options)
  t.teardown(() => server.stop())
  return server
}

/** Asserts that a step is refused because of a loss that it is the first to see. */
async function isQuiet(t, call, quietMs) {
  const error = await t.throwsAsync(call, { code: 'ERR_FLAKE_QUIET' })
  t.is(error.retryAt.getTime(), error.storeNow + quietMs)
  return error
}

test('SCRIPT FLUSH forgets the scripts: they are sent again', async (t) => {
  const server = await start(t)
  for (const connect of Object.values(CLIENTS)) {
    const { client, end } = await connect(server)
    t.teardown(end)
    const store = redisStore(client)
    await server.cli('SCRIPT', 'FLUSH')
    t.is(await store.advance(randomUUID(), 1n, 5n), 5n)
    await server.cli('SCRIPT', 'FLUSH')
    t.is(await store.advance(randomUUID(), 1n, 6n), 6n)
  }
})

test('FLUSHALL while a slot is held: quiet for all, then the holder has lost it', async (t) => {
  const server = await start(t)
  const { acquire, renew, endQuiet, grant, open } = await holdSlot(t, server)
  await server.cli('FLUSHALL')
  const { retryAt } = await isQuiet(t, renew(), 60_000 + SKEW_MS + 1)
  await open({ create: true })
  const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
  t.deepEqual(error.retryAt, retryAt)
  await endQuiet()
  t.is(await renew(), 'lost')
  await untilPast(server, grant.hi)
  t.true((await acquire()).lo > grant.hi)
})

const PARTIAL_LOSSES = {
  'the sorted set of ends': (key) => ['DEL', key('ends')],
  'the slot records': (key) => ['DEL', key('slots')],
  'the index of hosts': (key) => ['DEL', key('hosts')],
  'one slot record': (key) => ['HDEL', key('slots'), '0'],
}

for (const [what, command] of Object.entries(PARTIAL_LOSSES)) {
  test(`partial loss: ${what}`, async (t) => {
    const server = await start(t)
    const { group, acquire, renew, endQuiet, grant } = await holdSlot(t, server)
    const second = await acquire()
    await server.cli(...command((kind) => `flakeforge:{${group}}:${kind}`))
    const { retryAt } = await isQuiet(t, renew(), QUIET_MS)
    const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
    t.deepEqual(error.retryAt, retryAt, 'seen once')
    await untilPast(server, second.hi)
    await endQuiet()
    t.is(await renew(), 'lost')
    const next = [await acquire(), await acquire()]
    t.deepEqual(
      next.map(({ slot }) => slot),
      [0, 1],
    )
    t.true(next[0].lo > grant.hi)
  })
}

test('partial loss: the group record alone, and what is left of the slots stays below the floor', async (t) => {
  const server = await start(t)
  const { group, acquire, renew, endQuiet, grant } = await holdSlot(t, server, { ttlMs: 60_000 })
  await server.cli('DEL', `flakeforge:{${group}}:group`)
  await isQuiet(t, acquire(), 60_000 + SKEW_MS + 1)
  await endQuiet()
  t.is(await renew(), 'lost')
  const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.is(error.retryAt.getTime(), grant.hi + 1)
})

test('partial loss: without the index of owners nothing is unsafe, only the retry is not known', async (t) => {
  const server = await start(t)
  const { group, owner, acquire, renew, grant } = await holdSlot(t, server, { ttlMs: 60_000 })
  await server.cli('DEL', `flakeforge:{${group}}:owners`)
  t.is((await acquire({ owner })).slot, 1)
  t.like(await renew(), { slot: 0, lo: grant.lo })
})

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`a restart after ${signal}: quiet, then the holder gets a new window of its slot`, async (t) => {
    const server = await start(t, '--appendonly', 'yes', '--appendfsync', 'always')
    const { store, owner, group, acquire, renew, endQuiet, grant } = await holdSlot(t, server)
    await store.advance(group, 10n, 0n)
    await server.kill(signal)
    await server.start()
    await isQuiet(t, acquire(), QUIET_MS)
    await t.throwsAsync(renew(), { code: 'ERR_FLAKE_QUIET' })
    t.like((await store.list(group))[0], { owner, hi: grant.hi })
    await untilPast(server, grant.hi)
    await endQuiet()
    const renewed = await renew()
    t.is(renewed.slot, 0)
    t.true(renewed.lo > grant.hi)
    t.is(renewed.lo, renewed.storeNow)
    t.is((await acquire()).slot, 1)

    await t.throwsAsync(store.advance(group, 10n), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
    t.is(await store.advance(group, 0n, 5n), 10n)
  })
}

test('a restart that loses everything: the absent group is quiet', async (t) => {
  const server = await start(t)
  const { acquire } = await holdSlot(t, server)
  await server.kill()
  await server.start()
  await isQuiet(t, acquire(), 60_000 + SKEW_MS + 1)
})

test('a release in the quiet period gives the slot back and leaves its end', async (t) => {
  const server = await start(t, '--appendonly', 'yes', '--appendfsync', 'always')
  const { store, group, release, renew, endQuiet, grant } = await holdSlot(t, server, { ttlMs: 60_000 })
  await server.kill()
  await server.start()
  await release(grant.lo)
  t.deepEqual(await store.list(group), [{ slot: 0, host: 'host', lo: grant.lo, hi: grant.hi }])
  await endQuiet()
  t.is(await renew(), 'lost')
})

test('a tombstone from before a restart: the next group waits for what may have followed it', async (t) => {
  const server = await start(t, '--appendonly', 'yes', '--appendfsync', 'always')
  const { store, group, acquire, open } = await holdSlot(t, server)
  await store.destroy(group)
  await server.kill()
  await server.start()
  await store.destroy(group)
  await open({ create: true })
  const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
  t.true(error.retryAt - error.storeNow > 60_000)
})

test('a group destroyed after a loss leaves the wait to the next', async (t) => {
  const server = await start(t)
  const { store, group, acquire, open } = await holdSlot(t, server, { ttlMs: 60_000 })
  await server.cli('DEL', `flakeforge:{${group}}:slots`)
  await store.destroy(group)
  await open({ create: true, ttlMs: 2000 })
  const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
  t.true(error.retryAt - error.storeNow > 60_000)
})

/** A primary with a group and one slot held, as `member`, and a replica that has all of it. */
async function startPair(t) {
  const primary = await start(t)
  const replica = await startReplica(primary)
  t.teardown(() => replica.stop())
  const member = await holdSlot(t, primary)
  await untilCaughtUp(replica, primary)
  return { primary, replica, member }
}

/** A member of the same group on the server that took over. */
async function moveTo(t, server, { group, owner }) {
  const { client, end } = await CLIENTS.ioredis(server)
  t.teardown(end)
  const store = redisStore(client)
  await store.open(group, { fingerprint: 'f', slots: 4, ttlMs: TTL_MS, skewMs: SKEW_MS, create: false })
  return {
    acquire: () => store.acquire(group, { owner: newOwner(), host: 'host', clientNow: Date.now() }),
    renew: () => store.renew(group, { slot: 0, owner, clientNow: Date.now() }),
  }
}

test('a promoted replica may lack the last grants: quiet', async (t) => {
  const { primary, replica, member } = await startPair(t)
  await primary.kill()
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  const { acquire, renew } = await moveTo(t, replica, member)
  await t.throwsAsync(renew(), { code: 'ERR_FLAKE_QUIET' })
  await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
  await untilPast(replica, member.grant.hi)
  await member.endQuiet(replica)
  const renewed = await renew()
  t.true(renewed.lo > member.grant.hi)
  t.is((await acquire()).slot, 1)
})

test('a primary that became a replica and is promoted again may lack what was granted meanwhile: quiet', async (t) => {
  const { primary: first, replica: second, member } = await startPair(t)
  await second.cli('REPLICAOF', 'NO', 'ONE')
  await first.cli('REPLICAOF', '127.0.0.1', String(second.port))
  await untilLinked(first)
  await first.cli('REPLICAOF', 'NO', 'ONE') // before the first step on the other
  await isQuiet(t, member.renew(), QUIET_MS)
  await t.throwsAsync(member.acquire(), { code: 'ERR_FLAKE_QUIET' })
})

test('a promoted server that forgets its promotion, having no replicas, has lost nothing by that', async (t) => {
  const primary = await start(t)
  const replica = await startReplica(primary, '--repl-backlog-ttl', '1')
  t.teardown(() => replica.stop())
  const { client, end } = await CLIENTS.ioredis(replica)
  t.teardown(end)
  const promotion = async () => /master_replid2:(\w+)/.exec(await client.info('replication'))[1]
  await primary.kill()
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  const { store, group, acquire, renew, open } = await holdSlot(t, replica, { ttlMs: 60_000 })
  await store.advance(group, 10n, 0n)
  const [ended, config] = [randomUUID(), { fingerprint: 'f', slots: 4, ttlMs: TTL_MS, skewMs: SKEW_MS, create: true }]
  await store.open(ended, config)
  await store.destroy(ended)
  t.regex(await promotion(), /[^0]/)
  while (/[^0]/.test(await promotion())) await sleep(100)
  await open()
  t.is((await renew()).slot, 0)
  t.is((await acquire()).slot, 1)
  t.is(await store.advance(group, 10n), 10n)
  await store.open(ended, config)
  await untilPast(replica, await serverNow(replica)) // the floor is the end of the one before
  t.is((await store.acquire(ended, { owner: newOwner(), host: 'host', clientNow: Date.now() })).slot, 0)

  // A later promotion shows all the same, also in a record that tells of the first.
  await primary.start()
  await replica.cli('REPLICAOF', '127.0.0.1', String(primary.port))
  await untilLinked(replica)
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  t.regex(await promotion(), /[^0]/)
  await t.throwsAsync(store.advance(group, 10n), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  await t.throwsAsync(renew(), { code: 'ERR_FLAKE_QUIET' })
})

test('an INFO that shows no run_id is an error: lost writes would not be noticed', async (t) => {
  const { port } = await start(t)
  const client = new Redis(port)
  t.teardown(() => client.disconnect())
  const call = (source) => client.eval(source, 1, 'flakeforge:{c}:counter', '1', '0', '', 'lineage')
  await t.throwsAsync(call(`${clock.replace("'run_id'", "'no_id'")}\n${advance}`), { message: /shows no run_id/ })
  t.is(await client.dbsize(), 0)
  t.is((await call(`${clock}\n${advance}`))[0], 'value')
})

test('a first replica that comes, and goes, takes nothing from its primary: no quiet period', async (t) => {
  const server = await start(t)
  const { acquire, renew } = await holdSlot(t, server, { ttlMs: 60_000 })
  const replica = await startReplica(server)
  t.teardown(() => replica.stop())
  t.is((await renew()).slot, 0)
  await replica.kill()
  t.is((await acquire()).slot, 1)
})

test('a promoted replica that had nothing yet: quiet', async (t) => {
  const [primary, replica] = [await start(t), await start(t)]
  const member = await holdSlot(t, primary)
  await primary.kill()
  const { acquire } = await moveTo(t, replica, member)
  const error = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_QUIET' })
  t.true(error.retryAt > member.grant.hi)
})

test('a replica that was not promoted takes no step', async (t) => {
  const { replica, member } = await startPair(t)
  await t.throwsAsync(moveTo(t, replica, member), { code: 'ERR_FLAKE_STORE', message: /READONLY/ })
})

test('a step that the server refuses for want of memory leaves nothing half done', async (t) => {
  const server = await start(t)
  const { store, group, acquire, grant } = await holdSlot(t, server, { ttlMs: 60_000 })
  const before = await store.list(group)
  await server.cli('CONFIG', 'SET', 'maxmemory', '1')
  await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_STORE', message: /OOM/ })
  await server.cli('CONFIG', 'SET', 'maxmemory', '0')
  t.deepEqual(await store.list(group), before)
  const next = await acquire()
  t.is(next.slot, grant.slot + 1)
})
