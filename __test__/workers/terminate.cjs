'use strict'

// Terminates worker threads in the middle of their work, 50 times, while the main thread generates IDs of the same node
// number. Prints JSON at the end; a crash of the process ends it before.

const { once } = require('node:events')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')
const FlakeId = require('../..')

const NODE = { id: 500 }
const TIMES = 50

function standstill() {
  const flake = new FlakeId({ clock: () => 1, seqMask: 1, maxWaitMs: Number.POSITIVE_INFINITY })
  flake.take(2) // the only IDs that this clock allows
  return flake
}

const styles = {
  calls(started) {
    const flake = new FlakeId({ ...NODE, maxWaitMs: Number.POSITIVE_INFINITY })
    started()
    for (;;) {
      flake.next()
      flake.nextString()
      flake.take(100)
      new FlakeId(NODE).stats.ids
    }
  },
  callbacks(started) {
    const flake = new FlakeId(NODE)
    const again = () => flake.next(again)
    for (let i = 0; i < 20_000; i++) flake.next(again)
    started()
  },
  waiting(started) {
    const flake = standstill()
    for (let i = 0; i < 1000; i++) flake.next(() => {})
    started()
  },
  blocked(started) {
    const flake = standstill()
    started()
    flake.next()
  },
}

async function startAndTerminate(style, delay) {
  const worker = new Worker(__filename, { workerData: style })
  await once(worker, 'message')
  await new Promise((resolve) => setTimeout(resolve, delay))
  await worker.terminate()
}

async function main() {
  const flake = new FlakeId({ ...NODE, maxWaitMs: Number.POSITIVE_INFINITY })
  const names = Object.keys(styles)
  let last = 0n
  let descents = 0
  for (let time = 0; time < TIMES; time++) {
    await startAndTerminate(names[time % names.length], time % 7)
    for (const id of [...flake.takeBigInts(1000), (await flake.nextAsync()).readBigUInt64BE()]) {
      if (id <= last) descents++
      last = id
    }
  }
  console.log(JSON.stringify({ terminated: TIMES, ids: TIMES * 1001, descents }))
}

if (isMainThread) main()
else styles[workerData](() => parentPort.postMessage('started'))
