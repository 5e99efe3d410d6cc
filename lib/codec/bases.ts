// The bases that numbers are written in, and the digits of numbers in them, without loss at any length: the JavaScript twin
// of core/src/layout/format.rs.

import * as errors from '../base/errors/values.ts'
import { MAX_U64 } from '../base/values.ts'

/**
 * How an ID is written as text.
 *
 * | base | digits | length |
 * |---|---|---|
 * | `'dec'` | decimal | 1…20 |
 * | `'hex'` | hexadecimal | 1…16 |
 * | `'bin'` | binary | 64 |
 * | `'oct'` | octal | 1…22 |
 * | `'base32'` | Crockford's base 32, without I, L, O and U | 13 |
 * | `'base36'` | 0…9, a…z | 13 |
 * | `'base58'` | Bitcoin's alphabet, without 0, O, I and l | 11 |
 * | `'base62'` | 0…9, A…Z, a…z | 11 |
 * | `'tid'` | AT Protocol's base 32: 2…7, a…z | 13 |
 *
 * From base 32 on, all texts have the same length and their digits are in ASCII order, so the texts sort in the same order as
 * the IDs.
 */
export type Base = 'dec' | 'hex' | 'bin' | 'oct' | 'base32' | 'base36' | 'base58' | 'base62' | 'tid'

/** The digits of each base, in the addon's order of the bases. */
const DIGITS: Record<string, string> = {
  dec: '0123456789',
  hex: '0123456789abcdef',
  bin: '01',
  oct: '01234567',
  base32: '0123456789ABCDEFGHJKMNPQRSTVWXYZ',
  base36: '0123456789abcdefghijklmnopqrstuvwxyz',
  base58: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  base62: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  tid: '234567abcdefghijklmnopqrstuvwxyz',
}
export const BASES = Object.keys(DIGITS)

/** The name of a base; the default is 'dec'. */
export function baseName(name: string | null | undefined) {
  if (!name) return 'dec' // biguint-format treats '' and false as decimal
  if (!BASES.includes(name)) throw errors.optionRangeError('base', name, `one of '${BASES.join("', '")}'`)
  return name
}

/**
 * How many digits the largest number of this many bytes has. For bases above 32 this is never a whole number before rounding
 * up, so a float is exact enough.
 * @param name of a base
 */
const widthOf = (name: string, bytes: number) => Math.ceil((bytes * 8) / Math.log2(DIGITS[name].length))

/**
 * The required length of an ID's text in a base; undefined if leading zeros may be left out or added, as people who type base
 * 32 do.
 */
export const textWidth = (name: string) => (DIGITS[name].length > 32 || name === 'tid' ? widthOf(name, 8) : undefined)

/** Whether a letter of the other case is another digit, or none. AT Protocol's TIDs are lower case only. */
const isExact = (name: string) => DIGITS[name].length > 36 || name === 'tid'

/**
 * A number of this many bytes as text.
 * @param name of the base
 */
export function spell(value: bigint, bytes: number, name: string) {
  const digits = DIGITS[name]
  const radix = digits.length
  const width = radix === 2 || radix > 16 ? widthOf(name, bytes) : 1
  return DIGITS.base36.startsWith(digits) ? value.toString(radix).padStart(width, '0') : spellIn(digits, value, width)
}

const DIGITS_OF_A_NUMBER = 8 // 62^8 is below 2^53

/** This many digits in another alphabet: in halves, until a half is exact as a number. */
function spellIn(digits: string, value: bigint, width: number): string {
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

/** The text with the digits of its base: case is ignored where it does not matter; in base 32 so are Crockford's look-alikes. */
function plain(text: string, name: string) {
  if (isExact(name)) return text
  return name === 'base32' ? text.toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1') : text.toLowerCase()
}

/** Lower-cases ASCII only: some other letters become ASCII when their case changes. */
const small = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * The ID that a text represents; undefined for any other text.
 * @param name of the base
 * @param prefix that the text begins with; its case is ignored where that of the digits is
 */
export function read(given: string, name: string, prefix: string) {
  const digits = DIGITS[name]
  const radix = digits.length
  const digitsOf = given.slice(prefix.length)
  const text = radix === 2 ? digitsOf.replace(/(?<=[01]) (?=[01])/g, '') : digitsOf // groups, as format() writes them
  if (!given.startsWith(prefix) && (isExact(name) || !small(given).startsWith(small(prefix)))) return
  // Letters beyond ASCII are refused first: some of them become ASCII when their case changes.
  if (!/^\w+$/.test(text) || (textWidth(name) ?? text.length) !== text.length) return
  const chars = plain(text, name)
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
