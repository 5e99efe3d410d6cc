'use strict'
// @ts-check

// Looks at a user's own database from outside: processes import the user's module, and the checks of checks/ use it.

/** @import { Size } from './size.js' */
/** @import { Check } from './trial.js' */

/**
 * What came of a check.
 * @typedef {{ check: string, ok: true, text: string }} Passed
 * @typedef {{ check: string, ok: false, seen: string, wanted: string, todo: string }} Failed
 * @typedef {Passed | Failed} Result
 */

/**
 * @typedef {object} Options
 * @property {Partial<Size>} [size]
 * @property {(prefix: string) => unknown} [begin] told before anything is written, with what the names of all groups begin
 *   with
 * @property {(result: Result) => unknown} [tell] told each result as it comes
 */

const { inTime } = require('./time.js')
const { Finding } = require('./finding.js')
const { FULL } = require('./size.js')
const { Trial } = require('./trial.js')

/** In the order in which they run: what others need comes first. */
const FILES = [
  'opens',
  'clock',
  'identity',
  'values',
  'one-database',
  'other-identity',
  'texts',
  'names',
  'fresh',
  'race',
  'snapshot',
  'suspended',
  'kept',
  'close',
  'same-identity',
  'loss',
]

/** With less than this left, a check is not begun. */
const LEAST_MS = 500

/** @returns {Check[]} */
const checks = () => FILES.flatMap((name) => require(`./checks/${name}.js`))

/**
 * Runs one check: what it says, or what it found wrong.
 * @param {Check} check
 * @param {Trial} trial
 * @returns {Promise<Result>}
 */
async function runCheck({ name, run }, trial) {
  const ms = Math.min(trial.size.checkMs, trial.leftMs())
  if (ms < LEAST_MS) return failed(name, tooLate('it was not run, because the time for all checks was over'))
  try {
    return { check: name, ok: true, text: await inTime(run(trial), ms) }
  } catch (cause) {
    const error = /** @type {Error & { code?: string, isTheirs?: boolean }} */ (cause)
    const isLate = error.code === 'ETIMEDOUT' && !error.isTheirs
    return failed(name, isLate ? tooLate(`it was not done after ${Math.round(ms / 1000)} s`) : Finding.of(error))
  }
}

/** @param {string} seen */
const tooLate = (seen) =>
  new Finding(
    seen,
    'all checks within a minute and a half',
    'see why calls are slow, or do not answer, and give each a time limit',
  )

/** @type {(check: string, finding: Finding) => Failed} */
const failed = (check, { seen, wanted, todo }) => ({ check, ok: false, seen, wanted, todo })

/**
 * Runs all checks.
 * @param {string} file the path of the user's module
 * @param {Options} options
 */
async function checkStore(file, { size, begin = () => {}, tell = () => {} } = {}) {
  const trial = new Trial(file, { ...FULL, ...size })
  /** @type {Result[]} */
  const results = []
  try {
    await begin(trial.prefix)
    for (const check of checks()) {
      const result = await runCheck(check, trial)
      results.push(result)
      await tell(result)
      if (check.isNeeded && !result.ok) break
    }
  } finally {
    await trial.end()
  }
  return results
}

module.exports = { checkStore }
