'use strict'
// @ts-check

// Errors about values that users give: options, arguments, IDs and times. Browsers load them too, so they must never use a
// module of Node, and stay few.

const { flakeError, instant, show } = require('./flake-error.js')
const { inFull } = require('./in-full.js')

/** @import { ErrorClass } from './flake-error.js' */

/**
 * `ERR_FLAKE_OPTION`: an option or argument of the wrong type. `wanted` says what it must be.
 * @param {string} option
 * @param {unknown} value
 * @param {string} wanted
 * @param {unknown[]} args for errors/in-full.js
 */
function optionTypeError(option, value, wanted, ...args) {
  return optionError(TypeError, option, value, `${option} must be ${inFull(wanted, args)}, but is ${show(value)}`)
}

/**
 * `ERR_FLAKE_OPTION`: an option or argument of the right type that is out of its bounds.
 * @param {string} option
 * @param {unknown} value
 * @param {string} wanted
 * @param {unknown[]} args for errors/in-full.js
 */
function optionRangeError(option, value, wanted, ...args) {
  return optionError(RangeError, option, value, `${option} must be ${inFull(wanted, args)}, but is ${show(value)}`)
}

/**
 * `ERR_FLAKE_OPTION`: an option that does not go with the others. `why` follows the words `cannot be used`.
 * @param {string} option
 * @param {unknown} value
 * @param {string} why
 * @param {unknown[]} args for errors/in-full.js
 */
function unusableOptionError(option, value, why, ...args) {
  return optionError(TypeError, option, value, `${option} (${show(value)}) cannot be used ${inFull(why, args)}`)
}

/**
 * `ERR_FLAKE_OPTION`: the fields of a layout, or one of them. `must`: what they must have.
 * @param {string} option
 * @param {unknown} value
 * @param {string} must
 * @param {unknown[]} args for errors/in-full.js
 */
function fieldsError(option, value, must, ...args) {
  return optionError(RangeError, option, value, `${option} must ${inFull(must, args)}`)
}

/**
 * `ERR_FLAKE_OPTION`, if none of the usual sentences fits.
 * @param {ErrorClass} Type
 * @param {string} option
 * @param {unknown} value
 * @param {string} message
 */
function optionError(Type, option, value, message) {
  return flakeError(Type, 'ERR_FLAKE_OPTION', message, { option, value })
}

/**
 * `ERR_FLAKE_OPTION`: a key that is not an option; it may be misspelt. `kind`: what it should have been.
 * @param {string} option
 * @param {unknown} value
 * @param {readonly string[]} known
 * @param {string} [kind]
 */
function unknownOptionError(option, value, known, kind = 'option') {
  return optionError(TypeError, option, value, unknown(kind, option, known))
}

/**
 * `ERR_FLAKE_OPTION`: no layout has this name.
 * @param {string} name
 * @param {readonly string[]} known
 */
function unknownLayoutError(name, known) {
  const message = `${unknown('layout', name, known)} Fields of your own are { epoch, tickMs, fields }.`
  return optionError(RangeError, 'layout', name, message)
}

/**
 * Suggests the name that was probably meant, or lists all names if none is close.
 * @param {string} kind
 * @param {string} name
 * @param {readonly string[]} known
 */
function unknown(kind, name, known) {
  const { nearest } = require('../nearest.js') // for errors only
  const meant = nearest(name, known)
  const hint = meant === undefined ? `The ${kind}s are ${known.join(', ')}.` : `Did you mean '${meant}'?`
  return `Unknown ${kind} ${show(name)}. ${hint}`
}

/**
 * `ERR_FLAKE_ID`: a value that is not an ID. `wanted` says what an ID looks like.
 * @param {unknown} value
 * @param {string} wanted
 * @param {unknown[]} args for errors/in-full.js
 */
function idError(value, wanted, ...args) {
  return flakeError(TypeError, 'ERR_FLAKE_ID', `${show(value)} is not ${inFull(wanted, args)}`, { value })
}

/**
 * `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time.
 * @param {number} timestamp
 * @param {{ name: string, epoch: number, end: Date }} layout
 */
function timeRangeError(timestamp, layout) {
  const [first, end] = [layout.epoch, layout.end.getTime()]
  const isEarly = timestamp < (first + end) / 2 // an idOffset moves both ends
  const message = isEarly
    ? `The time ${instant(timestamp)} is before the epoch ${instant(first)}. Set the clock, or use an earlier epoch.`
    : `The time ${instant(timestamp)} is too late for layout '${layout.name}', which ends at ${instant(end)}. ` +
      'Use a later epoch.'
  return flakeError(RangeError, 'ERR_FLAKE_TIME_RANGE', message, { timestamp })
}

module.exports = {
  optionTypeError,
  optionRangeError,
  unusableOptionError,
  fieldsError,
  optionError,
  unknownOptionError,
  unknownLayoutError,
  idError,
  timeRangeError,
}
