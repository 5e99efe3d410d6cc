'use strict'
// @ts-check

// Checks of single values, for all code that reads options or answers of the addon: those of values.js, and those that
// only make sense where there is an addon. It must never mask or coerce a value.

const values = require('./values.js')

/** @typedef {import('./values.js').Options} Options */

/** Every error of flakeforge, loaded when the first one is made. */
const errors = () => require('./errors.js')

/** What the option `clock` must be. */
const CLOCK = 'a function that returns Unix ms, or Unix ns as a bigint'

/**
 * ms, not negative, perhaps with a fraction, perhaps Infinity.
 * @param {string} option
 * @param {unknown} value
 */
function readDuration(option, value) {
  const ms = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  if (typeof ms !== 'number') throw errors().optionTypeError(option, value, 'a number of milliseconds')
  if (!(ms >= 0)) throw errors().optionRangeError(option, value, '0 or more')
  return ms
}

/**
 * What the addon gave; throws if that is a problem.
 * @template T
 * @param {T | import('./errors.js').Problem} given
 * @param {string} [where] what a mismatch is about
 * @returns {T}
 */
function unlessProblem(given, where) {
  const problem = /** @type {import('./errors.js').Problem | null} */ (given)
  if (problem?.why !== undefined || problem?.theirs !== undefined) throw errors().problemError(problem, where)
  return /** @type {T} */ (given)
}

module.exports = { ...values, CLOCK, errors, readDuration, unlessProblem }
