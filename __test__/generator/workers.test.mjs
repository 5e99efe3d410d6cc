// Threads of one process: generators with equal options never generate an ID twice, in whichever thread they live,
// whenever it started and ended, and however often the package was loaded. Anything that may crash runs in a separate
// process, from a script in workers/.

import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { addon } from '../support/load.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { make } = require('../workers/make.cjs')
const { version: ownVersion } = require('../../package.json')
const here = path.join(import.meta.dirname, '..')
const root = path.join(here, '..')
const THREADS = 4 // besides the main one

/** The output of a script in workers/, as an object; fails when the script does, or hangs. */
async function run(script, args = [], flags = []) {
  const file = path.join(here, 'workers', script)
  const limit = { timeout: 240_000, killSignal: 'SIGKILL' } // before ava gives up and leaves it behind
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, file, ...args], limit)
  return JSON.parse(stdout)
}

function startWorker(plan) {
  const worker = new Worker(path.join(here, 'workers', 'make.cjs'), { workerData: plan })
  return { ready: once(worker, 'message'), ids: () => once(worker, 'message').then(([ids]) => ids) }
}

/** IDs of the main thread and of workers that generate at the same time: an array for each thread. */
async function makeInThreads(plan) {
  const arrived = new Int32Array(new SharedArrayBuffer(4))
  const sent = { ...plan, meeting: { arrived, threads: THREADS + 1 } }
  const workers = Array.from({ length: THREADS }, () => startWorker(sent))
  await Promise.all(workers.map(({ ready }) => ready)) // from here on the main thread may block
  const others = workers.map(({ ids }) => ids())
  return Promise.all([make(sent), ...others])
}

function countDescents(ids) {
  let descents = 0
  for (let i = 1; i < ids.length; i++) if (ids[i] <= ids[i - 1]) descents++
  return descents
}

function countDuplicates(lists) {
  const all = new BigUint64Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const ids of lists) {
    all.set(ids, at)
    at += ids.length
  }
  return countDescents(all.sort())
}

/** Whether every thread had started before any other ended. */
function overlap(lists) {
  return lists.every((one) => lists.every((other) => one[0] < other[other.length - 1]))
}

async function survey(plan) {
  const lists = await makeInThreads(plan)
  return {
    made: lists.reduce((sum, { length }) => sum + length, 0),
    overlap: overlap(lists),
    duplicates: countDuplicates(lists),
    descents: lists.map(countDescents),
  }
}

const NONE = Array(THREADS + 1).fill(0)

test.serial('millions of IDs from five threads that may run ahead of the clock', async (t) => {
  const plan = { rounds: 10, n: 10_000, datacenter: 1, worker: 1, maxAheadMs: Number.POSITIVE_INFINITY }
  t.deepEqual(await survey(plan), { made: 3_050_000, overlap: true, duplicates: 0, descents: NONE })
})

test.serial('a million IDs from five threads that wait for the real clock', async (t) => {
  const plan = { rounds: 10, n: 3500, datacenter: 1, worker: 2, maxWaitMs: 60_000 }
  t.deepEqual(await survey(plan), { made: 1_067_500, overlap: true, duplicates: 0, descents: NONE })
})

test.serial('the same survey finds the duplicates and the disorder of generators that share nothing', async (t) => {
  const plan = { rounds: 2, n: 5000, id: 3, maxAheadMs: Number.POSITIVE_INFINITY, ownClock: true }
  const { made, duplicates, descents } = await survey(plan)
  t.is(made, 305_000)
  t.true(duplicates > 1000, `${duplicates} duplicates`)
  t.true(
    descents.every((count) => count > 0),
    `descents: ${descents}`,
  )
})

test.serial('numbers that a thread has used stay used after it ended', async (t) => {
  const { runAhead, goOn, stayBehind, loaded } = await run('one-after-another.cjs')
  t.deepEqual(loaded, [], 'the main thread must not be what keeps the registry alive')
  t.true(runAhead.aheadMs > 10_000, `only ${runAhead.aheadMs} ms ahead`)
  t.true(BigInt(goOn.first) > BigInt(runAhead.last), `${goOn.first} after ${runAhead.last}`)
  t.is(stayBehind.code, 'ERR_FLAKE_CLOCK_BACKWARDS')
  t.true(stayBehind.behindMs > 0)
})

test.serial('of more environments than have a place, each generates IDs of its own node', async (t) => {
  t.deepEqual(await run('environments.cjs'), { environments: 30, wrong: [] })
})

const { glibcVersionRuntime } = process.report.getReport().header

// Linux keeps our addon anyway, because of a flag in its header; Windows unloads a library without references.
const withLoader = process.platform === 'linux' && glibcVersionRuntime !== undefined ? test.serial : test.serial.skip
withLoader('the addon references itself, so it stays when the only thread that loaded it exits', async (t) => {
  const load = `require(${JSON.stringify(root)})`
  const script = `new (require('node:worker_threads').Worker)(${JSON.stringify(load)}, { eval: true })`
  const env = { ...process.env, LD_DEBUG: 'files' } // the loader reports who opens what
  const { stderr } = await promisify(execFile)(process.execPath, ['-e', script], { env, maxBuffer: 1 << 26 })
  const counts = [...stderr.matchAll(/file=\S*flakeforge\S*\.node .*direct_opencount=(\d+)/g)].map(([, count]) => count)
  t.deepEqual(counts, ['1', '2'])
})

/** Copies what npm would install, and the addon, into `folder`; with another version, if one is given. */
async function installCopy(folder, version) {
  const { NAPI_RS_NATIVE_LIBRARY_PATH: named } = process.env
  const addons = named ? [] : (await fs.readdir(root)).filter((file) => file.endsWith('.node'))
  for (const file of ['package.json', 'dist', ...addons])
    await fs.cp(path.join(root, file), path.join(folder, file), { recursive: true })
  if (named) await fs.cp(named, path.join(folder, path.basename(named)))
  if (version === undefined) return
  for (const file of (await fs.readdir(path.join(folder, 'dist'))).filter((name) => name.endsWith('.cjs'))) {
    const text = await fs.readFile(path.join(folder, 'dist', file), 'utf8')
    await fs.writeFile(
      path.join(folder, 'dist', file),
      text.replaceAll(`flakeforge@${ownVersion}`, `flakeforge@${version}`),
    )
  }
}

test.serial(
  'installed copies share a node number, whatever their versions, in one thread and in several',
  async (t) => {
    const temp = await fs.mkdtemp(path.join(os.tmpdir(), 'flakeforge-copies-'))
    try {
      const [one, same, other] = ['one', 'same', 'other'].map((name) => path.join(temp, name))
      await installCopy(one)
      await installCopy(same)
      await installCopy(other, '99.0.0')
      const clash = 'ERR_FLAKE_CONFIG_MISMATCH'
      // join() looks for another slot, but there is no other.
      const codes = [clash, 'ERR_FLAKE_EXHAUSTED', clash, clash, clash, 'none']
      const expected = { ids: 350_000, duplicates: 0, codes, warnings: [] }
      t.deepEqual(await run('two-copies.cjs', [one, same]), { classes: 1, ...expected })
      t.deepEqual(await run('two-copies.cjs', [one, other]), { classes: 2, ...expected })
    } finally {
      await fs.rm(temp, { recursive: true, maxRetries: 5 })
    }
  },
)

test.serial('threads can load copies of the addon at the same time: none of them hangs', async (t) => {
  const temp = await fs.mkdtemp(path.join(os.tmpdir(), 'flakeforge-copies-'))
  try {
    for (let i = 0; i < 60; i++) await fs.copyFile(addon, path.join(temp, `${i}.node`))
    t.deepEqual(await run('copies-at-once.cjs', [temp]), { loaded: 60 })
  } finally {
    await fs.rm(temp, { recursive: true, maxRetries: 5 })
  }
})

test.serial('a process survives the termination of its threads in the middle of their work', async (t) => {
  t.deepEqual(await run('terminate.cjs'), { terminated: 50, ids: 50_050, descents: 0 })
})
