// What a user sees after a crash of the machine, and when a disk fails: no ID comes twice, and the error names the file.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { diskOf } from '../support/disk.mjs'

const ENDLESS = 1e9 // ms; JSON has no infinity
const SPARSE = { seqMask: 1, maxAheadMs: ENDLESS } // a few thousand IDs reach the mark, 5 s ahead
const MARK = 2560 // its place in a file
const MOST_SYNCS = 40

const numberOf = (id) => ((id >> 22n) << 12n) | (id & 4095n)
const markOf = (file) => (fs.existsSync(file) ? fs.readFileSync(file).readBigUInt64LE(MARK) : 0n)

test.serial('shared: IDs go on above those from before a crash', async (t) => {
  const disk = diskOf(t)
  if (disk === undefined) return
  const one = disk.puppet()
  await one.call('open', { ...SPARSE, id: 7, shared: path.join(disk.files, 'a/ids') })
  const before = []
  for (let i = 0; i < 8; i++) before.push(...(await one.take(5000)))
  await one.kill()
  const other = disk.puppet({ boot: 2 })
  await other.call('open', { ...SPARSE, id: 7, shared: path.join(disk.crash(), 'a/ids') })
  const [after] = await other.take(1)
  t.true(after > before.at(-1), `${after} after ${before.at(-1)}`)
})

test.serial('join: a slot starts after all that its holder may have used before a crash', async (t) => {
  const disk = diskOf(t)
  if (disk === undefined) return
  const options = { slots: 1, waitMs: 0 }
  const one = disk.puppet()
  await one.call('join', `file:${disk.files}`, options)
  const [id] = await one.take(1)
  await one.kill()
  const slot = path.join('default', '1', '0')
  const markMs = Number(markOf(path.join(disk.files, slot)) >> 12n)
  t.true(markMs > Number(id >> 22n) + 1000)
  const other = disk.puppet({ boot: 2 })
  const refused = await errorOf(other.call('join', `file:${disk.crash()}`, options))
  // A machine that is very busy may be past the mark by now.
  if (refused === undefined) return t.true(Date.now() > markMs)
  t.is(refused.code, 'ERR_FLAKE_EXHAUSTED')
  t.true(Date.parse(refused.retryAt) > Number(id >> 22n))
})

test.serial('SegmentId: no block from before a crash', async (t) => {
  const disk = diskOf(t)
  if (disk === undefined) return
  const options = { name: 'orders', block: 10 }
  const one = disk.puppet()
  await one.call('count', `file:${disk.files}`, options)
  let last
  for (let i = 0; i < 35; i++) last = BigInt(await one.call('nextOfCounter'))
  await one.kill()
  const other = disk.puppet({ boot: 2 })
  await other.call('count', `file:${disk.crash()}`, options)
  const next = BigInt(await other.call('nextOfCounter'))
  t.true(next > last, `${next} after ${last}`)
})

const errorOf = (promise) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

function isOfFile(t, error, disk) {
  t.is(error?.code, 'ERR_FLAKE_FILE', error?.message)
  t.regex(error.message, /Input\/output error/)
  t.true(error.path?.startsWith(disk.folder), error.path)
}

/** Runs `use` once for each sync that it does, which fails, and judges how it ended; until none is left to fail. */
async function failEach(t, use, judge = isOfFile) {
  for (let failing = 1; failing < MOST_SYNCS; failing++) {
    const disk = diskOf(t)
    if (disk === undefined) return
    const puppet = disk.puppet({ failing })
    const error = await errorOf(use(disk, puppet))
    await puppet.kill()
    if (!disk.hasFailed()) {
      t.is(error, undefined)
      return t.true(failing > 2)
    }
    await judge(t, error, disk)
  }
  t.fail('the syncs have no end')
}

test.serial('shared: a sync that fails ends the generator, at the last good mark', async (t) => {
  await failEach(t, async (disk, puppet) => {
    const shared = path.join(disk.files, 'ids')
    await puppet.call('open', { ...SPARSE, id: 7, shared })
    const ids = []
    try {
      for (let i = 0; i < 60; i++) ids.push(...(await puppet.take(500)))
      while (disk.hasFailed()) ids.push(...(await puppet.take(500))) // a sync ahead of need failed, and the IDs before it go on
    } catch (error) {
      const again = await t.throwsAsync(puppet.call('next'), { code: 'ERR_FLAKE_FILE' })
      t.is(again.message, error.message)
      throw error
    } finally {
      const mark = markOf(path.join(disk.crash(), 'ids'))
      t.true(ids.every((id) => numberOf(id) <= mark))
    }
  })
})

test.serial('join: a sync that fails is an error of the file', async (t) => {
  await failEach(t, async (disk, puppet) => {
    await puppet.call('join', `file:${disk.files}`, { slots: 1, waitMs: 0 })
    await puppet.take(1)
  })
})

test.serial('SegmentId: a block whose sync fails is not handed out', async (t) => {
  const options = { name: 'orders', block: 1 }
  let last
  async function use(disk, puppet) {
    last = -1n
    await puppet.call('count', `file:${disk.files}`, options)
    for (let i = 0; i < 4; i++) last = BigInt(await puppet.call('nextOfCounter'))
  }
  async function judge(t, error, disk) {
    // A block that was to come in advance is asked for again, before anybody misses it.
    if (error !== undefined) isOfFile(t, error, disk)
    const other = disk.puppet({ boot: 2 })
    await other.call('count', `file:${disk.crash()}`, options)
    const next = BigInt(await other.call('nextOfCounter'))
    t.true(next > last, `${next} after ${last}`)
    await other.kill()
  }
  await failEach(t, use, judge)
})
