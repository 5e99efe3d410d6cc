// `flakeError`, which makes all errors, and the form of values, times and durations in messages.

import { isDate } from '../objects.ts'
import { printable, withoutSecrets } from '../printable.ts'
import { branded } from './brand.ts'
import { CLASSES, type ErrorClass, type Fields } from './codes.ts'
import type { FlakeError, FlakeErrorCode } from './flake-error.ts'

/**
 * @param fields those of this code; without a cause the error has no `cause`. One of others comes from causeOf()
 * @param Type the class of an error about an option
 */
export function flakeError<C extends FlakeErrorCode>(
  code: C,
  text: string,
  { cause, ...fields }: Fields[C] & { cause?: unknown },
  Type: ErrorClass = CLASSES[code] ?? Error,
): FlakeError<C> {
  const message = printable(text)
  const error = branded(cause === undefined ? new Type(message) : new Type(message, { cause }))
  return Object.assign(error, { code }, fields) as unknown as FlakeError<C>
}

/** Text in quotes, with passwords removed before it is cut. */
function showText(text: string) {
  const safe = withoutSecrets(text)
  return safe.length > 60 ? `'${safe.slice(0, 60)}…'` : `'${safe}'`
}

/**
 * The form of a value in a message: short, and text in quotes.
 * @param depth of the arrays around it
 */
export function show(value: unknown, depth: number = 0): string {
  if (typeof value === 'string') return showText(value)
  if (typeof value === 'bigint') return value < 2n ** 200n ? `${value}n` : 'a bigint of more than 200 bits'
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return showObject(value, depth)
  } catch {
    return 'an object' // a getter or a Proxy throws
  }
}

/** A short array in full; its items may be arrays too, as in `fields`. */
function showArray(array: unknown[], depth: number) {
  const text = array.length > 8 || depth > 1 ? '' : `[${array.map((item) => show(item, depth + 1)).join(', ')}]`
  return text === '' || text.length > 60 ? `an array of ${array.length}` : text
}

function showObject(object: object, depth: number) {
  if (isDate(object)) return Number.isNaN(object.getTime()) ? 'an invalid Date' : object.toISOString()
  if (Array.isArray(object)) return showArray(object, depth)
  const { name } = object.constructor ?? {}
  return typeof name !== 'string' || name === 'Object' ? 'an object' : `an object of class ${name}`
}

export const inMs = (ms: number) => `${Number(ms.toPrecision(3))} ms`

export const instant = (ms: number) => (Math.abs(ms) <= 8.64e15 ? `${new Date(ms).toISOString()} (${ms})` : String(ms))

/** The address of a page in the repository, for a reader who has only the package. */
export const pageOf = (path: string): string => `https://github.com/flakeforge/flakeforge/blob/main/${path}`

/** The same error with another message, also in the stack, into which Node put the message when the error was made. */
export function retold<E extends Error>(error: E, text: string): E {
  const { message, stack } = error
  error.message = printable(text)
  error.stack = stack?.replace(message, () => error.message)
  return error
}
