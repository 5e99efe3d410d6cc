'use strict'

// Reads all IDs that were written and says whether the promises were kept: no ID twice in all files together, and each
// sequence ascending, where that was promised. A file may end within an ID if its writer was killed; that rest is left out. This file must never
// know how IDs are made: to it they are only numbers.

const fs = require('node:fs')
const path = require('node:path')
const { IdSet } = require('./id-set.js')

const CHUNK = 1 << 20
const EXAMPLES = 3

/**
 * @param {string[][]} sequences files, in the order in which they were written; missing ones are empty
 * @param {{ isInOrder?: boolean }} [promises]
 * @returns {{ ids: number, duplicates: number, disorders: number, cut: number, examples: string[] }} cut: files that end
 *   within an ID; examples: the first of what is wrong, for people
 */
function check(sequences, { isInOrder = true } = {}) {
  const found = { ids: 0, duplicates: 0, disorders: 0, cut: 0 }
  const faults = []
  const seen = new IdSet()
  const report = (kind, file, place) => {
    found[kind]++
    if (found[kind] <= EXAMPLES) faults.push({ kind, file, ...place })
  }
  for (const files of sequences) {
    const last = { high: 0, low: -1 } // below every number
    for (const file of files) checkFile(file, { found, seen, last, report, isInOrder })
  }
  return { ...found, examples: faults.map((fault) => tell(fault, sequences.flat())) }
}

function checkFile(file, { found, seen, last, report, isInOrder }) {
  let { high: lastHigh, low: lastLow } = last
  forEachChunk(file, (view, length, offset) => {
    for (let i = 0; i < length; i += 8) {
      const high = view.getUint32(i)
      const low = view.getUint32(i + 4)
      if (!seen.add(high, low)) report('duplicates', file, { high, low, offset: offset + i })
      if (isInOrder && (high < lastHigh || (high === lastHigh && low <= lastLow))) {
        report('disorders', file, { high, low, offset: offset + i })
      }
      lastHigh = high
      lastLow = low
    }
    found.ids += length / 8
  })
  last.high = lastHigh
  last.low = lastLow
  if (sizeOf(file) % 8 !== 0) found.cut++
}

const sizeOf = (file) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0

const chunk = Buffer.allocUnsafeSlow(CHUNK)
const view = new DataView(chunk.buffer)

/** Calls `look(view, length, offset)` with one part of the file after the other, whole IDs only. */
function forEachChunk(file, look) {
  const end = sizeOf(file) - (sizeOf(file) % 8)
  if (end === 0) return
  const input = fs.openSync(file)
  try {
    for (let offset = 0; offset < end; ) {
      const length = readAll(input, Math.min(CHUNK, end - offset), offset)
      look(view, length, offset)
      offset += length
    }
  } finally {
    fs.closeSync(input)
  }
}

/** A single read may give less than it was asked for, and then perhaps not whole IDs. */
function readAll(input, length, offset) {
  let read = 0
  while (read < length) {
    const more = fs.readSync(input, chunk, read, length - read, offset + read)
    if (more === 0) throw new Error('a file of IDs became shorter while it was read')
    read += more
  }
  return length
}

/** A fault as a sentence. For a duplicate, it names all places that have the ID. */
function tell({ kind, file, high, low, offset }, files) {
  const id = (BigInt(high) << 32n) | BigInt(low)
  const here = `${path.basename(file)}, ID ${offset / 8 + 1}`
  if (kind === 'disorders') return `${id} is not above the one before it: ${here}`
  return `${id} twice: ${files.flatMap((other) => placesOf(other, high, low)).join('; ')}`
}

function placesOf(file, high, low) {
  const places = []
  forEachChunk(file, (view, length, offset) => {
    for (let i = 0; i < length; i += 8) {
      if (view.getUint32(i) !== high || view.getUint32(i + 4) !== low) continue
      places.push(`${path.basename(file)}, ID ${(offset + i) / 8 + 1}`)
    }
  })
  return places
}

module.exports = { check }
