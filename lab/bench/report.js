'use strict'

// Shared by all benchmarks: numbers from separate processes, medians, and the table of promises.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7)

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]

/** The number or object that a script in this folder prints. `command`: a program and its flags. */
function ofCommand([program, ...flags], script, ...args) {
  const output = execFileSync(program, [...flags, path.join(__dirname, script), ...args], { encoding: 'utf8' })
  return JSON.parse(output)
}

/**
 * What to put before a command, so that it stays on one core: where two cores are one with two threads, as on most virtual
 * machines, the runtime's own threads on the other one make a call up to twice as slow. Linux only.
 */
function onOneCore() {
  try {
    const [, first] = /^Cpus_allowed_list:\s*(\d+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))
    execFileSync('taskset', ['--cpu-list', first, 'true'])
    return ['taskset', '--cpu-list', first]
  } catch {
    return []
  }
}

const ofProcess = (script, ...args) => ofCommand([process.execPath, '--expose-gc'], script, ...args)

/**
 * Prints promises next to the measured values; exit status 1 when one is missed.
 * @param {[what: string, measured: () => number, bar: number, higher?: 'higher'][]} promises `higher`: the number must
 *   not be below the bar, instead of above
 */
function printPromises(promises) {
  console.log(`\n${'promise'.padEnd(58)} measured      bar`)
  for (const [what, measured, bar, higher] of promises) {
    const number = measured()
    const kept = higher ? number >= bar : number <= bar
    const sign = higher ? '≥' : '≤'
    const verdict = kept ? 'ok' : 'MISSED'
    console.log(`${what.padEnd(58)} ${number.toFixed(4).padStart(8)}   ${sign} ${String(bar).padEnd(5)} ${verdict}`)
    if (!kept) process.exitCode = 1
  }
}

const sorted = (numbers) => [...numbers].sort((a, b) => a - b)

/**
 * What the rounds say of a bar: 'ok' or 'MISSED' if all of them agree, except for one at each end; else they cannot say.
 * @param {number[]} values one for each round
 */
function verdictOf(values, bar, higher) {
  const signed = sorted(values.map((value) => (higher ? -value : value)))
  const inner = signed.length > 3 ? signed.slice(1, -1) : signed
  const limit = higher ? -bar : bar
  if (inner.at(-1) <= limit) return 'ok'
  return inner[0] > limit ? 'MISSED' : 'cannot say'
}

/**
 * Prints promises beside the median and the spread of the rounds; exit status 1 when one is missed.
 * @param {[what: string, values: number[], bar: number, higher?: 'higher'][]} promises
 */
function printVerdicts(promises) {
  console.log(`${'promise'.padEnd(58)}   median  spread             bar`)
  for (const [what, values, bar, higher] of promises) {
    const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => value.toPrecision(3))
    const verdict = verdictOf(values, bar, higher)
    const figures = `${median(values).toPrecision(3).padStart(8)}  ${`${low} to ${high}`.padEnd(16)}`
    console.log(`${what.padEnd(58)} ${figures} ${higher ? '≥' : '≤'} ${String(bar).padEnd(5)} ${verdict}`)
    if (verdict === 'MISSED') process.exitCode = 1
  }
}

module.exports = { ROUNDS, median, ofCommand, ofProcess, onOneCore, printPromises, printVerdicts, verdictOf }
