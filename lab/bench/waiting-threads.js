'use strict'

// The cost of IDs when several threads wait for them: `node waiting-threads.js QUOTA THREADS` prints { cpuNs, waits },
// both per ID. The threads share one node number, and each requests one ID after the other, faster than the layout can
// give them.

const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const FlakeId = require('../..')

const MEASURED_MS = 1500
const AHEAD_MS = 15_000

/** By name: a layout's options, and how many IDs use up what it may borrow from the future. */
const QUOTAS = {
  snowcast: [{ layout: 'snowcast', nodes: 8192 }, 0],
  uniqueid: [{ layout: 'uniqueid' }, 0],
  hazelcast: [{ layout: 'hazelcast' }, 64 * AHEAD_MS],
}

const generator = ([options]) => new FlakeId({ ...options, id: 5, maxWaitMs: 60_000 })

/** One thread: generates IDs until `flags[1]` is set, and reports how many, and how often it waited. */
function makeIds([name, flags]) {
  const flake = generator(QUOTAS[name])
  parentPort.postMessage('ready')
  Atomics.wait(flags, 0, 0)
  let ids = 0
  for (; Atomics.load(flags, 1) === 0; ids += 16) for (let i = 0; i < 16; i++) flake.nextBigInt()
  parentPort.postMessage({ ids, waits: flake.stats.waits })
}

const answersOf = (threads) =>
  Promise.all(threads.map((thread) => new Promise((resolve) => thread.once('message', resolve))))

async function main([name, count]) {
  const flags = new Int32Array(new SharedArrayBuffer(8))
  const threads = Array.from({ length: count }, () => new Worker(__filename, { workerData: [name, flags] }))
  await answersOf(threads)
  generator(QUOTAS[name]).take(QUOTAS[name][1])
  const before = process.cpuUsage()
  Atomics.store(flags, 0, 1)
  Atomics.notify(flags, 0)
  setTimeout(() => Atomics.store(flags, 1, 1), MEASURED_MS)
  const answers = await answersOf(threads)
  const { user, system } = process.cpuUsage(before)
  const sum = (field) => answers.reduce((all, answer) => all + answer[field], 0)
  console.log(JSON.stringify({ cpuNs: ((user + system) * 1000) / sum('ids'), waits: sum('waits') / sum('ids') }))
}

if (!isMainThread) makeIds(workerData)
else if (require.main === module) main(process.argv.slice(2))

module.exports = { QUOTAS }
