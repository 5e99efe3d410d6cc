'use strict'

// `full-disk.cjs make FOLDER` generates an ID of a shared file and one of a slot there. `full-disk.cjs fill FOLDER`
// fills the file system of the folder, and does the same at each amount of free space from none to enough. Each prints
// the results, as JSON.

const fs = require('node:fs')
const path = require('node:path')
const FlakeId = require('../..')

const STEP = 4096
const MOST_STEPS = 400
const BALLAST_LEAVES = 4 << 20

/**
 * How IDs are generated in a folder: each gives one. A node number takes its numbers from one folder in this process.
 */
const WAYS = [
  async (folder, turn) => {
    const node = { datacenter: turn % 32, worker: 1 + Math.floor(turn / 32) }
    return new FlakeId({ ...node, shared: path.join(folder, 'ids'), maxAheadMs: Number.POSITIVE_INFINITY }).nextBigInt()
  },
  async (folder, turn) => {
    const options = { slots: 1, datacenter: turn % 32, maxAheadMs: Number.POSITIVE_INFINITY, waitMs: 0 }
    const flake = await FlakeId.join(`file:${path.join(folder, 'slots')}`, options)
    const made = flake.nextBigInt()
    await flake.close()
    return made
  },
]

async function make(folder, turn = 0) {
  const made = await Promise.allSettled(WAYS.map((way) => way(folder, turn)))
  return {
    ids: made.filter(({ status }) => status === 'fulfilled').map(({ value }) => String(value)),
    codes: made
      .filter(({ status }) => status === 'rejected')
      .map(({ reason }) => (reason.code === 'ERR_FLAKE_FILE' ? reason.code : String(reason))),
  }
}

/** Fills the file system to its last byte: how many bytes that took. */
function fill(filler) {
  const output = fs.openSync(filler, 'a')
  for (let size = 1 << 20; size > 0; size = size > STEP ? STEP : size > 1 ? 1 : 0) {
    try {
      for (;;) fs.writeSync(output, Buffer.alloc(size, 1))
    } catch (error) {
      if (error.code !== 'ENOSPC') throw error
    }
  }
  try {
    fs.fsyncSync(output)
  } catch {} // Btrfs may report only now that it was too much
  fs.closeSync(output)
  return fs.statSync(filler).size
}

/** With each amount of space: a new folder, and one that has been in use since there was space. */
async function fillUp(folder) {
  const filler = path.join(folder, 'filler')
  const old = path.join(folder, 'old')
  fs.mkdirSync(old)
  const ballast = path.join(folder, 'ballast') // so that each turn has little to fill
  fs.truncateSync(ballast, Math.max(0, fill(ballast) - BALLAST_LEAVES))
  let last = (await make(old)).ids.map(BigInt)
  const wrong = []
  let refused = 0
  let isEnough = false
  for (let steps = 0; !isEnough && steps < MOST_STEPS; steps++) {
    const size = fill(filler)
    fs.truncateSync(filler, Math.max(0, size - steps * STEP))
    const inNew = await make(folder, 1 + steps)
    const inOld = await make(old)
    for (const code of [...inNew.codes, ...inOld.codes]) {
      refused++
      if (code !== 'ERR_FLAKE_FILE') wrong.push(`${steps}: ${code}`)
    }
    fs.rmSync(filler)
    const later = await make(old)
    if (later.codes.length > 0) wrong.push(`${steps}: with room again: ${later.codes}`)
    const ids = later.ids.map(BigInt)
    if (ids.some((id, i) => id <= last[i])) wrong.push(`${steps}: ${ids} is not above ${last}`)
    last = ids
    isEnough = inNew.codes.length === 0
    for (const name of ['ids', 'slots']) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  }
  return { refused, isEnough, wrong }
}

const [what, folder] = process.argv.slice(2)
const done = what === 'fill' ? fillUp(folder) : make(folder)
done.then((outcome) => console.log(JSON.stringify(outcome)))
