// The warning about a Redis with replicas: it names the settings that are missing, each once in a process.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { CLIENTS, startRedis, startReplica, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { REDIS } from './databases/redis.mjs'

const require = createRequire(import.meta.url)
const { redisClient } = require('../../target/rooms/lib/stores/redis/client.js')
const { RedisRecords } = require('../../target/rooms/lib/stores/redis/records.js')

const test = wantRedis() === undefined ? anyTest.skip : anyTest.serial

const warnings = []
process.on('warning', ({ code, message }) => code === 'FLAKEFORGE_SPLIT_BRAIN' && warnings.push(message))

/** Writes twice; returns what was warned of meanwhile. */
async function warnedBy(records) {
  for (let i = 0; i < 2; i++) {
    const { identity, values } = await records.read('g', ['group'])
    assertWritten(await records.swap('g', 'group', values[0], `${Math.random()}`, identity))
  }
  await new Promise(setImmediate)
  return warnings.splice(0)
}

function assertWritten(isWritten) {
  if (!isWritten) throw new Error('nothing was written')
}

const ALL = 'min-replicas-to-write = the number of replicas, on every server that may be promoted'

test('a server: nothing without replicas; then what is missing, each setting once', async (t) => {
  const primary = stopAfter(t, await startRedis('--min-replicas-max-lag', '1000'))
  const { client, end } = await CLIENTS.ioredis(primary)
  t.teardown(end)
  const found = (demand) => primary.cli('CONFIG', 'SET', 'min-replicas-to-write', String(demand))
  const fresh = () => new RedisRecords(redisClient(client))
  t.deepEqual(await warnedBy(fresh()), [])

  stopAfter(t, await startReplica(primary))
  await found(1)
  const [wellSet, ...more] = await warnedBy(fresh())
  t.deepEqual(more, [])
  t.regex(wellSet, /^This Redis server has replicas.*Its settings make that unlikely, not impossible.*or to etcd/)
  t.notRegex(wellSet, /min-replicas/)

  stopAfter(t, await startReplica(primary))
  await until(async () => (await primary.cli('INFO', 'replication')).includes('min_slaves_good_slaves:2'))
  const records = fresh()
  const [tooFew, ...others] = await warnedBy(records)
  t.deepEqual(others, [])
  t.true(tooFew.includes(`${ALL} (it is 1)`), tooFew)
  await found(0)
  t.true((await warnedBy(records))[0].includes(`${ALL} (it is 0)`))
  await found(2)
  t.deepEqual(await warnedBy(fresh()), [])
})

test('a user without CONFIG: the number is hidden', async (t) => {
  const primary = stopAfter(t, await startRedis('--min-replicas-to-write', '1'))
  stopAfter(t, await startReplica(primary))
  await primary.cli('ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '+@all', '-config')
  const { client, end } = await CLIENTS.ioredis({ url: primary.url.replace('//', '//app:pw@') })
  t.teardown(end)
  const [warning] = await warnedBy(new RedisRecords(redisClient(client)))
  t.true(warning.includes('CONFIG GET is refused'), warning)
})

test('a cluster that moves replicas', async (t) => {
  const site = await REDIS.sites.cluster()
  t.teardown(() => site.stop())
  const [row] = Object.values(REDIS.rows).filter(({ site }) => site === 'cluster')
  const { client, end } = await row.connect(site)
  t.teardown(end)
  const open = () => (row.recordsOf ?? ((each) => new RedisRecords(redisClient(each))))(client)
  const [warning] = await warnedBy(open())
  t.regex(warning, /cluster-allow-replica-migration = no, on every node/)
})
