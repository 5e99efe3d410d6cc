'use strict'

// More environments at once than have a place of their own (src/places.rs): loads of the package in the main thread, and
// worker threads, twice as many one after the other. Each has a node number, and generates IDs in turns with all others. Prints
// JSON: how many environments there were, and the node numbers that were not the generator's own.

const { once } = require('node:events')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

const LOADS = 10
const THREADS = 10
const ROUNDS = 200

const shared = Symbol.for(`flakeforge@${require('../../package.json').version}`)

/** Loads the package and its addon once more: also the parts that all loads share, which jest has once for each test file. */
function load() {
  for (const part of Object.keys(globalThis[shared] ?? {})) delete globalThis[shared][part]
  for (const file of Object.keys(require.cache)) if (file !== __filename) delete require.cache[file]
  return require('../..')
}

/** Generates IDs in all single ways; returns the node numbers in them that are not `node`. */
function start(FlakeId, node) {
  const flake = new FlakeId({ id: node, maxWaitMs: 1000 })
  const safe = new FlakeId({ layout: 'safe', node })
  return () => {
    const found = [flake.next(), flake.nextBigInt(), flake.nextString()].map((id) => flake.decode(id).id)
    found.push(safe.decode(safe.nextNumber()).id)
    return found.filter((id) => id !== node)
  }
}

const inThread = (node) => new Worker(__filename, { workerData: node })

async function main() {
  const wrong = []
  const loads = Array.from({ length: LOADS }, load)
  const here = loads.map(start)
  const checkHere = () => {
    for (let round = 0; round < ROUNDS; round++) for (const check of here) wrong.push(...check())
  }
  let environments = new Set(loads).size
  for (let wave = 0; wave < 2; wave++) {
    const threads = Array.from({ length: THREADS }, (_, i) => inThread(LOADS + wave * THREADS + i))
    await Promise.all(threads.map((thread) => once(thread, 'message'))) // each has its generators, and waits
    const results = threads.map((thread) => Promise.all([once(thread, 'message'), once(thread, 'exit')]))
    for (const thread of threads) thread.postMessage('go')
    checkHere()
    for (const [[found]] of await Promise.all(results)) wrong.push(...found)
    environments += THREADS
  }
  checkHere()
  console.log(JSON.stringify({ environments, wrong }))
}

function work() {
  const check = start(require('../..'), workerData)
  parentPort.once('message', () => parentPort.postMessage(Array.from({ length: ROUNDS }, check).flat()))
  parentPort.postMessage('ready')
}

if (isMainThread) main()
else work()
