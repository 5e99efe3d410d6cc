// The option `shared` within one process: what is rejected, which generators share a cursor, and what a generator on a
// file reports.

import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { inspect, promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import {
  called,
  FlakeId,
  freshNode,
  isAscending,
  jsonOfChild,
  numberOf,
  PATIENT,
  throwsCode,
} from '../support/index.mjs'
import { diskFolder, isWindows, PLACES } from '../support/processes.mjs'
import { once } from '../support/waits.mjs'

const fileIn = (t) => path.join(diskFolder(t), 'ids')

// --- options ---

test('a value that is not a path is rejected', (t) => {
  for (const shared of [7, true, {}, [], 7n, Buffer.from('/tmp/x'), new URL('file:///tmp/x'), () => '/tmp/x']) {
    const { option } = throwsCode(t, () => new FlakeId({ id: 7, shared }), 'ERR_FLAKE_OPTION', TypeError)
    t.is(option, 'shared')
  }
  for (const shared of ['', '\0', '/tmp/a\0b']) {
    const { option } = throwsCode(t, () => new FlakeId({ id: 7, shared }), 'ERR_FLAKE_OPTION', RangeError)
    t.is(option, 'shared')
  }
})

test('an own clock is rejected next to it, and no file is created', (t) => {
  const shared = fileIn(t)
  const { option } = throwsCode(t, () => new FlakeId({ shared, clock: Date.now }), 'ERR_FLAKE_OPTION', TypeError)
  t.is(option, 'clock')
  t.false(fs.existsSync(shared))
})

test('undefined and null mean none', (t) => {
  const flake = new FlakeId({ id: 990, shared: null })
  t.true(flake.nextBigInt() < new FlakeId({ id: 990, shared: undefined, ...PATIENT }).nextBigInt())
})

test('rejected options create no file', (t) => {
  const shared = fileIn(t)
  t.throws(() => new FlakeId({ id: 1024, shared }), { code: 'ERR_FLAKE_OPTION' })
  t.throws(() => new FlakeId({ id: 1, shared, wroker: 1 }), { code: 'ERR_FLAKE_OPTION' })
  t.false(fs.existsSync(shared))
})

test('a relative path is rejected, with the absolute one: another working folder would have another cursor', (t) => {
  for (const [shared, meant] of [
    ['ids', path.resolve('ids')],
    ['../ids', path.resolve('../ids')],
    ['~/ids', path.join(os.homedir(), 'ids')],
  ]) {
    const error = t.throws(() => new FlakeId({ id: 7, shared }), { code: 'ERR_FLAKE_OPTION', instanceOf: RangeError })
    t.like(error, { option: 'shared', value: shared })
    t.true(error.message.endsWith(`Did you mean '${meant}'?`), error.message)
    t.false(fs.existsSync(meant))
  }
})

test('a generator keeps its file when the working folder changes', async (t) => {
  const [here, there] = [diskFolder(t), diskFolder(t)]
  const shared = JSON.stringify(path.join(here, 'ids'))
  const source = `
    const one = new FlakeId({ id: 7, shared: ${shared} })
    const first = one.nextBigInt()
    process.chdir(${JSON.stringify(there)})
    await new Promise((resolve) => setTimeout(resolve, 1500)) // the watcher looks at the path
    one.next()
    const two = new FlakeId({ id: 7, shared: ${shared}, maxWaitMs: 1000 })
    console.log(JSON.stringify(two.nextBigInt() > first))
  `
  t.true(await jsonOfChild(t, source))
  t.deepEqual(fs.readdirSync(here), ['ids'])
  t.deepEqual(fs.readdirSync(there), [])
})

// --- sharing ---

for (const [place, folder] of Object.entries(PLACES)) {
  test(`two generators on one file generate each ID once, ${place}`, (t) => {
    const shared = path.join(folder(t), 'ids')
    const options = { id: freshNode(), shared, ...PATIENT }
    const [one, two] = [1, 2].map(() => new FlakeId(options))
    const ids = []
    for (let i = 0; i < 1000; i++) ids.push(one.nextBigInt(), numberOf(two.next()), ...two.takeBigInts(3))
    t.true(isAscending(ids))
    t.is(fs.statSync(shared).size, 4096)
  })
}

test('generators with other knobs share too, also by another name of the file', (t) => {
  const shared = fileIn(t)
  const id = freshNode() // below 32: it is a worker of datacenter 0
  const one = new FlakeId({ id, shared, ...PATIENT })
  const names = isWindows ? [] : [`${shared}-2`, `${shared}-3`] // Windows identifies a file by its path
  if (!isWindows) {
    fs.linkSync(shared, names[0])
    fs.symlinkSync(shared, names[1])
  }
  const others = [
    new FlakeId({ id, shared, seqMask: 63, ...PATIENT }),
    new FlakeId({ datacenter: 0, worker: id, shared, maxAheadMs: 3, ...PATIENT }),
    ...names.map((name) => new FlakeId({ id, shared: name, ...PATIENT })),
  ]
  const ids = []
  for (let i = 0; i < 200; i++) for (const flake of [one, ...others]) ids.push(flake.nextBigInt())
  t.true(isAscending(ids))
})

test('every call works, and so do stats, decode and inspect', async (t) => {
  const shared = fileIn(t)
  const flake = new FlakeId({ datacenter: 9, worker: 9, shared, ...PATIENT })
  const ids = [flake.next(), flake.nextBigInt(), BigInt(flake.nextString())]
  ids.push(await called(flake), await flake.nextAsync(), ...flake.takeBigInts(5))
  ids.push((await flake.takeAsync(2)).subarray(8), (await flake[Symbol.asyncIterator]().next()).value)
  t.true(isAscending(ids))
  t.like(flake.stats, { ids: 13, batches: 2, overflows: flake.stats.overflows, clockSteps: 0 })
  t.like(flake.decode(ids[0]), { datacenter: 9, worker: 9, id: 297 })
  t.like(flake, { datacenter: 9, worker: 9, id: 297, epoch: 0 })
  t.regex(inspect(flake), /^FlakeId \{/)
})

test('layouts of all kinds work, each in its own file', (t) => {
  const folder = diskFolder(t)
  for (const layout of Object.keys(FlakeId.layouts)) {
    const shared = path.join(folder, layout)
    const [one, two] = [1, 2].map(() => new FlakeId({ layout, shared, maxAheadMs: 1000, maxWaitMs: 5000 }))
    const ticks = []
    for (let i = 0; i < 50; i++) for (const flake of [one, two]) ticks.push(flake.decode(flake.next()))
    const ordered = ticks.every(({ tick, counter }, i) => {
      const before = ticks[i - 1]
      return i === 0 || tick > before.tick || (tick === before.tick && counter > before.counter)
    })
    t.true(ordered, layout)
  }
})

test("a new generator continues from the file's position, not the clock's", (t) => {
  const shared = fileIn(t)
  const id = freshNode()
  const ahead = new FlakeId({ id, shared, seqMask: 1, maxAheadMs: Number.POSITIVE_INFINITY })
  const last = ahead.takeBigInts(20_000).at(-1)
  t.true(new FlakeId({ id, shared, maxAheadMs: 60_000 }).nextBigInt() > last)
  const behind = new FlakeId({ id, shared })
  t.true(behind.stats.aheadMs > 1000)
  const error = throwsCode(t, () => behind.next(), 'ERR_FLAKE_CLOCK_BACKWARDS')
  t.true(error.behindMs > 1000)
})

test('overflow is that of all generators together', (t) => {
  const shared = fileIn(t)
  const id = freshNode()
  const [one, two] = [1, 2].map(() => new FlakeId({ id, shared, seqMask: 1 }))
  const codes = new Set()
  for (let i = 0; i < 100; i++) {
    for (const flake of [one, two]) {
      try {
        flake.nextBigInt()
      } catch ({ code }) {
        codes.add(code)
      }
    }
  }
  t.deepEqual([...codes], ['ERR_FLAKE_OVERFLOW'])
})

// --- the purpose of the file ---

test('another layout, epoch or node: the error shows what differs, and the file is unchanged', (t) => {
  const shared = fileIn(t)
  const options = { id: 7, epoch: 1_000_000, shared }
  new FlakeId(options).next()
  const before = fs.readFileSync(shared)
  const others = {
    node: { id: 8 },
    epoch: { epoch: 1_000_001 },
    counter: { layout: 'instagram' },
    tick: { layout: 'sonyflake' },
    decimal: { layout: 'chronicle' },
    reversed: { layout: 'uniqueid' },
  }
  for (const [what, other] of Object.entries(others)) {
    const error = throwsCode(t, () => new FlakeId({ ...options, ...other }), 'ERR_FLAKE_CONFIG_MISMATCH')
    t.regex(error.theirs, /epoch 1000000, tick 1 ms, .*node 0x7000/)
    t.not(error.theirs, error.ours)
    t.true(error.ours.includes(what), error.ours)
    const [theirs, ours] = [error.theirs.split(', '), error.ours.split(', ')]
    const [has, uses] = [theirs.filter((part) => !ours.includes(part)), ours.filter((part) => !theirs.includes(part))]
    t.true(error.message.startsWith(`${shared} has ${has.join(', ')}`), error.message)
    t.true(error.message.includes(`; this process uses ${uses.join(', ')}`), error.message)
  }
  t.deepEqual(fs.readFileSync(shared), before)
  t.notThrows(
    () => new FlakeId({ ...options, layout: 'discord', ...PATIENT }).next(),
    'the same bits under another name',
  )
})

test('plain and shared generators with one node number in one process are rejected, both ways', (t) => {
  const shared = fileIn(t)
  new FlakeId({ id: 991, ...PATIENT }).next()
  const error = throwsCode(t, () => new FlakeId({ id: 991, shared }), 'ERR_FLAKE_CONFIG_MISMATCH')
  t.truthy(error.theirs)
  t.true(error.ours.includes(shared))
  t.false(fs.existsSync(shared), 'no file was created')
  const flake = new FlakeId({ id: 992, shared })
  const clash = throwsCode(t, () => new FlakeId({ id: 992 }), 'ERR_FLAKE_CONFIG_MISMATCH')
  t.true(clash.theirs.includes(shared))
  t.notThrows(() => flake.next())
})

test('one node number in two files of one process is rejected', (t) => {
  const shared = fileIn(t)
  const flake = new FlakeId({ id: 993, shared })
  const error = throwsCode(t, () => new FlakeId({ id: 993, shared: `${shared}-2` }), 'ERR_FLAKE_CONFIG_MISMATCH')
  t.true(error.theirs.includes(shared) && error.ours.includes(`${shared}-2`))
  t.false(fs.existsSync(`${shared}-2`))
  t.notThrows(() => flake.next())
})

// --- threads ---

const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const FlakeId = require(${JSON.stringify(path.join(import.meta.dirname, '..', '..'))})
  const flake = new FlakeId(workerData.options)
  const ids = []
  for (let i = 0; i < workerData.rounds; i++) ids.push(flake.nextBigInt(), ...flake.takeBigInts(workerData.n))
  parentPort.postMessage(ids)
`

/** The IDs of a thread, when it has exited, and with it everything that it had loaded. */
async function threadOf(workerData) {
  const worker = new Worker(WORKER, { eval: true, workerData })
  const [[ids]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
  return ids
}

test('threads on one file: no ID twice, each in order', async (t) => {
  const options = { id: 7, epoch: 5, shared: fileIn(t), maxAheadMs: 60_000 }
  const lists = await Promise.all([1, 2, 3, 4].map(() => threadOf({ options, rounds: 200, n: 500 })))
  for (const ids of lists) t.true(isAscending(ids))
  t.is(new Set(lists.flat()).size, 4 * 200 * 501)
})

test('numbers continue when the only thread with the addon exits and others start', async (t) => {
  const script = path.join(import.meta.dirname, '..', 'workers', 'shared-after-another.cjs')
  const { stdout } = await promisify(execFile)(process.execPath, [script, fileIn(t), '5'])
  const { made, loaded } = JSON.parse(stdout)
  t.deepEqual(loaded, [], 'the main thread must not be what keeps the file open')
  t.is(made.length, 5)
  t.true(isAscending(made.flat().map(BigInt)))
})
