'use strict'

// Looks at a user's own database from outside, as `flakeforge check-store` does: processes import the user's module, and
// the checks of checks/ use it. Nothing else may load these files.

const { inTime } = require('../../../lib/base/in-time.js')
const { monotonicNow } = require('../../../lib/base/timers.js')
const { Finding } = require('./finding.js')
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
  'kept',
  'close',
  'loss',
]

/** How much is done. All of it takes at most a minute; `allMs` leaves some seconds to end the processes. */
const FULL = {
  allMs: 55_000,
  checkMs: 20_000,
  callMs: 5000,
  processes: 4,
  clients: 50,
  clockMs: 1500,
  many: 200,
  freshMs: 4000,
  freshRounds: 200,
  claims: 20,
  raceMs: 3000,
  raceRounds: 100,
  snapshotMs: 3000,
  snapshotRounds: 4,
  keptMs: 5000,
  keptRounds: 3,
  keptRecords: 20,
  ageMs: 20_000,
}

/** With less than this left, a check is not begun. */
const LEAST_MS = 500

const checks = () => FILES.flatMap((name) => require(`./checks/${name}.js`))

/** Runs one check: what it says, or what it found wrong. */
async function runCheck({ name, run }, trial) {
  const ms = Math.min(trial.size.checkMs, trial.leftMs())
  if (ms < LEAST_MS) return failed(name, tooLate('it was not run, because the time for all checks was over'))
  try {
    return { check: name, ok: true, text: await inTime(run(trial), ms) }
  } catch (error) {
    const isLate = error.code === 'ETIMEDOUT' && !error.isTheirs
    return failed(name, isLate ? tooLate(`it was not done after ${Math.round(ms / 1000)} s`) : Finding.of(error))
  }
}

const tooLate = (seen) =>
  new Finding(
    seen,
    'all checks within a minute',
    'see why calls are slow, or do not answer, and give each a time limit',
  )

const failed = (check, { seen, wanted, todo }) => ({ check, ok: false, seen, wanted, todo })

/**
 * Runs all checks.
 * @param {string} file the path of the user's module
 * @param {{ size?: object, begin?: Function, tell?: Function }} options `begin(prefix)`: told before anything is written,
 * with what the names of all groups begin with; `tell(result)`: told each result as it comes
 * @returns the results: { check, ok, text } or { check, ok, seen, wanted, todo }
 */
async function checkStore(file, { size, begin = () => {}, tell = () => {} } = {}) {
  const trial = new Trial(file, { ...FULL, ...size })
  const end = monotonicNow() + trial.size.allMs
  trial.leftMs = () => end - monotonicNow()
  const results = []
  try {
    await begin(trial.prefix)
    for (const check of checks()) {
      results.push(await runCheck(check, trial))
      await tell(results.at(-1))
      if (check.isNeeded && !results.at(-1).ok) break
    }
  } finally {
    await trial.end()
  }
  return results
}

module.exports = { checkStore }
