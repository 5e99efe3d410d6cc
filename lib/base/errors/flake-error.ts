// FlakeError, which users test our errors with. It is never thrown itself: errors keep the class that JavaScript would throw,
// such as RangeError.

import { isBranded } from './brand.ts'
import type { Fields } from './codes.ts'

/** The `code` of a flakeforge error. Its meaning never changes, but messages may. */
export type FlakeErrorCode = keyof Fields

/** A flakeforge error: an Error, TypeError or RangeError with a `code` and the fields of that code. */
export type FlakeError<C extends FlakeErrorCode = FlakeErrorCode> = { [K in C]: Error & { code: K } & Fields[K] }[C]

/** The type of the class `FlakeError`. */
export interface FlakeErrorClass extends Function {
  /** Only flakeforge constructs it. */
  new (nobody: never): FlakeError
  readonly prototype: FlakeError
  [Symbol.hasInstance](value: unknown): value is FlakeError
}

/**
 * Every flakeforge error is an instance of `FlakeError`, as well as of TypeError, RangeError or Error, even if another copy or
 * version of flakeforge threw it.
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
