'use strict'

// Generates IDs in every way and returns them in the order of the calls: one thread's part in workers.test.mjs. The
// threads meet before each round, so that they generate IDs at the same time. A thread may have a copy of the addon:
// `addon`.

const { isMainThread, parentPort, workerData } = require('node:worker_threads')
if (workerData?.addon) process.env.NAPI_RS_NATIVE_LIBRARY_PATH = workerData.addon
const FlakeId = require('../..')

/** Collects IDs of any form in one array that can be transferred. */
class Ids {
  #ids
  #length = 0

  constructor(capacity) {
    this.#ids = new BigUint64Array(capacity)
  }

  add(id) {
    this.#ids[this.#length++] = id
  }

  addBytes(bytes) {
    for (let at = 0; at < bytes.length; at += 8) this.add(bytes.readBigUInt64BE(at))
  }

  /** Fails when fewer IDs came than were requested; one too many could not have been kept. */
  all() {
    if (this.#length !== this.#ids.length) throw new Error(`${this.#length} IDs instead of ${this.#ids.length}`)
    return this.#ids
  }
}

function oneByOne(flake, ids, n) {
  for (let i = 0; i < n; i++) ids.addBytes(flake.next())
  for (let i = 0; i < n; i++) ids.add(flake.nextBigInt())
  for (let i = 0; i < n; i++) ids.add(BigInt(flake.nextString()))
}

function inBatches(flake, ids, n) {
  ids.addBytes(flake.take(n))
  for (const id of flake.takeBigInts(n)) ids.add(id)
}

function byCallback(flake, ids, n) {
  return new Promise((resolve, reject) => {
    let missing = n
    const arrived = (error, id) => {
      if (error) return reject(error)
      ids.addBytes(id)
      if (--missing === 0) resolve()
    }
    for (let i = 0; i < n; i++) flake.next(arrived)
  })
}

function generatorPerId(options, ids, n) {
  for (let i = 0; i < n; i++) ids.add(new FlakeId(options).nextBigInt())
}

/** Blocks until all threads are here; `round` counts these meetings, from 1. */
function meet({ arrived, threads }, round) {
  Atomics.add(arrived, 0, 1)
  Atomics.notify(arrived, 0)
  for (;;) {
    const here = Atomics.load(arrived, 0)
    if (here >= threads * round) return
    if (Atomics.wait(arrived, 0, here, 60_000) === 'timed-out') throw new Error('a thread is missing')
  }
}

/** `rounds` rounds, each with `n` IDs in each of six ways and a tenth of `n` generators that generate one ID each. */
async function make({ rounds, n, ownClock, meeting, addon, ...options }) {
  if (ownClock) options.clock = Date.now // a function cannot be sent to a worker
  const flake = new FlakeId(options)
  const ids = new Ids(rounds * (6 * n + n / 10))
  for (let round = 1; round <= rounds; round++) {
    meet(meeting, round)
    oneByOne(flake, ids, n)
    inBatches(flake, ids, n)
    await byCallback(flake, ids, n)
    generatorPerId(options, ids, n / 10)
  }
  return ids.all()
}

async function work(plan) {
  parentPort.postMessage('ready')
  const ids = await make(plan)
  parentPort.postMessage(ids, [ids.buffer])
}

if (!isMainThread) work(workerData)

module.exports = { make }
