'use strict'
// @ts-check

// Bytes of any length as text, with the arguments of biguint-format, which this replaces. The digits come from the
// core; this file adds prefix, groups and padding. It must never change the input.

const { isUint8Array } = require('node:util').types
const native = require('../native/index.js')
const { BASES, baseCode, toText } = require('../native/texts.js')
const { errors, isAbsent, refuseUnknown } = require('../base/check.js')
const { toBigInt, toBuffer } = require('./ids.js')

/** @import { Options } from '../base/check.js' */

const OPTIONS = ['prefix', 'groupsize', 'delimiter', 'padstr', 'size', 'trim', 'format']

/**
 * The number as text.
 * @param {unknown} id 8 bytes, or any other number of them, an array of bytes, a bigint, or text
 * @param {string} [base]
 * @param {unknown} [options]
 */
function format(id, base, options) {
  const code = baseCode(base)
  if (isAbsent(options)) {
    if (isUint8Array(id) && id.length === 8) return toText(id, code)
    return digits(toBytes(id), BASES[code])
  }
  if (typeof options !== 'object') throw errors().optionTypeError('options', options, 'an object')
  const chosen = refuseUnknown(/** @type {Options} */ (options), OPTIONS)
  return decorate(digits(inOrder(toBytes(id), chosen.format), BASES[code]), BASES[code], chosen)
}

/**
 * The digits of bytes, big-endian, in a base that there is.
 * @param {Uint8Array} bytes
 * @param {string} base
 */
const digits = (bytes, base) => /** @type {string} */ (native.digits(bytes, base))

/**
 * A copy of the bytes, because another thread could change a SharedArrayBuffer while native code reads it.
 * @param {unknown} id
 * @returns {Uint8Array}
 */
function toBytes(id) {
  if (isUint8Array(id)) return notEmpty(new Uint8Array(id), id)
  if (Array.isArray(id)) return notEmpty(arrayToBytes(id), id)
  if (typeof id === 'bigint' && id > 0n) return hexToBytes(id.toString(16).padStart(16, '0'))
  if (typeof id === 'string' && /^0x[\da-f]+$/i.test(id)) return hexToBytes(id.slice(2))
  if (typeof id === 'string' && /^(?:\d+|0b[01]+)$/i.test(id)) return toBytes(BigInt(id))
  return toBuffer(toBigInt(id)) // 0n, or an error that says what an ID is
}

/**
 * @param {Uint8Array} bytes
 * @param {unknown} given
 */
function notEmpty(bytes, given) {
  if (bytes.length === 0) throw errors().idError(given, 'a number: it has no bytes')
  return bytes
}

/** @param {unknown[]} array */
function arrayToBytes(array) {
  const wrong = array.findIndex((byte) => !isByte(byte))
  if (wrong >= 0) throw errors().idError(array, `an array of bytes: element ${wrong} must be an integer from 0 to 255`)
  return Uint8Array.from(/** @type {number[]} */ (array))
}

/** @param {unknown} value */
const isByte = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255

/** @param {string} digits */
function hexToBytes(digits) {
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

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
  const name = BASES[baseCode(base)]
  const id = typeof text === 'string' ? native.parse(text, name) : null
  if (id === null) throw errors().idError(text, `an ID in ${name}: ${textForm(name)}`)
  return toBuffer(id)
}

const [SMALLEST, LARGEST] = [0, 0xff].map((byte) => new Uint8Array(8).fill(byte))

/**
 * What the text of an ID looks like.
 * @param {string} name
 */
function textForm(name) {
  const width = native.textWidth(name)
  if (width === null) return 'digits only, 64 bits at most'
  const [least, most] = [SMALLEST, LARGEST].map((id) => digits(id, name))
  return `${width} characters, from '${least}' to '${most}'`
}

module.exports = { format, parse }
