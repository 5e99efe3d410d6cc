// FlakeId.join('file:DIR') while files of the group are removed, damaged or out of reach: no ID comes twice, and every
// member that can continues.

import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { jsonOfChild, lease } from '../support/index.mjs'
import { happens, joinAs, leaseOptions, named, record } from '../support/lease.mjs'
import { diskFolder, isRoot, isWindows, joinedPuppet, notOnWindows, Puppet } from '../support/processes.mjs'

const { fileStore } = lease
const IN_USE = 'a file that is in use cannot be removed'

test.serial('the owner of a lost slot has no slot: it gets another one', async (t) => {
  if (isWindows) return notOnWindows(t, IN_USE)
  const folder = diskFolder(t)
  const store = fileStore(folder)
  const scale = { epochMs: 0, tickNs: 1_000_000, counterBits: 12 }
  const config = { fingerprint: 'bits', slots: 4, ttlMs: 60_000, skewMs: 5000, durable: false, scale }
  const asked = { config, owner: 'a1'.repeat(16), host: 'h', joins: true }
  t.is((await store.acquire('g', asked)).slot, 0)
  fs.rmSync(path.join(folder, 'g', '1', '0'))
  t.is(await store.renew('g', asked), 'lost')
  t.is((await store.acquire('g', asked)).slot, 1)
  await store.release('g', { ...asked, last: -1 })
})

test.serial('after the folder is removed, its members form one group again with new ones', async (t) => {
  if (isWindows) return notOnWindows(t, IN_USE)
  const folder = diskFolder(t)
  const store = path.join(folder, 'ids')
  const options = leaseOptions({ slots: 4, layout: 'hazelcast', maxAheadMs: 1000, ttlMs: 2000, skewMs: 0 })
  const [one, two] = [await joinAs(t, `file:${store}`, options), await joinAs(t, `file:${store}`, options)]
  const before = new Set([...one.takeBigInts(64 * 900), ...two.takeBigInts(64 * 900)]) // ahead of the clock
  const told = record(one)
  const lost = [happens(one, 'lost'), happens(two, 'lost')]
  const attached = [happens(one, 'attached'), happens(two, 'attached')]
  fs.rmSync(store, { recursive: true })
  await Promise.all(lost)
  await Promise.all(attached)
  const three = await joinAs(t, `file:${store}`, options)
  t.is(new Set([one, two, three].map(({ slot }) => slot)).size, 3)
  const later = [one, two, three].flatMap((flake) => [...flake.takeBigInts(64 * 900)])
  t.is(new Set([...before, ...later]).size, before.size + later.length, 'no ID comes twice')
  await sleep(2000) // past the next renewal
  t.deepEqual(named(told).slice(0, 2), ['lost', 'attached'])
  t.false(named(told).slice(2).includes('lost'), 'it stays')
  const ended = [happens(two, 'destroyed'), happens(three, 'destroyed')]
  await one.destroy()
  await Promise.all(ended)
})

test.serial('a member continues after losing the right to read the folder', async (t) => {
  if (!isRoot) return t.log('SKIPPED: needs the rights of the superuser') || t.pass()
  const folder = diskFolder(t)
  const source = `
    import fs from 'node:fs'
    const flake = await FlakeId.join('file:${folder}/x', { ttlMs: 2000, skewMs: 100 })
    const shared = new FlakeId({ id: 1, epoch: 5, shared: '${folder}/shared' })
    const told = []
    for (const event of ['lost', 'detached']) flake.on(event, () => told.push(event))
    let renewed = 0
    flake.on('renewed', () => renewed++)
    fs.chmodSync('${folder}', 0o700)
    process.setgid(65534)
    process.setuid(65534)
    for (let i = 0; i < 70; i++) {
      flake.next()
      shared.next()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    console.log(JSON.stringify({ state: flake.state, told, renewed: renewed > 1 }))
    await flake.close()
  `
  t.deepEqual(await jsonOfChild(t, source), { state: 'attached', told: [], renewed: true })
})

test.serial(
  'damaged, truncated, empty files of the group, or folders instead: rejected and left unchanged',
  async (t) => {
    const damage = {
      'a byte of the header': (bytes) => Buffer.concat([bytes.subarray(0, 20), Buffer.of(0xff), bytes.subarray(21)]),
      'cut off': (bytes) => bytes.subarray(0, 1000),
      empty: () => Buffer.alloc(0),
      foreign: () => Buffer.from('hello'),
      longer: (bytes) => Buffer.concat([bytes, bytes]),
    }
    const pristine = diskFolder(t)
    const puppet = await joinedPuppet(t, pristine, { slots: 1 })
    await puppet.take(10)
    await puppet.kill()
    const files = fs
      .readdirSync(pristine, { recursive: true })
      .filter((name) => fs.statSync(path.join(pristine, name)).isFile())
    t.true(files.length >= 2, 'the group and the slot')
    for (const name of files) {
      for (const [what, change] of Object.entries(damage)) {
        const folder = diskFolder(t)
        fs.cpSync(pristine, folder, { recursive: true })
        const file = path.join(folder, name)
        const bytes = change(fs.readFileSync(file))
        fs.writeFileSync(file, bytes)
        const other = new Puppet(t)
        const error = await t.throwsAsync(
          other.call('join', `file:${folder}`, { slots: 1, waitMs: 0 }),
          { code: 'ERR_FLAKE_FILE' },
          `${name}: ${what}`,
        )
        t.is(error?.path, file, what)
        t.regex(error?.message, /damaged|version/)
        t.deepEqual(fs.readFileSync(file), bytes, what)
        await other.kill()
      }
    }
  },
)
