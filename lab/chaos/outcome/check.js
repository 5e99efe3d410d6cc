'use strict'

// Reads all written IDs and reports whether the promises were kept: no ID twice in all files together, and each
// sequence ascending, where that was promised. IDs are only numbers here.

const path = require('node:path')
const { forEachRun, isCut } = require('../member/run-file.js')
const { RunSet } = require('./run-set.js')

const EXAMPLES = 3

/**
 * @param {string[][]} sequences files, in the order in which they were written; missing ones are empty
 * @param {{ isInOrder?: boolean }} [promises]
 * @returns {{ ids: number, runs: number, duplicates: number, disorders: number, cut: number, examples: string[] }} cut:
 *   files that end within a record; examples: the first errors, as text
 */
function check(sequences, { isInOrder = true } = {}) {
  const runs = new RunSet()
  const disorders = []
  let ids = 0n
  for (const files of sequences) {
    let last = -1n // below every number
    for (const file of files)
      forEachRun(file, ({ first, count, place }) => {
        runs.add(first, count)
        ids += count
        if (isInOrder && first <= last) disorders.push({ id: first, file, place })
        last = first + count - 1n
      })
  }
  const files = sequences.flat()
  const { duplicates, examples } = duplicatesIn(runs, files)
  return {
    ids: Number(ids),
    runs: runs.size,
    duplicates: Number(duplicates),
    disorders: disorders.length,
    cut: files.filter(isCut).length,
    examples: [...disorders.slice(0, EXAMPLES).map(tellDisorder), ...examples],
  }
}

function duplicatesIn(runs, files) {
  const examples = []
  let duplicates = 0n
  runs.forEachOverlap((first, count) => {
    duplicates += count
    if (examples.length < EXAMPLES) examples.push(`${first} twice: ${placesOf(first, files).join('; ')}`)
  })
  return { duplicates, examples }
}

const tellDisorder = ({ id, file, place }) => `${id} is not above the one before it: ${placeOf(file, place)}`
const placeOf = (file, place) => `${path.basename(file)}, ID ${place + 1n}`

function placesOf(id, files) {
  const places = []
  for (const file of files)
    forEachRun(file, ({ first, count, place }) => {
      if (first <= id && id < first + count) places.push(placeOf(file, place + id - first))
    })
  return places
}

module.exports = { check }
