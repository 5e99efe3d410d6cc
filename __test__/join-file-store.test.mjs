// fileStore() used by itself, as a store of one's own may: what it is given is checked; and which layouts may share a group.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { FlakeId } from './support.mjs'
import { closeAfter, leaseOptions, tryJoin } from './support-lease.mjs'
import { diskFolder } from './support-processes.mjs'

const { fileStore } = FlakeId
const SCALE = { epochMs: 0, tickNs: 1_000_000, counterBits: 12 }
const CONFIG = { fingerprint: 'f', slots: 2, ttlMs: 60_000, skewMs: 5000, create: false }
const OWNER = 'a'.repeat(32)

const request = (given = {}) => ({ owner: OWNER, host: 'h', clientNow: Date.now(), ...given })

test('a group is open before it is used, and open() says what it lacks', async (t) => {
  const store = fileStore(diskFolder(t))
  const early = await t.throwsAsync(store.acquire('g', request()), { code: 'ERR_FLAKE_STORE' })
  t.regex(early.message, /Call open\(\) first/)
  for (const scale of [undefined, null, 5, {}, { ...SCALE, tickNs: 0 }, { ...SCALE, counterBits: 64 }]) {
    const error = await t.throwsAsync(store.open('g', { ...CONFIG, scale }), { code: 'ERR_FLAKE_OPTION' })
    t.regex(error.option, /^scale/)
  }
  for (const [option, value] of Object.entries({ fingerprint: 5, slots: 0 })) {
    const error = await t.throwsAsync(store.open('g', { ...CONFIG, scale: SCALE, [option]: value }))
    t.like(error, { code: 'ERR_FLAKE_OPTION', option })
  }
  await store.open('g', { ...CONFIG, scale: SCALE })
  for (const given of [{ owner: 'me' }, { owner: 5 }, { owner: 'a'.repeat(33) }, { owner: '' }, { host: undefined }]) {
    const error = await t.throwsAsync(store.acquire('g', request(given)), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, Object.keys(given)[0])
  }
  t.is((await store.acquire('g', request())).slot, 0)
  await store.release('g', { slot: 0, owner: OWNER, last: -1 })
})

test('a slot that was lost is held no longer: its owner gets another', async (t) => {
  const folder = diskFolder(t)
  const store = fileStore(folder)
  await store.open('g', { ...CONFIG, scale: SCALE })
  const { slot } = await store.acquire('g', request())
  fs.rmSync(path.join(store.folderOf('g'), '1', String(slot)))
  t.is(await store.renew('g', { owner: OWNER }), 'lost')
  await store.acquire('g', request())
  t.not(await store.renew('g', { owner: OWNER }), 'lost')
  await store.release('g', { owner: OWNER, last: -1 })
})

test('a counter takes whole numbers of 64 bits, and nothing is added otherwise', async (t) => {
  const store = fileStore(diskFolder(t))
  t.is(await store.advance('c', 5n, 0n), 0n)
  for (const [by, init] of [[-5n], [2n ** 64n], [2n ** 70n], [5], [undefined], [1n, -1n], [1n, 2n ** 64n], [1n, 1]]) {
    const error = await t.throwsAsync(store.advance('c', by, init), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, init === undefined ? 'by' : 'init')
    t.regex(error.message, /from 0 to 2\^64 - 1/)
  }
  t.is(await store.advance('c', 0n), 5n)
  t.is(await store.advance('c', 2n ** 64n - 6n), 5n)
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
    const flake = await FlakeId.join(store, { ...options, layout })
    closeAfter(t, flake)
    t.is(flake.slot, slot)
  }
})
