'use strict'
// @ts-check

// What browsers load in the place of errors/values.js: scripts/web/build.js puts it there, and for CommonJS bundlers do (see
// "browser" in package.json). The same errors with the
// same codes and properties. Their messages name the value and what it must be, without further help. Node must never load
// it. A `$` in `wanted` stands for the argument after it.

/** @param {unknown} value */
const show = (value) =>
  typeof value === 'string' ? `'${value.slice(0, 60)}'` : value instanceof Object ? 'an object' : String(value)

/**
 * @param {ErrorConstructor} Type
 * @param {string} code
 * @param {string} message
 * @param {object} fields
 */
const errorOf = (Type, code, message, fields) =>
  Object.assign(new Type(message), { code: `ERR_FLAKE_${code}`, ...fields })

/**
 * @param {ErrorConstructor} Type
 * @param {string} option
 * @param {unknown} value
 * @param {string} message
 */
const optionError = (Type, option, value, message) => errorOf(Type, 'OPTION', message, { option, value })

/**
 * @param {ErrorConstructor} Type
 * @param {string} verb
 */
const refusal =
  (Type, verb) =>
  /**
   * @param {string} option
   * @param {unknown} value
   * @param {string} wanted
   * @param {unknown} [arg]
   */
  (option, value, wanted, arg) =>
    optionError(Type, option, value, `${option} ${verb} ${wanted.replace('$', String(arg))}, but is ${show(value)}`)

/**
 * @param {string} option
 * @param {unknown} value
 * @param {readonly string[]} known
 */
const unknownOptionError = (option, value, known) =>
  optionError(TypeError, option, value, `Unknown option '${option}': not ${known}`)

/**
 * @param {unknown} value
 * @param {string} wanted
 * @param {unknown} [arg]
 */
const idError = (value, wanted, arg) =>
  errorOf(TypeError, 'ID', `${show(value)} is not ${wanted.replace('$', String(arg))}`, { value })

/**
 * @param {number} timestamp
 * @param {{ name: string, epoch: number, end: Date }} layout
 */
const timeRangeError = (timestamp, { name, epoch, end }) =>
  errorOf(RangeError, 'TIME_RANGE', `The time ${timestamp} is not from ${epoch} to ${+end} (layout '${name}')`, {
    timestamp,
  })

const optionTypeError = refusal(TypeError, 'must be')
const optionRangeError = refusal(RangeError, 'must be')

/**
 * @param {string} name
 * @param {readonly string[]} known
 */
const unknownLayoutError = (name, known) => optionRangeError('layout', name, `one of ${known}`)

const fieldsError = refusal(RangeError, 'must')
const unusableOptionError = refusal(TypeError, 'cannot be used')

module.exports = {
  optionTypeError,
  optionRangeError,
  fieldsError,
  unusableOptionError,
  optionError,
  unknownOptionError,
  unknownLayoutError,
  idError,
  timeRangeError,
}
