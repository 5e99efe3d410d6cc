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

/**
 * The most bytes of a number: the time for its decimal digits grows with the square, and a bigint of Firefox or Safari has
 * no room for more than twice as many.
 */
const MOST_BYTES = 1 << 16

/** The most characters of a text: every engine has room for them. */
const MOST_CHARACTERS = 2 ** 27

/**
 * The digits of a number of any length.
 * @param {Uint8Array} bytes big-endian
 * @param {string} name of a base
 */
function digits(bytes, name) {
  if (bytes.length === 8) return spell(toBigInt(bytes), 8, name)
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
    checkSize(id, id.length)
    return new Uint8Array(id)
  }
  const hex = typeof id === 'string' ? textToHex(id) : typeof id === 'bigint' ? bigintToHex(id) : undefined
  if (hex === undefined) return toBytes(toBigInt(id)) // 0n, or an error that says what an ID is
  checkSize(id, Math.ceil(hex.length / 2))
  return hexToBytes(hex)
}

/**
 * The digits of text that is a number; undefined for any other, and for 0.
 * @param {string} text
 */
function textToHex(text) {
  if (/^0x[\da-f]+$/i.test(text)) return text.slice(2)
  if (!/^(?:\d+|0b[01]+)$/i.test(text)) return undefined
  checkSize(text, Math.floor(text.length / 8)) // each of 8 characters is a bit or more
  return bigintToHex(BigInt(text))
}

/** @param {bigint} value */
const bigintToHex = (value) => (value > 0n ? value.toString(16).padStart(16, '0') : undefined)

/**
 * @param {unknown} id
 * @param {number} count of its bytes
 */
function checkSize(id, count) {
  if (count > MOST_BYTES) throw errors().idError(id, 'of $ bytes at most', MOST_BYTES, count)
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
  const size = integer('size', options.size)
  checkLength('size', size)
  return prefix + grouped.padStart(size - prefix.length, text(options.padstr, ''))
}

/**
 * @param {string} option that makes a text so long
 * @param {number} length
 */
function checkLength(option, length) {
  if (length <= MOST_CHARACTERS) return
  throw errors().optionRangeError(option, length, `one that makes a text of at most ${MOST_CHARACTERS} characters`)
}

/**
 * Groups are counted from the end, as in a number.
 * @param {string} digits
 * @param {number} size
 * @param {string} delimiter
 */
function group(digits, size, delimiter) {
  if (size <= 0 || size >= digits.length) return digits
  const first = digits.length % size || size
  const groups = [digits.slice(0, first)]
  for (let start = first; start < digits.length; start += size) groups.push(digits.slice(start, start + size))
  checkLength('delimiter', digits.length + delimiter.length * (groups.length - 1))
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
