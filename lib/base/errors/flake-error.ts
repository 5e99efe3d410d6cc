// FlakeError, which users test our errors with, and the fields of each code. It is never thrown itself: errors keep the class
// that JavaScript would throw, such as RangeError.

import type { SlotInfo } from '../slot-info.ts'
import { isBranded } from './brand.ts'

/** Why a server returned no IDs. */
export interface RemoteFailure {
  /** its URL */
  server: string
  /** what happened, as a sentence without its full stop */
  reason: string
  /** the answer's status; undefined without an answer */
  status?: number
  /** one of our codes, if the server sent one */
  code?: string
  /** if the server sent a Retry-After */
  retryAfterMs?: number
}

/** A server's refusal. `group`: set if the request was for a member of it. */
type Refused = { server?: string; status?: number | undefined; group?: string }

/** Unreadable files or records: the fault of each, and the contents of the others. */
type Faults = { slots?: SlotInfo[]; faults?: string[] }

type OfSlot = { group: string; slot: number | undefined; cause?: unknown }

/** The fields of each code, as in the documented table of errors. A server of the ID service has further codes. */
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

/** The `code` of an error of flakeforge. Its meaning never changes; messages may. */
export type FlakeErrorCode = keyof Fields

/** An error of flakeforge: an Error, TypeError or RangeError with a `code` and the fields of this code. */
export type FlakeError<C extends FlakeErrorCode = FlakeErrorCode> = { [K in C]: Error & { code: K } & Fields[K] }[C]

/** The type of `FlakeError`, for declarations of objects that have it. */
export interface FlakeErrorClass extends Function {
  /** Only flakeforge constructs it. */
  new (nobody: never): FlakeError
  readonly prototype: FlakeError
  [Symbol.hasInstance](value: unknown): value is FlakeError
}

/**
 * Every error of flakeforge is an instance of it, as well as of TypeError, RangeError or Error. This includes errors of
 * another copy or version.
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
