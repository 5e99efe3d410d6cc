'use strict'
// @ts-check

// Bytes of any length as text, with the arguments of biguint-format, which this replaces, and IDs as text and back. It must
// never change the input.

const { isUint8Array } = require('../base/objects.js')
const { errors, isAbsent, refuseUnknown } = require('../base/values.js')
const { baseName, read, spell } = require('./bases.js')
const { toBigInt, toBytes } = require('./ids.js')

/** @import { Options } from '../base/values.js' */

const OPTIONS = ['prefix', 'groupsize', 'delimiter', 'padstr', 'size', 'trim', 'format']

/** The most bytes of a number: a bigint of Firefox or Safari has no room for more than twice as many. */
const MOST_BYTES = 1 << 16

/**
 * The digits of a number of any length.
 * @param {Uint8Array} bytes big-endian
 * @param {string} name of a base
 */
function digits(bytes, name) {
  if (bytes.length === 8) return spell(toBigInt(bytes), 8, name)
  if (bytes.length > MOST_BYTES) {
    throw errors().idError(bytes, 'of $ bytes at most', MOST_BYTES, bytes.length)
  }
  let hex = '0x'
  for (const byte of bytes) hex += (byte + 256).toString(16).slice(1)
  return spell(BigInt(hex), bytes.length, name)
}

/**
 * format(), with the digits of a number by one function or another.
 * @param {(bytes: Uint8Array, name: string) => string} digits
 */
const formatBy =
  (digits) =>
  /**
   * The number as text.
   * @param {unknown} id 8 bytes, or any other number of them, an array of bytes, a bigint, or text
   * @param {string} [base]
   * @param {unknown} [options]
   */
  (id, base, options) => {
    const name = baseName(base)
    if (isAbsent(options)) return digits(numberToBytes(id), name)
    if (typeof options !== 'object') throw errors().optionTypeError('options', options, 'an object')
    const chosen = refuseUnknown(/** @type {Options} */ (options), OPTIONS)
    return decorate(digits(inOrder(numberToBytes(id), chosen.format), name), name, chosen)
  }

/**
 * A copy of the bytes, because another thread could change a SharedArrayBuffer meanwhile.
 * @param {unknown} id
 * @returns {Uint8Array}
 */
function numberToBytes(id) {
  if (Array.isArray(id)) {
    const wrong = id.findIndex((byte) => !(Number.isInteger(byte) && byte >= 0 && byte <= 255))
    if (wrong >= 0) throw errors().idError(id, 'an array of bytes', wrong)
  }
  if (isUint8Array(id) || Array.isArray(id)) {
    if (id.length === 0) throw errors().idError(id, 'a number: it has no bytes')
    return new Uint8Array(id)
  }
  if (typeof id === 'string' && /^0x[\da-f]+$/i.test(id)) return hexToBytes(id.slice(2))
  const value = typeof id === 'string' && /^(?:\d+|0b[01]+)$/i.test(id) ? BigInt(id) : id
  if (typeof value === 'bigint' && value > 0n) return hexToBytes(value.toString(16).padStart(16, '0'))
  return toBytes(toBigInt(value)) // 0n, or an error that says what an ID is
}

/** @param {string} digits */
const hexToBytes = (digits) =>
  Uint8Array.from(digits.padStart(digits.length + (digits.length % 2), '0').match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  )

/**
 * @param {Uint8Array} bytes
 * @param {unknown} order
 */
function inOrder(bytes, order) {
  if (isAbsent(order) || order === 'BE') return bytes
  if (order === 'LE') return bytes.reverse()
  throw errors().optionRangeError('format', order, "'BE' or 'LE'")
}

/**
 * @param {string} digits
 * @param {string} base
 * @param {Options} options
 */
function decorate(digits, base, options) {
  const prefix = base === 'dec' ? '' : text(options.prefix, '')
  const trimmed = base === 'bin' && options.trim ? digits.replace(/^0+(?=.)/, '') : digits
  const grouped = group(trimmed, integer('groupsize', options.groupsize), text(options.delimiter, ' '))
  return prefix + grouped.padStart(integer('size', options.size) - prefix.length, text(options.padstr, ''))
}

/**
 * Groups are counted from the end, as in a number.
 * @param {string} digits
 * @param {number} size
 * @param {string} delimiter
 */
function group(digits, size, delimiter) {
  if (size <= 0) return digits
  const groups = []
  for (let end = digits.length; end > 0; end -= size) groups.unshift(digits.slice(Math.max(0, end - size), end))
  return groups.join(delimiter)
}

/**
 * @param {unknown} value
 * @param {string} absent
 */
const text = (value, absent) => (isAbsent(value) ? absent : String(value))

/**
 * As in biguint-format: true means 1, text is read as a number, and nothing or less than 1 has no effect.
 * @param {string} option
 * @param {unknown} value
 */
function integer(option, value) {
  if (isAbsent(value)) return 0
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw errors().optionRangeError(option, value, 'an integer')
  return number
}

/**
 * The 8 bytes that `format(id, base)` wrote as this text.
 * @param {unknown} text
 * @param {string} [base]
 */
function parse(text, base) {
  const name = baseName(base)
  const id = typeof text === 'string' ? read(text, name) : undefined
  if (id === undefined) throw errors().idError(text, 'an ID in $: 64 bits at most', name)
  return toBytes(id)
}

const format = formatBy(digits)

module.exports = { digits, format, formatBy, parse }
