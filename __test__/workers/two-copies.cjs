'use strict'

// Loads the two copies of the package whose folders are the arguments: the second one alone in a worker thread that
// ends before the main thread loads any, then both in the main thread, then each in a worker thread. All generate IDs
// of one node. Prints JSON: how many classes there are, how many IDs were generated twice, the codes with which the
// second copy rejects a node number that the first one uses, and the warnings.

const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

delete process.env.NAPI_RS_NATIVE_LIBRARY_PATH // each copy loads its own addon

const NODE = { id: 500, maxWaitMs: Number.POSITIVE_INFINITY }
const COUNT = 50_000

const idsOf = (FlakeId) => new FlakeId(NODE).takeBigInts(COUNT)

/** The IDs of a worker thread that loads a copy. */
async function idsInThread(folder) {
  const worker = new Worker(__filename, { workerData: folder })
  const [[ids]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
  return ids
}

async function codeOf(call) {
  try {
    await (await call()).close?.()
    return 'none'
  } catch ({ code }) {
    return code
  }
}

/** The error of the other copy for a node number that one copy uses in another way, or in another file. */
async function clashes(one, other, folder) {
  const file = (name) => path.join(folder, name)
  new one({ id: 9 }).next()
  new one({ id: 10, shared: file('ids') }).next()
  const leased = await one.join(`file:${file('slots')}`, { slots: 1, nodeOffset: 11 })
  leased.next()
  const codes = await Promise.all([
    codeOf(() => new other({ id: 9, shared: file('ids-9') })),
    codeOf(() => other.join(`file:${file('slots-9')}`, { slots: 1, nodeOffset: 9, waitMs: 0 })),
    codeOf(() => new other({ id: 10 })),
    codeOf(() => new other({ id: 10, shared: file('other') })),
    codeOf(() => new other({ id: 11 })),
    codeOf(() => new other({ id: 10, shared: file('ids') })),
  ])
  await leased.close()
  return codes
}

async function main([one, other]) {
  const warnings = []
  process.on('warning', ({ code, message }) => warnings.push({ code, message }))
  const all = [await idsInThread(other)]
  const copies = [require(one), require(other)]
  const threads = [one, other].map(idsInThread)
  for (const copy of [...copies, ...copies]) all.push(idsOf(copy))
  all.push(...(await Promise.all(threads)))
  const ids = all.flatMap((some) => Array.from(some))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-clashes-'))
  const codes = await clashes(...copies, folder)
  fs.rmSync(folder, { recursive: true })
  const [classes, duplicates] = [new Set(copies).size, ids.length - new Set(ids).size]
  console.log(JSON.stringify({ classes, ids: ids.length, duplicates, codes, warnings }))
}

if (isMainThread) main(process.argv.slice(2))
else parentPort.postMessage(idsOf(require(workerData)))
