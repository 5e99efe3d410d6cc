'use strict'
// @ts-check

// Turns IDs in any form (8 big-endian bytes, a bigint, text, or a number) into bigints, compares them, and converts them to
// and from signed values. It must never accept a number that may have lost digits: above 2^53 − 1 a JavaScript number
// stands for several IDs.

const { isUint8Array, newBytes } = require('../base/objects.js')
const { errors } = require('../base/values.js')

const TEXT = /^(?:\d+|0x[\da-f]+|0b[01]+)$/i
/** What an ID is not, where a layout does not know it. */
const OF_LAYOUT = "an ID of layout '$': a bit that must be 0 is set"
const WANTED = 'an ID from 0 to 2^64 − 1'

// An ID on its way: `word`, and the halves of it, because a number holds no 64 bits exactly. They are `half[LOW]` and
// `half[HIGH]`, in the byte order of this machine.
const word = new BigUint64Array([1n])
const half = new Uint32Array(word.buffer)
const HIGH = half[0]
const LOW = 1 - HIGH

/**
 * Puts an ID of any form into `word`.
 * @param {unknown} id
 */
function put(id) {
  if (isUint8Array(id)) {
    if (id.length !== 8) throw errors().idError(id, 'an ID: 8 bytes', id.length)
    half[HIGH] = (id[0] << 24) | (id[1] << 16) | (id[2] << 8) | id[3]
    half[LOW] = (id[4] << 24) | (id[5] << 16) | (id[6] << 8) | id[7]
  } else {
    const value = bigintOf(id)
    word[0] = value
    if (word[0] !== value) throw errors().idError(id, WANTED)
  }
}

/**
 * @param {unknown} id
 * @returns {bigint} of any size
 */
function bigintOf(id) {
  if (typeof id === 'bigint') return id
  if (typeof id === 'string' && TEXT.test(id)) return BigInt(id)
  if (typeof id === 'number') return numberToBigInt(id)
  throw errors().idError(id, WANTED)
}

/** @param {number} id */
function numberToBigInt(id) {
  if (Number.isSafeInteger(id) && id >= 0) return BigInt(id) // −0 too: it is the integer 0
  throw errors().idError(id, 'an ID from 0 to 2^53 − 1', id)
}

/**
 * The ID as a bigint from 0 to 2^64 − 1.
 * @param {unknown} id
 */
function toBigInt(id) {
  put(id)
  return word[0]
}

/** `word` as 8 big-endian bytes. */
function wordToBytes() {
  const bytes = newBytes(8)
  const high = half[HIGH]
  const low = half[LOW]
  bytes[0] = high >>> 24
  bytes[1] = high >>> 16
  bytes[2] = high >>> 8
  bytes[3] = high
  bytes[4] = low >>> 24
  bytes[5] = low >>> 16
  bytes[6] = low >>> 8
  bytes[7] = low
  return bytes
}

/**
 * The 8 big-endian bytes of a bigint that is an ID.
 * @param {bigint} value
 */
function toBytes(value) {
  word[0] = value
  return wordToBytes()
}

/**
 * The ID as signed 64-bit columns store it: negative from 2^63 on.
 * @param {unknown} id
 */
function toSigned(id) {
  return BigInt.asIntN(64, toBigInt(id))
}

/**
 * The ID of a signed 64-bit value.
 * @param {unknown} value
 */
function fromSigned(value) {
  if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value)
    throw errors().idError(value, 'a signed bigint of 64 bits')
  return toBytes(value)
}

/**
 * −1, 0 or 1, as the first ID is smaller than, equal to or larger than the second.
 * @param {unknown} a
 * @param {unknown} b
 */
function compare(a, b) {
  const first = toBigInt(a)
  const second = toBigInt(b)
  return first < second ? -1 : first > second ? 1 : 0
}

module.exports = {
  OF_LAYOUT,
  toBigInt,
  toBytes,
  toSigned,
  fromSigned,
  compare,
  put,
  word,
  half,
  HIGH,
  LOW,
  wordToBytes,
}
