'use strict'
// @ts-check

// The bases that numbers are written in, and the digits of numbers in them: the JavaScript twin of core/src/layout/format.rs.
// It must never lose a bit, whatever the length.

const { MAX_U64, errors } = require('../base/values.js')

const UP_TO_36 = '0123456789abcdefghijklmnopqrstuvwxyz'
const UPPER = UP_TO_36.toUpperCase()
const ALL = UPPER + UP_TO_36.slice(10)

/**
 * The digits of each base, in the order in which the addon counts them. Base 32 is Crockford's, base 58 Bitcoin's.
 * @type {Record<string, string>}
 */
const DIGITS = {
  dec: UP_TO_36.slice(0, 10),
  hex: UP_TO_36.slice(0, 16),
  bin: '01',
  oct: UP_TO_36.slice(0, 8),
  base32: UPPER.replace(/[ILOU]/g, ''),
  base36: UP_TO_36,
  base58: ALL.replace(/[0IOl]/g, ''),
  base62: ALL,
}
const BASES = Object.keys(DIGITS)

/**
 * The name of a base; 'dec' if none is given.
 * @param {string | undefined} name
 */
function baseName(name) {
  if (!name) return 'dec' // biguint-format takes '' and false for decimal
  if (!BASES.includes(name)) throw errors().optionRangeError('base', name, `one of '${BASES.join("', '")}'`)
  return name
}

/**
 * How many digits the largest number of so many bytes has. For bases above 32 this is never a whole number before it is
 * rounded up, so a float is exact enough.
 * @param {string} name of a base
 * @param {number} bytes
 */
const widthOf = (name, bytes) => Math.ceil((bytes * 8) / Math.log2(DIGITS[name].length))

/**
 * How many characters an ID's text must have in a base; undefined if leading zeros may be left out or added, as people who
 * type base 32 do.
 * @param {string} name
 */
const textWidth = (name) => (DIGITS[name].length > 32 ? widthOf(name, 8) : undefined)

/**
 * A number of so many bytes as text.
 * @param {bigint} value
 * @param {number} bytes
 * @param {string} name of the base
 */
function spell(value, bytes, name) {
  const digits = DIGITS[name]
  const radix = digits.length
  const width = radix === 2 || radix > 16 ? widthOf(name, bytes) : 1
  return UP_TO_36.startsWith(digits) ? value.toString(radix).padStart(width, '0') : spellIn(digits, value, width)
}

const DIGITS_OF_A_NUMBER = 8 // 62^8 is below 2^53

/**
 * So many digits of another alphabet: in halves, until a half is exact as a number.
 * @param {string} digits
 * @param {bigint} value
 * @param {number} width
 * @returns {string}
 */
function spellIn(digits, value, width) {
  const radix = digits.length
  if (width > DIGITS_OF_A_NUMBER) {
    const low = width >> 1
    const size = BigInt(radix) ** BigInt(low)
    return spellIn(digits, value / size, width - low) + spellIn(digits, value % size, low)
  }
  let text = ''
  for (let i = 0, rest = Number(value); i < width; i++) {
    text = digits[rest % radix] + text
    rest = Math.floor(rest / radix)
  }
  return text
}

/**
 * A text with the digits of its base only. Up to base 36, letters of either case count; in base 32, Crockford's look-alikes.
 * @param {string} text
 * @param {number} radix
 */
function plain(text, radix) {
  if (radix > 36) return text
  return radix === 32 ? text.toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1') : text.toLowerCase()
}

/**
 * The ID that a text without a prefix stands for; undefined for anything else.
 * @param {string} text
 * @param {string} name of the base
 */
function read(text, name) {
  const digits = DIGITS[name]
  const radix = digits.length
  // Letters beyond ASCII are refused first: some of them are others in the other case.
  if (!/^\w+$/.test(text) || (textWidth(name) ?? text.length) !== text.length) return
  const chars = plain(text, radix)
  let id = 0n
  for (let from = 0; from < chars.length; from += DIGITS_OF_A_NUMBER) {
    let part = 0
    let size = 1
    for (const char of chars.slice(from, from + DIGITS_OF_A_NUMBER)) {
      const value = digits.indexOf(char)
      if (value < 0) return
      part = part * radix + value
      size *= radix
    }
    id = id * BigInt(size) + BigInt(part)
    if (id > MAX_U64) return
  }
  return id
}

module.exports = { BASES, baseName, textWidth, spell, read }
