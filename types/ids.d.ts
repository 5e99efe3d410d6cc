// The forms of an ID: bytes, bigints and text.

/**
 * An ID as every function accepts it: 8 big-endian bytes, a bigint, text (`'123'` decimal, `'0x7b'` hex, `'0b1111011'`
 * binary), or a number.
 *
 * A number must be a whole one from 0 to 2^53 − 1 (`Number.MAX_SAFE_INTEGER`), as `nextNumber()` makes them. Any other is
 * refused with `ERR_FLAKE_ID`, which says why: above 2^53 − 1 a number may have lost digits before it came here. Read such
 * an ID as a bigint or as text.
 */
export type IdLike = Uint8Array | bigint | string | number

/**
 * The 8 bytes of an ID, big-endian, in an ArrayBuffer of their own: a `Buffer` where there is that class, as in Node.js, else a
 * `Uint8Array`, as in browsers.
 */
export type IdBytes = typeof globalThis extends { Buffer: { prototype: infer B } } ? B : Uint8Array

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
 *
 * From base 32 on, all texts have the same length and their digits are in ASCII order, so the texts sort in the same
 * order as the IDs.
 */
export type Base = 'dec' | 'hex' | 'bin' | 'oct' | 'base32' | 'base36' | 'base58' | 'base62'

export interface FormatOptions {
  /** text before the digits; decimal text never gets one */
  prefix?: string | undefined
  /** digits in a group, counted from the end */
  groupsize?: number | undefined
  /** text between groups; default a space */
  delimiter?: string | undefined
  /** fills up the text at its front to `size`; it is repeated, and cut off if needed */
  padstr?: string | undefined
  /** the length to fill up to, prefix included; longer text stays as it is */
  size?: number | undefined
  /** binary only: leave out leading zeros */
  trim?: boolean | undefined
  /** byte order of the input; default `'BE'` */
  format?: 'BE' | 'LE' | undefined
}

/**
 * Writes up to 65 536 bytes as text. It takes the same arguments as biguint-format.
 *
 * Decimal, hex and octal text has no leading zeros. Binary has 8 digits for each byte. The other bases have as many
 * digits as the bytes need (13 or 11 for an ID). Text input is read as an ID, as everywhere in flakeforge: `'0x50dd'`
 * is hex and `'50'` is decimal, while biguint-format reads both as hex. `flakeforge/biguint-format` behaves like that
 * package. The input is not changed.
 *
 * @param id bytes, an array of bytes, a bigint, text, or a whole number from 0 to 2^53 − 1
 * @param base default `'dec'`
 * @throws {TypeError} `ERR_FLAKE_ID`: the input is not a number in one of these forms, or is too large.
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an unknown base or option, or a text of more than 2^27 characters.
 * @example
 * format(id, 'hex', { prefix: '0x' })                   // '0x687e488989127000'
 * format(id, 'bin', { groupsize: 8, delimiter: '_' })   // '01101000_01111110_01001000_…'
 */
export function format(
  id: IdLike | readonly number[],
  base?: Base | null,
  options?: Readonly<FormatOptions> | null,
): string

/**
 * The 8 bytes that a text stands for: the inverse of `format(id, base)` without options.
 * @param base default `'dec'`. Letters may have either case, except in base 58 and base 62. Text in base 36, 58 and 62 must
 * have its full length.
 * @throws {TypeError} `ERR_FLAKE_ID`: the text is empty, has a character that is not a digit, or has more than 64 bits.
 */
export function parse(text: string, base?: Base | null): IdBytes

/**
 * The ID as a bigint from 0 to 2^64 − 1.
 * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
 */
export function toBigInt(id: IdLike): bigint

/**
 * The ID as a signed 64-bit column stores it. It is negative from 2^63 on.
 * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
 */
export function toSigned(id: IdLike): bigint

/**
 * The ID for a value from a signed 64-bit column, −2^63…2^63 − 1.
 * @throws {TypeError} `ERR_FLAKE_ID`: the value is out of these bounds, or not a bigint.
 */
export function fromSigned(value: bigint): IdBytes

/**
 * Compares two IDs by unsigned value: −1, 0 or 1, as `sort` needs it and like `Buffer.compare`.
 * @throws {TypeError} `ERR_FLAKE_ID`: one of the two is not an ID.
 */
export function compare(a: IdLike, b: IdLike): -1 | 0 | 1
