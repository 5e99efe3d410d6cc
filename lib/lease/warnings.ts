// The warnings of a lease, each once in a process: every outage is an event, but a log needs to be told only once.

import { quietWarning, renewalWarning, waitWarning, warn } from '../base/errors.ts'
import type { LeaseDetail } from './events.ts'

/** The end of each group's quiet period that this process has warned of, Unix ms: a retry does not repeat the warning. */
const quietOf: Map<string, number> = new Map()
let isRenewalKnown = false
let isWaitKnown = false

/** A renewal failed. */
export function warnOfRenewal(detail: LeaseDetail) {
  if (isRenewalKnown) return
  isRenewalKnown = true
  warn('FLAKEFORGE_RENEWAL', renewalWarning(detail))
}

/** A join() waits for a store that takes no writes at present. */
export function warnOfWait(group: string, waitMs: number, cause: Error) {
  if (isWaitKnown || waitMs === 0) return
  isWaitKnown = true
  warn('FLAKEFORGE_WAIT', waitWarning(group, waitMs, cause))
}

/**
 * A join() waits until a group is old enough.
 * @param howToCreate the command that makes a new group without a quiet period
 */
export function warnOfQuiet(group: string, quiet: { retryAt: number; storeNow: number }, howToCreate: () => string) {
  if (quietOf.get(group) === quiet.retryAt) return
  quietOf.set(group, quiet.retryAt)
  warn('FLAKEFORGE_QUIET', quietWarning(group, quiet, howToCreate()))
}
