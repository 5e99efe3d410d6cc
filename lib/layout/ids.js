'use strict'
// @ts-check

// Turns IDs in any form (8 big-endian bytes, a bigint, text, or a number) into bigints, compares them, and converts them to
// and from signed values. It must never accept a number that may have lost digits: above 2^53 − 1 a JavaScript number
// stands for several IDs.

const { isUint8Array } = require('node:util').types
const { MAX_U64, errors } = require('../base/check.js')

const TEXT = /^(?:\d+|0x[\da-f]+|0b[01]+)$/i
const WANTED =
  "an ID: 8 bytes, a bigint from 0 to 2^64 − 1, text ('123', '0x7b', '0b1111011'), or a number from 0 to 2^53 − 1"

const eight = new DataView(new ArrayBuffer(8)) // a DataView over the caller's bytes would cost more than this copy
const eightBytes = new Uint8Array(eight.buffer)

/** @param {Uint8Array} bytes */
function bytesToBigInt(bytes) {
  if (bytes.length !== 8) throw errors().idError(bytes, `an ID: it has ${bytes.length} bytes, an ID has 8`)
  eightBytes.set(bytes)
  return eight.getBigUint64(0)
}

/**
 * @param {bigint} value
 * @param {unknown} given
 */
function inRange(value, given) {
  if (value < 0n || value > MAX_U64) throw errors().idError(given, WANTED)
  return value
}

/** @param {number} id */
function numberToBigInt(id) {
  if (Number.isSafeInteger(id) && id >= 0) return BigInt(id) // −0 too: it is the integer 0
  throw errors().idError(id, `an ID: ${whyNot(id)}`)
}

/**
 * Why a number is not an ID.
 * @param {number} number
 */
function whyNot(number) {
  if (Number.isNaN(number)) return 'it is not even a number'
  if (number < 0) return 'IDs are not negative; fromSigned() takes what a signed column has'
  if (number > Number.MAX_SAFE_INTEGER)
    return 'a number above 2^53 − 1 (9007199254740991) may have lost digits already; read the ID as a bigint or as text'
  return 'it has a fraction'
}

/**
 * The ID as a bigint from 0 to 2^64 − 1.
 * @param {unknown} id
 */
function toBigInt(id) {
  if (isUint8Array(id)) return bytesToBigInt(id)
  if (typeof id === 'bigint') return inRange(id, id)
  if (typeof id === 'string' && TEXT.test(id)) return inRange(BigInt(id), id)
  if (typeof id === 'number') return numberToBigInt(id)
  throw errors().idError(id, WANTED)
}

/**
 * The 8 big-endian bytes of a bigint that is an ID.
 * @param {bigint} value
 */
function toBuffer(value) {
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64BE(value)
  return buffer
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
  if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) {
    throw errors().idError(value, 'a signed 64-bit value: a bigint from −2^63 to 2^63 − 1')
  }
  return toBuffer(BigInt.asUintN(64, value))
}

/**
 * −1, 0 or 1, as the first ID is smaller than, equal to or larger than the second.
 * @param {unknown} a
 * @param {unknown} b
 */
function compare(a, b) {
  const [first, second] = [toBigInt(a), toBigInt(b)]
  if (first === second) return 0
  return first < second ? -1 : 1
}

module.exports = { isUint8Array, toBigInt, toBuffer, toSigned, fromSigned, compare }
