// IDs of past times in a folder: unique among members, processes that are killed, and restarts; and what is refused.

import { spawn } from 'node:child_process'
import { cp, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import { freshFolder } from '../servers/server.mjs'
import { root } from '../support/guides.mjs'
import { FlakeId } from '../support/index.mjs'
import { joinAs, leaseOptions } from '../support/lease.mjs'
import { MemoryStore } from '../support/store.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { openFolder } = require('../../target/rooms/lib/stores/file-store.js')
const { createGroup } = FlakeId
const OLD = Date.UTC(2024, 1, 29, 12, 34, 56, 789)
const OPTION = { code: 'ERR_FLAKE_OPTION' }
const RANGE = { code: 'ERR_FLAKE_TIME_RANGE' }

async function place(t) {
  const folder = await freshFolder('past')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return { folder, store: `file:${folder}` }
}

const hex = (id) => id.toString('hex')

test('an ID has its time, and one of the kept nodes; no slot has one', async (t) => {
  const { store } = await place(t)
  const options = leaseOptions({ backfill: 4 })
  t.true(await createGroup(store, options))
  const flake = await joinAs(t, store, options)
  const ids = []
  for (const date of [OLD, new Date(OLD), BigInt(OLD) * 1_000_000n + 999_999n, OLD + 0.9])
    ids.push(await flake.nextAt(date))
  for (const id of ids) t.like(flake.decode(id), { timestamp: OLD, id: 1023 })
  t.deepEqual(
    ids.map((id) => flake.decode(id).counter),
    [0, 1, 2, 3],
  )
  t.true(Buffer.isBuffer(ids[0]) && ids[0].length === 8 && ids[0].buffer.byteLength === 8)
  await t.throwsAsync(FlakeId.join(store, { ...options, slots: 1021 }), { ...OPTION, message: /1 to 1020/ })
  const plain = { ...options, backfill: undefined }
  await t.throwsAsync(FlakeId.join(store, plain), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  const same = await joinAs(t, store, { ...plain, slots: 1020 })
  t.true(same.id < 1020)
  await t.throwsAsync(same.nextAt(OLD), { ...OPTION, message: /backfill/ })
})

test('one millisecond: all IDs of the kept nodes, once, by members that keep more and fewer, and after restarts', async (t) => {
  const { store } = await place(t)
  const options = leaseOptions({ group: 'g', slots: 8 })
  const ids = []
  for (const backfill of [2, 4, 1, 4]) {
    const flake = await joinAs(t, store, { ...options, backfill })
    ids.push(...(await Promise.all(Array.from({ length: 300 }, () => flake.nextAt(OLD)))))
    await flake.close()
  }
  const flake = await joinAs(t, store, { ...options, backfill: 4 })
  let refused
  while (refused === undefined)
    await flake.nextAt(OLD).then(
      (id) => ids.push(id),
      (error) => (refused = error),
    )
  t.like(refused, { code: 'ERR_FLAKE_BACKFILL', group: 'g', timestamp: OLD })
  t.regex(refused.message, /2024-02-29T12:34:56\.789Z.*4 reserved nodes/)
  t.is(new Set(ids.map(hex)).size, ids.length)
  t.true(ids.length > 8000, `${ids.length}`)
  t.deepEqual(new Set(ids.map((id) => flake.decode(id).id)), new Set([1023, 1022, 1021, 1020]))
  t.true((await flake.nextAt(OLD + 1)).length === 8, 'another ms has its own')
})

test('the time is that of the call, whatever becomes of the Date', async (t) => {
  const { store } = await place(t)
  const flake = await joinAs(t, store, leaseOptions({ backfill: 1 }))
  const date = new Date(OLD)
  const ids = Array.from({ length: 3 }, (_, i) => {
    date.setTime(OLD + i)
    return flake.nextAt(date)
  })
  t.deepEqual(
    (await Promise.all(ids)).map((id) => flake.decode(id).timestamp),
    [OLD, OLD + 1, OLD + 2],
  )
})

test('other layouts', async (t) => {
  const { store } = await place(t)
  const fields = [
    ['timestamp', 44],
    ['shard', 10],
    ['counter', 10],
  ]
  for (const [layout, field] of [
    ['hazelcast', 'node'],
    ['sonyflake', 'machine'],
    ['chronicle', 'host'],
    [{ fields, tickMs: 0.3 }, 'shard'],
  ]) {
    const group = String(field) + (typeof layout === 'string' ? layout : '')
    const flake = await joinAs(t, store, { group, layout, backfill: 2, slots: 4 })
    const ids = await Promise.all(Array.from({ length: 40 }, () => flake.nextAt(OLD)))
    t.is(new Set(ids.map(hex)).size, 40)
    for (const id of ids) {
      const { timestamp } = flake.decode(id)
      t.true(Math.abs(timestamp - OLD) < 10, `${group} ${timestamp - OLD}`)
    }
  }
})

test('times that are refused, with the reason', async (t) => {
  const { store } = await place(t)
  const flake = await joinAs(t, store, leaseOptions({ backfill: 1, epoch: Date.UTC(2020, 0) }))
  await t.throwsAsync(flake.nextAt(Date.UTC(2019, 11, 31)), { ...RANGE, message: /before the epoch/ })
  await t.throwsAsync(flake.nextAt(Date.now() + 60_000), { ...RANGE, message: /in the future/ })
  await t.throwsAsync(flake.nextAt(new Date(8.64e15)), { ...RANGE, message: /in the future/ })
  await t.throwsAsync(flake.nextAt(new Date(-8.64e15)), RANGE)
  await t.throwsAsync(flake.nextAt(-1e300), RANGE)
  await t.throwsAsync(flake.nextAt(Math.floor(OLD / 1000)), { ...RANGE, message: /seconds/ })
  await t.throwsAsync(flake.nextAt(BigInt(OLD)), { ...RANGE, message: /millisecond/ })
  for (const bad of [undefined, null, '2024-02-29', {}, true]) await t.throwsAsync(flake.nextAt(bad), OPTION)
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, new Date(Number.NaN)])
    await t.throwsAsync(flake.nextAt(bad), OPTION)
  t.like(flake.decode(await flake.nextAt(OLD)), { timestamp: OLD, counter: 0 }, 'none of them took a number')
  await flake.detach()
  await t.throwsAsync(flake.nextAt(OLD), { code: 'ERR_FLAKE_DETACHED' })
  await flake.attach()
  t.is((await flake.nextAt(OLD)).length, 8)
  await flake.destroy()
  await t.throwsAsync(flake.nextAt(OLD), { code: 'ERR_FLAKE_DESTROYED' })
})

test('options that are refused', async (t) => {
  const { store } = await place(t)
  for (const backfill of [-1, 1024, 1.5, 'x', {}]) await t.throwsAsync(FlakeId.join(store, { backfill }), OPTION)
  await t.throwsAsync(FlakeId.join(store, { backfill: 4, seqMask: 63 }), { ...OPTION, message: /seqMask.*backfill/ })
  for (const call of [FlakeId.join, createGroup]) {
    const error = await t.throwsAsync(call(new MemoryStore(), leaseOptions({ backfill: 4 })), OPTION)
    t.is(error.option, 'durable')
  }
})

test('times in which an earlier group may have used the kept nodes are refused', async (t) => {
  const { store } = await place(t)
  const options = leaseOptions({ group: 'g', datacenter: 0, slots: 32 }) // 32 workers
  const members = await Promise.all(Array.from({ length: 31 }, () => joinAs(t, store, options)))
  const last = await joinAs(t, store, options)
  const highest = [...members, last].find(({ slot }) => slot === 31)
  highest.nextBigInt()
  await last.destroy()
  const { slots: _, ...fewer } = options
  const next = await joinAs(t, store, { ...fewer, backfill: 1 })
  const refused = await t.throwsAsync(next.nextAt(OLD), { code: 'ERR_FLAKE_BACKFILL' })
  t.regex(refused.message, /earlier group 'g' may have used the nodes/)
})

/** Groups of one name after each other, each with the node 1023 in another slot, or as a kept one. */
const OTHER_NODES = [
  { datacenter: 31, slots: 32 },
  { nodeOffset: 992, slots: 32 },
  { nodeOffset: 992, slots: 31, backfill: 1 },
  { datacenter: 31, backfill: 1 },
]

/** IDs of a group with the node 1023: those of a member that holds it, and of a past time on a kept one. */
async function useHighest(t, store, { slots = 31, backfill = 0, ...options }) {
  const join = () => joinAs(t, store, { ...options, backfill, slots })
  const members = await Promise.all(Array.from({ length: backfill ? 1 : slots }, join))
  const ids = []
  if (backfill) ids.push(...(await Promise.all(Array.from({ length: 40 }, () => members[0].nextAt(OLD)))))
  else {
    const highest = members.find(({ id }) => id === 1023)
    for (let i = 0; i < 40; i++) ids.push(highest.next())
  }
  t.true(ids.every((id) => members[0].decode(id).id === 1023))
  await members[0].destroy()
  return ids
}

test('times of earlier groups are refused, whatever slots had the kept nodes then', async (t) => {
  const { store } = await place(t)
  const after = async (options, i) => {
    const [of, group] = [JSON.stringify(options), `g${i}`]
    const ids = await useHighest(t, store, leaseOptions({ ...options, group }))
    const between = await joinAs(t, store, leaseOptions({ group, slots: 5 }))
    await between.destroy()
    const next = await joinAs(t, store, leaseOptions({ group, backfill: 1 }))
    for (const time of new Set([OLD, ...ids.map((id) => next.decode(id).timestamp)])) {
      const error = await t.throwsAsync(next.nextAt(time), { code: 'ERR_FLAKE_BACKFILL' }, of)
      t.like(error, { group, timestamp: time })
      t.regex(error.message, /earlier group 'g.'.*Only times after that are safe/s)
    }
    const now = Date.now()
    const late = await Promise.all(Array.from({ length: 40 }, () => next.nextAt(now)))
    t.is(new Set([...ids, ...late].map(hex)).size, ids.length + 40, of)
  }
  await Promise.all(OTHER_NODES.map(after))
})

test('a group that was destroyed, replaced or removed does not tell which nodes were used', async (t) => {
  const { folder, store } = await place(t)
  const options = leaseOptions({ group: 'g', slots: 4 })
  const used = (flake) => openFolder(folder).usedUntil('g', [4], flake.lineage)
  const one = await joinAs(t, store, options)
  t.is(await used(one), undefined)
  await one.destroy()
  await t.throwsAsync(used(one), { code: 'ERR_FLAKE_DESTROYED' })
  const copy = `${folder}.copy`
  t.teardown(() => rm(copy, { recursive: true, force: true }))
  await cp(folder, copy, { recursive: true })
  const two = await joinAs(t, store, { ...options, slots: 3 })
  t.is(await used(two), undefined)
  await t.throwsAsync(used(one), { code: 'ERR_FLAKE_DESTROYED' })
  await two.close() // a member would recreate the folder
  await rm(path.join(folder, 'g'), { recursive: true })
  await t.throwsAsync(used(two), { code: 'ERR_FLAKE_FILE', message: /was replaced/ })
  await cp(path.join(copy, 'g'), path.join(folder, 'g'), { recursive: true })
  await t.throwsAsync(used(two), { code: 'ERR_FLAKE_FILE', message: /was replaced/ })
})

test('a group that follows one with the same nodes continues its IDs of the past', async (t) => {
  const { store } = await place(t)
  const options = leaseOptions({ group: 'g', backfill: 1 })
  const ids = []
  for (let life = 0; life < 3; life++) {
    const flake = await joinAs(t, store, options)
    for (let i = 0; i < 40; i++) ids.push(hex(await flake.nextAt(OLD)))
    await flake.destroy()
  }
  t.is(new Set(ids).size, ids.length)
})

test('a counter that was removed is an error for the process that knows it', async (t) => {
  const { folder, store } = await place(t)
  const flake = await joinAs(t, store, leaseOptions({ group: 'g', backfill: 1 }))
  await Promise.all(Array.from({ length: 33 }, () => flake.nextAt(OLD)))
  const past = path.join(folder, 'g', 'past')
  const files = await readdir(past)
  t.deepEqual(files.map((name) => name.replace(/\d+/, '')).sort(), ['moment', 'span'])
  for (const name of files) await rm(path.join(past, name))
  const error = await t.throwsAsync(Promise.all(Array.from({ length: 100 }, () => flake.nextAt(OLD))), {
    code: 'ERR_FLAKE_FILE',
  })
  t.regex(error.message, /was removed/)
})

/** Prints IDs of past times until it is killed. */
const PROGRAM = `
const FlakeId = require('flakeforge')
const [store, options] = process.argv.slice(1)
async function run() {
  const flake = await FlakeId.join(store, JSON.parse(options))
  for (;;) {
    const ids = await Promise.all([0, 0, 0, 1, 1].map((ms) => flake.nextAt(${OLD} + ms)))
    console.log(ids.map((id) => id.toString('hex')).join(' '))
  }
}
run()
`

test('processes that are killed at any time, and start again, repeat no ID', async (t) => {
  t.timeout(120_000)
  const { folder, store } = await place(t)
  // more than fill the pipes of all runs before anyone reads them
  const options = leaseOptions({ group: 'g', backfill: 32 })
  const ids = []
  const run = async (lines) => {
    const child = spawn(process.execPath, ['-e', PROGRAM, store, JSON.stringify(options)], { cwd: root })
    const faults = []
    child.stderr.on('data', (text) => faults.push(text))
    let left = lines
    for await (const line of createInterface({ input: child.stdout })) {
      const whole = line.split(' ').filter((id) => id.length === 16)
      ids.push(...whole)
      if (--left === 0) child.kill('SIGKILL')
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    t.is(child.signalCode, 'SIGKILL', faults.join(''))
  }
  for (let round = 0; round < 4; round++) await Promise.all([run(1), run(7), run(40 + round)])
  t.is(new Set(ids).size, ids.length)
  t.true(ids.length > 4 * 5 * 48)
  const files = await readdir(path.join(folder, 'g', 'past'))
  t.true(files.length >= 2)
  const flake = await joinAs(t, store, options)
  t.false(ids.includes(hex(await flake.nextAt(OLD))))
})
