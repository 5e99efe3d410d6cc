// Records on a real Redis, with both clients: what is read, when a swap is done, and which servers are refused.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import anyTest from 'ava'
import { Cluster, Redis } from 'ioredis'
import { createClient, createClientPool, createCluster, createSentinel, RESP_TYPES } from 'redis'
import {
  CLIENTS,
  serverNow,
  startCluster,
  startClusterReplica,
  startRedis,
  startReplica,
  startSentinel,
  untilCaughtUp,
  untilLinked,
  wantRedis,
} from '../../servers/redis.mjs'
import { until } from '../../servers/server.mjs'

const require = createRequire(import.meta.url)
const { redisClient } = require('../../../lib/lease/stores/redis/client.js')
const { RedisRecords } = require('../../../lib/lease/stores/redis/records.js')

const test = wantRedis() === undefined ? anyTest.skip : anyTest

const AOF = ['--appendonly', 'yes', '--appendfsync', 'always']
const STORE = { code: 'ERR_FLAKE_STORE' }
const recordsOf = (client) => new RedisRecords(redisClient(client))

async function start(t, ...options) {
  const server = await startRedis(...options)
  t.teardown(() => server.stop())
  return server
}

/** Records over a new client of that package. */
async function connect(t, server, name = 'ioredis') {
  const { client, end } = await CLIENTS[name](server)
  t.teardown(end)
  return recordsOf(client)
}

const textOf = async (records, group, name = 'group') => (await records.read(group, [name])).values[0]

/** Swaps under the server's present identity. */
async function put(records, group, name, to) {
  const { identity, values } = await records.read(group, [name])
  return records.swap(group, name, values[0], to, identity)
}

let shared
test.before(async () => {
  shared = await startRedis()
})
test.after.always(() => shared?.stop())

for (const client of Object.keys(CLIENTS)) {
  const rule = (what, body) =>
    test(`${client}: ${what}`, async (t) => body(t, await connect(t, shared, client), randomUUID()))

  rule('texts come in the order of their names, null for an absent record', async (t, records, group) => {
    t.deepEqual((await records.read(group, ['group', 'counter'])).values, [null, null])
    for (const name of ['slot0000000007', 'group', 'slot0000000000'])
      t.true(await put(records, group, name, `of ${name}`))
    const names = ['slot0000000000', 'counter', 'slot0000000007', 'group', 'slot0000000000']
    const { values } = await records.read(group, names)
    t.deepEqual(values, ['of slot0000000000', null, 'of slot0000000007', 'of group', 'of slot0000000000'])
  })

  rule('a read of 1 100 names', async (t, records, group) => {
    const names = Array.from({ length: 1100 }, (_, slot) => `slot${String(slot).padStart(10, '0')}`)
    for (const at of [0, 500, 1099]) await put(records, group, names[at], `record ${at}`)
    const { values } = await records.read(group, names)
    t.is(values.length, 1100)
    values.forEach((value, at) => {
      if ([0, 500, 1099].includes(at)) t.is(value, `record ${at}`)
      else if (value !== null) t.fail(`${at}: ${value}`)
    })
  })

  rule("a read is one moment, by the server's clock in whole ms", async (t, records, group) => {
    const before = await serverNow(shared)
    const { now, identity } = await records.read(group, ['group'])
    t.true(Number.isInteger(now) && now >= before && now <= (await serverNow(shared)))
    t.deepEqual(Object.keys(identity).sort(), ['history', 'process'])
    t.is(identity.history, '')
    t.is(identity.process, (await shared.cli('INFO', 'server')).match(/run_id:(\w+)/)[1])
    const writer = new Redis(shared.port)
    t.teardown(() => writer.disconnect())
    const key = `flakeforge:{${group}}:records`
    for (let i = 0; i < 200; i++) {
      const written = writer.hset(key, { a: `${i}`, b: `${i}` })
      const [a, b] = (await records.read(group, ['a', 'b'])).values
      t.is(a, b)
      await written
    }
  })

  for (const [what, from, others] of [
    ['case', 'Record', ['record', 'RECORD']],
    ['spaces', 'text', ['text ', ' text', 'text\0', 'text\n']],
    ['digits', '10', ['10.0', '010', '1e1']],
    ['an empty text', '', [' ', '\0']],
    ['non-ASCII', 'Müller 工', ['Mu\u0308ller 工', 'Muller 工', 'Müller \u{1F600}']],
    ['the last of 2 000 bytes', `${'x'.repeat(1999)}a`, [`${'x'.repeat(1999)}b`, 'x'.repeat(1999)]],
  ]) {
    rule(`a swap compares bytes: ${what}`, async (t, records, group) => {
      t.true(await put(records, group, 'group', from))
      t.is(await textOf(records, group), from)
      const { identity } = await records.read(group, ['group'])
      for (const other of [...others, null]) t.false(await records.swap(group, 'group', other, 'wrong', identity))
      t.is(await textOf(records, group), from)
      for (const other of others) {
        t.true(await records.swap(group, 'group', await textOf(records, group), other, identity))
        t.is(await textOf(records, group), other)
      }
    })
  }

  rule('an absent record is not an empty one, nor another record', async (t, records, group) => {
    const { identity } = await records.read(group, ['group'])
    for (const from of ['', 'null', 'false', 'nil'])
      t.false(await records.swap(group, 'group', from, 'wrong', identity))
    t.true(await records.swap(group, 'group', null, 'first', identity))
    t.false(await records.swap(group, 'group', null, 'second', identity))
    t.true(await records.swap(group, 'counter', null, 'another record', identity))
    t.true(await records.swap(`${group}/a`, 'group', null, 'another group', identity))
    t.is(await textOf(records, group), 'first')
  })

  rule('of 50 swaps at once one is done', async (t, records, group) => {
    const { identity } = await records.read(group, ['group'])
    for (const from of [null, 'won']) {
      const swaps = Array.from({ length: 50 }, () => records.swap(group, 'group', from, `${from}won`, identity))
      t.is((await Promise.all(swaps)).filter(Boolean).length, 1)
      await put(records, group, 'group', 'won')
    }
  })

  rule('a swap under another identity is not done', async (t, records, group) => {
    await put(records, group, 'group', 'kept')
    const { identity } = await records.read(group, ['group'])
    for (const other of [{ process: '0'.repeat(40) }, { process: '' }, { history: '1'.repeat(40) }]) {
      t.false(await records.swap(group, 'group', 'kept', 'wrong', { ...identity, ...other }))
      t.false(await records.swap(group, 'counter', null, 'wrong', { ...identity, ...other }))
    }
    t.deepEqual((await records.read(group, ['group', 'counter'])).values, ['kept', null])
  })

  rule('names are those of all records of the group', async (t, records, group) => {
    t.deepEqual(await records.names(group), [])
    for (const name of ['group', 'slot0000000003', 'counter']) await put(records, group, name, name)
    await put(records, `${group} `, 'slot0000000009', 'of another group')
    t.deepEqual((await records.names(group)).sort(), ['counter', 'group', 'slot0000000003'])
  })

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

test('FLUSHALL and an eviction show as absent records', async (t) => {
  const server = await start(t)
  const records = await connect(t, server)
  for (const command of [['FLUSHALL'], ['DEL', 'flakeforge:{g}:records']]) {
    await put(records, 'g', 'group', 'text')
    const { identity } = await records.read('g', ['group'])
    await server.cli(...command)
    t.deepEqual((await records.read('g', ['group', 'counter'])).values, [null, null])
    t.deepEqual(await records.names('g'), [])
    t.false(await records.swap('g', 'group', 'text', 'wrong', identity))
  }
})

test('SCRIPT FLUSH forgets the scripts: they are sent again', async (t) => {
  for (const name of Object.keys(CLIENTS)) {
    const server = await start(t)
    const records = await connect(t, server, name)
    for (const text of ['first', 'second']) {
      await server.cli('SCRIPT', 'FLUSH')
      t.true(await put(records, 'g', 'group', text))
    }
  }
})

test('a swap that the server refuses for want of memory changes nothing', async (t) => {
  const server = await start(t)
  const records = await connect(t, server)
  await put(records, 'g', 'group', 'before')
  await server.cli('CONFIG', 'SET', 'maxmemory', '1')
  await t.throwsAsync(put(records, 'g', 'group', 'after'), { ...STORE, message: /OOM/ })
  await server.cli('CONFIG', 'SET', 'maxmemory', '0')
  t.is(await textOf(records, 'g'), 'before')
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

for (const signal of ['SIGTERM', 'SIGKILL']) {
  test(`a restart after ${signal} keeps the records and changes the process`, async (t) => {
    const server = await start(t, ...AOF)
    const records = await connect(t, server)
    await put(records, 'g', 'group', 'before')
    const { identity } = await records.read('g', ['group'])
    await server.kill(signal)
    await server.start()
    const after = await connect(t, server)
    const read = await after.read('g', ['group'])
    t.deepEqual(read.values, ['before'])
    t.is(read.identity.history, '')
    t.not(read.identity.process, identity.process)
    t.false(await after.swap('g', 'group', 'before', 'wrong', identity))
    t.true(await after.swap('g', 'group', 'before', 'after', read.identity))
  })
}

/** A primary with a record, and a replica that has it. */
async function startPair(t, ...options) {
  const primary = await start(t)
  const replica = await startReplica(primary, ...options)
  t.teardown(() => replica.stop())
  const records = await connect(t, primary)
  await put(records, 'g', 'group', 'text')
  await untilCaughtUp(replica, primary)
  return { primary, replica, records }
}

for (const [what, options] of [
  ['a replica', []],
  ['a replica that takes writes', ['--replica-read-only', 'no']],
]) {
  test(`${what} is refused, with the way out`, async (t) => {
    const { replica, records } = await startPair(t, ...options)
    const { identity } = await records.read('g', ['group'])
    const others = await connect(t, replica)
    const refused = { ...STORE, message: /READONLY.*replica.*Connect to the primary/ }
    await t.throwsAsync(others.read('g', ['group']), refused)
    await t.throwsAsync(others.swap('g', 'group', 'text', 'wrong', identity), refused)
    await t.throwsAsync(others.names('g'), refused)
    await t.throwsAsync(others.older('g'), refused)
    await t.throwsAsync(others.endOlder('g'), refused)
    await t.throwsAsync(others.checkDurable(), refused)
    t.is(await replica.cli('HGET', 'flakeforge:{g}:records', 'group'), 'text')
  })
}

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
  const replica = await startReplica(server)
  t.teardown(() => replica.stop())
  t.deepEqual((await records.read('g', ['group'])).identity, identity)
  await replica.kill()
  t.deepEqual((await records.read('g', ['group'])).identity, identity)
})

test('a promoted server without replicas forgets its promotion: its history is empty', async (t) => {
  const { replica } = await startPair(t, '--repl-backlog-ttl', '1')
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  const records = await connect(t, replica)
  const { identity } = await records.read('g', ['group'])
  t.not(identity.history, '')
  await until(async () => (await records.read('g', ['group'])).identity.history === '')
  t.is((await records.read('g', ['group'])).identity.process, identity.process)
})

for (const name of ['run_id', 'master_replid2', 'master_replid']) {
  test(`an INFO that shows no ${name} is an error: lost writes would not be noticed`, async (t) => {
    const client = new Redis(shared.port)
    t.teardown(() => client.disconnect())
    const [server, read] = [
      require('../../../lib/lease/stores/redis/server.js'),
      require('../../../lib/lease/stores/redis/read.js'),
    ]
    const call = (head) => client.eval(head + read, 1, 'flakeforge:{c}:records', 'group')
    await t.throwsAsync(call(server.replace(`'${name}'`, "'of no server'")), {
      message: /shows no run_id.*not be noticed/,
    })
    t.is((await call(server)).length, 4)
  })
}

// Clients

/** Reads and swaps, in groups that lie on all nodes of a cluster. */
async function works(t, client) {
  const records = recordsOf(client)
  for (let i = 0; i < 8; i++) {
    const group = randomUUID()
    t.true(await put(records, group, 'group', 'hôst'))
    t.true(await put(records, group, 'group', 'hôst 2'))
    t.deepEqual((await records.read(group, ['counter', 'group'])).values, [null, 'hôst 2'])
    t.deepEqual(await records.names(group), ['group'])
    t.deepEqual(await records.older(group), { group: false, counter: undefined })
    await records.endOlder(group)
  }
  return records
}

test('ioredis: auto-pipelining, RESP 3', async (t) => {
  const { port } = await start(t, ...AOF)
  for (const options of [{ enableAutoPipelining: true }, { protocol: 3 }, { protocol: 2 }]) {
    const client = new Redis(port, options)
    t.teardown(() => client.disconnect())
    await t.notThrowsAsync((await works(t, client)).checkDurable())
  }
})

test('node-redis: RESP 2 and 3, replies as Buffers and Maps, a pool', async (t) => {
  const { url } = await start(t, ...AOF)
  const types = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.MAP]: Map }
  for (const RESP of [2, 3]) {
    const client = await createClient({ url, RESP }).connect()
    t.teardown(() => client.destroy())
    for (const one of [client, client.withTypeMapping(types), client.withTypeMapping({ [RESP_TYPES.MAP]: Array })]) {
      await t.notThrowsAsync((await works(t, one)).checkDurable())
    }
  }
  const pool = await createClientPool({ url }).connect()
  t.teardown(() => pool.destroy())
  await t.notThrowsAsync((await works(t, pool)).checkDurable())
})

const ALLOWED = 'evalsha eval time info hget hmget hset hkeys exists zrevrange del'

test('a user who may do what the docs say, and nothing else', async (t) => {
  const server = await start(t, ...AOF)
  const commands = ALLOWED.split(' ').map((command) => `+${command}`)
  await server.cli('ACL', 'SETUSER', 'app', 'on', '>pw', 'resetkeys', '~flakeforge:*', '-@all', ...commands)
  const client = new Redis(server.port, { username: 'app', password: 'pw' })
  t.teardown(() => client.disconnect())
  const records = await works(t, client)
  const old = version01(t, server, 'old')
  await old.create()
  await old.acquire()
  t.true((await records.older('old')).group)
  await records.endOlder('old')
  t.false((await records.older('old')).group)
  await t.throwsAsync(records.checkDurable(), { code: 'ERR_FLAKE_OPTION', message: /\+config\|get/ })
  await server.cli('ACL', 'SETUSER', 'app', '+config|get')
  await t.notThrowsAsync(records.checkDurable())
})

/** Whether a server was ever asked for this command. */
const wasAsked = async (server, command) => (await server.cli('INFO', 'commandstats')).includes(`cmdstat_${command}`)

/** Reads by a plain command until a replica was asked: then a client does read from replicas. */
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
  const ioredis = new Cluster(
    nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
    { scaleReads: 'slave' },
  )
  t.teardown(() => ioredis.disconnect())
  const nodeRedis = await createCluster({ rootNodes: nodes.map(({ url }) => ({ url })), useReplicas: true }).connect()
  t.teardown(() => nodeRedis.destroy())
  for (const client of [ioredis, nodeRedis]) {
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
  const sentinel = await startSentinel(primary)
  t.teardown(() => sentinel.stop())
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

test('a server that is gone is an error with its cause', async (t) => {
  const server = await start(t, ...AOF)
  const client = await createClient({ url: server.url, disableOfflineQueue: true }).connect()
  t.teardown(() => client.destroy())
  const records = recordsOf(client)
  const { identity } = await records.read('g', ['group'])
  await server.kill()
  const calls = [
    () => records.read('g', ['group']),
    () => records.swap('g', 'group', null, 'text', identity),
    () => records.names('g'),
    () => records.checkDurable(),
    () => redisClient(client).setting('appendfsync'),
  ]
  for (const call of calls) t.true((await t.throwsAsync(call(), STORE)).cause instanceof Error)
})

// What `durable: true` needs

const allowed = (t, records) => t.notThrowsAsync(records.checkDurable())
async function refused(t, records, message) {
  const error = await t.throwsAsync(records.checkDurable(), { code: 'ERR_FLAKE_OPTION', message })
  t.like(error, { option: 'durable', value: true })
  t.regex(error.message, /^durable \(true\) cannot be used on this Redis: it.*, or leave durable out\.$/)
}

for (const name of Object.keys(CLIENTS)) {
  test(`${name}: durable is refused by each setting that loses writes`, async (t) => {
    const server = await start(t, ...AOF)
    const records = await connect(t, server, name)
    await allowed(t, records)
    for (const [setting, wrong, right] of [
      ['appendfsync', 'everysec', 'always'],
      ['appendfsync', 'no', 'always'],
      ['no-appendfsync-on-rewrite', 'yes', 'no'],
      ['maxmemory-policy', 'allkeys-lru', 'noeviction'],
      ['maxmemory-policy', 'allkeys-random', 'volatile-lru'],
    ]) {
      await server.cli('CONFIG', 'SET', setting, wrong)
      await refused(
        t,
        records,
        new RegExp(`its ${setting.replace('maxmemory-', 'maxmemory.')} is ${wrong}.* Set ${setting} `),
      )
      await server.cli('CONFIG', 'SET', setting, right)
      await allowed(t, records)
    }
    await server.cli('CONFIG', 'SET', 'appendonly', 'no')
    await refused(t, records, /aof_enabled is 0.*Set appendonly yes/)
  })

  test(`${name}: durable is refused where the settings are not shown`, async (t) => {
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

test('durable is refused with a replica, after one, and after a promotion', async (t) => {
  const primary = await start(t, ...AOF)
  const records = await connect(t, primary)
  await allowed(t, records)
  const replica = await startReplica(primary, ...AOF)
  t.teardown(() => replica.stop())
  await refused(t, records, /connected_slaves is 1.*without replicas/)
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  await until(async () => (await primary.cli('INFO', 'replication')).includes('connected_slaves:0'))
  await refused(t, records, /repl_backlog_active is 1.*without replicas/)
  const promoted = await connect(t, replica)
  await refused(t, promoted, /repl_backlog_active is 1.*without replicas/)
})

// What version 0.1 left

const OLD = Object.fromEntries(
  ['open', 'acquire', 'renew', 'destroy', 'advance'].map((name) => [
    name,
    readFileSync(path.join(import.meta.dirname, '..', '..', 'vectors', 'redis-0-1', `${name}.lua`), 'utf8'),
  ]),
)
const OLD_CONFIG = ['fingerprint', '4', '30000', '5000']
const OWNER = '0123456789abcdef0123456789abcdef'

/** The steps of version 0.1, by its own scripts. */
function version01(t, server, name) {
  const client = new Redis(server.port)
  t.teardown(() => client.disconnect())
  const keys = ['group', 'slots', 'ends', 'hosts', 'owners'].map((kind) => `flakeforge:{${name}}:${kind}`)
  const step = (script, ...args) => client.eval(OLD[script], 5, ...keys, ...OLD_CONFIG, ...args)
  return {
    create: () => step('open', 'create'),
    acquire: async () => step('acquire', OWNER, 'host', await serverNow(server)),
    renew: async () => step('renew', '0', OWNER, await serverNow(server)),
    destroy: () => step('destroy'),
    advance: (by) => client.eval(OLD.advance, 1, `flakeforge:{${name}}:counter`, by, '0', '', 'lineage'),
    keys: async () => (await server.cli('KEYS', `flakeforge:{${name}}:*`)).split('\n').length,
  }
}

test('a live group and a counter of version 0.1 are seen', async (t) => {
  const records = await connect(t, shared)
  const name = randomUUID()
  const old = version01(t, shared, name)
  t.deepEqual(await records.older(name), { group: false, counter: undefined })
  await old.advance('18446744073709551615')
  t.deepEqual(await records.older(name), { group: false, counter: '18446744073709551615' })
  await old.create()
  t.deepEqual(await records.older(name), { group: true, counter: '18446744073709551615' })
  await old.destroy()
  t.deepEqual(await records.older(name), { group: false, counter: '18446744073709551615' })
  t.deepEqual(await records.names(name), [], 'records have a key of their own')
})

for (const client of Object.keys(CLIENTS)) {
  test(`${client}: a group of version 0.1 ends: its members see it at their next renewal`, async (t) => {
    const records = await connect(t, shared, client)
    const name = randomUUID()
    const old = version01(t, shared, name)
    await records.endOlder(name)
    t.is(await shared.cli('KEYS', `*${name}*`), '', 'nothing is made where there is no group')
    await old.create()
    await old.advance('100')
    const [granted, , , hi] = await old.acquire()
    t.is(granted, 'granted')
    t.is((await old.renew())[0], 'granted')
    await records.endOlder(name)
    t.deepEqual(await old.renew(), ['destroyed'])
    t.deepEqual(await old.acquire(), ['destroyed'])
    t.deepEqual(await records.older(name), { group: false, counter: '100' })
    t.is(await old.keys(), 2, 'the tombstone and the counter are left')

    const tombstone = () => shared.cli('HGETALL', `flakeforge:{${name}}:group`)
    const before = await tombstone()
    await records.endOlder(name)
    t.is(await tombstone(), before, 'ended once')

    t.deepEqual(await old.create(), ['done', 'made'])
    const [answer, retryAt] = await old.acquire()
    t.is(answer, 'exhausted', 'a successor of version 0.1 waits for all windows')
    t.true(Number(retryAt) > Number(hi))
  })
}

test('a group of version 0.1 whose index of ends was evicted: its successor waits all the same', async (t) => {
  const records = await connect(t, shared)
  const name = randomUUID()
  const old = version01(t, shared, name)
  await old.create()
  const [, , , hi] = await old.acquire()
  await shared.cli('DEL', `flakeforge:{${name}}:ends`)
  await records.endOlder(name)
  t.true(Number(await shared.cli('HGET', `flakeforge:{${name}}:group`, 'floor')) >= Number(hi))
})
