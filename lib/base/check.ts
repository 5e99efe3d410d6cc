// Checks of single values, for all code that reads options or answers of the addon: those of values.ts, and those that only
// make sense where there is an addon. Values are refused, never masked or coerced.

import type { Problem } from './errors/sources.ts'
import * as errors from './errors.ts'

export * from './values.ts'

/** The required type of the option `clock`. */
export const CLOCK = 'a function that returns Unix ms, or Unix ns as a bigint'

/** ms: not negative; fractions and Infinity are allowed. */
export function readDuration(option: string, value: unknown) {
  const ms = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof ms !== 'number') throw errors.optionTypeError(option, value, 'a number of milliseconds')
  if (!(ms >= 0)) throw errors.optionRangeError(option, value, '0 or more')
  return ms
}

const isProblem = (given: unknown): given is Problem =>
  typeof given === 'object' && given !== null && Object.hasOwn(given, 'why')

/**
 * Returns the addon's answer; throws if it is a problem.
 * @param where the file or group that a mismatch concerns
 */
export function unlessProblem<T>(given: T | Problem, where?: string): T {
  if (isProblem(given)) throw errors.problemError(given, where)
  return given as T
}

/** Marks a path that was meant as a server's address: as a file name it would put the password on the disk. */
const OF_A_SERVER = /^[\\/]{2}|:[\\/]{2}|^[^:]*:.*@/s
/** A Windows network share: two backslashes, the machine, the folder. */
const OF_WINDOWS = /^\\\\[^@:]*$/

/**
 * Refuses a path that another process would resolve to another file, and a value that was not meant as a path.
 * @param value as given: the path, perhaps after `file:`
 */
export function checkPath(option: string, value: string, path: string) {
  if (!OF_WINDOWS.test(path) && OF_A_SERVER.test(path.replace(/^[a-z]:(?=[\\/])/i, '')))
    throw errors.optionRangeError(option, value, 'an absolute path: this looks like the address of a server')
  if (!process.getBuiltinModule('node:path').isAbsolute(path)) throw errors.relativePathError(option, value, path)
}
