// When a swap on a Redis with replicas is clean: once the required number of replicas confirms this very write.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { CLIENTS, startRedis, startReplica, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { testInTurn } from '../support/turns.mjs'
import { REDIS } from './databases/redis.mjs'

const require = createRequire(import.meta.url)
const { redisClient } = require('../../target/rooms/lib/stores/redis/client.js')
const { RedisRecords } = require('../../target/rooms/lib/stores/redis/records.js')

const test = testInTurn(wantRedis() === undefined ? anyTest.skip : anyTest, 8)

const UNACKNOWLEDGED = { code: 'ERR_FLAKE_STORE', message: /acknowledged it within/ }
const recordsOf = (client) => new RedisRecords(redisClient(client))

/** A primary that demands this many of its replicas; the lag is so long that it always accepts writes itself. */
async function startPrimary(t, { replicas, demands }) {
  const lag = ['--min-replicas-max-lag', '1000']
  const primary = stopAfter(t, await startRedis('--min-replicas-to-write', String(demands), ...lag))
  const followers = []
  for (let i = 0; i < replicas; i++) followers.push(stopAfter(t, await startReplica(primary)))
  return { primary, replicas: followers }
}

/** Stops a replica's process. Its primary still counts its earlier acknowledgements as fresh. */
async function freeze(t, { pid }) {
  await stopProcess(pid)
  t.teardown(() => process.kill(pid, 'SIGCONT'))
}

/** Writes a record with a new text over any existing one. */
async function write(records, group = 'g') {
  const { identity, values } = await records.read(group, ['group'])
  return records.swap(group, 'group', values[0], `${Math.random()}`, identity)
}

/** Clean while the replica follows, unknown while it is stopped, clean again. */
async function needsAcknowledgement(t, client, replica, group) {
  const records = recordsOf(client)
  t.true(await write(records, group))
  await stopProcess(replica.pid)
  await t.throwsAsync(write(records, group), UNACKNOWLEDGED)
  process.kill(replica.pid, 'SIGCONT')
  t.true(await write(records, group))
}

const IN_CLUSTERS = Object.entries(REDIS.rows).filter(([, { site }]) => site === 'cluster')

test('Redis Cluster: the master that executed the swap is asked for its setting and its replicas, and no other node', async (t) => {
  const site = await REDIS.sites.cluster()
  t.teardown(() => site.stop())
  const all = [...site.nodes, ...site.replicas]
  const areAsked = async (command) => {
    const stats = await Promise.all(all.map((node) => node.cli('INFO', 'commandstats')))
    return stats.filter((each) => each.includes(`cmdstat_${command}:`)).length
  }
  for (const [name, row] of IN_CLUSTERS) {
    const { client, end } = await row.connect(site)
    t.teardown(end)
    for (const node of all) await node.cli('CONFIG', 'RESETSTAT')
    const records = (row.recordsOf ?? recordsOf)(client)
    for (let i = 0; i < 3; i++) t.true(await write(records, name))
    t.deepEqual([await areAsked('config|get'), await areAsked('wait')], [1, 1], name)
  }
})

test('as many replicas as min-replicas-to-write must have it', async (t) => {
  const { primary, replicas } = await startPrimary(t, { replicas: 2, demands: 2 })
  const { client, end } = await CLIENTS.ioredis(primary)
  t.teardown(end)
  t.true(await write(recordsOf(client)))
  await freeze(t, replicas[0])
  const error = await t.throwsAsync(write(recordsOf(client)), UNACKNOWLEDGED)
  t.regex(error.message, /1 instead of 2 replicas/)
})

test('a majority must have it where the settings demand fewer', async (t) => {
  const { primary, replicas } = await startPrimary(t, { replicas: 3, demands: 1 })
  const { client, end } = await CLIENTS.ioredis(primary)
  t.teardown(end)
  t.true(await write(recordsOf(client)))
  for (const replica of replicas.slice(1)) await freeze(t, replica)
  const error = await t.throwsAsync(write(recordsOf(client)), UNACKNOWLEDGED)
  t.regex(error.message, /1 instead of 2 replicas/)
})

test('without replicas a swap is clean at once; with replicas that need not have it too', async (t) => {
  const primary = stopAfter(t, await startRedis())
  const { client, end } = await CLIENTS.ioredis(primary)
  t.teardown(end)
  const records = recordsOf(client)
  const asked = async () => (await primary.cli('INFO', 'commandstats')).includes('cmdstat_wait')
  t.true(await write(records))
  await freeze(t, stopAfter(t, await startReplica(primary)))
  t.true(await write(records))
  t.false(await asked())
})

test('a user without WAIT and CONFIG: the replica reports within a second', async (t) => {
  const { primary, replicas } = await startPrimary(t, { replicas: 1, demands: 1 })
  await primary.cli('ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '+@all', '-config', '-wait')
  const { client, end } = await CLIENTS.ioredis({ url: primary.url.replace('//', '//app:pw@') })
  t.teardown(end)
  await needsAcknowledgement(t, client, replicas[0])
})

test('a replica that follows another server meanwhile does not count', async (t) => {
  const { primary, replicas } = await startPrimary(t, { replicas: 2, demands: 1 })
  const { client, end } = await CLIENTS.ioredis(primary)
  t.teardown(end)
  const records = recordsOf(client)
  const [first, second] = replicas
  await freeze(t, second)
  t.true(await write(records))
  await first.cli('REPLICAOF', 'NO', 'ONE')
  await until(async () => (await primary.cli('INFO', 'replication')).includes('connected_slaves:1'))
  await t.throwsAsync(write(records), UNACKNOWLEDGED)
})

test('a primary that became a replica and leads again cannot know the result of a write', async (t) => {
  const { primary, replicas } = await startPrimary(t, { replicas: 1, demands: 1 })
  const { client, end } = await CLIENTS.ioredis(primary)
  t.teardown(end)
  const records = recordsOf(client)
  await write(records)
  await freeze(t, replicas[0])
  const { identity, values } = await records.read('g', ['group'])
  const swap = records.swap('g', 'group', values[0], 'to', identity).catch((error) => error)
  await until(async () => (await client.hget('flakeforge:{g}:records', 'group')) === 'to')
  await client.multi().replicaof('127.0.0.1', '1').replicaof('NO', 'ONE').exec()
  t.regex((await swap).message, /Another Redis answered/)
})

test('other commands of a shared client wait briefly, only while a replica is stopped', async (t) => {
  const { primary, replicas } = await startPrimary(t, { replicas: 1, demands: 1 })
  const { client, end } = await CLIENTS.ioredis(primary)
  t.teardown(end)
  const records = recordsOf(client)
  await write(records)
  await freeze(t, replicas[0])
  const { identity, values } = await records.read('g', ['group'])
  let isOver = false
  const swap = records.swap('g', 'group', values[0], 'to', identity).catch((error) => error)
  swap.then(() => {
    isOver = true
  })
  await until(async () => (await client.hget('flakeforge:{g}:records', 'group')) === 'to')
  for (let i = 0; i < 3; i++) t.is(await client.ping(), 'PONG')
  t.false(isOver, 'the commands were answered before the swap was')
  t.regex((await swap).message, /0 instead of 1/)
})
