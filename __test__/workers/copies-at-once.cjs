'use strict'

// Loads the copies of the addon in a folder, the argument, in four threads at the same time: each thread loads its share.
// Prints JSON: how many were loaded.

const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

const THREADS = 4

/** Loads a copy and lets it look for the others. */
function load(file) {
  const copy = { exports: {} }
  process.dlopen(copy, file)
  if (copy.exports.meetCopies() !== null) throw new Error(`${file} has not met the others`)
}

async function loadedInThread(files) {
  const [loaded] = await once(new Worker(__filename, { workerData: files }), 'message')
  return loaded
}

async function main(folder) {
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name))
  const shares = Array.from({ length: THREADS }, (_, thread) => files.filter((_, i) => i % THREADS === thread))
  const loaded = await Promise.all(shares.map(loadedInThread))
  console.log(JSON.stringify({ loaded: loaded.reduce((sum, count) => sum + count, 0) }))
}

if (isMainThread) main(process.argv[2])
else {
  workerData.forEach(load)
  parentPort.postMessage(workerData.length)
}
