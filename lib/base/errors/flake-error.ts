// FlakeError, which users test our errors with. It is never thrown itself: errors keep the class that JavaScript would throw,
// such as RangeError.

import { isBranded } from './brand.ts'
import type { Fields } from './codes.ts'

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
