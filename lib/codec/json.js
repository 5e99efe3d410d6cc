'use strict'
// @ts-check

// IDs in JSON, as decimal text and back: jsonReplacer for JSON.stringify, jsonReviver(keys) for JSON.parse. It must
// never give a number that is not the one that was written: what has lost digits on its way is an error.

const { jsonIdError } = require('../base/errors/json.js')
const { isUint8Array } = require('../base/objects.js')
const { MAX_U64, errors } = require('../base/values.js')
const { toBigInt } = require('./ids.js')

const MIN_I64 = -(2n ** 63n)

/** At most 20 digits: longer ones are no ID, and BigInt() takes long for many. */
const DECIMAL = /^-?\d{1,20}$/
const WANTED = "an ID as decimal text, such as '7529535382561648641'"
const LOST =
  ' JSON.parse reads a number with 53 bits, so its last digits may be lost. Write IDs as text: ' +
  'JSON.stringify(value, jsonReplacer).'

/**
 * The second argument of JSON.stringify. A `toJSON` has run before it, that of Buffer or one on BigInt.prototype that makes
 * numbers and has lost digits. So it looks at the value itself where it gets a number or an object.
 * @this {unknown}
 * @param {string} key
 * @param {unknown} value
 * @returns {unknown}
 */
function jsonReplacer(key, value) {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'number' && typeof value !== 'object') return value
  const held = /** @type {Record<string, unknown> | undefined} */ (this)?.[key]
  if (isUint8Array(held) && held.length === 8) return String(toBigInt(held))
  return typeof held === 'bigint' ? String(held) : value
}

/**
 * From Node 21 on: the text of a number that is not in an array. V8 makes the text when somebody asks for it.
 * @typedef {{ source?: string }} Context
 */

/**
 * The second argument of JSON.parse that makes bigints of the values of these keys, at any depth.
 * @param {unknown} keys
 */
function jsonReviver(keys) {
  const names = new Set(checkKeys(keys))
  /**
   * @param {string} key
   * @param {unknown} value
   * @param {Context} [context]
   */
  return (key, value, context) => (names.has(key) ? revive(key, value, context) : value)
}

/**
 * @param {unknown} keys
 * @returns {string[]}
 */
function checkKeys(keys) {
  const wanted = "an array of keys, such as ['id', 'userId']"
  if (!Array.isArray(keys)) throw errors().optionTypeError('keys', keys, wanted)
  if (keys.length === 0) throw errors().optionRangeError('keys', keys, `${wanted}, with one key at least`)
  for (const [i, key] of keys.entries()) {
    if (typeof key !== 'string') throw errors().optionTypeError(`keys[${i}]`, key, 'text')
  }
  return keys
}

/**
 * @param {string} key
 * @param {unknown} value
 * @param {Context} [context]
 * @returns {unknown}
 */
function revive(key, value, context) {
  if (value === null || typeof value === 'bigint') return value
  if (Array.isArray(value)) return value.map((element) => revive(key, element))
  if (typeof value === 'number') return fromNumber(key, value, context?.source)
  if (typeof value === 'string' && DECIMAL.test(value)) return inRange(key, value)
  throw jsonIdError(key, value, WANTED)
}

/**
 * @param {string} key
 * @param {number} value
 * @param {string} [source]
 */
function fromNumber(key, value, source = '') {
  if (DECIMAL.test(source)) return inRange(key, source)
  if (Number.isSafeInteger(value)) return BigInt(value)
  throw jsonIdError(key, value, WANTED, Number.isInteger(value) ? LOST : '')
}

/**
 * @param {string} key
 * @param {string} text
 */
function inRange(key, text) {
  const id = BigInt(text)
  if (id < MIN_I64 || id > MAX_U64) throw jsonIdError(key, text, `${WANTED}, from −2^63 to 2^64 − 1`)
  return id
}

module.exports = { jsonReplacer, jsonReviver }
