// The class `Seal`, for public IDs. The core computes, and seal-input.ts checks the arguments. This file keeps no key, and
// shows none in console.log.

import * as errors from '../base/errors.ts'
import { INSPECT, textOf } from '../base/inspect.ts'
import { keepHere } from '../base/uncloneable.ts'
import { type Base, read } from '../codec/bases.ts'
import { type IdLike, toBigInt, toBytes } from '../codec/ids.ts'
import { parse } from '../codec/text.ts'
import * as hot from '../native/hot.ts'
import native from '../native/index.ts'
import { format } from './format.ts'
import {
  changeAll,
  inPlace,
  readCheck,
  readKey,
  readOptions,
  readPrefix,
  readTweak,
  textBase,
  toSealed,
  WRONG_CHECK,
  wantedText,
} from './seal-input.ts'

export interface SealOptions<P extends string = string> {
  /**
   * Selects a separate permutation of the same key. Use a different tweak for each table, so that a public ID of one table
   * does not open as a row of another. 0 to 256 bytes, or text, which is encoded as UTF-8; default none. A tweak need not be
   * secret.
   */
  tweak?: Uint8Array | string | null | undefined
  /**
   * The beginning of each text, which shows what kind of ID it is: 2 to 16 characters of a–z, 0–9 and _, from a letter to a final _, such
   * as `'ord_'`. The prefix is part of the text only and does not change the encryption; use `tweak` for that.
   */
  prefix?: P | null | undefined
  /**
   * How many check characters to append to a text: 2 or 3; default 0. Only holders of the key can compute them, so
   * `openString` rejects mistyped and guessed texts without a query: in base 58, all but one in 3,364 with 2 characters, and
   * all but one in 195,112 with 3. This is not authentication: still check access.
   */
  check?: 0 | 2 | 3 | null | undefined
}

/**
 * Turns IDs into public IDs that reveal nothing, and back. An ID shows when and where it was generated, and the next one can
 * be guessed. A sealed ID also has 64 bits, but without the key it cannot be distinguished from a random number.
 *
 * Sealing is FF1 of NIST SP 800-38G over 64 binary digits, the most significant first, with AES, so other languages can open a
 * sealed ID. It is a permutation: the same ID always gives the same sealed ID, no two IDs give the same one, and any 64 bits
 * open as some ID. It does not authenticate: a client may have guessed a sealed ID, so still check access.
 *
 * A seal is immutable, and cannot be sent to a worker thread: create one in each thread. Construction and sealing take at most
 * a few microseconds; create one seal for each table and keep it.
 *
 * @example
 * // ID_KEY=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
 * const orders = new Seal(Buffer.from(process.env.ID_KEY, 'hex'), { tweak: 'orders' })
 * orders.sealString(7529535382561648640n) // 'NKpxe37qMLE'
 * orders.openString('NKpxe37qMLE')        // <Buffer 68 7e 48 89 89 52 70 00>
 */
export class Seal<const P extends string = ''> {
  #native
  #index
  #prefix
  #check

  /**
   * @param key 16, 24 or 32 random bytes, for AES-128, AES-192 or AES-256, such as `crypto.randomBytes(32)`. The key is
   * copied, and appears in no error and no `console.log`.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the key, the tweak or the prefix has an invalid length, form or
   * type, or an option is unknown. The error does not contain the value.
   */
  constructor(key: Uint8Array, options?: SealOptions<P> | null) {
    const { tweak, prefix, check } = readOptions(options)
    this.#native = new native.Seal(hot.generators, readKey(key), readTweak(tweak))
    this.#index = this.#native.index
    this.#prefix = readPrefix(prefix)
    this.#check = readCheck(check)
    keepHere(this)
  }

  /** @internal */
  [INSPECT](...how: Parameters<typeof textOf>[2]) {
    return textOf(this, this.toJSON(), how)
  }

  /**
   * Never the key or the tweak.
   * @internal
   */
  toJSON(): object {
    return { ...(this.#prefix !== '' && { prefix: this.#prefix }), ...(this.#check > 0 && { check: this.#check }) }
  }

  /**
   * The public ID of an ID: 8 bytes, big-endian, in its own ArrayBuffer.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
   */
  seal(id: IdLike): Buffer {
    return toBytes(this.sealBigInt(id))
  }

  /** Like `seal(id)`, as a bigint from 0 to 2^64 − 1. */
  sealBigInt(id: IdLike): bigint {
    return changeOne(toBigInt(id), this.#index, hot.seal)
  }

  /**
   * Like `seal(id)`, as text, for URLs: the prefix of this seal, if it has one, and 11 characters, as `format(seal(id), base,
   * { prefix })` writes them; then any check characters. Such texts do not sort in the order of the IDs.
   * @param base default `'base58'`, which has no characters that look alike
   * @throws {RangeError} `ERR_FLAKE_OPTION`: any other base.
   */
  sealString(id: IdLike, base?: 'base58' | 'base62' | null): `${P}${string}` {
    const [sealed, name] = [this.seal(id), textBase(base)]
    return `${this.#prefix}${format(sealed, name)}${this.#checkOf(sealed, name)}` as `${P}${string}`
  }

  /**
   * Seals many IDs with one native call: the result of `take(n)`, 8 bytes for each ID, or of `takeBigInts(n)`. Returns a new
   * array of the same kind, in the same order.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is neither, or not 8 bytes for each ID.
   */
  sealAll(ids: BigUint64Array): BigUint64Array
  sealAll(ids: Uint8Array): Buffer
  sealAll(ids: unknown): any {
    return changeAll(
      ids,
      (bytes) => this.#native.seal(bytes),
      (numbers) => this.#native.sealNumbers(numbers),
    )
  }

  /**
   * The ID that was sealed: the inverse of `seal`. With another key or tweak the result is a different number, not an error.
   * @param sealed the result of `seal` or `sealBigInt`; text is read as decimal, hex or binary
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not a 64-bit number in one of these forms.
   */
  open(sealed: IdLike): Buffer {
    return toBytes(this.openBigInt(sealed))
  }

  /** Like `open(sealed)`, as a bigint from 0 to 2^64 − 1. */
  openBigInt(sealed: IdLike): bigint {
    return changeOne(toSealed(sealed, this.#prefix), this.#index, hot.open)
  }

  /**
   * The ID of a text that `sealString(id, base)` returned.
   * @param base default `'base58'`
   * @throws {TypeError} `ERR_FLAKE_ID`: the text has a different prefix or none, has the wrong length or check characters,
   * contains a character that is not a digit of the base, or represents more than 2^64 − 1.
   * @throws {RangeError} `ERR_FLAKE_OPTION`: any other base.
   */
  openString(text: string, base?: 'base58' | 'base62' | null): Buffer {
    const name = textBase(base)
    if (this.#check > 0) return this.open(this.#checked(text, name))
    return this.open(parse(text, name, this.#prefix === '' ? null : { prefix: this.#prefix }))
  }

  /** The sealed ID in a text that ends in its check characters. */
  #checked(text: unknown, base: Base) {
    const end = -this.#check
    const found = typeof text === 'string' ? read(text.slice(0, end), base, this.#prefix) : undefined
    if (found === undefined) throw errors.idError(text, wantedText(base, this.#prefix, this.#check, text))
    const sealed = toBytes(found)
    if ((text as string).slice(end) !== this.#checkOf(sealed, base)) throw errors.idError(text, WRONG_CHECK)
    return sealed
  }

  /** The check characters of a sealed ID: the last digits of its code. */
  #checkOf(sealed: Uint8Array, base: Base) {
    if (this.#check === 0) return ''
    const code = new Uint8Array(sealed)
    inPlace(code, (bytes) => this.#native.check(bytes))
    return format(code, base).slice(-this.#check)
  }

  /** Opens many IDs with one native call: the inverse of `sealAll`. */
  openAll(sealed: BigUint64Array): BigUint64Array
  openAll(sealed: Uint8Array): Buffer
  openAll(sealed: unknown): any {
    return changeAll(
      sealed,
      (bytes) => this.#native.open(bytes),
      (numbers) => this.#native.openNumbers(numbers),
    )
  }
}

/** One ID, changed by a raw function with the seal of this index. */
function changeOne(id: bigint, seal: number, change: () => void) {
  hot.index[0] = seal
  hot.id[0] = id
  change()
  return hot.id[0]
}
