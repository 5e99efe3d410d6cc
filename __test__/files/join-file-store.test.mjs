// fileStore(): which counters it accepts, which layouts may share a group, and what stays open after close().

import fs from 'node:fs'
import test from 'ava'
import { FlakeId, lease } from '../support/index.mjs'
import { closeAfter, joinAs, leaseOptions, tryJoin } from '../support/lease.mjs'
import { diskFolder } from '../support/processes.mjs'

const { SegmentId, fileStore } = lease

test('a counter accepts whole numbers of 64 bits; for other values nothing is added', async (t) => {
  const store = fileStore(diskFolder(t))
  t.is((await store.advance('c', 5n, 0n)).number, 0n)
  for (const [by, init] of [[-5n], [2n ** 64n], [2n ** 70n], [5], [undefined], [1n, -1n], [1n, 2n ** 64n], [1n, 1]]) {
    const error = await t.throwsAsync(store.advance('c', by, init), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, init === undefined ? 'by' : 'init')
    t.regex(error.message, /from 0 to 2\^64 - 1/)
  }
  t.is((await store.advance('c', 0n)).number, 5n)
  t.is((await store.advance('c', 2n ** 64n - 6n)).number, 5n)
})

test('a group in a folder has a lineage until it is destroyed, and a counter has one until skipTo', async (t) => {
  const [folder, elsewhere] = [diskFolder(t), diskFolder(t)]
  const options = leaseOptions({ waitMs: 30_000 })
  const flakes = []
  for (const place of [folder, folder, elsewhere]) flakes.push(await FlakeId.join(fileStore(place), options))
  for (const flake of flakes) closeAfter(t, flake)
  const [lineage, same, other] = flakes.map((flake) => flake.lineage)
  t.regex(lineage, /^[0-9a-f]{16}$/)
  t.is(same, lineage)
  t.not(other, lineage)

  const segments = []
  for (const place of [folder, folder, elsewhere]) segments.push(await SegmentId.open(fileStore(place), { name: 'c' }))
  for (const segment of segments) closeAfter(t, segment)
  const [first] = segments
  t.regex(first.lineage, /^[0-9a-f]{16}$/)
  t.deepEqual(
    segments.map((segment) => segment.lineage === first.lineage),
    [true, true, false],
  )
  await first.skipTo(1_000_000)
  t.not(first.lineage, segments[1].lineage)
})

/** A layout with these fields between the timestamp and the counter. */
const between = (...fields) => ({ fields: [['timestamp', 42], ...fields, ['counter', 12]] })

test('layouts in which one slot could be two nodes do not share a group', async (t) => {
  const cases = [
    [
      { layout: between(['dc', 5], ['rack', 5]), rack: 3 },
      { layout: between(['dc', 6], ['rack', 4]), rack: 3 },
    ],
    [
      { layout: between(['dc', 5], ['rack', 5]), dc: 3 },
      { layout: between(['rack', 5], ['dc', 5]), dc: 3 },
    ],
    [{ layout: between(['node', 10]) }, { layout: between(['node', 8], ['zero', 2]) }],
  ]
  for (const [first, second] of cases) {
    const [store, options] = [`file:${diskFolder(t)}`, leaseOptions({ slots: 8, epoch: undefined })]
    closeAfter(t, await FlakeId.join(store, { ...options, ...first }))
    const error = await t.throwsAsync(tryJoin(store, { ...options, ...second }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
    t.not(error.theirs, error.ours)
  }
})

test('layouts of equal bits share a group, whatever the names of their fields are', async (t) => {
  const [store, options] = [`file:${diskFolder(t)}`, leaseOptions({ slots: 8, epoch: undefined })]
  const layouts = ['flake', between(['dc', 6], ['rack', 4]), between(['node', 10])]
  for (const [slot, layout] of layouts.entries()) {
    const flake = await joinAs(t, store, { ...options, layout })
    t.is(flake.slot, slot)
  }
})

/** The number of open descriptors of files in this folder. */
function openIn(folder) {
  const targets = fs.readdirSync('/proc/self/fd').map((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return '' // the descriptor of the listing itself
    }
  })
  return targets.filter((target) => target.startsWith(folder)).length
}

test('close() leaves no file open, and the statistics remain', async (t) => {
  if (process.platform !== 'linux') return t.log('SKIPPED: needs /proc') || t.pass()
  const folder = fs.realpathSync(diskFolder(t))
  const options = leaseOptions({ slots: 8 })
  const another = await joinAs(t, `file:${folder}`, options)
  const before = openIn(folder)
  const closed = []
  for (let i = 0; i < 5; i++) {
    const flake = await FlakeId.join(`file:${folder}`, options)
    flake.takeBigInts(10 + i)
    t.true(openIn(folder) > before)
    await flake.close()
    closed.push(flake)
  }
  t.is(openIn(folder), before)
  await closed[0].close()
  t.deepEqual(
    closed.map(({ stats }) => stats.ids),
    [10, 11, 12, 13, 14],
  )
  t.throws(() => closed[0].next(), { code: 'ERR_FLAKE_DETACHED' })
  t.is(another.decode(another.next()).id, another.slot, 'other members of the group continue')
  t.is(another.stats.ids, 1)
})
