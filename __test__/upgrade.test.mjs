// What an earlier version wrote is opened by this one and goes on, or is refused with the way out. It is never begun again in
// silence: all of it was made in 2090 (vectors/upgrade/make.mjs), so IDs of our time would show it.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import { startEtcd, wantEtcd } from './servers/etcd.mjs'
import { startPostgres, wantPostgres } from './servers/postgres.mjs'
import { startRedis, wantRedis } from './servers/redis.mjs'
import { FlakeId } from './support.mjs'
import { closeAfter, tryJoin } from './support-lease.mjs'
import { diskFolder, hasClock, Puppet } from './support-processes.mjs'

const { SegmentId, fileStore, etcdStore, layouts } = FlakeId

const VECTORS = path.join(import.meta.dirname, 'vectors', 'upgrade')
const vector = (name) => createRequire(import.meta.url)(path.join(VECTORS, `${name}.json`))

/** As long as a new group is quiet, and longer. */
const PATIENT = { waitMs: 120_000 }

const timeOf = (id) => layouts.flake.decode(BigInt(id)).timestamp

/** A copy of what an earlier version wrote: nothing may be written beside this file. */
function copyOf(t, name) {
  const copy = path.join(diskFolder(t), name)
  fs.cpSync(path.join(VECTORS, name), copy, { recursive: true })
  return copy
}

/** Counters go on where they stood, or stand still until somebody says where to go on; nothing is given twice. */
async function counterGoesOn(t, store, { counter, lastOfCounter }) {
  const segment = await SegmentId.open(store, counter)
  closeAfter(t, segment)
  const taken = BigInt(lastOfCounter) + BigInt(counter.block)
  try {
    t.true(segment.nextBigInt() >= taken)
  } catch (error) {
    t.is(error.code, 'ERR_FLAKE_STORE', error.stack)
    t.regex(error.message, /skipTo/)
    await segment.skipTo(taken)
    t.true(segment.nextBigInt() >= taken)
  }
}

const mismatches = (t, store, options) =>
  t.throwsAsync(tryJoin(store, { ...options, slots: 3, waitMs: 0 }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })

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
  await mismatches(t, store, folder.options)
  const flake = await FlakeId.join(store, { ...folder.options, waitMs: 0 })
  closeAfter(t, flake)
  t.not(flake.slot, folder.slot)
  await t.throwsAsync(tryJoin(store, { ...folder.options, waitMs: 0 }), { code: 'ERR_FLAKE_EXHAUSTED' })
  const rows = await fileStore(store.slice('file:'.length)).list(folder.options.group)
  t.true(rows.find(({ slot }) => slot === folder.slot).last.getTime() >= timeOf(folder.last))
  await counterGoesOn(t, store, folder)
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
  },
  etcd: {
    isThere: wantEtcd() !== undefined,
    start: startEtcd,
    async fill(server, { keys }) {
      for (const [key, value] of Object.entries(keys)) await server.ctl('put', key, value)
    },
    storeOf: ({ url }) => etcdStore({ endpoints: url }),
  },
}

for (const [name, { isThere, start, fill, storeOf }] of Object.entries(SERVERS)) {
  const test = isThere ? anyTest : anyTest.skip

  test(`a group on ${name}: its options, the end of its used slot and its counter are kept`, async (t) => {
    const written = vector(name)
    const { options } = written
    const server = await start()
    t.teardown(() => server.stop())
    await fill(server, written)
    const store = storeOf(server)
    await mismatches(t, store, options)
    const flake = await FlakeId.join(store, { ...options, ...PATIENT })
    closeAfter(t, flake)
    t.not(flake.slot, written.slot)
    await t.throwsAsync(tryJoin(store, { ...options, waitMs: 0 }), { code: 'ERR_FLAKE_EXHAUSTED' })
    await counterGoesOn(t, store, written)
  })
}
