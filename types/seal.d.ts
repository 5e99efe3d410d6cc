// IDs for the public: other 64 bits under a key.

import { IdLike } from './ids.js'

export interface SealOptions {
  /**
   * Makes another seal of the same key: use one for each table, so that a public ID of one table is not that of a row of
   * another. 0 to 256 bytes, or text, which stands for its UTF-8 bytes; default none. It need not be secret.
   */
  tweak?: Uint8Array | string | null | undefined
}

/**
 * Turns IDs into public ones that tell nothing, and back. An ID tells when and where it was made, and the next one can be
 * guessed. A sealed ID has 64 bits too, but without the key it cannot be told from a random number.
 *
 * It is FF1 of NIST SP 800-38G over 64 binary digits, the most significant first, with AES; so other languages can open
 * it. It is a permutation: the same ID always has the same seal, two IDs never have the same, and each 64 bits open as
 * some ID. It does not authenticate: whoever asks for an ID may have guessed it, so check access all the same.
 *
 * A seal never changes, and cannot be sent to a worker thread: each thread makes its own. Making one takes a few
 * microseconds, and so does sealing, at most; make one for each table and keep it.
 *
 * @example
 * // ID_KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
 * const orders = new Seal(Buffer.from(process.env.ID_KEY, 'hex'), { tweak: 'orders' })
 * orders.sealString(7529535382561648640n) // 'NKpxe37qMLE'
 * orders.openString('NKpxe37qMLE')        // <Buffer 68 7e 48 89 89 52 70 00>
 */
export class Seal {
  /**
   * @param key 16, 24 or 32 random bytes, for AES-128, AES-192 or AES-256: `crypto.randomBytes(32)` makes them. It is
   * copied, and no error and no `console.log` shows it.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the key or the tweak has another length, or is of another type;
   * or there is no such option. The error does not have the value.
   */
  constructor(key: Uint8Array, options?: SealOptions | null)
  /**
   * The public ID of an ID: 8 bytes, big-endian, in its own ArrayBuffer.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
   */
  seal(id: IdLike): Buffer
  /** Like `seal(id)`, as a bigint from 0 to 2^64 − 1. */
  sealBigInt(id: IdLike): bigint
  /**
   * Like `seal(id)`, as text of 11 characters, for URLs: the same as `format(seal(id), base)`. It does not sort as IDs do.
   * @param base default `'base58'`, which has no characters that look alike
   * @throws {RangeError} `ERR_FLAKE_OPTION`: it is another base.
   */
  sealString(id: IdLike, base?: 'base58' | 'base62' | null): string
  /**
   * Seals many IDs with one native call: what `take(n)` gives, 8 bytes for each ID, or what `takeBigInts(n)` gives. The
   * result is a new array of the same kind, in the same order.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is neither, or not 8 bytes for each ID.
   */
  sealAll(ids: BigUint64Array): BigUint64Array
  sealAll(ids: Uint8Array): Buffer
  /**
   * The ID that was sealed: the inverse of `seal`. Under another key or tweak, this is another number, not an error.
   * @param sealed what `seal` or `sealBigInt` gave; text here is decimal, hex or binary
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not a number of 64 bits in one of these forms.
   */
  open(sealed: IdLike): Buffer
  /** Like `open(sealed)`, as a bigint from 0 to 2^64 − 1. */
  openBigInt(sealed: IdLike): bigint
  /**
   * The ID that `sealString(id, base)` made this text from.
   * @param base default `'base58'`
   * @throws {TypeError} `ERR_FLAKE_ID`: the text does not have 11 characters, has one that is not a digit of the base, or
   * stands for more than 2^64 − 1.
   * @throws {RangeError} `ERR_FLAKE_OPTION`: it is another base.
   */
  openString(text: string, base?: 'base58' | 'base62' | null): Buffer
  /** Opens many IDs with one native call: the inverse of `sealAll`. */
  openAll(sealed: BigUint64Array): BigUint64Array
  openAll(sealed: Uint8Array): Buffer
}
