// `require('flakeforge/biguint-format')`: an exact copy of the package biguint-format 1.0.2, oddities included, for programs
// that replace it without other changes. The digits come from the core. format() of the main entry is stricter.
//
// The oddities: text is hexadecimal with or without '0x', and invalid digits in it count as 0; an unknown base gives
// undefined; any `format` but 'LE' is big-endian in decimal, any but 'BE' little-endian in the other bases; octal has no room
// for the highest bits unless they form a whole digit; `$` in a delimiter means the same as in String.replace.

import { branded } from '../base/errors/brand.ts'
import native from '../native/index.ts'
import { baseCode, toText } from '../native/texts.ts'

export type Base = 'dec' | 'hex' | 'bin' | 'oct'

export interface Options {
  /** the text before the digits; decimal text never has it */
  prefix?: string | undefined
  /** digits in a group, counted from the end */
  groupsize?: number | string | undefined
  /** the text between groups; default a space */
  delimiter?: string | undefined
  /** pads the text at its front to `size` */
  padstr?: string | undefined
  /** the length to pad to, prefix included */
  size?: number | undefined
  /** binary only: leave out leading zeros */
  trim?: boolean | undefined
  /** byte order of the input; default `'BE'` */
  format?: 'BE' | 'LE' | undefined
}

export interface Format {
  /**
   * Behaves exactly like the package biguint-format: it writes bytes of any length as text. Text input is always read as hex,
   * with or without `0x`. flakeforge's own `format` is stricter, and reads text as an ID.
   *
   * @param number bytes, an array of bytes, or hex text
   * @param base default `'dec'`. For an unknown base the result is undefined.
   * @example
   * const format = require('flakeforge/biguint-format')
   * format('50dd', 'hex', { prefix: '0x' }) // '0x50dd'
   */
  (number: Buffer | readonly number[] | string, base?: Base | '' | null, options?: Readonly<Options> | null): string
  (number: Buffer | readonly number[] | string, base: string, options?: Readonly<Options> | null): string | undefined
}

const [DEC, HEX, BIN] = ['dec', 'hex', 'bin'].map(baseCode)

/** An ordinary object: as in the package, names that it inherits also count as bases. */
const FORMATS: Record<string, any> = { dec: toDecimal, hex: toHex, bin: toBinary, oct: toOctal }

const format = ((number: any, base?: any, options?: any) => {
  // the usual case
  if (options === undefined && Buffer.isBuffer(number) && number.length === 8) {
    if (!base || base === 'dec') return toText(number, DEC)
    if (base === 'hex') return toText(number, HEX)
    if (base === 'bin') return toText(number, BIN)
  }
  const bytes = toBytes(number)
  const format = FORMATS[base || 'dec']
  return format ? format(bytes, unpolluted(options || {})) : undefined
}) as Format

export default format

const OPTIONS = ['format', 'groupsize', 'delimiter', 'prefix', 'padstr', 'size', 'trim']

/** The options as the package reads them, inherited ones too, but without a program's additions to Object.prototype. */
function unpolluted(options: any) {
  if (!OPTIONS.some((name) => name in Object.prototype)) return options
  const isOption = (name: string) => Object.hasOwn(options, name) || !(name in Object.prototype)
  const read = OPTIONS.filter(isOption).map((name) => [name, options[name]])
  return Object.assign(Object.create(null), Object.fromEntries(read))
}

/** A copy; undefined for a value that is neither bytes nor text, on which each format then fails. */
function toBytes(number: any) {
  if (Buffer.isBuffer(number) || Array.isArray(number)) return Buffer.from(number)
  return typeof number === 'string' ? textToBytes(number) : undefined
}

function textToBytes(text: any) {
  const digits = text.replace(/^0x/i, '')
  if (/^[\da-f]+$/i.test(digits)) return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  const pairs = pairsOf(digits)
  const bytes = Buffer.alloc(pairs.length)
  // From the last to the first: a sign makes an invalid byte, and the error names the first invalid one found.
  for (let i = pairs.length - 1; i >= 0; i--) bytes.writeUInt8(Number.parseInt(pairs[i], 16), i)
  return bytes
}

/**
 * Two characters for each byte, counted from the end of a line; one if their number is odd. If another line follows, the last
 * byte is left out. Text without any is null, which has no length.
 */
function pairsOf(text: any) {
  const lines = text.split(/[\n\r\u2028\u2029]/)
  const pairs = lines.flatMap((line: string, i: number) =>
    pairsOfLine(line).slice(0, i < lines.length - 1 ? -1 : undefined),
  )
  return pairs.length > 0 ? pairs : null
}

function pairsOfLine(line: any) {
  const pairs: string[] = []
  for (let end = line.length % 2 || 2; end <= line.length; end += 2) pairs.push(line.slice(Math.max(0, end - 2), end))
  return pairs
}

function toDecimal(bytes: any, options: any) {
  const isEmpty = bytes.length === 0
  if ((options.format || 'BE') === 'LE') bytes.reverse()
  const digits = isEmpty ? '0' : digitsOf(bytes, 'dec')
  return pad(group(digits, options.groupsize, options.delimiter), '', options.padstr, options.size)
}

function toHex(bytes: any, options: any) {
  const prefix = options.prefix || ''
  if ((options.format || 'BE') !== 'BE') reverse(bytes)
  const digits = bytes.toString('hex').replace(/^0+(?=.)/, '')
  const grouped = group(digits, options.groupsize, options.delimiter)
  return prefix + pad(grouped, prefix, options.padstr, options.size)
}

function toBinary(bytes: any, options: any) {
  const isEmpty = bytes.length === 0
  const size = options.groupsize || -1
  const prefix = options.prefix || ''
  if ((options.format || 'BE') !== 'BE') bytes.reverse()
  let digits = isEmpty ? '' : digitsOf(bytes, 'bin')
  if (options.trim) digits = digits.replace(/^0+(?=.)/, '')
  if (size > 0) digits = group(digits, size, options.delimiter)
  return prefix + pad(digits, prefix, options.padstr, options.size)
}

function toOctal(bytes: any, options: any) {
  const count = Math.floor((bytes.length * 8) / 3)
  const prefix = options.prefix || ''
  if ((options.format || 'BE') !== 'BE') bytes.reverse()
  const grouped = group(octalDigits(bytes, count), options.groupsize, options.delimiter)
  return prefix + pad(grouped, prefix, options.padstr, options.size)
}

/** The last `count` digits; of a zero more than one, but fewer than there is room for. */
function octalDigits(bytes: any, count: any) {
  if (bytes.length === 0) return ''
  bytes[0] &= 0xff >> ((bytes.length * 8) % 3)
  const digits = digitsOf(bytes, 'oct')
  return digits === '0' ? '0'.repeat(count - (bytes.length - 1)) : digits
}

/** @throws the addon's refusal of too many bytes, as one of our errors */
function digitsOf(bytes: Buffer, base: Base) {
  try {
    return native.digits(bytes, base) as string
  } catch (error) {
    throw branded(error as Error)
  }
}

/** Reads `length` first, as the package does: a value without one gets the same error. */
function reverse(bytes: any) {
  return bytes.length > 0 ? bytes.reverse() : bytes
}

/** Groups are counted from the end. A size that is not an integer makes no groups. */
function group(digits: any, size: any, delimiter = ' ') {
  const count = +size
  if (!(count > 0)) return digits
  // biome-ignore lint/style/useTemplate: an object with a valueOf() is another text in a template
  const between = '$1' + delimiter
  if (!Number.isSafeInteger(count)) return digits
  if (between.includes('$', 1)) return digits.replace(new RegExp(`(.)(?=(.{${count}})+(?!.))`, 'g'), between)
  const first = digits.length % count || count
  const groups = digits === '' ? [] : [digits.slice(0, first)]
  for (let start = first; start < digits.length; start += count) groups.push(digits.slice(start, start + count))
  return groups.join(between.slice(2))
}

/** `prefix` is added later, and counts. A value that is not text has no length, and no array has that many elements. */
function pad(digits: any, prefix: any, padding: any, size: any) {
  if (padding === undefined || size === undefined || padding.length === 0) return digits
  if (digits.length + prefix.length >= size) return digits
  const missing = size - digits.length - prefix.length
  return new Array(Math.ceil(missing / padding.length) + 1).join(padding).slice(0, missing) + digits
}
