// Checks of single values that browsers make too: bounds, options by name, times. Values are refused, never masked or
// coerced: if worker 32 became worker 0, its IDs would equal those of the real worker 0. Uses no module of Node.

import * as errors from './errors/values.ts'
import * as wanted from './errors/wanted.ts'
import { isDate, isInstant } from './objects.ts'

const NS_PER_MS = 1_000_000n
export const FARTHEST_MS = 8.64e15 // what a Date can hold, in either direction

/** The largest 64-bit number. */
export const MAX_U64 = 2n ** 64n - 1n

export const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

/** Options by name, not yet validated. */
export type Options = Record<string, unknown>

/**
 * An object with no keys other than the known ones; an absent one is empty.
 * @param offered the keys that an error about this one lists, or it throws a better error
 */
export function checkKeys(
  name: string,
  given: unknown,
  known: readonly string[],
  offered?: (key: string) => readonly string[],
): Options {
  const options = isAbsent(given) ? {} : given
  if (typeof options !== 'object' || Array.isArray(options)) throw errors.optionTypeError(name, options, 'an object')
  return refuseUnknown(options as Options, known, offered)
}

/**
 * Refuses arguments after the last one that a call takes: options there would be ignored. A call without any parameter, such
 * as close(), refuses none: it is often passed as a listener, whose arguments are not meant for it.
 * @param takes what it takes
 */
export function refuseMore(call: string, more: readonly unknown[], takes: string, wayOut?: string) {
  const found = more.find((argument) => !isAbsent(argument))
  if (found !== undefined) throw errors.moreError(call, found, takes, wayOut)
}

/** Whether options in it would be ignored: a Map, a signal or a promise has no keys, and only own properties are read. */
export const hidesOptions = (options: object, known: readonly string[], own: Options = ownOf(options)): boolean =>
  !isPlain(options) && (Object.keys(own).length === 0 || known.some((name) => isInherited(options, name)))

/** Refuses unknown keys of an object. */
export function refuseUnknown(
  options: Options,
  known: readonly string[],
  offered: (key: string) => readonly string[] = () => known,
) {
  const own = ownOf(options)
  if (hidesOptions(options, known, own)) throw errors.optionTypeError('options', options, 'a plain object')
  for (const key of Object.keys(own)) {
    if (!known.includes(key)) throw errors.unknownOptionError(key, own[key], offered(key))
  }
  return own
}

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

/** Whether the property is inherited from a class or another object. */
function isInherited(object: object, name: string) {
  const isOwn = Object.hasOwn(object, name)
  for (let at = Object.getPrototypeOf(object); !isOwn && !isRoot(at); at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at, name)) return true
  }
  return false
}

/** Whether it is the root of a prototype chain, in any realm. */
const isRoot = (prototype: object | null) => prototype === null || Object.getPrototypeOf(prototype) === null

/** Whether it is `{}` of any realm, or has no prototype. */
function isPlain(object: object) {
  return isRoot(Object.getPrototypeOf(object))
}

/** An integer, or decimal text of one, as environment variables hold it. */
export function readInteger(option: string, value: unknown, wanted: string) {
  if (typeof value !== 'number' && typeof value !== 'string') throw errors.optionTypeError(option, value, wanted)
  const number = typeof value === 'string' && !/^-?\d+$/.test(value) ? Number.NaN : Number(value)
  if (!Number.isSafeInteger(number)) throw errors.optionRangeError(option, value, wanted)
  return number + 0 // −0 is 0
}

export function readBounded(option: string, value: unknown, min: number, max: number) {
  const isUsual = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
  if (isUsual) return value + 0 // first, so that no text is made
  const wanted = `an integer from ${min} to ${max}`
  const number = readInteger(option, value, wanted)
  if (number < min || number > max) throw errors.optionRangeError(option, value, wanted)
  return number
}

/** An instant in whole Unix ms, as a number, text, Date or Temporal.Instant. */
export function readInstant(option: string, value: unknown) {
  if (isInstant(value) && value.epochNanoseconds % NS_PER_MS !== 0n)
    throw errors.optionRangeError(option, value, 'a whole number of Unix ms')
  const given = isInstant(value) ? Number(value.epochNanoseconds / NS_PER_MS) : value
  const ms = isDate(given) ? given.getTime() : readInteger(option, given, 'Unix ms or a Date')
  if (Number.isNaN(ms)) throw errors.optionRangeError(option, value, 'a valid Date')
  if (Math.abs(ms) > FARTHEST_MS) throw errors.optionRangeError(option, value, wanted.withinDate(FARTHEST_MS))
  if (!isUsualMs(ms)) errors.warnOfUnit(option, value, ms)
  return ms
}

/** A time in Unix ms, from a number or a Date, or in Unix ns if it is a bigint or a Temporal.Instant. */
export function readTime(option: string, value: unknown) {
  if (typeof value === 'bigint') return value
  if (isInstant(value)) return value.epochNanoseconds
  const ms = isDate(value) ? value.getTime() : value
  if (typeof ms !== 'number') throw errors.optionTypeError(option, value, wanted.A_TIME)
  if (!Number.isFinite(ms)) throw errors.optionRangeError(option, value, wanted.FINITE_TIME)
  return ms
}

/** 1990: no ID is older, but Unix seconds and times since a start of anything are, if they are read as Unix ms. */
const FIRST_MS = 631_152_000_000

/** Whether a number is Unix ms beyond doubt: until 2103. */
export const isUsualMs = (ms: number) => ms >= FIRST_MS && ms < 4.2e12

/** Whether a time was probably not meant as Unix ms, or a bigint as Unix ns. 0 is not doubtful: it may be a layout's epoch. */
function isDoubtful(time: number | bigint, epoch: number) {
  const ms = typeof time === 'bigint' ? Number(time) / 1e6 : time
  return !isUsualMs(ms) && ms > 0 && (ms < epoch || ms > FIRST_MS || epoch < FIRST_MS / 2)
}

/**
 * Refuses a number that looks like another unit than Unix ms, or a bigint that looks like another than Unix ns. Warns once of
 * another time before 1990.
 * @param epoch of the layout whose time it should be
 */
export function checkUnit(option: string, time: number | bigint, epoch: number) {
  if (!isDoubtful(time, epoch)) return
  if (errors.isOfOtherUnit(time)) throw errors.timeUnitError(option, time)
  if (time < FIRST_MS) errors.warnOfTime(option, time)
}

/** Warns once of a clock's time that is probably not in Unix ms or Unix ns. Tests and simulations may have such a clock. */
export function checkClock(now: number | bigint, epoch: number) {
  if (isDoubtful(now, epoch)) errors.warnOfTime('clock', now)
}

/** Converts the text that JSON and CSV make of a time back into a time; other values are returned as they are. */
export function timeOfText(value: unknown) {
  if (typeof value !== 'string') return value
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return Number(value)
  const date = new Date(value)
  const isIso = /T.+Z$/.test(value) && date.toJSON()?.startsWith(value.slice(0, -1)) // Date accepts February 30
  return isIso ? date : value
}

export { isDate, isInstant }
