'use strict'

// How a member writes its IDs: as runs, so that 10,000 million of them need little disk and little time to check. A run
// is a series of IDs in which each is one above the one before. Its record is 16 bytes: the first ID, and how many IDs
// the file has up to the end of the run. So all IDs, and their order, can be read back. IDs are only numbers here.

const fs = require('node:fs')

const RECORD = 16
const CHUNK = 1 << 20

/** A file to which IDs are added. */
class RunFile {
  #file
  #records = Buffer.alloc(0)
  /** How many IDs it has. */
  made = 0

  constructor(name) {
    this.#file = fs.openSync(name, 'a')
  }

  /** Adds IDs of 8 bytes each, in the order of their generation. */
  add(ids) {
    if (this.#records.length < ids.length * 2) this.#records = Buffer.alloc(ids.length * 2) // no two of them may be neighbours
    const view = new DataView(ids.buffer, ids.byteOffset, ids.length)
    let length = 0
    for (let from = 0; from < ids.length; ) {
      const end = endOfRun(view, from)
      this.made += (end - from) / 8
      this.#records.set(ids.subarray(from, from + 8), length)
      this.#records.writeBigUInt64BE(BigInt(this.made), length + 8)
      length += RECORD
      from = end
    }
    writeAll(this.#file, this.#records.subarray(0, length))
  }
}

/**
 * Where the run that begins at `from` ends. It checks every ID: in halves, because a BigInt of each would take 20 times
 * as long.
 */
function endOfRun(view, from) {
  let high = view.getUint32(from)
  let low = view.getUint32(from + 4)
  for (let at = from + 8; at < view.byteLength; at += 8) {
    low = (low + 1) >>> 0
    if (low === 0) high++ // there is none beyond the largest number
    if (view.getUint32(at + 4) !== low || view.getUint32(at) !== high) return at
  }
  return view.byteLength
}

/** A single write may accept less than it was given. */
function writeAll(output, bytes) {
  for (let written = 0; written < bytes.length; ) written += fs.writeSync(output, bytes, written)
}

const sizeOf = (name) => fs.statSync(name, { throwIfNoEntry: false })?.size ?? 0

/** Whether the file ends within a record: its writer was killed. That rest is ignored. */
const isCut = (name) => sizeOf(name) % RECORD !== 0

/**
 * Calls `look({ first, count, place })` for each run; `place` is how many IDs come before it. A missing file has none.
 */
function forEachRun(name, look) {
  let place = 0n
  for (const records of chunksOf(name))
    for (let at = 0; at < records.length; at += RECORD) {
      const end = records.readBigUInt64BE(at + 8)
      look({ first: records.readBigUInt64BE(at), count: end - place, place })
      place = end
    }
}

/** The complete records of a file, in parts. */
function* chunksOf(name) {
  const end = sizeOf(name) - (sizeOf(name) % RECORD)
  if (end === 0) return
  const input = fs.openSync(name)
  try {
    for (let at = 0; at < end; at += CHUNK) yield readAll(input, Math.min(CHUNK, end - at), at)
  } finally {
    fs.closeSync(input)
  }
}

/** A single read may return less than requested, and then perhaps not complete records. */
function readAll(input, length, from) {
  const bytes = Buffer.alloc(length)
  for (let read = 0; read < length; ) {
    const more = fs.readSync(input, bytes, read, length - read, from + read)
    if (more === 0) throw new Error('a file of IDs became shorter while it was read')
    read += more
  }
  return bytes
}

/** How many IDs a file has. */
function madeIn(name) {
  const end = sizeOf(name) - (sizeOf(name) % RECORD)
  if (end === 0) return 0
  const input = fs.openSync(name)
  try {
    return Number(readAll(input, 8, end - 8).readBigUInt64BE())
  } finally {
    fs.closeSync(input)
  }
}

module.exports = { RunFile, forEachRun, isCut, madeIn }
