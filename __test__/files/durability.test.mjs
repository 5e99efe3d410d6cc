// What users see after a machine crash: no ID comes twice. The core tests what a failed sync ends.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { diskOf } from '../support/disk.mjs'

const ENDLESS = 1e9 // ms; JSON has no infinity
const SPARSE = { seqMask: 1, maxAheadMs: ENDLESS } // a few thousand IDs reach the mark, 5 s ahead
const MARK = 2560 // its position in a file

const markOf = (file) => (fs.existsSync(file) ? fs.readFileSync(file).readBigUInt64LE(MARK) : 0n)

test.serial('shared: IDs continue above those from before a crash', async (t) => {
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

test.serial('join: a slot starts after everything that its holder may have used before a crash', async (t) => {
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
  // A very busy machine may be past the mark by now.
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
