// What all code that reads options needs, and the first ID too; the checks themselves are in values.ts.

/** The largest 64-bit number. */
export const MAX_U64 = 2n ** 64n - 1n

export const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

/** Options by name, not yet validated. */
export type Options = Record<string, unknown>

/** Inherits nothing. V8 reads its objects twice as fast as `{ __proto__: null }`, which it keeps as a dictionary. */
class Own {
  [name: string]: unknown
}
Object.setPrototypeOf(Own.prototype, null)

/** A copy with the own properties only: a program's additions to Object.prototype are not options. */
export function ownOf(options: object | null | undefined): Options {
  const own = Object.assign(new Own(), options)
  if (isAbsent(options)) return own
  const names = Object.getOwnPropertyNames(options)
  for (let i = 0; i < names.length; i++) {
    if (!(names[i] in own)) own[names[i]] = (options as Options)[names[i]] // not enumerable
  }
  return own
}
