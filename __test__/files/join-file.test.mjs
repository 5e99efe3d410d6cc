// FlakeId.join('file:DIR'): a slot for each process, whose lock ends with it; what happens to a slot between two
// holders; and which options are rejected.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { until } from '../servers/server.mjs'
import { FlakeId, isAscending, jsonOfChild, lease, runChild } from '../support/index.mjs'
import { happens, joinAs, leaseOptions, tryJoin } from '../support/lease.mjs'
import {
  diskFolder,
  identifiesBoot,
  isRoot,
  isWindows,
  joinedPuppet,
  notOnWindows,
  PLACES,
} from '../support/processes.mjs'

const require = createRequire(import.meta.url)
const { check } = require('../../lab/chaos/outcome/check.js')
const { MemberProcess } = require('../../lab/chaos/run/member-process.js')

const { fileStore } = lease
const PROCESSES = 8
/** How long to wait for a slot that is free at once where the boot is identified. */
const AT_ONCE_MS = identifiesBoot ? 0 : 30_000

// --- slots and processes ---

test('a slot that was used in a tick of an hour is reused in the same tick', async (t) => {
  const fields = Object.entries({ timestamp: 40, shard: 10, counter: 14 })
  const folder = diskFolder(t)
  const made = []
  // The hour may end between two runs, so there are three.
  for (let i = 0; i < 3; i++) {
    const flake = await FlakeId.join(`file:${folder}`, { layout: { epoch: 0, tickMs: 3_600_000, fields }, waitMs: 0 })
    made.push(flake.nextBigInt())
    await flake.close()
  }
  t.true(isAscending(made))
})

for (const [place, makeFolder] of Object.entries(PLACES)) {
  test.serial(`${PROCESSES} processes that join at once get as many slots, ${place}`, async (t) => {
    const folder = makeFolder(t)
    const all = await Promise.all(Array.from({ length: PROCESSES }, () => joinedPuppet(t, folder)))
    t.deepEqual(
      all.map(({ slot }) => slot).sort((a, b) => a - b),
      [...Array(PROCESSES).keys()],
    )
    const lists = await Promise.all(all.map((puppet) => puppet.take(2000)))
    t.is(new Set(lists.flat()).size, PROCESSES * 2000)
    for (const [i, ids] of lists.entries()) {
      t.true(isAscending(ids))
      t.is(FlakeId.layouts.flake.decode(ids[0]).id, all[i].slot)
    }
  })
}

test.serial('kill -9: the slot is free at once, and its next holder continues after the last ID', async (t) => {
  const folder = diskFolder(t)
  const options = { slots: 1, waitMs: AT_ONCE_MS, maxAheadMs: 15_000 }
  let last = 0n
  for (let i = 0; i < (identifiesBoot ? 15 : 3); i++) {
    const puppet = await joinedPuppet(t, folder, options)
    t.is(puppet.slot, 0)
    const ids = await puppet.take(20_000) // ahead of the clock, so that the order shows where it continues
    t.true(ids[0] > last, `life ${i}`)
    t.true(isAscending(ids))
    last = ids.at(-1)
    await puppet.kill()
  }
})

test.serial(
  'processes are killed while they generate IDs, and restarted with another slot or the same: no ID comes twice',
  async (t) => {
    const folder = diskFolder(t)
    const task = (i) => ({
      join: `file:${path.join(folder, 'slots')}`,
      options: { slots: 6, maxAheadMs: i === 0 ? 0 : 15_000 },
      call: ['take', 'next', 'nextBigInt', 'takeAsync'][i % 4],
      perSecond: 200_000,
      refusals: ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_CLOCK_BACKWARDS'],
    })
    const troubles = []
    const onTrouble = ({ who, what }) => troubles.push(`${who}: ${what}`)
    const members = [0, 1, 2, 3].map(
      (i) => new MemberProcess({ name: `member ${i}`, folder, tasks: [task(i)], onTrouble }),
    )
    t.teardown(() => Promise.all(members.map((one) => one.kill())))
    for (const one of members) one.start()
    for (let i = 0; i < 24; i++) {
      const one = members[i % 4]
      for (let n = 0; n < 3000 && one.sizes[0] === 0; n++) await sleep(5)
      t.true(one.sizes[0] > 0, 'a member hangs')
      await sleep(Math.random() * 50)
      await one.kill()
      one.start()
    }
    await sleep(500)
    await Promise.all(members.map((one) => one.end()))
    const { ids, ...found } = check(
      members.flatMap(({ lives }) => lives.flatMap(({ files }) => files.map((file) => [file]))),
    )
    t.like(found, { duplicates: 0, disorders: 0, examples: [] })
    t.true(ids > 50_000, `${ids} IDs`)
    t.deepEqual(troubles, [])
  },
)

test.serial('a released slot: the next holder continues after the last ID', async (t) => {
  const folder = diskFolder(t)
  const options = leaseOptions({ slots: 1, maxAheadMs: 1000 })
  const first = await joinAs(t, `file:${folder}`, options)
  const ids = [...first.takeBigInts(1_000_000)]
  await first.close()
  const second = await joinAs(t, `file:${folder}`, options)
  t.is(second.slot, 0)
  t.true(second.nextBigInt() > ids.at(-1))
})

test.serial('a stopped process keeps its slot, and no process waits for it', async (t) => {
  if (isWindows) return notOnWindows(t, 'processes cannot be stopped')
  const folder = diskFolder(t)
  const options = { ttlMs: 2000, skewMs: 100 }
  const one = await joinedPuppet(t, folder, options)
  one.stop()
  const other = await joinedPuppet(t, folder, options)
  t.not(other.slot, one.slot)
  const ids = await other.take(1000)
  await sleep(2500)
  one.resume()
  const others = await one.take(1000)
  t.is(new Set([...ids, ...others]).size, 2000)
})

// --- options that must be equal ---

test.serial(
  'another layout, epoch, number of slots or fixed field: the error shows both, and nothing changes',
  async (t) => {
    const folder = diskFolder(t)
    const options = { epoch: 4_000_000, slots: 8 }
    const puppet = await joinedPuppet(t, folder, options)
    for (const other of [
      { layout: 'instagram' },
      { epoch: 4_000_001 },
      { slots: 9 },
      { slots: undefined },
      { datacenter: 1 },
      { nodeOffset: 1 },
      { idOffset: 5n },
    ]) {
      const error = await t.throwsAsync(
        tryJoin(`file:${folder}`, { ...options, ...other }),
        { code: 'ERR_FLAKE_CONFIG_MISMATCH' },
        Object.keys(other).join(),
      )
      t.truthy(error?.theirs)
      t.not(error?.theirs, error?.ours)
      t.regex(error?.message, /^Group '.*' has .+; this process uses .+\. Use the options that it was created with\./)
      t.true(error?.message.includes(folder), error?.message)
    }
    t.is((await puppet.take(10)).length, 10)
    t.is((await joinedPuppet(t, folder, options)).slot, 1)
  },
)

test.serial('groups of one folder are separate, whatever their names are', async (t) => {
  const folder = diskFolder(t)
  const long = ['ü'.repeat(40), `${'ü'.repeat(39)}o`, '/'.repeat(80), 'a'.repeat(128)]
  const odd = ['a/b', '..', '.', '../x', 'a%2Fb', '%2F', ' ', '*?"<>|:\\', 'C:\\x', '.hidden', 'con', 'ü']
  const names = ['default', 'a', 'A', ...odd, ...long]
  for (const [i, group] of names.entries()) {
    const flake = await joinAs(t, `file:${folder}`, leaseOptions({ group, slots: i + 1 }))
    t.is(flake.slot, 0, group)
  }
  t.deepEqual((await fileStore(folder).groups()).toSorted(), names.toSorted())
  for (const group of names) t.is((await fileStore(folder).list(group)).length, 1, group)
  t.false(fs.existsSync(path.join(folder, '..', 'x')), 'nothing is outside the folder')
})

test.serial('a group whose name is too long for a file is rejected', async (t) => {
  const error = await t.throwsAsync(tryJoin(`file:${diskFolder(t)}`, { group: '/'.repeat(128) }), {
    code: 'ERR_FLAKE_FILE',
  })
  t.regex(error.message, /too long/)
})

test.serial('exhausted: at once with waitMs 0, otherwise when a process releases a slot or is killed', async (t) => {
  const folder = diskFolder(t)
  const options = { slots: 2 }
  const [one, two] = [await joinedPuppet(t, folder, options), await joinedPuppet(t, folder, options)]
  const error = await t.throwsAsync(tryJoin(`file:${folder}`, { ...options, waitMs: 0 }), {
    code: 'ERR_FLAKE_EXHAUSTED',
  })
  t.is(error.group, 'default')
  t.true(error.retryAt instanceof Date)
  const third = joinedPuppet(t, folder, { ...options, waitMs: 30_000 })
  await sleep(200)
  await one.kill()
  t.is((await third).slot, one.slot)
  const fourth = joinedPuppet(t, folder, { ...options, waitMs: 30_000 })
  await sleep(200)
  await two.call('close')
  t.is((await fourth).slot, two.slot)
})

// --- states ---

test.serial('expires advances between renewals, as IDs are generated', async (t) => {
  const flake = await joinAs(t, `file:${diskFolder(t)}`, leaseOptions({ ttlMs: 60_000 }))
  const first = flake.expires
  await until(() => flake.nextBigInt() && flake.expires > first)
  t.true(flake.expires > new Date())
})

test.serial('a removed slot file: waiting calls get an ID of another slot before the next renewal', async (t) => {
  if (isWindows) return notOnWindows(t, 'a file that is in use cannot be removed')
  const folder = diskFolder(t)
  const flake = await joinAs(t, `file:${folder}`, leaseOptions({ ttlMs: 60_000 }))
  const last = flake.nextBigInt()
  fs.unlinkSync(path.join(folder, 'default', '1', '0'))
  await sleep(1500)
  t.is(flake.state, 'attached')
  const lost = happens(flake, 'lost')
  const ids = await Promise.all([flake.nextAsync(), flake.nextAsync(), flake.takeAsync(3)])
  t.true(BigInt(`0x${ids[0].toString('hex')}`) > last)
  const { cause } = await lost
  t.is(cause.cause.code, 'ERR_FLAKE_FILE')
  t.regex(cause.cause.message, /removed/)
  t.notThrows(() => flake.next())
  t.is(flake.state, 'attached')
})

test.serial('a removed slot file: a call that does not wait fails, and another slot follows', async (t) => {
  if (isWindows) return notOnWindows(t, 'a file that is in use cannot be removed')
  const folder = diskFolder(t)
  const flake = await joinAs(t, `file:${folder}`, leaseOptions({ ttlMs: 60_000 }))
  const last = flake.nextBigInt()
  fs.unlinkSync(path.join(folder, 'default', '1', '0'))
  await sleep(1500)
  const attached = happens(flake, 'attached')
  t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_FILE' })
  await attached
  t.true(flake.nextBigInt() > last)
})

test.serial('detach() and attach() without waiting in between: the lease is still maintained', async (t) => {
  const folder = diskFolder(t)
  const flake = await joinAs(t, `file:${folder}`, leaseOptions())
  const detached = flake.detach()
  await Promise.all([flake.attach(), detached])
  let renewed = false
  flake.on('renewed', () => {
    renewed = true
  })
  await until(() => renewed, { limitMs: 30_000 })
  t.true(renewed)
})

test.serial('IDs are available across several windows', async (t) => {
  const flake = await joinAs(t, `file:${diskFolder(t)}`, leaseOptions())
  const ids = []
  for (let i = 0; i < 60; i++) {
    ids.push(flake.nextBigInt())
    await sleep(100)
  }
  t.true(isAscending(ids))
})

test.serial('an idle generator generates an ID at once, long after its last one', async (t) => {
  const flake = await joinAs(t, `file:${diskFolder(t)}`, leaseOptions())
  flake.next()
  await sleep(flake.expires - Date.now() + 200) // past the mark
  t.notThrows(() => flake.next())
})

test.serial('destroy() reaches the other processes, and a new group continues above', async (t) => {
  const folder = diskFolder(t)
  const options = { ttlMs: 30_000, skewMs: 100, slots: 4, maxAheadMs: 1000 }
  const [one, two] = [await joinedPuppet(t, folder, options), await joinedPuppet(t, folder, options)]
  const ids = [...(await one.take(1_000)), ...(await two.take(2_000_000 / 100))]
  await one.call('destroy')
  const start = performance.now()
  t.is((await one.call('state')).state, 'destroyed')
  let refusal
  while (refusal === undefined)
    refusal = await two.call('next').then(
      () => undefined,
      (error) => error,
    )
  t.is(refusal.code, 'ERR_FLAKE_DESTROYED', 'and nothing else before')
  t.true(performance.now() - start < 2000, 'long before the next renewal: 250 ms on a quiet machine')
  t.is((await two.call('state')).state, 'destroyed')
  await t.throwsAsync(two.call('next'), { code: 'ERR_FLAKE_DESTROYED' })
  await t.throwsAsync(two.call('attach'), { code: 'ERR_FLAKE_DESTROYED' })
  const later = await joinedPuppet(t, folder, { ...options, slots: 7, waitMs: 30_000 })
  const [id] = await later.take(1)
  t.true(ids.every((before) => before < id))
})

// --- files ---

test.serial('the folder as a path and as a URL, whatever the working folder is', async (t) => {
  const folder = diskFolder(t)
  for (const store of [`file:${folder}`, pathToFileURL(folder).href, `FILE:${folder}`, fileStore(folder)]) {
    t.regex(await tryJoin(store, leaseOptions({ group: 'ways', epoch: 9 })), /joined/)
  }
  const source = `
    const flake = await FlakeId.join(${JSON.stringify(`file:${path.join(folder, 'ids')}`)})
    process.chdir(${JSON.stringify(path.parse(folder).root)})
    await flake.detach()
    await flake.attach()
    console.log(JSON.stringify(flake.state))
    await flake.close()
  `
  t.is(await jsonOfChild(t, source), 'attached')
  t.true(fs.existsSync(path.join(folder, 'ids')))
  for (const wrong of [7, {}, true]) t.throws(() => fileStore(wrong), { code: 'ERR_FLAKE_OPTION' })
})

test.serial(
  'a relative folder is rejected, with the absolute one: another working folder would have other slots',
  async (t) => {
    for (const [given, meant] of [
      ['ids', path.resolve('ids')],
      ['./ids', path.resolve('ids')],
      ['..', path.resolve('..')],
      ['~/ids', path.join(os.homedir(), 'ids')],
    ]) {
      const joined = await t.throwsAsync(FlakeId.join(`file:${given}`), {
        code: 'ERR_FLAKE_OPTION',
        instanceOf: RangeError,
      })
      t.like(joined, { option: 'store', value: `file:${given}` })
      t.true(joined.message.endsWith(`Did you mean 'file:${meant}'?`), joined.message)
      const { message } = t.throws(() => fileStore(given), { code: 'ERR_FLAKE_OPTION', instanceOf: RangeError })
      t.true(message.endsWith(`Did you mean '${meant}'?`), message)
    }
    t.throws(() => fileStore(''), {
      code: 'ERR_FLAKE_OPTION',
      message: /^directory must be an absolute path, but is ''/,
    })
    t.false(fs.existsSync('ids'))
  },
)

test.serial('a folder that is a file, in a file, or on no local file system is rejected', async (t) => {
  const folder = diskFolder(t)
  const file = path.join(folder, 'file')
  fs.writeFileSync(file, 'a file')
  const unixs = isWindows ? [] : [path.join(folder, 'loop'), '/proc/ids', '/dev/null']
  if (!isWindows) fs.symlinkSync('loop', path.join(folder, 'loop'))
  for (const where of [file, path.join(file, 'ids'), ...unixs]) {
    const error = await t.throwsAsync(tryJoin(`file:${where}`, leaseOptions()), { code: 'ERR_FLAKE_FILE' }, where)
    t.true(error?.path?.startsWith(where.slice(0, 5)), error?.path)
  }
  t.is(fs.readFileSync(file, 'utf8'), 'a file')
})

test.serial('a folder without write access is rejected', async (t) => {
  if (!isRoot) return t.log('SKIPPED: needs the rights of the superuser') || t.pass()
  const folder = diskFolder(t)
  fs.chmodSync(folder, 0o755)
  const source = `
    process.setgid(65534)
    process.setuid(65534)
    const error = await FlakeId.join('file:${folder}').catch((error) => error)
    console.log(JSON.stringify({ code: error.code, path: error.path, message: error.message }))
  `
  const error = await jsonOfChild(t, source)
  t.is(error.code, 'ERR_FLAKE_FILE')
  t.true(error.path.startsWith(folder))
  t.regex(error.message, /permission/)
  t.deepEqual(fs.readdirSync(folder), [])
})

test.serial('a process with a held slot exits as it would without', async (t) => {
  const folder = diskFolder(t)
  for (const [end, expected] of [
    ['', { code: 0, signal: null }],
    ['process.exit(3)', { code: 3, signal: null }],
    ["throw new Error('planned')", { code: 1, signal: null }],
    ['process.abort()', isWindows ? { code: 134 } : { signal: 'SIGABRT' }],
  ]) {
    const ended = await runChild(`
      const flake = await FlakeId.join(${JSON.stringify(`file:${folder}`)}, { slots: 1, waitMs: ${AT_ONCE_MS}, maxWaitMs: 1000 })
      flake.next()
      ${end}
    `)
    t.like(ended, expected, `${end}: ${ended.stderr}`)
  }
})
