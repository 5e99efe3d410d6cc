// What an earlier version wrote is opened by this one and goes on (files), or is refused with the way out (databases). It is
// never begun again in silence: all of it was made in 2090 (vectors/upgrade/make.mjs), so IDs of our time would show it.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { FlakeId } from '../support/index.mjs'
import { closeAfter, tryJoin } from '../support/lease.mjs'
import { diskFolder, hasClock, Puppet } from '../support/processes.mjs'

const { SegmentId, fileStore, layouts } = FlakeId
const require = createRequire(import.meta.url)
const { openStore } = require('../../lib/lease/stores/open.js')

const VECTORS = path.join(import.meta.dirname, '..', 'vectors', 'upgrade')
const vector = (name) => require(path.join(VECTORS, `${name}.json`))

const timeOf = (id) => layouts.flake.decode(BigInt(id)).timestamp

/** What the counter of an earlier version stood at: it had given one block. */
const takenOf = ({ counter, lastOfCounter }) => BigInt(lastOfCounter) + BigInt(counter.block)

/** A copy of what an earlier version wrote: nothing may be written beside this file. */
function copyOf(t, name) {
  const copy = path.join(diskFolder(t), name)
  fs.cpSync(path.join(VECTORS, name), copy, { recursive: true })
  return copy
}

// Files

anyTest('a shared file: IDs go on above its last one', (t) => {
  const { id, last } = vector('files').shared
  const shared = copyOf(t, 'shared')
  t.throws(() => new FlakeId({ id: id + 1, shared }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  const flake = new FlakeId({ id, shared, maxAheadMs: Number.POSITIVE_INFINITY })
  t.true(flake.nextBigInt() > BigInt(last))
})

anyTest('a folder of slots: its options and its counter are kept, and its used slot is not for our time', async (t) => {
  const { folder } = vector('files')
  const store = `file:${copyOf(t, 'folder')}`
  await t.throwsAsync(tryJoin(store, { ...folder.options, slots: 3, waitMs: 0 }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  const flake = await FlakeId.join(store, { ...folder.options, waitMs: 0 })
  closeAfter(t, flake)
  t.not(flake.slot, folder.slot)
  await t.throwsAsync(tryJoin(store, { ...folder.options, waitMs: 0 }), { code: 'ERR_FLAKE_EXHAUSTED' })
  const rows = await fileStore(store.slice('file:'.length)).list(folder.options.group)
  t.true(rows.find(({ slot }) => slot === folder.slot).last.getTime() >= timeOf(folder.last))

  const segment = await SegmentId.open(store, folder.counter)
  closeAfter(t, segment)
  t.is(segment.nextBigInt(), takenOf(folder))
})

if (hasClock) {
  anyTest('a folder of slots: the used slot is given again once its time has come', async (t) => {
    const { folder } = vector('files')
    const puppet = new Puppet(t, { offsetMs: timeOf(folder.last) + 60_000 - Date.now() })
    t.is(await puppet.call('join', `file:${copyOf(t, 'folder')}`, { ...folder.options, waitMs: 0 }), folder.slot)
    const [id] = await puppet.take(1)
    t.true(id > BigInt(folder.last))
  })
}

// Groups on servers

const SERVERS = {
  redis: {
    isThere: wantRedis() !== undefined,
    start: startRedis,
    async fill({ url }, { keys }) {
      const client = new Redis(url)
      for (const [key, { hash, zset }] of Object.entries(keys)) {
        if (hash) await client.hset(key, hash)
        else for (let i = 0; i < zset.length; i += 2) await client.zadd(key, zset[i + 1], zset[i])
      }
      client.disconnect()
    },
    storeOf: ({ url }) => url,
    isEnded: async ({ cli }) => (await cli('HGET', 'flakeforge:{orders}:group', 'destroyed')) === '1',
  },
  postgres: {
    isThere: wantPostgres() !== undefined,
    start: startPostgres,
    async fill(server, { schema, tables }) {
      await server.query(schema)
      for (const [table, rows] of Object.entries(tables)) {
        await server.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`, [
          rows,
        ])
      }
    },
    storeOf: ({ url }) => url,
    isEnded: async (server) => (await server.query('SELECT destroyed FROM flakeforge_group'))[0].destroyed,
  },
  etcd: {
    isThere: wantEtcd() !== undefined,
    start: startEtcd,
    async fill(server, { keys }) {
      for (const [key, value] of Object.entries(keys)) await server.ctl('put', key, value)
    },
    storeOf: ({ url }) => url.replace('http:', 'etcd:'),
    isEnded: async (server) => (await server.readRecord('flakeforge/group/orders/record')).destroyed === true,
  },
}

for (const [name, { isThere, start, fill, storeOf, isEnded }] of Object.entries(SERVERS)) {
  const test = isThere ? anyTest : anyTest.skip

  /** A server that has what version 0.1 wrote. */
  async function startFilled(t) {
    const written = vector(name)
    const server = await start()
    t.teardown(() => server.stop())
    await fill(server, written)
    return { server, url: storeOf(server), written }
  }

  test(`a group on ${name} is refused until somebody ends it, and its members hear of that`, async (t) => {
    const { server, url, written } = await startFilled(t)
    const options = { ...written.options, waitMs: 30_000 } // less than a quiet period, so it is refused at once
    const refused = {
      code: 'ERR_FLAKE_RECORD',
      message: /'orders' was made by flakeforge 0\.1.*npx flakeforge destroy/,
    }
    for (let i = 0; i < 2; i++) {
      await t.throwsAsync(tryJoin(url, options), refused)
      await t.throwsAsync(FlakeId.createGroup(url, written.options), refused)
    }
    t.false(await isEnded(server))

    const { store, close } = openStore(url)
    t.teardown(close)
    await store.destroy(options.group)
    t.true(await isEnded(server))
    const { retryAt, storeNow } = await t.throwsAsync(tryJoin(url, options), { code: 'ERR_FLAKE_QUIET' })
    t.true(retryAt - storeNow > 50_000, 'as long as its longest window may last')
    await store.destroy(options.group)
    t.deepEqual(await store.list(options.group), [])
  })

  test(`a counter on ${name} stands still until somebody says where to go on`, async (t) => {
    const { url, written } = await startFilled(t)
    const taken = takenOf(written)
    const stopped = {
      code: 'ERR_FLAKE_STORE',
      message: new RegExp(`flakeforge 0\\.1 and stood at ${taken}\\..*skipTo`),
    }
    const [segment, other] = [await SegmentId.open(url, written.counter), await SegmentId.open(url, written.counter)]
    for (const each of [segment, other]) closeAfter(t, each)
    t.throws(() => segment.nextBigInt(), stopped)
    await t.throwsAsync(other.nextAsync(), stopped)
    await segment.skipTo(taken)
    t.is(segment.nextBigInt(), taken)
    const next = await SegmentId.open(url, written.counter)
    closeAfter(t, next)
    t.true(next.nextBigInt() >= taken + BigInt(written.counter.block))
  })
}
