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

/** What a path has that was meant as the address of a server: its name on the disk would have the password in it. */
const OF_A_SERVER = /^[\\/]{2}|:[\\/]{2}|^[^:]*:.*@/s
/** A folder that Windows shares over a network: two backslashes, the machine, the folder. */
const OF_WINDOWS = /^\\\\[^@:]*$/

/**
 * Refuses a path that another process would take for another file, and one that was not meant as a path.
 * @param value what was given: the path, perhaps after `file:`
 */
export function checkPath(option: string, value: string, path: string) {
  if (!OF_WINDOWS.test(path) && OF_A_SERVER.test(path.replace(/^[a-z]:(?=[\\/])/i, '')))
    throw errors.optionRangeError(option, value, 'an absolute path: this looks like the address of a server')
  if (!process.getBuiltinModule('node:path').isAbsolute(path)) throw errors.relativePathError(option, value, path)
}
