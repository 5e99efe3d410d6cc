// One cursor in a file for many processes: no ID twice and strict order, whatever happens to the processes, their
// clocks and the file.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { isAscending, jsonOfChild, runChild } from '../support/index.mjs'
import {
  diskFolder,
  hasClock,
  identifiesBoot,
  isKept,
  isWindows,
  notOnWindows,
  PLACES,
  Puppet,
  withoutClock,
} from '../support/processes.mjs'

const require = createRequire(import.meta.url)
const { check } = require('../../lab/chaos/outcome/check.js')
const { MemberProcess } = require('../../lab/chaos/run/member-process.js')

const MEMBERS = 4
const KILLS = 30
/** Where the boot is not identified, each of the others waits up to 250 ms for an answer. */
const FILES = identifiesBoot ? 300 : 50

/** Processes that have the same file open. */
async function puppets(t, count, options, given) {
  const all = Array.from({ length: count }, () => new Puppet(t, given))
  await Promise.all(all.map((puppet) => puppet.call('open', { id: 7, ...options })))
  return all
}

for (const [place, folder] of Object.entries(PLACES)) {
  test.serial(`IDs ascend across processes in the order of the calls, ${place}`, async (t) => {
    const all = await puppets(t, MEMBERS, { shared: path.join(folder(t), 'ids'), maxWaitMs: 1000 })
    const ids = []
    for (let i = 0; i < 300; i++) ids.push(...(await all[i % MEMBERS].take(1 + (i % 50))))
    t.true(isAscending(ids))
    t.is(ids.length, 7650)
  })
}

// --- many at once, and kill -9 ---

const task = (shared, i) => ({
  options: { id: 7, shared, maxAheadMs: i === 0 ? 0 : 15_000 },
  call: ['take', 'next', 'nextBigInt', 'takeAsync'][i % 4],
  perSecond: 300_000,
  refusals: ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_CLOCK_BACKWARDS'],
})

/** Members that write all their IDs to files, as in lab/chaos/. `fileOf(i)`: the file that member i shares. */
function startMembers(t, folder, fileOf) {
  const troubles = []
  const members = Array.from({ length: MEMBERS }, (_, i) => {
    const onTrouble = ({ who, what }) => troubles.push(`${who}: ${what}`)
    return new MemberProcess({ name: `member ${i}`, folder, tasks: [task(fileOf(i), i)], onTrouble })
  })
  t.teardown(() => Promise.all(members.map((member) => member.kill())))
  for (const member of members) member.start()
  return { members, troubles }
}

async function grows(member) {
  const [before] = member.sizes
  for (let i = 0; i < 3000 && member.sizes[0] <= before; i++) await sleep(5)
  if (member.sizes[0] <= before) throw new Error('a member hangs: no ID within 15 s')
}

const inOrder = (members) => members.map(({ lives }) => lives.flatMap(({ files }) => files))

for (const [place, folder] of Object.entries(PLACES)) {
  test.serial(
    `killed ${KILLS} times while they generate IDs, and restarted: none twice, all in order, ${place}`,
    async (t) => {
      const output = diskFolder(t)
      const shared = path.join(folder(t), 'ids')
      const { members, troubles } = startMembers(t, output, () => shared)
      for (let i = 0; i < KILLS; i++) {
        const member = members[i % MEMBERS]
        await grows(member)
        await sleep(Math.random() * 30)
        await member.kill()
        member.start()
      }
      await Promise.all(members.map(grows))
      await Promise.all(members.map((member) => member.end()))
      const { ids, ...found } = check(inOrder(members))
      t.like(found, { duplicates: 0, disorders: 0, examples: [] })
      t.true(ids > 50_000, `${ids} IDs`)
      t.deepEqual(troubles, [])
      t.deepEqual(fs.readdirSync(path.dirname(shared)), ['ids'], 'nothing is left behind')
    },
  )
}

test.serial('the same members with a file each generate duplicates, which the check finds', async (t) => {
  const folder = diskFolder(t)
  const { members } = startMembers(t, folder, (i) => path.join(folder, `ids-of-${i}`))
  await Promise.all(members.map(grows))
  await sleep(1000)
  await Promise.all(members.map((member) => member.end()))
  t.true(check(inOrder(members)).duplicates > 0)
})

test.serial('a process that is stopped in the middle does not block the others', async (t) => {
  if (isWindows) return notOnWindows(t, 'processes cannot be stopped')
  const shared = path.join(diskFolder(t), 'ids')
  const [one, other] = await puppets(t, 2, { shared, seqMask: 255, maxWaitMs: 1000 })
  const ids = []
  for (let i = 0; i < 20; i++) {
    const running = one.call('run', 30)
    await sleep(Math.random() * 30)
    one.stop()
    const before = await other.take(2000)
    t.true(isAscending(before))
    one.resume()
    const made = (await running).map(BigInt)
    t.true(isAscending(made))
    ids.push(before, made)
  }
  t.is(new Set(ids.flat()).size, ids.flat().length)
})

// --- clocks ---

test.serial('a clock that was set back across a restart: an error or a wait, never a duplicate', async (t) => {
  if (!hasClock) return withoutClock(t)
  const shared = path.join(diskFolder(t), 'ids')
  const [first] = await puppets(t, 1, { shared })
  const last = (await first.take(5000).catch(() => first.take(1))).at(-1)
  await first.kill()
  const [second] = await puppets(t, 1, { shared }, { offsetMs: -3000 })
  const error = await t.throwsAsync(second.call('next'), { code: 'ERR_FLAKE_CLOCK_BACKWARDS' })
  t.true(error.behindMs > 500 && error.behindMs <= 3000, `${error.behindMs} ms behind`)
  t.true(error.retryAfterMs > 0)
  const id = BigInt(await second.call('nextAsync'))
  t.true(id > last)
  await second.kill()
  const [third] = await puppets(t, 1, { shared, maxAheadMs: 60_000 }, { offsetMs: -20_000 })
  t.true((await third.take(10))[0] > id, 'a generator that may run ahead continues at once')
})

test.serial('processes with different clocks: IDs still follow the order of the calls', async (t) => {
  if (!hasClock) return withoutClock(t)
  const shared = path.join(diskFolder(t), 'ids')
  const options = { shared, maxAheadMs: 60_000 }
  const all = []
  for (const offsetMs of [0, -4000, 4000]) all.push(...(await puppets(t, 1, options, { offsetMs })))
  const ids = []
  for (let i = 0; i < 60; i++) ids.push(...(await all[i % 3].take(20)))
  t.true(isAscending(ids))
})

// --- creating the file ---

for (const [place, folder] of Object.entries(PLACES)) {
  test.serial(
    `processes that create the same file at once, ${FILES} times: one wins, all share it, ${place}`,
    async (t) => {
      const parent = folder(t)
      const all = Array.from({ length: MEMBERS }, () => new Puppet(t))
      for (let i = 0; i < FILES; i++) {
        // A process uses a node number in only one file, so each file has a different epoch.
        const options = { id: 7, epoch: i, shared: path.join(parent, `ids-${i}`), maxAheadMs: 60_000 }
        const lists = await Promise.all(all.map((puppet) => puppet.call('open', options).then(() => puppet.take(3))))
        const ids = lists.flat()
        if (new Set(ids).size !== ids.length) t.fail(`duplicates in file ${i}: ${ids}`)
      }
      if (isWindows) await Promise.all(all.map((puppet) => puppet.kill())) // Wine removes some names once no process has the file open
      t.is(fs.readdirSync(parent).length, FILES, 'no temporary file is left')
    },
  )
}

// --- losing the file ---

/** Calls until the file's loss is noticed; a hang or an end without an error fails the test. */
async function untilNoticed(t, puppet, call) {
  for (let i = 0; i < 400; i++) {
    try {
      await puppet.call(call)
    } catch (error) {
      t.is(error.code, 'ERR_FLAKE_FILE', error.message)
      return error
    }
    await sleep(25)
  }
  t.fail('never noticed')
}

const GONE = {
  removed: (file) => fs.unlinkSync(file),
  'renamed away': (file) => fs.renameSync(file, `${file}-old`),
  'replaced by a copy of itself'(file) {
    fs.copyFileSync(file, `${file}-copy`)
    fs.renameSync(`${file}-copy`, file)
  },
  'replaced by a folder'(file) {
    fs.unlinkSync(file)
    fs.mkdirSync(file)
  },
  'gone with its folder': (file) => fs.rmSync(path.dirname(file), { recursive: true }),
}

for (const [what, happen] of Object.entries(GONE)) {
  test.serial(`a file that is ${what} while in use: ERR_FLAKE_FILE, and no hang`, async (t) => {
    const folder = path.join(diskFolder(t), 'folder')
    fs.mkdirSync(folder)
    const shared = path.join(folder, 'ids')
    const [one, other] = await puppets(t, 2, { shared })
    await Promise.all([one.take(5), other.take(5)].map((made) => made.catch(() => {})))
    if (isWindows) {
      isKept(t, () => happen(shared), what)
      return t.true(isAscending([...(await one.take(5)), ...(await other.take(5))]))
    }
    happen(shared)
    for (const [puppet, call] of [
      [one, 'next'],
      [other, 'nextAsync'],
    ]) {
      const error = await untilNoticed(t, puppet, call)
      t.is(error.path, shared)
      t.regex(error.message, /removed, replaced/)
      await t.throwsAsync(puppet.call(call), { code: 'ERR_FLAKE_FILE' }, 'and it stays that way')
    }
  })
}

// --- the process ends ---

test.serial('a process with an open file exits as it would without', async (t) => {
  const folder = diskFolder(t)
  const ends = {
    'process.exit(3)': { code: 3, signal: null },
    "throw new Error('planned')": { code: 1, signal: null },
    "setTimeout(() => { throw new Error('planned') }, 300)": { code: 1, signal: null },
    'process.abort()': isWindows ? { code: 134 } : { signal: 'SIGABRT' },
    // Windows has no signals: a process exits itself with status 1.
    "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)": isWindows
      ? { code: 1 }
      : { signal: 'SIGTERM' },
    'for (const i of [1, 2, 3, 4]) flake.nextAsync().then(() => process.exit(5))': { code: 5, signal: null },
    '': { code: 0, signal: null },
  }
  for (const [i, [end, expected]] of Object.entries(ends).entries()) {
    const shared = path.join(folder, `ids-${i}`) // where the boot is not identified, a second process would have to wait
    const ended = await runChild(`
      const flake = new FlakeId({ id: 7, shared: ${JSON.stringify(shared)}, maxWaitMs: 1000 })
      flake.next()
      ${end}
    `)
    t.like(ended, expected, end)
  }
})

test.serial('a thread that is terminated while it generates IDs: the process and the file continue', async (t) => {
  const source = `
    import { Worker } from 'node:worker_threads'
    const options = { id: 7, shared: ${JSON.stringify(path.join(diskFolder(t), 'ids'))}, maxAheadMs: 60000 }
    const code = 'const { workerData, parentPort } = require("node:worker_threads");' +
      'const flake = new (require(workerData.file))(workerData.options);' +
      'parentPort.postMessage(1); for (;;) flake.nextBigInt()'
    const file = ${JSON.stringify(path.join(import.meta.dirname, '..', '..', 'dist', 'index.cjs'))}
    for (let i = 0; i < 30; i++) {
      const worker = new Worker(code, { eval: true, execArgv: [], workerData: { file, options } })
      await new Promise((resolve) => worker.once('message', resolve))
      await worker.terminate()
    }
    const flake = new FlakeId({ ...options, maxAheadMs: Infinity })
    const ids = flake.takeBigInts(1000)
    console.log(JSON.stringify(new Set(ids).size))
  `
  t.is(await jsonOfChild(t, source), 1000)
})
