// Bytes of any length as text, with the arguments of biguint-format, which this replaces, and IDs as text and back. It never
// changes the input.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import { isUint8Array } from '../base/objects.ts'
import { isAbsent, type Options } from '../base/values.ts'
import { type Base, baseName, read, spell } from './bases.ts'
import { type IdBytes, type IdLike, toBigInt, toBytes } from './ids.ts'
import { type PrefixOptions, prefixOf, readPrefix, readTextOptions, stringOf } from './prefix.ts'

export interface FormatOptions extends PrefixOptions {
  /** digits in a group, counted from the end */
  groupsize?: number | undefined
  /** text between groups; default a space */
  delimiter?: string | undefined
  /** pads the text at its front to `size`; repeated, and cut off if needed */
  padstr?: string | undefined
  /** the length to pad to, prefix included; longer text stays as it is */
  size?: number | undefined
  /** binary only: leave out leading zeros */
  trim?: boolean | undefined
  /** byte order of the input; default `'BE'` */
  format?: 'BE' | 'LE' | undefined
}

/** The function `format`. */
export interface Format {
  /**
   * Writes up to 65,536 bytes as text. It takes the same arguments as biguint-format.
   *
   * Decimal, hex and octal text has no leading zeros. Binary text has 8 digits per byte. Text in the other bases has as many
   * digits as that number of bytes needs (13 or 11 for an ID). Text input is read as an ID, as everywhere in flakeforge:
   * `'0x50dd'` is hex and `'50'` is decimal, while biguint-format reads both as hex. `flakeforge/biguint-format` behaves like
   * that package. The input is not changed.
   *
   *
   * @param id bytes, an array of bytes, a bigint, text, or an integer from 0 to 2^53 − 1
   * @param base default `'dec'`
   * @throws {TypeError} `ERR_FLAKE_ID`: the input is not a number in one of these forms, or is too large.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an unknown base or option, or a text of more than 2^27 characters.
   * @example
   * format(id, 'hex', { prefix: '0x' })                   // '0x687e488989127000'
   * format(id, 'bin', { groupsize: 8, delimiter: '_' })   // '01101000_01111110_01001000_…'
   */
  // biome-ignore lint/style/useShorthandFunctionType: an editor shows the comment of the call
  (id: IdLike | readonly number[], base?: Base | null, options?: Readonly<FormatOptions> | null): string
}

const OPTIONS = ['prefix', 'groupsize', 'delimiter', 'padstr', 'size', 'trim', 'format']

/**
 * The most bytes of a number: the time for its decimal digits grows with the square, and a bigint in Firefox or Safari can
 * have at most about twice as many.
 */
const MOST_BYTES = 1 << 16

/** The most characters of a text: every engine supports this length. */
const MOST_CHARACTERS = 2 ** 27

/**
 * The digits of a number of any length.
 * @param bytes big-endian
 * @param name of a base
 */
export function digits(bytes: Uint8Array, name: string) {
  if (bytes.length === 8) return spell(toBigInt(bytes), 8, name)
  let hex = '0x'
  for (const byte of bytes) hex += (byte + 256).toString(16).slice(1)
  return spell(BigInt(hex), bytes.length, name)
}

/** format(), with a given function that writes the digits of a number. */
export const formatBy =
  (digits: (bytes: Uint8Array, name: string) => string) =>
  /**
   * The number as text.
   * @param id 8 bytes, or any other number of them, an array of bytes, a bigint, or text
   */
  (id: unknown, base?: string | null, options?: unknown) => {
    const name = baseName(base)
    if (isAbsent(options)) return digits(numberToBytes(id), name)
    const chosen = readTextOptions(options, OPTIONS)
    return decorate(digits(inOrder(numberToBytes(id), chosen.format), name), name, chosen)
  }

/** A copy of the bytes, because another thread could change a SharedArrayBuffer meanwhile. */
function numberToBytes(id: unknown): Uint8Array {
  if (Array.isArray(id)) {
    const wrong = id.findIndex((byte) => !(Number.isInteger(byte) && byte >= 0 && byte <= 255))
    if (wrong >= 0) throw errors.idError(id, wanted.arrayOfBytes(wrong))
  }
  if (typeof id === 'bigint' && BigInt.asUintN(64, id) === id) return toBytes(id)
  if (isUint8Array(id) || Array.isArray(id)) {
    if (id.length === 0) throw errors.idError(id, wanted.SOME_BYTES)
    checkSize(id, id.length)
    return new Uint8Array(id)
  }
  const hex = typeof id === 'string' ? textToHex(id) : typeof id === 'bigint' ? bigintToHex(id) : undefined
  if (hex === undefined) return toBytes(toBigInt(id as IdLike)) // 0n, or an error that describes a valid ID
  checkSize(id, Math.ceil(hex.length / 2))
  return hexToBytes(hex)
}

/** The hex digits of a text that is a number; undefined for any other text, and for 0. */
function textToHex(text: string) {
  if (/^0x[\da-f]+$/i.test(text)) return text.slice(2)
  if (!/^(?:\d+|0b[01]+)$/i.test(text)) return undefined
  checkSize(text, Math.floor(text.length / 8)) // 8 characters hold at least a byte
  return bigintToHex(BigInt(text))
}

const bigintToHex = (value: bigint) => (value > 0n ? value.toString(16).padStart(16, '0') : undefined)

/** @param count of its bytes */
function checkSize(id: unknown, count: number) {
  if (count > MOST_BYTES) throw errors.idError(id, wanted.fewBytes(MOST_BYTES, count))
}

const hexToBytes = (digits: string) =>
  Uint8Array.from(digits.padStart(digits.length + (digits.length % 2), '0').match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  )

function inOrder(bytes: Uint8Array, order: unknown) {
  if (isAbsent(order) || order === 'BE') return bytes
  if (order === 'LE') return bytes.reverse()
  throw errors.optionRangeError('format', order, "'BE' or 'LE'")
}

function decorate(digits: string, base: string, options: Options) {
  const prefix = readPrefix(options.prefix, base)
  const trimmed = base === 'bin' && options.trim ? digits.replace(/^0+(?=.)/, '') : digits
  const grouped = group(trimmed, integer('groupsize', options.groupsize), stringOf(options.delimiter, ' '))
  const size = integer('size', options.size)
  checkLength('size', size)
  return prefix + grouped.padStart(size - prefix.length, stringOf(options.padstr, ''))
}

/** @param option that makes the text this long */
function checkLength(option: string, length: number) {
  if (length <= MOST_CHARACTERS) return
  throw errors.optionRangeError(option, length, wanted.fewCharacters(MOST_CHARACTERS))
}

/** Groups are counted from the end, as in a number. */
function group(digits: string, size: number, delimiter: string) {
  if (size <= 0 || size >= digits.length) return digits
  const first = digits.length % size || size
  const groups = [digits.slice(0, first)]
  for (let start = first; start < digits.length; start += size) groups.push(digits.slice(start, start + size))
  checkLength('delimiter', digits.length + delimiter.length * (groups.length - 1))
  return groups.join(delimiter)
}

/** As in biguint-format: true means 1, text is read as a number, and an absent value or one below 1 has no effect. */
function integer(option: string, value: unknown) {
  if (isAbsent(value)) return 0
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw errors.optionRangeError(option, value, 'an integer')
  return number
}

/**
 * The 8 bytes that a text represents: the inverse of `format(id, base)`, or of `format(id, base, { prefix })`.
 * @param base default `'dec'`. Case is ignored, even in a prefix, except in base 58, base 62 and TIDs. Text in base 36, 58 or
 * 62, and a TID, must have its full length. Binary digits may be in groups separated by spaces.
 * @param options `prefix`: the required beginning of the text
 * @throws {TypeError} `ERR_FLAKE_ID`: the text is empty, has a character that is not a digit, has more than 64 bits, or has
 * another prefix.
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an unknown base or option, or a prefix that `format` does not write.
 * @example
 * parse('ord_7529535382561648640', 'dec', { prefix: 'ord_' }) // <Buffer 68 7e 48 89 89 52 70 00>
 */
export function parse(text: string, base?: Base | null, options?: Readonly<PrefixOptions> | null): IdBytes {
  const name = baseName(base)
  const prefix = prefixOf(options, name)
  const id = typeof text === 'string' ? read(text, name, prefix) : undefined
  if (id === undefined) throw errors.idError(text, wanted.idInBase(name, prefix, text))
  return toBytes(id)
}

declare const confirmed: unique symbol

/**
 * A value that a type guard has confirmed. A plain T is not assignable to this type, so the value keeps the type T where the
 * guard is false.
 */
type Confirmed<T> = T & { readonly [confirmed]?: never }

/**
 * Whether the value is an ID: true exactly if `toBigInt(value)` accepts it, or with a base, if `parse(value, base)` does. It
 * never throws.
 *
 * It is a type guard: where it is true, the value is an `IdLike`, and with a base a `string`. Where it is false, the value keeps
 * its type, because text that is not an ID is still text.
 * @param base ignored unless it is text, so that `values.filter(isId)` works although it also passes an index
 * @example
 * isId('7529535382561648641') // true
 * isId('12x')                 // false
 * isId('12x', 'base36')       // false: such text has 13 characters
 */
export function isId(value: unknown, base: Base): value is Confirmed<string>
export function isId(value: unknown, base?: Base | number | null): value is Confirmed<IdLike>
export function isId(value: unknown, base?: Base | number | null): boolean {
  try {
    if (typeof base === 'string') parse(value as string, base)
    else toBigInt(value as IdLike)
    return true
  } catch {
    return false
  }
}

/** Writes up to 65,536 bytes as text: see {@link Format}. */
export const format: Format = formatBy(digits)
