// Converts IDs in any form (8 big-endian bytes, a bigint, text, or a number) into bigints, compares them, and converts them
// to and from signed values. A number that may have lost digits is refused: above 2^53 − 1 one JavaScript number represents
// several IDs.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import { isUint8Array, newBytes } from '../base/objects.ts'

/**
 * An ID as every function accepts it: 8 big-endian bytes, a bigint, text (`'123'` decimal, `'0x7b'` hex, `'0b1111011'`
 * binary), or a number.
 *
 * A number must be an integer from 0 to 2^53 − 1 (`Number.MAX_SAFE_INTEGER`), as `nextNumber()` returns. Other numbers are
 * rejected with `ERR_FLAKE_ID`: above 2^53 − 1, a number may have lost digits before the call. Read such an ID as a bigint or
 * as text.
 */
export type IdLike = Uint8Array | bigint | string | number

/**
 * The 8 bytes of an ID, big-endian, in a separate ArrayBuffer: a `Buffer` where that class exists, as in Node.js; otherwise a
 * `Uint8Array`, as in browsers.
 */
export type IdBytes = typeof globalThis extends { Buffer: { prototype: infer B } } ? B : Uint8Array

const TEXT = /^(?:\d+|0x[\da-f]+|0b[01]+)$/i
/** An ID has 66 characters at most, and BigInt() takes a second for a few millions. */
const MOST_CHARACTERS = 200

// The ID that is being converted: `word`, and its halves `half[LOW]` and `half[HIGH]`, because a number cannot hold 64 bits
// exactly. Their order is the byte order of this machine.
export const word = new BigUint64Array([1n])
export const half = new Uint32Array(word.buffer)
export const HIGH = half[0]
export const LOW = 1 - HIGH

/** Puts an ID of any form into `word`. */
export function put(id: unknown) {
  if (isUint8Array(id)) {
    if (id.length !== 8) throw errors.idError(id, wanted.bytesOfId(id.length))
    half[HIGH] = (id[0] << 24) | (id[1] << 16) | (id[2] << 8) | id[3]
    half[LOW] = (id[4] << 24) | (id[5] << 16) | (id[6] << 8) | id[7]
  } else {
    const value = bigintOf(id)
    word[0] = value
    if (word[0] !== value) throw errors.idError(id, wanted.id(id))
  }
}

/** @returns a bigint of any size */
function bigintOf(id: unknown): bigint {
  if (typeof id === 'bigint') return id
  if (typeof id === 'string' && id.length <= MOST_CHARACTERS && TEXT.test(id)) return BigInt(id)
  if (typeof id === 'number') return numberToBigInt(id)
  throw errors.idError(id, wanted.id(id))
}

function numberToBigInt(id: number) {
  if (Number.isSafeInteger(id) && id >= 0) return BigInt(id) // −0 too: it is the integer 0
  throw errors.idError(id, wanted.exactNumber(id))
}

/**
 * The ID as a bigint from 0 to 2^64 − 1.
 * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
 */
export function toBigInt(id: IdLike): bigint {
  put(id)
  return word[0]
}

/** `word` as 8 big-endian bytes. */
export function wordToBytes() {
  const bytes = newBytes(8)
  const high = half[HIGH]
  const low = half[LOW]
  bytes[0] = high >>> 24
  bytes[1] = high >>> 16
  bytes[2] = high >>> 8
  bytes[3] = high
  bytes[4] = low >>> 24
  bytes[5] = low >>> 16
  bytes[6] = low >>> 8
  bytes[7] = low
  return bytes
}

/** The 8 big-endian bytes of a bigint that is an ID. */
export function toBytes(value: bigint) {
  word[0] = value
  return wordToBytes()
}

/**
 * The ID as a signed 64-bit column stores it: negative from 2^63 on.
 * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
 */
export function toSigned(id: IdLike): bigint {
  return BigInt.asIntN(64, toBigInt(id))
}

/**
 * The ID for a value from a signed 64-bit column, −2^63…2^63 − 1: a bigint, or decimal text, as PostgreSQL drivers return it.
 * @throws {TypeError} `ERR_FLAKE_ID`: the value is out of these bounds, or neither a bigint nor decimal text.
 */
export function fromSigned(value: bigint | string): IdBytes {
  const signed = typeof value === 'string' && /^(?:0|-?[1-9]\d{0,18})$/.test(value) ? BigInt(value) : value
  if (typeof signed !== 'bigint' || BigInt.asIntN(64, signed) !== signed) throw errors.idError(value, wanted.SIGNED)
  return toBytes(signed)
}

/**
 * Compares two IDs by unsigned value and returns −1, 0 or 1, for `sort`, like `Buffer.compare`.
 * @throws {TypeError} `ERR_FLAKE_ID`: either value is not an ID.
 */
export function compare(a: IdLike, b: IdLike): -1 | 0 | 1 {
  const first = toBigInt(a)
  const second = toBigInt(b)
  return first < second ? -1 : first > second ? 1 : 0
}
