'use strict'
// @ts-check

// What all errors are made with: `flakeError`, and how values, times and lengths of time look in a message.

const { isDate } = require('../objects.js')

/**
 * A class of errors, such as TypeError.
 * @typedef {new (message: string, options?: ErrorOptions) => Error} ErrorClass
 */

/**
 * @param {ErrorClass} Type
 * @param {string} code
 * @param {string} message
 * @param {{ cause?: unknown } & Record<string, unknown>} [fields] of the error; without a cause it has none
 */
function flakeError(Type, code, message, { cause, ...fields } = {}) {
  return Object.assign(cause === undefined ? new Type(message) : new Type(message, { cause }), { code }, fields)
}

/**
 * How a value looks in a message: short, and text in quotes.
 * @param {unknown} value
 * @param {number} [depth] of the arrays around it
 * @returns {string}
 */
function show(value, depth = 0) {
  if (typeof value === 'string') return value.length > 60 ? `'${value.slice(0, 60)}…'` : `'${value}'`
  if (typeof value === 'bigint') return value < 2n ** 200n ? `${value}n` : 'a bigint of more than 200 bits'
  if (typeof value === 'function') return 'a function'
  if (isDate(value)) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  if (Array.isArray(value)) return showArray(value, depth)
  if (typeof value === 'object' && value !== null) return showObject(value)
  return String(value)
}

/**
 * A short array in full; its items may be arrays too, as fields are.
 * @param {unknown[]} array
 * @param {number} depth
 */
function showArray(array, depth) {
  const text = array.length > 8 || depth > 1 ? '' : `[${array.map((item) => show(item, depth + 1)).join(', ')}]`
  return text === '' || text.length > 60 ? `an array of ${array.length}` : text
}

/** @param {object} object */
function showObject(object) {
  const { name } = object.constructor ?? {}
  return name === undefined || name === 'Object' ? 'an object' : `an object of class ${name}`
}

/** @param {number} ms */
const inMs = (ms) => `${Number(ms.toPrecision(3))} ms`

/** @param {number} ms */
const instant = (ms) => (Math.abs(ms) <= 8.64e15 ? `${new Date(ms).toISOString()} (${ms})` : String(ms))

module.exports = {
  flakeError,
  show,
  inMs,
  instant,
}
