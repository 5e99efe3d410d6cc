'use strict'
// @ts-check

// The options that a group (FlakeId.join) and a counter (SegmentId.open) have in common, validated here.

const { isAbsent } = require('../base/check.js')
const { optionRangeError, optionTypeError } = require('../base/errors.js')

/**
 * The name of a group or counter: it becomes part of keys and of a folder's name.
 * @param {string} option
 * @param {unknown} name
 */
function readName(option, name) {
  const wanted = 'a name of 1 to 128 characters without braces and control characters'
  if (typeof name !== 'string') throw optionTypeError(option, name, wanted)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: we look for them
  if (name.length < 1 || name.length > 128 || !name.isWellFormed() || /[\u0000-\u001f\u007f{}]/.test(name)) {
    throw optionRangeError(option, name, wanted)
  }
  return name
}

/**
 * Whether the user vouches for the store.
 * @param {unknown} durable
 */
function readDurable(durable) {
  if (isAbsent(durable)) return false
  if (typeof durable !== 'boolean') throw optionTypeError('durable', durable, 'true or false')
  return durable
}

module.exports = { readDurable, readName }
