// The class `Seal`, for public IDs. The core computes; this file checks the arguments and converts IDs. It keeps no key,
// and shows none in an error or in console.log.

import { isAbsent, ownOf } from '../base/check.ts'
import * as wanted from '../base/errors/wanted.ts'
import * as errors from '../base/errors.ts'
import { INSPECT, textOf } from '../base/inspect.ts'
import { isBigUint64Array, isUint8Array } from '../base/objects.ts'
import { keepHere } from '../base/uncloneable.ts'
import { BASES, type Base, textWidth } from '../codec/bases.ts'
import { type IdLike, toBigInt, toBytes } from '../codec/ids.ts'
import { PREFIX } from '../codec/prefix.ts'
import { parse } from '../codec/text.ts'
import * as hot from '../native/hot.ts'
import native from '../native/index.ts'
import { inPlace as inPlaceOf, type Wasm } from '../native/wasm.ts'
import { format } from './format.ts'

export interface SealOptions<P extends string = string> {
  /**
   * Makes a separate seal from the same key: use one for each table, so that a public ID of one table does not open as a row
   * of another. 0 to 256 bytes, or text, which is encoded as UTF-8; default none. It need not be secret.
   */
  tweak?: Uint8Array | string | null | undefined
  /**
   * The beginning of texts, which shows people and programs the kind of ID: 2 to 16 of a–z, 0–9 and _, from a letter to
   * a final _, such as `'ord_'`. It is part of the text only and does not change the seal; use `tweak` for that.
   */
  prefix?: P | null | undefined
}

const { wasm } = native as { wasm?: Wasm }

/** Calls a function of the addon that changes IDs in place. Only the caller may have the array. */
const inPlace: (ids: Uint8Array, change: (ids: Uint8Array) => void) => void =
  wasm === undefined ? (ids, change) => change(ids) : inPlaceOf(wasm)

const { keyBytes: KEY_BYTES, mostTweakBytes: MOST_TWEAK_BYTES } = native.sealBounds()

/** The bases whose text of an ID always has 11 characters. */
const TEXT_BASES = BASES.filter((base) => textWidth(base) === 11)
const DEFAULT_BASE = 'base58'

const NEW_KEY = "crypto.randomBytes(32) makes one; text of a key has to be decoded first: Buffer.from(text, 'hex')"
const OPTIONS = ['tweak', 'prefix']
const TWEAK = `a Uint8Array or text, of 0 to ${MOST_TWEAK_BYTES} bytes`

/**
 * Turns IDs into public IDs that reveal nothing, and back. An ID shows when and where it was generated, and the next one can
 * be guessed. A sealed ID has 64 bits too, but without the key it cannot be distinguished from a random number.
 *
 * It is FF1 of NIST SP 800-38G over 64 binary digits, the most significant first, with AES, so other languages can open it.
 * It is a permutation: the same ID always has the same seal, no two IDs share one, and any 64 bits open as some ID. It does
 * not authenticate: a client may have guessed an ID, so still check access.
 *
 * A seal is immutable, and cannot be sent to a worker thread: each thread makes its own. Construction and sealing take at
 * most a few microseconds; make one seal for each table and keep it.
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

  /**
   * @param key 16, 24 or 32 random bytes, for AES-128, AES-192 or AES-256, such as `crypto.randomBytes(32)`. It is copied,
   * and no error and no `console.log` shows it.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the key, the tweak or the prefix has an invalid length, form or
   * type, or an option is unknown. The error does not contain the value.
   */
  constructor(key: Uint8Array, options?: SealOptions<P> | null) {
    const { tweak, prefix } = readOptions(options)
    this.#native = new native.Seal(hot.generators, readKey(key), readTweak(tweak))
    this.#index = this.#native.index
    this.#prefix = readPrefix(prefix)
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
    return this.#prefix === '' ? {} : { prefix: this.#prefix }
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
   * Like `seal(id)`, as text, for URLs: the prefix of this seal, if it has one, and 11 characters. It is the same as
   * `format(seal(id), base, { prefix })`, and does not sort as IDs do.
   * @param base default `'base58'`, which has no characters that look alike
   * @throws {RangeError} `ERR_FLAKE_OPTION`: any other base.
   */
  sealString(id: IdLike, base?: 'base58' | 'base62' | null): `${P}${string}` {
    return `${this.#prefix}${format(this.seal(id), textBase(base))}` as `${P}${string}`
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
   * The ID that `sealString(id, base)` made this text from.
   * @param base default `'base58'`
   * @throws {TypeError} `ERR_FLAKE_ID`: the text has a different prefix or none, does not have 11 characters after it, has
   * one that is not a digit of the base, or represents more than 2^64 − 1.
   * @throws {RangeError} `ERR_FLAKE_OPTION`: any other base.
   */
  openString(text: string, base?: 'base58' | 'base62' | null): Buffer {
    return this.open(parse(text, textBase(base), this.#prefix === '' ? null : { prefix: this.#prefix }))
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

/**
 * A copy, because another thread could change a SharedArrayBuffer while native code reads it. An error shows the kind of
 * value, never its content: it could be a key.
 */
function readKey(key: unknown) {
  const wanted = `a Uint8Array of ${KEY_BYTES.slice(0, -1).join(', ')} or ${KEY_BYTES.at(-1)} bytes`
  if (!isUint8Array(key)) throw secretError(TypeError, 'key', `must be ${wanted}, but is ${kindOf(key)}. ${NEW_KEY}`)
  if (KEY_BYTES.includes(key.length)) return new Uint8Array(key)
  throw secretError(RangeError, 'key', `must be ${wanted}, but has ${key.length}. ${NEW_KEY}`)
}

/** The tweak's bytes; empty if it is absent. */
function readTweak(tweak: unknown) {
  if (isAbsent(tweak)) return new Uint8Array(0)
  if (typeof tweak !== 'string' && !isUint8Array(tweak))
    throw secretError(TypeError, 'tweak', `must be ${TWEAK}, but is ${kindOf(tweak)}`)
  const bytes = typeof tweak === 'string' ? utf8(tweak) : unlessGone(() => new Uint8Array(tweak))
  if (bytes === undefined) throw secretError(TypeError, 'tweak', `must be ${TWEAK}, but its ${GONE}`)
  if (bytes.length > MOST_TWEAK_BYTES)
    throw secretError(RangeError, 'tweak', `must be ${TWEAK}, but has ${bytes.length}; use a hash of it`)
  return bytes
}

/** The prefix of texts; '' if it is absent. */
function readPrefix(prefix: unknown) {
  if (isAbsent(prefix)) return ''
  if (typeof prefix === 'string' && PREFIX.test(prefix)) return prefix
  const Type = typeof prefix === 'string' ? RangeError : TypeError
  throw secretError(Type, 'prefix', `must be ${wanted.PREFIX}, but is ${kindOf(prefix)}`)
}

const GONE = 'memory was transferred to another thread'

/** A copy; undefined if the memory was transferred: such an array looks empty, and cannot be copied. */
function unlessGone<T>(copy: () => T) {
  try {
    return copy()
  } catch {
    return undefined
  }
}

/** The options. Errors do not show their values: a key may be among them by mistake. */
function readOptions(options: unknown): { tweak?: unknown; prefix?: unknown } {
  if (isAbsent(options)) return ownOf({})
  if (typeof options !== 'object' || Array.isArray(options) || isUint8Array(options))
    throw secretError(TypeError, 'options', `must be an object, { tweak, prefix }, but is ${kindOf(options)}`)
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) throw errors.unknownOptionError(name, undefined, OPTIONS)
  }
  return ownOf(options)
}

/**
 * The bytes of a text. TextEncoder would write any lone half of a surrogate pair as U+FFFD, so that two texts would be the
 * same tweak.
 */
function utf8(text: string) {
  if (/\p{Cs}/u.test(text))
    throw secretError(RangeError, 'tweak', 'must be valid Unicode text, but contains half of a surrogate pair')
  return new TextEncoder().encode(text)
}

const secretError = (Type: typeof TypeError | typeof RangeError, option: string, why: string) =>
  errors.optionError(Type, option, undefined, `${option} ${why}`)

/** The kind of a value, without its content. */
function kindOf(value: unknown) {
  if (isAbsent(value)) return String(value)
  if (typeof value === 'string') return `text of ${value.length} characters`
  if (typeof value !== 'object') return `a ${typeof value}`
  return `an object of class ${Object.prototype.toString.call(value).slice(8, -1)}`
}

function textBase(base: unknown): Base {
  if (isAbsent(base)) return DEFAULT_BASE
  if (typeof base === 'string' && TEXT_BASES.includes(base)) return base as Base
  throw errors.optionRangeError('base', base, `one of '${TEXT_BASES.join("', '")}'`)
}

/** Sealed 64 bits as a bigint. The text of a seal is not the text of an ID, but is easily mistaken for it. */
function toSealed(sealed: IdLike, prefix: string) {
  const text = typeof sealed !== 'string' ? '' : sealed.slice(sealed.startsWith(prefix) ? prefix.length : 0)
  if (/^(?!0[bx])[\da-z]{11}$/i.test(text) && /\D/.test(sealed as string))
    throw errors.idError(sealed, 'an ID in decimal, hex or binary; openString() opens the text of sealString()')
  return toBigInt(sealed)
}

/** One ID, changed by a raw function with the seal of this index. */
function changeOne(id: bigint, seal: number, change: () => void) {
  hot.index[0] = seal
  hot.id[0] = id
  change()
  return hot.id[0]
}

/**
 * All IDs in the result of take() or takeBigInts(), changed, as a new array of the same kind.
 * @param changeBytes big-endian
 * @param changeNumbers in the byte order of this machine
 */
function changeAll(
  ids: unknown,
  changeBytes: (bytes: Uint8Array) => void,
  changeNumbers: (numbers: Uint8Array) => void,
) {
  if (isBigUint64Array(ids)) {
    const numbers = copyOf(ids, () => new BigUint64Array(ids))
    inPlace(new Uint8Array(numbers.buffer), changeNumbers)
    return numbers
  }
  if (!isUint8Array(ids)) throw errors.idError(ids, 'IDs as returned by take() or takeBigInts()')
  const copy = copyOf(ids, () => new Uint8Array(ids))
  if (copy.length % 8 !== 0) throw errors.idError(ids, `IDs of 8 bytes each: it has ${copy.length} bytes`)
  const bytes = Buffer.from(copy.buffer)
  inPlace(bytes, changeBytes)
  return bytes
}

function copyOf<T>(ids: unknown, copy: () => T) {
  const copied = unlessGone(copy)
  if (copied === undefined) throw errors.idError(ids, `an array of IDs: its ${GONE}`)
  return copied
}
