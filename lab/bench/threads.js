'use strict'

// Threads of one process that all change the same word: `node threads.js rate COUNT WORK` prints how many million times/s
// they do it together. With `cpu` instead of `rate`, it prints how many ns of CPU each time costs.
//
//   add    Atomics.add, and nothing else: what the cores of this machine can do with one word
//   ids    nextBigInt() of a generator that all threads share

const { once } = require('node:events')
const { isMainThread, parentPort, workerData, Worker } = require('node:worker_threads')
const { ENDLESS, callForAWhile, rates, together, warmUp } = require('./rate.js')

const WORK = {
  add: (word) => () => Atomics.add(word, 0, 1),
  ids: () => {
    const flake = new (require('../..'))(ENDLESS)
    return () => flake.nextBigInt()
  },
}
const MEASURES = { rate: rates, cpu: callForAWhile }

function thread({ what, work, word, gate }) {
  const call = WORK[work](word)
  warmUp(call)
  parentPort.postMessage('ready')
  Atomics.wait(gate, 0, 0)
  parentPort.postMessage(MEASURES[what](call))
}

async function main([what, count, work]) {
  const [word, gate] = [0, 1].map(() => new Int32Array(new SharedArrayBuffer(4)))
  const workers = Array.from({ length: Number(count) }, () => {
    return new Worker(__filename, { workerData: { what, work, word, gate } })
  })
  await Promise.all(workers.map((worker) => once(worker, 'message'))) // ready
  const before = process.cpuUsage()
  const measured = Promise.all(workers.map((worker) => once(worker, 'message')))
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  const parts = (await measured).map(([part]) => part)
  const { user, system } = process.cpuUsage(before)
  const nsPerCall = () => ((user + system) * 1000) / parts.reduce((sum, calls) => sum + calls, 0)
  console.log(what === 'rate' ? together(parts) : nsPerCall())
}

if (isMainThread) main(process.argv.slice(2))
else thread(workerData)
