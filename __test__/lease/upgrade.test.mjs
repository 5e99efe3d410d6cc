// Files of an earlier release are opened by this one and continue (stores/upgrade.test.mjs: databases). They are never
// silently restarted: all of them are from 2090 (vectors/upgrade/make.mjs), so present-day IDs would show it.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import anyTest from 'ava'
import { FlakeId, lease } from '../support/index.mjs'
import { closeAfter, tryJoin } from '../support/lease.mjs'
import { diskFolder, hasClock, Puppet } from '../support/processes.mjs'

const { layouts } = FlakeId
const { SegmentId, fileStore } = lease
const require = createRequire(import.meta.url)

const VECTORS = path.join(import.meta.dirname, '..', 'vectors', 'upgrade')
const FILES = require('../vectors/upgrade/files.json')

const timeOf = (id) => layouts.flake.decode(BigInt(id)).timestamp

/** The position of an earlier release's counter: it had given one block. */
const takenOf = ({ counter, lastOfCounter }) => BigInt(lastOfCounter) + BigInt(counter.block)

/** A copy of an earlier release's files: nothing may be written next to this file. */
function copyOf(t, name) {
  const copy = path.join(diskFolder(t), name)
  fs.cpSync(path.join(VECTORS, name), copy, { recursive: true })
  return copy
}

// Files

anyTest('a shared file: IDs continue above its last one', (t) => {
  const { id, last } = FILES.shared
  const shared = copyOf(t, 'shared')
  t.throws(() => new FlakeId({ id: id + 1, shared }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  const flake = new FlakeId({ id, shared, maxAheadMs: Number.POSITIVE_INFINITY })
  t.true(flake.nextBigInt() > BigInt(last))
})

anyTest(
  'a folder of slots: its options and its counter are kept, and its used slot is not granted at present',
  async (t) => {
    const { folder } = FILES
    const store = `file:${copyOf(t, 'folder')}`
    await t.throwsAsync(tryJoin(store, { ...folder.options, slots: 3, waitMs: 0 }), {
      code: 'ERR_FLAKE_CONFIG_MISMATCH',
    })
    const flake = await FlakeId.join(store, { ...folder.options, waitMs: 0 })
    closeAfter(t, flake)
    t.not(flake.slot, folder.slot)
    await t.throwsAsync(tryJoin(store, { ...folder.options, waitMs: 0 }), { code: 'ERR_FLAKE_EXHAUSTED' })
    const rows = await fileStore(store.slice('file:'.length)).list(folder.options.group)
    t.true(rows.find(({ slot }) => slot === folder.slot).last.getTime() >= timeOf(folder.last))

    const segment = await SegmentId.open(store, folder.counter)
    closeAfter(t, segment)
    t.is(segment.nextBigInt(), takenOf(folder))
  },
)

/** Turns a file into one of a later format, which names the release that it needs. */
function makeLater(file) {
  const bytes = fs.readFileSync(file)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4) // in the byte order of this machine
  words[4] = 2
  words[5] = 0x0001_0004
  fs.writeFileSync(file, bytes)
  return bytes
}

anyTest('files of a later release are rejected with the release that they need, and stay unchanged', async (t) => {
  const [shared, folder] = [copyOf(t, 'shared'), copyOf(t, 'folder')]
  const { options, counter } = FILES.folder
  const calls = {
    [shared]: () => new FlakeId({ id: FILES.shared.id + 1, shared }), // this process has its own node in another file
    [path.join(folder, 'orders', '1', 'group')]: () => tryJoin(`file:${folder}`, options),
    [path.join(folder, '.counters', 'invoices')]: () => SegmentId.open(`file:${folder}`, counter),
  }
  for (const [file, call] of Object.entries(calls)) {
    const later = makeLater(file)
    const message = /has version 2 of the file format, which needs flakeforge 1\.4 or newer/
    const { path: named } = await t.throwsAsync(async () => call(), { code: 'ERR_FLAKE_FILE', message })
    t.is(named, file)
    t.deepEqual(fs.readFileSync(file), later)
  }
})

if (hasClock) {
  anyTest('a folder of slots: the used slot is granted again once its time has come', async (t) => {
    const { folder } = FILES
    const puppet = new Puppet(t, { offsetMs: timeOf(folder.last) + 60_000 - Date.now() })
    t.is(await puppet.call('join', `file:${copyOf(t, 'folder')}`, { ...folder.options, waitMs: 0 }), folder.slot)
    const [id] = await puppet.take(1)
    t.true(id > BigInt(folder.last))
  })
}
