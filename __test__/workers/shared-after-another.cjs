'use strict'

// A process whose main thread never loads flakeforge: threads that follow one another and generate IDs with one file.
// Prints JSON with the first and the last ID of each. Arguments: the file, the number of threads.

const { once } = require('node:events')
const path = require('node:path')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

function make(shared) {
  const FlakeId = require('../..')
  const flake = new FlakeId({ id: 7, shared, maxAheadMs: 60_000 })
  const ids = flake.takeBigInts(20_000)
  return [ids[0], ids.at(-1)].map(String)
}

/** Resolves only when the thread is gone, and with it whatever it had loaded. */
async function inThread(shared) {
  const worker = new Worker(__filename, { workerData: shared })
  const [[result]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
  return result
}

async function main([shared, threads]) {
  const made = []
  for (let i = 0; i < Number(threads); i++) made.push(await inThread(shared))
  const root = path.join(__dirname, '..', '..')
  const loaded = Object.keys(require.cache).filter((file) => path.relative(root, file).match(/^(lib|index|.*\.node$)/))
  console.log(JSON.stringify({ made, loaded }))
}

if (isMainThread) main(process.argv.slice(2))
else parentPort.postMessage(make(workerData))
