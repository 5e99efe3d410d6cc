// The warnings of a lease, each once in a process: every outage is an event, but a log needs to be told only once.

import { quietWarning, renewalWarning, waitWarning } from '../base/errors.ts'
import type { LeaseDetail } from './leased-flake-id.ts'

/** The end of each group's quiet period that this process has warned of, Unix ms: a retry does not repeat the warning. */
const quietOf: Map<string, number> = new Map()
let isRenewalKnown = false
let isWaitKnown = false

/** A renewal failed. */
export function warnOfRenewal(detail: LeaseDetail) {
  if (isRenewalKnown) return
  isRenewalKnown = true
  process.emitWarning(renewalWarning(detail), { code: 'FLAKEFORGE_RENEWAL' })
}

/** A join() waits for a store that takes no writes at present. */
export function warnOfWait(group: string, waitMs: number, cause: Error) {
  if (isWaitKnown || waitMs === 0) return
  isWaitKnown = true
  process.emitWarning(waitWarning(group, waitMs, cause), { code: 'FLAKEFORGE_WAIT' })
}

/**
 * A join() waits until a group is old enough.
 * @param howToCreate the command that makes a new group without a quiet period
 */
export function warnOfQuiet(group: string, quiet: { retryAt: number; storeNow: number }, howToCreate: () => string) {
  if (quietOf.get(group) === quiet.retryAt) return
  quietOf.set(group, quiet.retryAt)
  process.emitWarning(quietWarning(group, quiet, howToCreate()), { code: 'FLAKEFORGE_QUIET' })
}
