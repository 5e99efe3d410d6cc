// Checks of single values, for all code that reads options or answers of the addon: those of values.ts, and those that
// only make sense where there is an addon. It must never mask or coerce a value.

import type { Problem } from './errors/generators.ts'
import * as errors from './errors.ts'

export * from './values.ts'

/** What the option `clock` must be. */
export const CLOCK = 'a function that returns Unix ms, or Unix ns as a bigint'

/** ms, not negative, perhaps with a fraction, perhaps Infinity. */
export function readDuration(option: string, value: unknown) {
  const ms = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof ms !== 'number') throw errors.optionTypeError(option, value, 'a number of milliseconds')
  if (!(ms >= 0)) throw errors.optionRangeError(option, value, '0 or more')
  return ms
}

/**
 * What the addon gave; throws if that is a problem.
 * @param where what a mismatch is about
 */
export function unlessProblem<T>(given: T | Problem, where?: string): T {
  const problem = given as Problem | null
  if (problem?.why !== undefined || problem?.theirs !== undefined) throw errors.problemError(problem, where)
  return given as T
}
