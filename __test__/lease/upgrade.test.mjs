// What an earlier version wrote is opened by this one and goes on (files), or is refused with the way out (databases). It is
// never begun again in silence: all of it was made in 2090 (vectors/upgrade/make.mjs), so IDs of our time would show it.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import anyTest from 'ava'
import { FlakeId } from '../support/index.mjs'
import { closeAfter, tryJoin } from '../support/lease.mjs'
import { diskFolder, hasClock, Puppet } from '../support/processes.mjs'
import { DATABASES, startDurable } from './stores/databases.mjs'

const { SegmentId, fileStore, layouts } = FlakeId
const require = createRequire(import.meta.url)
const { openStore } = require('../../lib/lease/stores/open.js')

const VECTORS = path.join(import.meta.dirname, '..', 'vectors', 'upgrade')
const FILES = require('../vectors/upgrade/files.json')

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
  const { id, last } = FILES.shared
  const shared = copyOf(t, 'shared')
  t.throws(() => new FlakeId({ id: id + 1, shared }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  const flake = new FlakeId({ id, shared, maxAheadMs: Number.POSITIVE_INFINITY })
  t.true(flake.nextBigInt() > BigInt(last))
})

anyTest('a folder of slots: its options and its counter are kept, and its used slot is not for our time', async (t) => {
  const { folder } = FILES
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
    const { folder } = FILES
    const puppet = new Puppet(t, { offsetMs: timeOf(folder.last) + 60_000 - Date.now() })
    t.is(await puppet.call('join', `file:${copyOf(t, 'folder')}`, { ...folder.options, waitMs: 0 }), folder.slot)
    const [id] = await puppet.take(1)
    t.true(id > BigInt(folder.last))
  })
}

// Groups on servers

for (const [name, kind] of Object.entries(DATABASES).filter(([, { version01 }]) => version01 !== undefined)) {
  const test = kind.isInstalled() ? anyTest : anyTest.skip
  const written = kind.version01

  /** A server that has what version 0.1 wrote. */
  async function startFilled(t) {
    const { server, url } = await startDurable(t, kind)
    await kind.fill(server, written)
    return { server, url }
  }

  test(`a group on ${name} is refused until somebody ends it, and its members hear of that`, async (t) => {
    const { server, url } = await startFilled(t)
    const options = { ...written.options, waitMs: 30_000 } // less than a quiet period, so it is refused at once
    const refused = {
      code: 'ERR_FLAKE_RECORD',
      message: /'orders' was made by flakeforge 0\.1.*npx flakeforge destroy/,
    }
    for (let i = 0; i < 2; i++) {
      await t.throwsAsync(tryJoin(url, options), refused)
      await t.throwsAsync(FlakeId.createGroup(url, written.options), refused)
    }
    t.false(await kind.isEnded01(server))

    const { store, close } = openStore(url)
    t.teardown(close)
    await store.destroy(options.group)
    t.true(await kind.isEnded01(server))
    const { retryAt, storeNow } = await t.throwsAsync(tryJoin(url, options), { code: 'ERR_FLAKE_QUIET' })
    t.true(retryAt - storeNow > 50_000, 'as long as its longest window may last')
    await store.destroy(options.group)
    t.deepEqual(await store.list(options.group), [])
  })

  test(`a counter on ${name} stands still until somebody says where to go on`, async (t) => {
    const { url } = await startFilled(t)
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
