'use strict'

// Writes the table of a run, for the terminal, and the record: results.json, the source of the documentation's table.
// The record has each target as of the last time when all of it ran without a failure, and nothing else.

const { TARGETS } = require('./targets.js')

/**
 * The outcome of a target.
 * @typedef {object} Result
 * @property {string} name
 * @property {string} [built] with what, such as '1.96.0, zig 0.17.0'
 * @property {number} [size] in bytes
 * @property {number} [seconds] that the build took
 * @property {Run[]} runs
 * @property {string[]} problems the faults; empty if there are none
 */

/**
 * One program that loaded the binary.
 * @typedef {object} Run
 * @property {string} program 'Node 24.11.1'
 * @property {string} by the emulator; empty if none
 * @property {string} what 'smoke' or 'ava'
 * @property {number} passed
 * @property {number} failed
 */

/** 'Node 24.11.1 by qemu-aarch64: 4185 smoke' */
function runAsText({ program, by, what, passed, failed }) {
  const start = by ? `${program} by ${by}` : program
  return `${start}: ${failed > 0 ? `${failed} of ${passed + failed} ${what} FAILED` : `${passed} ${what}`}`
}

const HEAD = ['target', 'built', 'size', 'time', 'run']

/** The rows of one target: as many as it has runs, and at least one. */
function rowsOf({ name, built, size, seconds, runs, problems }) {
  const first = [
    name,
    built ?? 'no',
    size ? `${Math.round(size / 1000)} kB` : '–',
    seconds ? `${Math.round(seconds)} s` : '–',
  ]
  const last = runs.map(runAsText)
  if (problems.length > 0) last.push('FAILED')
  if (last.length === 0) last.push('–')
  return last.map((text, i) => [...(i === 0 ? first : first.map(() => '')), text])
}

/** The table for a terminal, in columns. */
function asText(results) {
  const rows = [HEAD, ...results.flatMap(rowsOf)]
  const widths = HEAD.map((_, i) => Math.max(...rows.map((row) => row[i].length)))
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** What went wrong, target by target. Empty if nothing did. */
const problemsAsText = (results) =>
  results.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`)).join('\n')

/** Whether everything is fine: no faults, and no run with a failure. */
const isFine = ({ runs, problems }) => problems.length === 0 && runs.every(({ failed }) => failed === 0)

/** A target in the record. Throws for one with a failure. */
function rowOf(result) {
  if (!isFine(result)) throw new Error(`${result.name} failed: there is nothing to record`)
  const { name, built, size, runs } = result
  return {
    name,
    built,
    size: size ?? null,
    runs: runs.map(({ program, by, what, passed, failed }) => ({ program, by, what, passed, failed })),
  }
}

/**
 * The content of results.json, a line for each target: the record so far, with these results in place of older ones.
 */
function asRecord(record, results) {
  const rows = new Map([...record, ...results.map(rowOf)].map((row) => [row.name, row]))
  const inOrder = TARGETS.filter(({ name }) => rows.has(name)).map(({ name }) => rows.get(name))
  return `[\n${inOrder.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`
}

module.exports = { asRecord, asText, isFine, problemsAsText }
