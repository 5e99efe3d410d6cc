'use strict'
// @ts-check

// The options and numbers that users give to a SegmentId, validated here.

const { MAX_U64, checkKeys, isAbsent, readBounded } = require('../../base/check.js')
const { optionRangeError, optionTypeError } = require('../../base/errors.js')
const { readDurable, readName } = require('../common-options.js')

const BLOCK = 10_000 // Hazelcast's
const LARGEST_BLOCK = 2 ** 32

/**
 * The options of SegmentId.open(), checked.
 * @param {unknown} given
 */
function readOptions(given) {
  const { name, block, init, durable } = checkKeys('options', given, ['name', 'block', 'init', 'durable'])
  return {
    name: readName('name', name),
    block: isAbsent(block) ? BLOCK : readBounded('block', block, 1, LARGEST_BLOCK),
    init: isAbsent(init) ? undefined : readId('init', init),
    durable: readDurable(durable),
  }
}

/**
 * An ID as a bigint, or as a number that is exact. The largest of 64 bits is none: a counter with it is used up.
 * @param {string} option
 * @param {unknown} value
 */
function readId(option, value) {
  const wanted = `a bigint from 0 to ${MAX_U64 - 1n}, or a safe integer`
  if (typeof value !== 'bigint' && typeof value !== 'number') throw optionTypeError(option, value, wanted)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw optionRangeError(option, value, wanted)
  const id = BigInt(value)
  if (id < 0n || id >= MAX_U64) throw optionRangeError(option, value, wanted)
  return id
}

module.exports = { readId, readOptions }
