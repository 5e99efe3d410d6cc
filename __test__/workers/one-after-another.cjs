'use strict'

// A process whose main thread never loads flakeforge: what does a thread know of one that ended before it started?
// Prints JSON with each thread's IDs.

const { once } = require('node:events')
const path = require('node:path')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

const NODE = { datacenter: 21, worker: 3 }
const TICKS_AHEAD = 30_000

/** Far ahead of the clock at little cost: two IDs in each of many ticks. */
function runAhead(FlakeId) {
  const flake = new FlakeId({ ...NODE, seqMask: 1, maxAheadMs: 60_000 })
  const ids = flake.takeBigInts(2 * TICKS_AHEAD)
  return { last: String(ids[ids.length - 1]), aheadMs: flake.stats.aheadMs }
}

const tasks = {
  runAhead,
  goOn: (FlakeId) => ({ first: String(new FlakeId({ ...NODE, maxAheadMs: 60_000 }).nextBigInt()) }),
  stayBehind(FlakeId) {
    try {
      return { id: String(new FlakeId(NODE).nextBigInt()) }
    } catch ({ code, behindMs }) {
      return { code, behindMs }
    }
  },
}

/** Resolves only when the thread is gone, and with it whatever it had loaded. */
async function inThread(task) {
  const worker = new Worker(__filename, { workerData: task })
  const [[result]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
  return result
}

async function main() {
  const results = {}
  for (const task of Object.keys(tasks)) results[task] = await inThread(task)
  const root = path.join(__dirname, '..', '..')
  const loaded = Object.keys(require.cache).filter((file) => path.relative(root, file).match(/^(lib|index|.*\.node$)/))
  console.log(JSON.stringify({ ...results, loaded }))
}

if (isMainThread) main()
else parentPort.postMessage(tasks[workerData](require('../..')))
