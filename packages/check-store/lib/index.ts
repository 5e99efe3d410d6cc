// Checks a user's own database from outside: processes import the user's module, and the checks of checks/ use it.

import { setTimeout as sleep } from 'node:timers/promises'
import clock from './checks/clock.ts'
import close from './checks/close.ts'
import fresh from './checks/fresh.ts'
import identity from './checks/identity.ts'
import kept from './checks/kept.ts'
import loss from './checks/loss.ts'
import names from './checks/names.ts'
import oneDatabase from './checks/one-database.ts'
import opens from './checks/opens.ts'
import otherIdentity from './checks/other-identity.ts'
import race from './checks/race.ts'
import sameIdentity from './checks/same-identity.ts'
import snapshot from './checks/snapshot.ts'
import suspended from './checks/suspended.ts'
import texts from './checks/texts.ts'
import values from './checks/values.ts'
import { Finding } from './finding.ts'
import { FULL, type Size } from './size.ts'
import { type Check, Trial } from './trial.ts'

/** The result of a check. */
type Passed = { check: string; ok: true; text: string }

export type Failed = { check: string; ok: false; seen: string; wanted: string; todo: string }

export type Result = Passed | Failed

export interface Options {
  size?: Partial<Size>
  /** called before anything is written, with the prefix of all group names */
  begin?: (prefix: string) => unknown
  /** called with each result as it arrives */
  tell?: (result: Result) => unknown
}

/** With less than this left, a check is not started. */
const LEAST_MS = 500

/** In the order in which they run: prerequisites come first. */
export const CHECKS: Check[] = [
  ...opens,
  ...clock,
  ...identity,
  ...values,
  ...oneDatabase,
  ...otherIdentity,
  ...texts,
  ...names,
  ...fresh,
  ...race,
  ...snapshot,
  ...suspended,
  ...kept,
  ...close,
  ...sameIdentity,
  ...loss,
]

/** Runs one check: its result, or the fault it found. */
async function runCheck({ name, run }: Check, trial: Trial): Promise<Result> {
  const ms = Math.min(trial.size.checkMs, trial.leftMs())
  if (ms < LEAST_MS) return failed(name, tooLate('it was not run, because the time for all checks was over'))
  const late = async () => {
    await sleep(ms, undefined, { ref: false }) // or it would outlive the checks
    throw tooLate(`it was not done after ${Math.round(ms / 1000)} s`)
  }
  try {
    return { check: name, ok: true, text: await Promise.race([run(trial), late()]) }
  } catch (error) {
    return failed(name, Finding.of(error as Error))
  }
}

const tooLate = (seen: string) =>
  new Finding(
    seen,
    'all checks within a minute and a half',
    'find out why calls are slow or do not answer, and give each a time limit',
  )

const failed: (check: string, finding: Finding) => Failed = (check, { seen, wanted, todo }) => ({
  check,
  ok: false,
  seen,
  wanted,
  todo,
})

/**
 * Runs all checks.
 * @param file the path of the user's module
 */
export async function checkStore(file: string, { size, begin = () => {}, tell = () => {} }: Options = {}) {
  const trial = new Trial(file, { ...FULL, ...size })
  const results: Result[] = []
  try {
    await begin(trial.prefix)
    for (const check of CHECKS) {
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
