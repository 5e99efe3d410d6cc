'use strict'

// A member: the process that the faults affect. It has one thread for each of its tasks; SIGTERM ends it properly. It
// never reports success: its files contain its IDs, its exit status and stderr its errors.

const { once } = require('node:events')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')
const { Maker } = require('./maker.js')
const { tell } = require('./tell.js')

function runThread(task) {
  const maker = new Maker(task)
  parentPort.once('message', async () => {
    await maker.stop()
    process.exit() // ends only this thread
  })
  return maker.run()
}

async function runProcess([task, ...others]) {
  const maker = new Maker(task)
  const threads = others.map((workerData) => new Worker(__filename, { workerData }))
  process.once('SIGTERM', async () => {
    const ends = threads.map((thread) => once(thread, 'exit'))
    for (const thread of threads) thread.postMessage('stop')
    await Promise.all([maker.stop(), ...ends])
    process.exit()
  })
  process.once('disconnect', () => process.exit(1)) // the harness is gone, and no other process would ever end this one
  process.on('warning', tell)
  await maker.run()
}

if (isMainThread) runProcess(JSON.parse(process.argv[2]))
else runThread(workerData)
