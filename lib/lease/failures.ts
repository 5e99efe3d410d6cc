// Maps store errors to events of the holder's state machine; core/src/lease.rs decides what follows.

import type { MachineFailure } from '../../src/native.d.ts'
import { isPassing } from '../base/errors.ts'
import type { StoreError } from '../stores/store.ts'

/** Maps the codes of a store's errors to failures; any other error counts as a failure of the store. */
const FAILURES: Record<string, MachineFailure['why']> = {
  ERR_FLAKE_QUIET: 'quiet',
  ERR_FLAKE_EXHAUSTED: 'exhausted',
  ERR_FLAKE_CLOCK_SKEW: 'skew',
  ERR_FLAKE_CONFIG_MISMATCH: 'fatal',
  ERR_FLAKE_OPTION: 'fatal',
  ERR_FLAKE_FILE: 'fatal',
  ERR_FLAKE_RECORD: 'fatal',
}

/** A failure for the machine. `retryAt`: when a quiet period ends or a slot may be free, by the store's clock. */
export function failureOf(error: StoreError): MachineFailure {
  const { code, retryAt, storeNow } = error
  if (isPassing(error)) return { why: 'passing' }
  const why = FAILURES[code] ?? 'store'
  if (why !== 'quiet' && why !== 'exhausted') return { why }
  if (retryAt === undefined || storeNow === undefined) return { why: 'store' }
  return { why, retryAt: retryAt.getTime(), storeNow }
}
