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

/** What means the default. biguint-format treats '' and false as decimal. */
export const DECIMAL: unknown[] = ['', false, null, undefined]

/** The name of a base; the default is 'dec'. */
export const baseName = (name: string | null | undefined) => (DECIMAL.includes(name) ? 'dec' : knownBase(name))

/** A base that must be named. */
export function knownBase(name: unknown) {
  if (!BASES.includes(name as string)) throw errors.optionRangeError('base', name, `one of '${BASES.join("', '")}'`)
  return name as string
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

/** The digit that a character stands for: case is ignored where it does not matter; in base 32 so are Crockford's look-alikes. */
function digitOf(character: string, name: string) {
  if (isExact(name)) return character
  return name === 'base32' ? character.toUpperCase().replace('O', '0').replace(/[IL]/, '1') : character.toLowerCase()
}

/** The value of each ASCII character as a digit, or −1. Letters beyond ASCII have none, also those whose other case is ASCII. */
function valuesOf(name: string) {
  const toValue = (_: unknown, code: number) => DIGITS[name].indexOf(digitOf(String.fromCharCode(code), name))
  return Int8Array.from({ length: 128 }, toValue)
}

type Form = { radix: number; width: number | undefined; values: Int8Array }

const forms: Record<string, Form> = {}

/** What reading a text takes, made when a base is read first. */
function formOf(name: string) {
  forms[name] ??= { radix: DIGITS[name].length, width: textWidth(name), values: valuesOf(name) }
  return forms[name]
}

/** Lower-cases ASCII only: some other letters become ASCII when their case changes. */
const small = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Binary digits without the spaces between groups, as format() writes them. */
const ungrouped = (text: string, from: number) =>
  text.slice(0, from) + text.slice(from).replace(/([01]) (?=[01])/g, '$1')

/**
 * The ID that a text represents; undefined for any other text.
 * @param name of the base
 * @param prefix that the text begins with; its case is ignored where that of the digits is
 */
export function read(written: string, name: string, prefix: string) {
  const given = name === 'bin' ? ungrouped(written, prefix.length) : written
  if (!given.startsWith(prefix) && (isExact(name) || !small(given).startsWith(small(prefix)))) return
  const { radix, width, values } = formOf(name)
  const { length } = given
  const digits = length - prefix.length
  if (digits === 0 || (width ?? digits) !== digits) return
  let id = 0n
  for (let at = prefix.length; at < length; ) {
    let part = 0
    let size = 1
    for (const end = Math.min(at + DIGITS_OF_A_NUMBER, length); at < end; at++) {
      const value = values[given.charCodeAt(at)] ?? -1
      if (value < 0) return
      part = part * radix + value
      size *= radix
    }
    id = id * BigInt(size) + BigInt(part)
    if (id > MAX_U64) return
  }
  return id
}
