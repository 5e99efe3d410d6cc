'use strict'

// Every error of flakeforge: made here, with a stable `code` and a message that names the value, the bound and
// the way out. Codes never change their meaning; messages may.

const { isDate } = require('node:util').types

/** Why the addon gave no ID; the same numbers as `Status` in src/hot.rs. */
const STATUS = { OK: 0, OVERFLOW: 1, CLOCK_BACKWARDS: 2, TIME_RANGE: 3, NO_GENERATOR: 4, NOT_OF_LAYOUT: 5 }

function flakeError(Type, code, message, fields) {
  return Object.assign(new Type(message), { code }, fields)
}

/** How a value looks in a message: short, and text in quotes. */
function show(value) {
  if (typeof value === 'string') return value.length > 60 ? `'${value.slice(0, 60)}…'` : `'${value}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (isDate(value)) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  if (typeof value === 'object' && value !== null) return `${value.constructor?.name ?? 'an object'}`
  return String(value)
}

/** `ERR_FLAKE_OPTION`: an option or argument of the wrong type. `wanted` says what it must be. */
function optionTypeError(option, value, wanted) {
  const message = `${option} must be ${wanted}, not ${show(value)}`
  return flakeError(TypeError, 'ERR_FLAKE_OPTION', message, { option, value })
}

/** `ERR_FLAKE_OPTION`: an option or argument of the right type that is out of its bounds. */
function optionRangeError(option, value, wanted) {
  const message = `${option} must be ${wanted}, not ${show(value)}`
  return flakeError(RangeError, 'ERR_FLAKE_OPTION', message, { option, value })
}

/** `ERR_FLAKE_OPTION`: a key that is no option, so that a misspelt one does not go unnoticed. */
function unknownOptionError(option, value, known) {
  const message = `'${option}' (${show(value)}) is no option: there are ${known.join(', ')}`
  return flakeError(TypeError, 'ERR_FLAKE_OPTION', message, { option, value })
}

/** `ERR_FLAKE_ID`: something that is no ID where one belongs. `wanted` says what would be one. */
function idError(value, wanted) {
  return flakeError(TypeError, 'ERR_FLAKE_ID', `${show(value)} is not ${wanted}`, { value })
}

const inMs = (ms) => `${Number(ms.toPrecision(3))} ms`
const instant = (ms) => (Math.abs(ms) <= 8.64e15 ? `${new Date(ms).toISOString()} (${ms})` : String(ms))

/** `ERR_FLAKE_OVERFLOW`: the tick's counter is used up. */
function overflowError(retryAfterMs, perTick) {
  const message =
    `all ${perTick} IDs of this tick are used up, the next one can be made in ${inMs(retryAfterMs)}: ` +
    'next(callback) and nextAsync() wait for it, and so does next() within maxWaitMs'
  return flakeError(Error, 'ERR_FLAKE_OVERFLOW', message, { retryAfterMs: Math.ceil(retryAfterMs) })
}

/** `ERR_FLAKE_CLOCK_BACKWARDS`: the clock is behind the last ID. */
function clockBackwardsError(behindMs, retryAfterMs) {
  const message =
    `the clock is ${inMs(behindMs)} behind the last ID, the next one can be made in ${inMs(retryAfterMs)}: ` +
    'next(callback) and nextAsync() wait for it; maxAheadMs lets IDs run ahead of the clock'
  return flakeError(Error, 'ERR_FLAKE_CLOCK_BACKWARDS', message, { behindMs, retryAfterMs: Math.ceil(retryAfterMs) })
}

/** `ERR_FLAKE_TIME_RANGE`: the layout has no bits for the time. */
function timeRangeError(timestamp, layout) {
  const [first, end] = [layout.epoch, layout.end.getTime()]
  const isEarly = timestamp < (first + end) / 2 // an idOffset moves both ends
  const message = isEarly
    ? `the time ${instant(timestamp)} is before the epoch ${instant(first)}: set the clock, or take an earlier epoch`
    : `the time ${instant(timestamp)} is past the last tick of layout '${layout.name}', which ends at ${instant(end)}: ` +
      'take a later epoch'
  return flakeError(RangeError, 'ERR_FLAKE_TIME_RANGE', message, { timestamp })
}

module.exports = {
  STATUS,
  optionTypeError,
  optionRangeError,
  unknownOptionError,
  idError,
  overflowError,
  clockBackwardsError,
  timeRangeError,
}
