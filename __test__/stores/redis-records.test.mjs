// Redis' own rules about records: scripts, keys, run IDs and replication IDs, and which servers may be durable. Rules
// for all databases are in behaviour/.

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { Cluster, Redis } from 'ioredis'
import * as iovalkey from 'iovalkey'
import { createClient, createCluster, createSentinel, RESP_TYPES } from 'redis'
import {
  CLIENTS,
  connectGlide,
  glide,
  startCluster,
  startClusterReplica,
  startRedis,
  startReplica,
  startSentinel,
  untilCaughtUp,
  untilLinked,
  wantRedis,
} from '../servers/redis.mjs'
import { findProgram, freshFolder, stopAfter, until } from '../servers/server.mjs'
import { put, textOf } from '../support/records.mjs'
import { stepsOf } from '../support/steps.mjs'
import { testInTurn } from '../support/turns.mjs'

const require = createRequire(import.meta.url)
const { openRedis } = require('../../target/rooms/lib/stores/redis.js')
const { redisClient } = require('../../target/rooms/lib/stores/redis/client.js')
const { RedisRecords } = require('../../target/rooms/lib/stores/redis/records.js')

const run = promisify(execFile)
const test = testInTurn(wantRedis() === undefined ? anyTest.skip : anyTest, 8)

const AOF = ['--appendonly', 'yes', '--appendfsync', 'always']
const STORE = { code: 'ERR_FLAKE_STORE' }
const recordsOf = (client) => new RedisRecords(redisClient(client))

async function start(t, ...options) {
  return stopAfter(t, await startRedis(...options))
}

/** Records over a new client of that package. */
async function connect(t, server, name = 'ioredis') {
  const { client, end } = await CLIENTS[name](server)
  t.teardown(end)
  return recordsOf(client)
}

let shared
anyTest.before(async () => {
  shared = await startRedis()
})
anyTest.after.always(() => shared?.stop())

for (const client of Object.keys(CLIENTS)) {
  const rule = (what, body) =>
    test(`${client}: ${what}`, async (t) => body(t, await connect(t, shared, client), randomUUID()))

  rule(
    'the process is that of the server, and a server that was never promoted has no history',
    async (t, records, group) => {
      const { identity } = await records.read(group, ['group'])
      const [, process] = (await shared.cli('INFO', 'server')).match(/run_id:(\w+)/)
      t.deepEqual(identity, { history: '', process })
    },
  )

  rule('a group is one key that never expires, whatever its name', async (t, records, group) => {
    for (const name of [group, `${group} hôst:工/a`]) {
      t.true(await put(records, name, 'group', 'text'))
      t.is(await textOf(records, name), 'text')
      t.is(await shared.cli('TTL', `flakeforge:{${name}}:records`), '-1')
    }
    const keys = (await shared.cli('KEYS', `*${group}*`)).split('\n')
    t.is(keys.length, 2)
  })
}

test('SCRIPT FLUSH removes the scripts: they are sent again', async (t) => {
  for (const name of Object.keys(CLIENTS)) {
    const server = await start(t)
    const records = await connect(t, server, name)
    for (const text of ['first', 'second']) {
      await server.cli('SCRIPT', 'FLUSH')
      t.true(await put(records, 'g', 'group', text))
    }
  }
})

test('a key of another type is an error, and is kept', async (t) => {
  const records = await connect(t, shared)
  await shared.cli('SET', 'flakeforge:{text}:records', 'not a hash')
  await t.throwsAsync(textOf(records, 'text'), { ...STORE, message: /WRONGTYPE/ })
  const { identity } = await records.read('other', ['group'])
  await t.throwsAsync(records.swap('text', 'group', null, 'to', identity), { ...STORE, message: /WRONGTYPE/ })
  await t.throwsAsync(records.names('text'), { ...STORE, message: /WRONGTYPE/ })
})

// Identity

/** A primary with a record, and a replica that has it. */
async function startPair(t, ...options) {
  const primary = await start(t)
  const replica = stopAfter(t, await startReplica(primary, ...options))
  const records = await connect(t, primary)
  await put(records, 'g', 'group', 'text')
  await untilCaughtUp(replica, primary)
  return { primary, replica, records }
}

test('a replica that takes writes is rejected, with the way out', async (t) => {
  const { replica, records } = await startPair(t, '--replica-read-only', 'no')
  const { identity } = await records.read('g', ['group'])
  const others = await connect(t, replica)
  const refused = { ...STORE, message: /READONLY.*replica.*Connect to the primary/ }
  await t.throwsAsync(others.read('g', ['group']), refused)
  await t.throwsAsync(others.swap('g', 'group', 'text', 'wrong', identity), refused)
  await t.throwsAsync(others.names('g'), refused)
  await t.throwsAsync(others.checkDurable(), refused)
  t.is(await replica.cli('HGET', 'flakeforge:{g}:records', 'group'), 'text')
})

test('a promotion is another history, and a later one of the same process too', async (t) => {
  const { primary, replica, records } = await startPair(t)
  const { identity: first } = await records.read('g', ['group'])
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  const promoted = await connect(t, replica)
  const { identity: second, values } = await promoted.read('g', ['group'])
  t.deepEqual(values, ['text'])
  t.regex(second.history, /^[0-9a-f]{40}$/)
  t.not(second.process, first.process)
  for (const stale of [first, { ...second, history: '' }]) {
    t.false(await promoted.swap('g', 'group', 'text', 'wrong', stale))
  }
  t.true(await promoted.swap('g', 'group', 'text', 'text of two', second))

  await replica.cli('REPLICAOF', '127.0.0.1', String(primary.port))
  await untilLinked(replica)
  await t.throwsAsync(promoted.read('g', ['group']), { ...STORE, message: /READONLY/ })
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  const { identity: third, values: old } = await promoted.read('g', ['group'])
  t.deepEqual(old, ['text'], 'a swap that was acknowledged is lost')
  t.is(third.process, second.process)
  t.not(third.history, second.history)
  t.false(await promoted.swap('g', 'group', 'text', 'wrong', second))
})

test('a primary that became a replica and is promoted again has another history', async (t) => {
  const { primary, replica, records } = await startPair(t)
  const { identity } = await records.read('g', ['group'])
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  await primary.cli('REPLICAOF', '127.0.0.1', String(replica.port))
  await untilLinked(primary)
  await primary.cli('REPLICAOF', 'NO', 'ONE')
  const after = await (await connect(t, primary)).read('g', ['group'])
  t.is(after.identity.process, identity.process)
  t.not(after.identity.history, identity.history)
})

test('a replica that comes and goes changes nothing', async (t) => {
  const server = await start(t)
  const records = await connect(t, server)
  const { identity } = await records.read('g', ['group'])
  const replica = stopAfter(t, await startReplica(server))
  t.deepEqual((await records.read('g', ['group'])).identity, identity)
  await replica.kill()
  t.deepEqual((await records.read('g', ['group'])).identity, identity)
})

test('a promoted server without replicas forgets its promotion: its history is empty', async (t) => {
  const { replica } = await startPair(t)
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  const records = await connect(t, replica)
  const { identity } = await records.read('g', ['group'])
  t.not(identity.history, '')
  await replica.cli('CONFIG', 'SET', 'repl-backlog-ttl', '1')
  await until(async () => (await records.read('g', ['group'])).identity.history === '')
  t.is((await records.read('g', ['group'])).identity.process, identity.process)
})

for (const name of ['run_id', 'master_replid2', 'master_replid']) {
  test(`an INFO without ${name} is an error: lost writes would go unnoticed`, async (t) => {
    const client = new Redis(shared.port)
    t.teardown(() => client.disconnect())
    const server = require('../../target/rooms/lib/stores/redis/identity.js')
    const { READ } = require('../../target/rooms/lib/stores/redis/scripts.js')
    const call = (head) => client.eval(head + READ, 1, 'flakeforge:{c}:records', '0', 'group')
    await t.throwsAsync(call(server.replace(`'${name}'`, "'of no server'")), {
      message: /shows no run_id.*go unnoticed/,
    })
    t.is((await call(server)).length, 4)
  })
}

// Clients

/** Reads and swaps in enough groups that each node of a cluster has some of them, whatever their names. */
async function works(t, client) {
  const records = recordsOf(client)
  for (let i = 0; i < 50; i++) {
    const group = randomUUID()
    t.true(await put(records, group, 'group', 'hôst'))
    t.true(await put(records, group, 'group', 'hôst 2'))
    t.deepEqual((await records.read(group, ['counter', 'group'])).values, [null, 'hôst 2'])
    t.deepEqual(await records.names(group), ['group'])
  }
  return records
}

test('node-redis: a client that maps the types of its replies', async (t) => {
  const { url } = await start(t, ...AOF)
  const types = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.MAP]: Map }
  for (const RESP of [2, 3]) {
    const client = await createClient({ url, RESP }).connect()
    t.teardown(() => client.destroy())
    for (const one of [client.withTypeMapping(types), client.withTypeMapping({ [RESP_TYPES.MAP]: Array })]) {
      await t.notThrowsAsync((await works(t, one)).checkDurable())
    }
  }
})

const ALLOWED = 'evalsha eval time info select wait client|info hget hmget hset hkeys'

test('a user with the documented rights can do everything necessary', async (t) => {
  const server = await start(t, ...AOF)
  const commands = ALLOWED.split(' ').map((command) => `+${command}`)
  await server.cli('ACL', 'SETUSER', 'app', 'on', '>pw', 'resetkeys', '~flakeforge:*', '-@all', ...commands)
  const client = new Redis(server.port, { username: 'app', password: 'pw' })
  t.teardown(() => client.disconnect())
  const records = await works(t, client)
  await t.throwsAsync(records.checkDurable(), { code: 'ERR_FLAKE_OPTION', message: /\+config\|get/ })
  await server.cli('ACL', 'SETUSER', 'app', '+config|get')
  await t.notThrowsAsync(records.checkDurable())
})

/** Whether a server ever got this command. */
const wasAsked = async (server, command) => (await server.cli('INFO', 'commandstats')).includes(`cmdstat_${command}`)

/** Reads by a plain command until a replica was asked: then the client really reads from replicas. */
const untilReplicaAsked = (client, replicas) =>
  until(async () => {
    await client.get(randomUUID()).catch(() => {})
    const asked = await Promise.all(replicas.map((replica) => wasAsked(replica, 'get')))
    return asked.includes(true)
  })

test('Redis Cluster with clients that read from replicas: every script runs on a master', async (t) => {
  const nodes = await startCluster()
  t.teardown(() => Promise.all(nodes.map((node) => node.stop())))
  const replicas = await Promise.all(nodes.map((node) => startClusterReplica(nodes, node)))
  t.teardown(() => Promise.all(replicas.map((replica) => replica.stop())))
  const hosts = nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const alike = [Cluster, iovalkey.Cluster].map((Kind) => new Kind(hosts, { scaleReads: 'slave' }))
  t.teardown(() => alike.map((client) => client.disconnect()))
  const nodeRedis = await createCluster({ rootNodes: nodes.map(({ url }) => ({ url })), useReplicas: true }).connect()
  t.teardown(() => nodeRedis.destroy())
  const clients = [...alike, nodeRedis]
  if (glide) clients.push(await connectGlide(glide.GlideClusterClient, nodes, { readFrom: 'preferReplica' }))
  t.teardown(() => clients[3]?.close())
  for (const client of clients) {
    await untilReplicaAsked(client, replicas)
    for (const replica of replicas) await replica.cli('CONFIG', 'RESETSTAT')
    await works(t, client)
    const refused = { code: 'ERR_FLAKE_OPTION', message: /cluster_enabled is 1.*single server/ }
    await t.throwsAsync(recordsOf(client).checkDurable(), refused)
    for (const replica of replicas) t.false(await wasAsked(replica, 'eval'))
  }
  for (const node of nodes) t.not(await node.cli('DBSIZE'), '0', 'every master has some of the groups')
})

test('Sentinel with clients that read from replicas: every script runs on the primary', async (t) => {
  const { primary, replica } = await startPair(t)
  const sentinel = stopAfter(t, await startSentinel(primary))
  await until(async () => (await sentinel.cli('SENTINEL', 'REPLICAS', 'primary')).includes(String(replica.port)))
  const sentinels = [{ host: '127.0.0.1', port: sentinel.port }]
  const ioredis = new Redis({ sentinels, name: 'primary' })
  t.teardown(() => ioredis.disconnect())
  const options = { name: 'primary', sentinelRootNodes: sentinels, replicaPoolSize: 1 }
  const nodeRedis = await createSentinel(options).connect()
  t.teardown(() => nodeRedis.destroy())
  for (const client of [ioredis, nodeRedis]) {
    const records = await works(t, client)
    await t.throwsAsync(records.checkDurable(), { code: 'ERR_FLAKE_OPTION', message: /connected_slaves/ })
  }
  await untilReplicaAsked(nodeRedis, [replica])
  t.false(await wasAsked(replica, 'eval'))
  const toReplica = new Redis({ sentinels, name: 'primary', role: 'slave' })
  t.teardown(() => toReplica.disconnect())
  await t.throwsAsync(recordsOf(toReplica).read('g', ['group']), { ...STORE, message: /READONLY/ })
})

// The requirements of `durable: true`

const allowed = (t, records) => t.notThrowsAsync(records.checkDurable())
async function refused(t, records, message) {
  const error = await t.throwsAsync(records.checkDurable(), { code: 'ERR_FLAKE_OPTION', message })
  t.like(error, { option: 'durable', value: true })
  t.regex(error.message, /^durable \(true\) cannot be used on this Redis: it.*\. Or leave durable out\.$/)
}

/** From now on it takes minutes until a file is written, by a process that would outlive its server. */
async function slowDown(t, server) {
  const { cli } = server
  t.teardown(() => untilWritten(server))
  await cli('EVAL', "for i = 1, 1000 do redis.call('SET', 'key' .. i, i) end", '0')
  await cli('CONFIG', 'SET', 'rdb-key-save-delay', '1000000') // µs for each key
}

/** Lets the server write its file quickly: the current writing is aborted, and restarted where necessary. */
async function untilWritten({ cli, pid }) {
  await cli('CONFIG', 'SET', 'rdb-key-save-delay', '0')
  await until(async () => {
    const { stdout } = await run('pgrep', ['-P', String(pid)]).catch(() => ({ stdout: '' }))
    for (const child of stdout.split('\n').filter(Boolean)) await run('kill', ['-USR1', child]).catch(() => {}) // it may have ended
    return /in_progress:0\s+aof_rewrite_scheduled:0/.test(await cli('INFO', 'persistence'))
  })
}

for (const name of Object.keys(CLIENTS)) {
  test(`${name}: durable is rejected where the settings are not shown`, async (t) => {
    const server = await start(t, ...AOF)
    await server.cli('ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '+@all', '-config')
    const records = await connect(t, { url: server.url.replace('//', '//app:pw@') }, name)
    await refused(t, records, /does not show appendfsync\. .*\+config\|get/)
    await server.cli('ACL', 'SETUSER', 'app', '+config|get')
    await allowed(t, records)
    const without = await start(t, ...AOF, '--rename-command', 'CONFIG', 'HIDDEN')
    await refused(t, await connect(t, without, name), /does not show appendfsync\./)
  })
}

test('durable is rejected with a replica, after one, and after a promotion', async (t) => {
  const primary = await start(t, ...AOF)
  const records = await connect(t, primary)
  await allowed(t, records)
  const replica = stopAfter(t, await startReplica(primary, ...AOF))
  await refused(t, records, /connected_slaves is 1.*without replicas/)
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  await until(async () => (await primary.cli('INFO', 'replication')).includes('connected_slaves:0'))
  await allowed(t, records) // looked before there was one: redis-cli --rdb is one for a moment
  await refused(t, await connect(t, primary), /repl_backlog_active is 1.*without replicas/)
  const promoted = await connect(t, replica)
  await refused(t, promoted, /repl_backlog_active is 1.*without replicas/)
})

test('durable is rejected while the append-only file is written for the first time', async (t) => {
  const server = await start(t, '--appendfsync', 'always')
  const yet = { ...STORE, message: /cannot be used on this Redis yet: its aof_rewrite_\w+ is 1.*Try again/ }
  const refusedYet = (records) => t.throwsAsync(records.checkDurable(), yet)
  const records = await connect(t, server)
  await slowDown(t, server)
  await refused(t, records, /aof_enabled is 0/)
  await server.cli('CONFIG', 'SET', 'appendonly', 'yes')
  await refusedYet(records)
  await untilWritten(server)
  await allowed(t, records)

  await slowDown(t, server)
  await server.cli('BGREWRITEAOF')
  await allowed(t, records)
  await refusedYet(await connect(t, server)) // without an earlier look, it cannot know that it is not the first time
  await untilWritten(server)

  // After switching it off and on again, INFO shows the same as during any rewrite.
  await server.cli('CONFIG', 'SET', 'appendonly', 'no')
  await refused(t, records, /aof_enabled is 0/)
  await slowDown(t, server)
  await server.cli('BGSAVE')
  await server.cli('CONFIG', 'SET', 'appendonly', 'yes') // which waits for the other file
  await refusedYet(records)
  await untilWritten(server)
  await allowed(t, records)
})

test('durable: a member that finds the append-only file incomplete gets no grant', async (t) => {
  const server = await start(t, '--appendfsync', 'always')
  await slowDown(t, server)
  await server.cli('CONFIG', 'SET', 'appendonly', 'yes')
  const store = openRedis(server.url)
  t.teardown(() => store.close())
  const { acquire } = stepsOf(store, 'g', { durable: true })
  await t.throwsAsync(acquire({ joins: true }), { ...STORE, message: /aof_rewrite_in_progress is 1/ })
  t.is(await server.cli('EXISTS', 'flakeforge:{g}:records'), '0')
})

test('durable is rejected after a write to the append-only file failed', async (t) => {
  const folder = await freshFolder('small')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const small = join(folder, 'redis-server')
  const limits = `#!/bin/sh\ntrap '' XFSZ\nulimit -f 64\nexec ${findProgram('redis-server')} "$@"\n`
  await writeFile(small, limits, { mode: 0o755 })
  const server = stopAfter(t, await startRedis('--appendonly', 'yes', '--appendfsync', 'everysec'))
  await server.kill()
  server.command[0] = small
  await server.start()
  await server.cli('EVAL', "redis.call('SET', 'key', string.rep('x', 100000))", '0')
  await until(async () => (await server.cli('INFO', 'persistence')).includes('aof_last_write_status:err'))
  await refused(t, await connect(t, server), /aof_last_write_status is err.*Free space/)
})
