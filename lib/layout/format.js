'use strict'

// Bytes of any length as text, with the arguments of biguint-format, which this replaces. The digits come from the
// core; this file adds prefix, groups and padding. It must never change the input.

const { isUint8Array } = require('node:util').types
const native = require('../native/index.js')
const hot = require('../generator/hot.js')
const { toBigInt, toBuffer } = require('./ids.js')

const errors = () => require('../base/errors.js') // loaded when the first one is made

const BASES = native.bases()
const OPTIONS = ['prefix', 'groupsize', 'delimiter', 'padstr', 'size', 'trim', 'format']

/** The number of a base in the raw functions; 'dec' if none is given. */
function baseCode(base) {
  if (!base) return 0 // biguint-format takes '' and false for decimal
  const code = BASES.indexOf(base)
  if (code < 0) throw errors().optionRangeError('base', base, `one of '${BASES.join("', '")}'`)
  return code
}

/**
 * The number as text.
 * @param id 8 bytes, or any other number of them, an array of bytes, a bigint, or text
 */
function format(id, base, options) {
  const code = baseCode(base)
  if (options === undefined || options === null) {
    if (isUint8Array(id) && id.length === 8) return spell(id, code)
    return native.digits(toBytes(id), BASES[code])
  }
  checkKeys(options)
  return decorate(native.digits(inOrder(toBytes(id), options.format), BASES[code]), BASES[code], options)
}

/** 8 bytes, big-endian, as text: through the scratch array, because an argument and a method call cost 300 ns. */
function spell(id, code) {
  hot.fromBytes(id)
  hot.base[0] = code
  return hot.spell()
}

function checkKeys(options) {
  if (typeof options !== 'object') throw errors().optionTypeError('options', options, 'an object')
  for (const key of Object.keys(options)) {
    if (!OPTIONS.includes(key)) throw errors().unknownOptionError(key, options[key], OPTIONS)
  }
}

/** A copy of the bytes, because another thread could change a SharedArrayBuffer while native code reads it. */
function toBytes(id) {
  if (isUint8Array(id)) return notEmpty(new Uint8Array(id), id)
  if (Array.isArray(id)) return notEmpty(arrayToBytes(id), id)
  if (typeof id === 'bigint' && id > 0n) return hexToBytes(id.toString(16).padStart(16, '0'))
  if (typeof id === 'string' && /^0x[\da-f]+$/i.test(id)) return hexToBytes(id.slice(2))
  if (typeof id === 'string' && /^(?:\d+|0b[01]+)$/i.test(id)) return toBytes(BigInt(id))
  return toBuffer(toBigInt(id)) // 0n, or an error that says what an ID is
}

function notEmpty(bytes, given) {
  if (bytes.length === 0) throw errors().idError(given, 'a number: it has no bytes')
  return bytes
}

function arrayToBytes(array) {
  const wrong = array.findIndex((byte) => !(Number.isInteger(byte) && byte >= 0 && byte <= 255))
  if (wrong >= 0) throw errors().idError(array, `an array of bytes: element ${wrong} must be an integer from 0 to 255`)
  return Uint8Array.from(array)
}

function hexToBytes(digits) {
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function inOrder(bytes, order) {
  if (isAbsent(order) || order === 'BE') return bytes
  if (order === 'LE') return bytes.reverse()
  throw errors().optionRangeError('format', order, "'BE' or 'LE'")
}

function decorate(digits, base, options) {
  const prefix = base === 'dec' ? '' : text(options.prefix, '')
  const trimmed = base === 'bin' && options.trim ? digits.replace(/^0+(?=.)/, '') : digits
  const grouped = group(trimmed, integer('groupsize', options.groupsize), text(options.delimiter, ' '))
  return prefix + grouped.padStart(integer('size', options.size) - prefix.length, text(options.padstr, ''))
}

/** Groups are counted from the end, as in a number. */
function group(digits, size, delimiter) {
  if (size <= 0) return digits
  const groups = []
  for (let end = digits.length; end > 0; end -= size) groups.unshift(digits.slice(Math.max(0, end - size), end))
  return groups.join(delimiter)
}

const isAbsent = (value) => value === undefined || value === null
const text = (value, absent) => (isAbsent(value) ? absent : String(value))

/** As in biguint-format: true means 1, text is read as a number, and nothing or less than 1 has no effect. */
function integer(option, value) {
  if (isAbsent(value)) return 0
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw errors().optionRangeError(option, value, 'an integer')
  return number
}

/** The 8 bytes that `format(id, base)` wrote as this text. */
function parse(digits, base) {
  const name = BASES[baseCode(base)]
  const id = typeof digits === 'string' ? native.parse(digits, name) : null
  if (id === null) throw errors().idError(digits, `an ID in ${name}: ${textForm(name)}`)
  return toBuffer(id)
}

const [SMALLEST, LARGEST] = [0, 0xff].map((byte) => new Uint8Array(8).fill(byte))

/** What the text of an ID looks like. */
function textForm(name) {
  const width = native.textWidth(name)
  if (width === null) return 'digits only, 64 bits at most'
  const [least, most] = [SMALLEST, LARGEST].map((id) => native.digits(id, name))
  return `${width} characters, from '${least}' to '${most}'`
}

module.exports = { format, parse, baseCode }
