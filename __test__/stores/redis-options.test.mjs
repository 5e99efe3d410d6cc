// The table of all options of the Redis clients is complete, and correct about those that matter.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import anyTest from 'ava'
import { Cluster, Redis } from 'ioredis'
import * as iovalkey from 'iovalkey'
import { createClient, createCluster, createSentinel, RESP_TYPES } from 'redis'
import { glide, startCluster, startRedis, startSentinel, wantRedis } from '../servers/redis.mjs'
import { stopAfter } from '../servers/server.mjs'
import { put, textOf } from '../support/records.mjs'
import { LISTS, namesOf } from './redis-options.mjs'

const require = createRequire(import.meta.url)
const { redisStore } = require('../../target/rooms/lib/stores/redis.js')

const test = wantRedis() === undefined ? anyTest.skip : anyTest

const fileOf = (file) => join(dirname(require.resolve('redis/package.json')), '..', file)
/** GLIDE is present only where it is installed for its tests. */
const folderOf = (name) => (name === 'glide' ? join(dirname(process.env.TEST_GLIDE ?? ''), 'node_modules') : undefined)

for (const [name, lists] of Object.entries(LISTS)) {
  const each = name === 'glide' && glide === undefined ? anyTest.skip : anyTest
  each(`the table has every option of ${name}`, async (t) => {
    for (const { file, type, table } of lists) {
      const folder = folderOf(name)
      const names = namesOf(await readFile(folder ? join(folder, file) : fileOf(file), 'utf8'), type)
      t.true(names.length > 1, `${type} was read`)
      const unknown = names.filter((option) => !Object.hasOwn(table, option))
      t.deepEqual(unknown, [], `new options of ${type}: say in redis-options.mjs what they mean for the store`)
    }
  })
}

anyTest('an additional option in the declarations would be noticed', (t) => {
  const declarations =
    'export interface Options extends Other {\n /** a: b */ first?: { inner: 1 };\n second: (a: 1) => 2;\n}'
  t.deepEqual(namesOf(declarations, 'Options'), ['first', 'second'])
  t.throws(() => namesOf(declarations, 'Missing'))
})

const REFUSED = { code: 'ERR_FLAKE_OPTION', message: /keyPrefix 'app:'/ }

anyTest('keyPrefix is rejected wherever it takes effect', (t) => {
  for (const keyPrefix of ['app:', Buffer.from('app:')]) {
    for (const Kind of [Cluster, iovalkey.Cluster]) {
      const inNodes = new Kind([{ port: 1 }], { lazyConnect: true, redisOptions: { keyPrefix } })
      t.throws(() => redisStore(inNodes), REFUSED)
    }
    for (const Kind of [Redis, iovalkey.Valkey]) {
      t.throws(() => redisStore(new Kind({ lazyConnect: true, keyPrefix })), REFUSED)
      t.throws(() => redisStore(new Kind({ lazyConnect: true, keyPrefix }).duplicate()), REFUSED)
    }
  }
})

/** Writes and reads a record, and looks for it on the server. */
async function works(t, client, server) {
  const { records } = redisStore(client)
  const group = `g${Math.random()}`
  t.true(await put(records, group, 'group', 'hôst'))
  t.is(await textOf(records, group), 'hôst')
  if (server) t.is(await server.cli('HGET', `flakeforge:{${group}}:records`, 'group'), 'hôst')
}

test('node-redis: a keyPrefix of the nodes of a sentinel or a cluster has no effect', async (t) => {
  const server = stopAfter(t, await startRedis())
  const sentinel = stopAfter(t, await startSentinel(server))
  const sentinelRootNodes = [{ host: '127.0.0.1', port: sentinel.port }]
  const nodeClientOptions = { keyPrefix: 'app:' }
  const ofSentinel = await createSentinel({ name: 'primary', sentinelRootNodes, nodeClientOptions }).connect()
  t.teardown(() => ofSentinel.destroy())
  await works(t, ofSentinel, server)
  const nodes = await startCluster()
  t.teardown(() => Promise.all(nodes.map((node) => node.stop())))
  const rootNodes = nodes.map(({ url }) => ({ url }))
  const cluster = await createCluster({ rootNodes, defaults: { keyPrefix: 'app:' } }).connect()
  t.teardown(() => cluster.destroy())
  await works(t, cluster)
  const keys = await Promise.all(nodes.map((node) => node.cli('KEYS', '*')))
  t.regex(keys.join(''), /^flakeforge:\{g[^:]*\}:records$/)
})

test('replies of every kind are read', async (t) => {
  const server = stopAfter(t, await startRedis())
  for (const options of [
    { stringNumbers: true },
    { replyMapping: 'resp3' },
    { protocol: 2 },
    { commandTimeout: 5000 },
  ]) {
    for (const Kind of [Redis, iovalkey.Valkey]) {
      const client = new Kind(server.port, { showFriendlyErrorStack: true, ...options })
      t.teardown(() => client.disconnect())
      await works(t, client, server)
    }
  }
  const typeMapping = {
    [RESP_TYPES.BLOB_STRING]: Buffer,
    [RESP_TYPES.NUMBER]: String,
    [RESP_TYPES.VERBATIM_STRING]: Buffer,
  }
  for (const RESP of [2, 3]) {
    const client = await createClient({ url: `${server.url}/3`, RESP, commandOptions: { typeMapping } }).connect()
    t.teardown(() => client.destroy())
    const { records } = redisStore(client)
    t.true(await put(records, 'typed', 'group', 'hôst'))
    t.is(await server.cli('-n', '3', 'HGET', 'flakeforge:{typed}:records', 'group'), 'hôst', 'the database was read')
    await server.cli('FLUSHALL')
  }
})
