'use strict'

// Checks of single values, for all code that reads options. It must never mask or coerce a value: if worker 32 became
// worker 0, its IDs would be equal to those of the real worker 0.

const errors = () => require('./errors.js') // loaded when the first one is made

const FARTHEST_MS = 8.64e15 // what a Date can hold, in either direction

/** What the option `clock` must be. */
const CLOCK = 'a function that returns Unix ms, or Unix ns as a bigint'

/** Whether it is a Date, of whatever realm. */
const isDate = (value) => typeof value === 'object' && require('node:util').types.isDate(value)

const isAbsent = (value) => value === undefined || value === null

/** An object with no other keys than the known ones; absent is an empty one. `offered()`: those that an error names. */
function checkKeys(name, given, known, offered = () => known) {
  const options = isAbsent(given) ? {} : given
  if (typeof options !== 'object' || Array.isArray(options)) throw errors().optionTypeError(name, options, 'an object')
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw errors().unknownOptionError(key, options[key], offered())
  }
  return options
}

/** An integer, or decimal text of one, as environment variables give it. */
function readInteger(option, value, wanted) {
  if (typeof value !== 'number' && typeof value !== 'string') throw errors().optionTypeError(option, value, wanted)
  const number = typeof value === 'string' && !/^-?\d+$/.test(value) ? Number.NaN : Number(value)
  if (!Number.isSafeInteger(number)) throw errors().optionRangeError(option, value, wanted)
  return number + 0 // −0 is 0
}

function readBounded(option, value, min, max) {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value + 0 // first, so that no text is made
  const wanted = `an integer from ${min} to ${max}`
  const number = readInteger(option, value, wanted)
  if (number < min || number > max) throw errors().optionRangeError(option, value, wanted)
  return number
}

/** ms, not negative, perhaps with a fraction, perhaps Infinity. */
function readDuration(option, value) {
  const ms = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof ms !== 'number') throw errors().optionTypeError(option, value, 'a number of milliseconds')
  if (!(ms >= 0)) throw errors().optionRangeError(option, value, '0 or more')
  return ms
}

/** An instant in whole Unix ms, as a number, text or Date. */
function readInstant(option, value) {
  const ms = isDate(value) ? value.getTime() : readInteger(option, value, 'Unix ms or a Date')
  if (Number.isNaN(ms)) throw errors().optionRangeError(option, value, 'a valid Date')
  if (Math.abs(ms) > FARTHEST_MS)
    throw errors().optionRangeError(option, value, `within the range of a Date, ±${FARTHEST_MS} ms`)
  return ms
}

/** A time as Unix ns, from a Date, from Unix ms that may have a fraction, or from a bigint that is Unix ns already. */
function readNanoseconds(option, value) {
  if (typeof value === 'bigint') return value
  const ms = isDate(value) ? value.getTime() : value
  if (typeof ms !== 'number') throw errors().optionTypeError(option, value, 'Unix ms, a Date, or Unix ns as a bigint')
  if (!Number.isFinite(ms))
    throw errors().optionRangeError(option, value, 'a finite number of Unix ms, or a valid Date')
  return BigInt(Math.floor(ms)) * 1_000_000n + BigInt(nsOfMs(ms))
}

/** The ns beyond whole ms, rounded, but still in the same ms. */
function nsOfMs(ms) {
  return Math.min(Math.round((ms - Math.floor(ms)) * 1e6), 999_999)
}

module.exports = {
  CLOCK,
  FARTHEST_MS,
  isAbsent,
  checkKeys,
  readInteger,
  readBounded,
  readDuration,
  readInstant,
  readNanoseconds,
  nsOfMs,
}
