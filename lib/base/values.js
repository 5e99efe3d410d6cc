'use strict'
// @ts-check

// Checks of single values that browsers make too: bounds, options by name, times. It must never mask or coerce a value: if
// worker 32 became worker 0, its IDs would be equal to those of the real worker 0. It must never use a module of Node.

const { isDate } = require('./objects.js')

/** The errors about values, loaded when the first one is made. */
const errors = () => require('./errors/values.js')

const FARTHEST_MS = 8.64e15 // what a Date can hold, in either direction

/** The largest number of 64 bits. */
const MAX_U64 = 2n ** 64n - 1n

/**
 * @param {unknown} value
 * @returns {value is undefined | null}
 */
const isAbsent = (value) => value === undefined || value === null

/**
 * Options by name. What they are is not known before they are read.
 * @typedef {Record<string, unknown>} Options
 */

/**
 * An object with no other keys than the known ones; absent is an empty one.
 * @param {string} name
 * @param {unknown} given
 * @param {readonly string[]} known
 * @param {() => readonly string[]} [offered] those that an error names
 * @returns {Options}
 */
function checkKeys(name, given, known, offered) {
  const options = isAbsent(given) ? {} : given
  if (typeof options !== 'object' || Array.isArray(options)) throw errors().optionTypeError(name, options, 'an object')
  return refuseUnknown(/** @type {Options} */ (options), known, offered)
}

/**
 * The same, for what is known to be an object. A Map, a signal or a promise has no keys, and would be ignored.
 * @param {Options} options
 * @param {readonly string[]} known
 */
function refuseUnknown(options, known, offered = () => known) {
  const keys = Object.keys(options)
  if (keys.length === 0 && !isPlain(options) && !known.some((name) => name in options))
    throw errors().optionTypeError('options', options, 'a plain object')
  for (const key of keys) {
    if (!known.includes(key)) throw errors().unknownOptionError(key, options[key], offered())
  }
  return options
}

/**
 * Whether it is `{}` of any realm, or has no prototype.
 * @param {object} object
 */
function isPlain(object) {
  const prototype = Object.getPrototypeOf(object)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * An integer, or decimal text of one, as environment variables give it.
 * @param {string} option
 * @param {unknown} value
 * @param {string} wanted
 */
function readInteger(option, value, wanted) {
  if (typeof value !== 'number' && typeof value !== 'string') throw errors().optionTypeError(option, value, wanted)
  const number = typeof value === 'string' && !/^-?\d+$/.test(value) ? Number.NaN : Number(value)
  if (!Number.isSafeInteger(number)) throw errors().optionRangeError(option, value, wanted)
  return number + 0 // −0 is 0
}

/**
 * @param {string} option
 * @param {unknown} value
 * @param {number} min
 * @param {number} max
 */
function readBounded(option, value, min, max) {
  const isUsual = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
  if (isUsual) return value + 0 // first, so that no text is made
  const wanted = `an integer from ${min} to ${max}`
  const number = readInteger(option, value, wanted)
  if (number < min || number > max) throw errors().optionRangeError(option, value, wanted)
  return number
}

/**
 * An instant in whole Unix ms, as a number, text or Date.
 * @param {string} option
 * @param {unknown} value
 */
function readInstant(option, value) {
  const ms = isDate(value) ? value.getTime() : readInteger(option, value, 'Unix ms or a Date')
  if (Number.isNaN(ms)) throw errors().optionRangeError(option, value, 'a valid Date')
  if (Math.abs(ms) > FARTHEST_MS)
    throw errors().optionRangeError(option, value, `within the range of a Date, ±${FARTHEST_MS} ms`)
  return ms
}

/**
 * A time as Unix ns, from a Date, from Unix ms that may have a fraction, or from a bigint that is Unix ns already.
 * @param {string} option
 * @param {unknown} value
 */
function readNanoseconds(option, value) {
  if (typeof value === 'bigint') return value
  const ms = isDate(value) ? value.getTime() : value
  if (typeof ms !== 'number') throw errors().optionTypeError(option, value, 'Unix ms, a Date, or Unix ns as a bigint')
  if (!Number.isFinite(ms))
    throw errors().optionRangeError(option, value, 'a finite number of Unix ms, or a valid Date')
  return BigInt(Math.floor(ms)) * 1_000_000n + BigInt(nsOfMs(ms))
}

/**
 * The ns beyond whole ms, rounded, but still in the same ms.
 * @param {number} ms
 */
function nsOfMs(ms) {
  return Math.min(Math.round((ms - Math.floor(ms)) * 1e6), 999_999)
}

module.exports = {
  FARTHEST_MS,
  MAX_U64,
  errors,
  isAbsent,
  isDate,
  checkKeys,
  refuseUnknown,
  readInteger,
  readBounded,
  readInstant,
  readNanoseconds,
  nsOfMs,
}
