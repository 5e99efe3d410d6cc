// FlakeError, by which users know our errors, and what each of them has beside its message.
//
// It is never thrown itself: errors stay what JavaScript would throw, such as a RangeError.

import type { SlotInfo } from '../../lease/stores/store.ts'
import { isBranded } from './brand.ts'

/** Why a server gave no IDs. */
export interface RemoteFailure {
  /** its URL */
  server: string
  /** what happened, as a sentence without its full stop */
  reason: string
  /** of its answer; undefined if there was none */
  status?: number
  /** one of our codes, if the server named one */
  code?: string
  /** if the server said when to come back */
  retryAfterMs?: number
}

/** What a server refused, as it said it. `group`: if the call was for a member of it. */
type Refused = { server?: string; status?: number | undefined; group?: string }

/** Files or records that cannot be read: what is wrong with each of them, and what the others say. */
type Faults = { slots?: SlotInfo[]; faults?: string[] }

type OfSlot = { group: string; slot: number | undefined; cause?: unknown }

/** What there is by each code, as the table in docs/reference/errors.md says. A server of the ID service has further codes. */
export type Fields = {
  ERR_FLAKE_OPTION: { option?: string; value?: unknown } & Refused
  ERR_FLAKE_ID: { value?: unknown; key?: string } & Refused
  ERR_FLAKE_OVERFLOW: { retryAfterMs: number } & Partial<OfSlot>
  ERR_FLAKE_CLOCK_BACKWARDS: { retryAfterMs: number; behindMs: number }
  ERR_FLAKE_TIME_RANGE: { timestamp: number }
  ERR_FLAKE_CONFIG_MISMATCH: {
    theirs?: string | null | undefined
    ours?: string | null | undefined
    server?: string
    other?: string | undefined
    group?: string
    failures?: RemoteFailure[]
    retryAfterMs?: number
  } & Faults
  ERR_FLAKE_FILE: { path: string | undefined; cause?: unknown } & Faults
  ERR_FLAKE_LEASE_EXPIRED: OfSlot
  ERR_FLAKE_DETACHED: Partial<OfSlot>
  ERR_FLAKE_DESTROYED: OfSlot
  ERR_FLAKE_EXHAUSTED: { group: string; retryAt: Date; storeNow: number | undefined; cause?: unknown }
  ERR_FLAKE_QUIET: { group: string; retryAt: Date; storeNow: number }
  ERR_FLAKE_CLOCK_SKEW: { skewMs: number; group?: string }
  ERR_FLAKE_STORE: { counter?: string; cause?: unknown }
  ERR_FLAKE_RECORD: { group: string; record: string } & Faults
  ERR_FLAKE_REMOTE: { failures?: RemoteFailure[]; retryAfterMs?: number; cause?: unknown } & Refused
  ERR_FLAKE_REPLAY: { failures?: RemoteFailure[]; retryAfterMs?: number; cause?: unknown }
  ERR_FLAKE_LOAD: { cause?: unknown }
} & Record<
  `ERR_FLAKE_${'ACCEPT' | 'BODY' | 'HOST' | 'METHOD' | 'NAME' | 'NONCE' | 'ORIGIN' | 'REQUEST' | 'ROUTE' | 'TOKEN'}`,
  Refused
>

/** The `code` of an error of flakeforge. It never changes its meaning; messages may. */
export type FlakeErrorCode = keyof Fields

/** An error of flakeforge: an Error, TypeError or RangeError with a `code`, and what belongs to this code. */
export type FlakeError<C extends FlakeErrorCode = FlakeErrorCode> = { [K in C]: Error & { code: K } & Fields[K] }[C]

/** The type of `FlakeError`, for declarations of objects that have it. */
export interface FlakeErrorClass extends Function {
  /** Only flakeforge makes them. */
  new (nobody: never): FlakeError
  readonly prototype: FlakeError
  [Symbol.hasInstance](value: unknown): value is FlakeError
}

/**
 * What every error of flakeforge is an instance of, beside TypeError, RangeError or Error: also of another copy or version
 * of it.
 *
 * @example
 * try {
 *   flake.next()
 * } catch (error) {
 *   if (error instanceof FlakeError && error.code === 'ERR_FLAKE_OVERFLOW') console.log(error.retryAfterMs)
 *   else throw error
 * }
 */
export const FlakeError: FlakeErrorClass = class FlakeError extends Error {
  static override [Symbol.hasInstance](value: unknown) {
    return isBranded(value)
  }
} as unknown as FlakeErrorClass
