'use strict'
// @ts-check

// IDs for the public: the class `Seal` that users see. The core computes; this file checks what users give, and brings IDs
// into the form that they want. It must never show a key or keep one: not in an error, not where console.log finds it.

const native = require('../native/index.js')
const { errors, isAbsent } = require('../base/check.js')
const { isBigUint64Array, isUint8Array } = require('../base/objects.js')
const { BASES, textWidth } = require('../codec/bases.js')
const { toBigInt, toBytes } = require('../codec/ids.js')
const { parse } = require('../codec/text.js')
const { format } = require('./format.js')

/** @import { Wasm } from '../native/wasm.js' */

const { wasm } = /** @type {{ wasm?: Wasm }} */ (native)

/**
 * Calls a function of the addon that changes IDs where they are. Only the caller may have the array.
 * @type {(ids: Uint8Array, change: (ids: Uint8Array) => void) => void}
 */
const inPlace = wasm === undefined ? (ids, change) => change(ids) : require('../native/wasm.js').inPlace(wasm)

const { keyBytes: KEY_BYTES, mostTweakBytes: MOST_TWEAK_BYTES } = native.sealBounds()

/** The bases whose text of an ID always has 11 characters. */
const TEXT_BASES = BASES.filter((base) => textWidth(base) === 11)
const DEFAULT_BASE = 'base58'

const NEW_KEY = "crypto.randomBytes(32) makes one; text of a key has to be decoded first: Buffer.from(text, 'hex')"
const TWEAK = `a Uint8Array or text, of 0 to ${MOST_TWEAK_BYTES} bytes`

// One ID on its way to the addon and back. Nothing of the user's runs in between.
const oneId = new DataView(new ArrayBuffer(8))
const oneIdBytes = new Uint8Array(oneId.buffer)

class Seal {
  #native

  constructor(/** @type {unknown} */ key, /** @type {unknown} */ options) {
    this.#native = new native.Seal(readKey(key), readTweak(options))
  }

  seal(/** @type {unknown} */ id) {
    return toBytes(this.sealBigInt(id))
  }

  sealBigInt(/** @type {unknown} */ id) {
    return changeOne(toBigInt(id), (bytes) => this.#native.seal(bytes))
  }

  sealString(/** @type {unknown} */ id, /** @type {unknown} */ base) {
    return format(this.seal(id), textBase(base))
  }

  sealAll(/** @type {unknown} */ ids) {
    return changeAll(
      ids,
      (bytes) => this.#native.seal(bytes),
      (numbers) => this.#native.sealNumbers(numbers),
    )
  }

  open(/** @type {unknown} */ sealed) {
    return toBytes(this.openBigInt(sealed))
  }

  openBigInt(/** @type {unknown} */ sealed) {
    return changeOne(toSealed(sealed), (bytes) => this.#native.open(bytes))
  }

  openString(/** @type {unknown} */ text, /** @type {unknown} */ base) {
    return this.open(parse(text, textBase(base)))
  }

  openAll(/** @type {unknown} */ sealed) {
    return changeAll(
      sealed,
      (bytes) => this.#native.open(bytes),
      (numbers) => this.#native.openNumbers(numbers),
    )
  }
}

/**
 * A copy, because another thread could change a SharedArrayBuffer while native code reads it. An error says what was given,
 * but never its content: it could be a key.
 * @param {unknown} key
 */
function readKey(key) {
  const wanted = `a Uint8Array of ${KEY_BYTES.slice(0, -1).join(', ')} or ${KEY_BYTES.at(-1)} bytes`
  if (!isUint8Array(key)) throw secretError(TypeError, 'key', `must be ${wanted}, but is ${kindOf(key)}. ${NEW_KEY}`)
  if (KEY_BYTES.includes(key.length)) return new Uint8Array(key)
  throw secretError(RangeError, 'key', `must be ${wanted}, but has ${key.length}. ${NEW_KEY}`)
}

/**
 * The bytes of the option `tweak`; none if it is absent.
 * @param {unknown} options
 */
function readTweak(options) {
  const { tweak } = readOptions(options)
  if (isAbsent(tweak)) return new Uint8Array(0)
  if (typeof tweak !== 'string' && !isUint8Array(tweak))
    throw secretError(TypeError, 'tweak', `must be ${TWEAK}, but is ${kindOf(tweak)}`)
  const bytes = typeof tweak === 'string' ? utf8(tweak) : unlessGone(() => new Uint8Array(tweak))
  if (bytes === undefined) throw secretError(TypeError, 'tweak', `must be ${TWEAK}, but its ${GONE}`)
  if (bytes.length > MOST_TWEAK_BYTES)
    throw secretError(RangeError, 'tweak', `must be ${TWEAK}, but has ${bytes.length}; a hash of it is short enough`)
  return bytes
}

const GONE = 'memory was transferred to another thread'

/**
 * A copy; undefined where the memory was transferred: such an array looks as if it were empty, and cannot be copied.
 * @template T
 * @param {() => T} copy
 */
function unlessGone(copy) {
  try {
    return copy()
  } catch {
    return undefined
  }
}

/**
 * The options, whose values no error shows: a key may be among them by mistake.
 * @param {unknown} options
 * @returns {{ tweak?: unknown }}
 */
function readOptions(options) {
  if (isAbsent(options)) return {}
  if (typeof options !== 'object' || Array.isArray(options) || isUint8Array(options))
    throw secretError(TypeError, 'options', `must be an object, { tweak }, but is ${kindOf(options)}`)
  for (const name of Object.keys(options)) {
    if (name !== 'tweak') throw errors().unknownOptionError(name, undefined, ['tweak'])
  }
  return options
}

/**
 * The bytes of a text. TextEncoder would write any half of a surrogate pair as U+FFFD, so that two texts would be one tweak.
 * @param {string} text
 */
function utf8(text) {
  if (/\p{Cs}/u.test(text))
    throw secretError(RangeError, 'tweak', 'must be text that UTF-8 can express, but has half of a surrogate pair')
  return new TextEncoder().encode(text)
}

/**
 * @param {typeof TypeError | typeof RangeError} Type
 * @param {string} option
 * @param {string} why
 */
const secretError = (Type, option, why) => errors().optionError(Type, option, undefined, `${option} ${why}`)

/**
 * What a value is, without anything of its content.
 * @param {unknown} value
 */
function kindOf(value) {
  if (isAbsent(value)) return String(value)
  if (typeof value === 'string') return `text of ${value.length} characters`
  if (typeof value !== 'object') return `a ${typeof value}`
  return `an object of class ${Object.prototype.toString.call(value).slice(8, -1)}`
}

/** @param {unknown} base */
function textBase(base) {
  if (isAbsent(base)) return DEFAULT_BASE
  if (typeof base === 'string' && TEXT_BASES.includes(base)) return base
  throw errors().optionRangeError('base', base, `one of '${TEXT_BASES.join("', '")}'`)
}

/**
 * Sealed 64 bits as a bigint. The text of a seal is no text of an ID, and easily taken for one.
 * @param {unknown} sealed
 */
function toSealed(sealed) {
  if (typeof sealed === 'string' && /^(?!0[bx])[\da-z]{11}$/i.test(sealed) && /\D/.test(sealed))
    throw errors().idError(sealed, 'an ID in decimal, hex or binary; openString() opens the text of sealString()')
  return toBigInt(sealed)
}

/**
 * @param {bigint} id
 * @param {(bytes: Uint8Array) => void} change
 */
function changeOne(id, change) {
  oneId.setBigUint64(0, id)
  inPlace(oneIdBytes, change)
  return oneId.getBigUint64(0)
}

/**
 * All IDs of what take() or takeBigInts() gives, as a new array of the same kind.
 * @param {unknown} ids
 * @param {(bytes: Uint8Array) => void} changeBytes big-endian
 * @param {(numbers: Uint8Array) => void} changeNumbers in the byte order of this machine
 */
function changeAll(ids, changeBytes, changeNumbers) {
  if (isBigUint64Array(ids)) {
    const numbers = copyOf(ids, () => new BigUint64Array(ids))
    inPlace(new Uint8Array(numbers.buffer), changeNumbers)
    return numbers
  }
  if (!isUint8Array(ids)) throw errors().idError(ids, 'IDs as take() or takeBigInts() gives them')
  const copy = copyOf(ids, () => new Uint8Array(ids))
  if (copy.length % 8 !== 0) throw errors().idError(ids, `IDs of 8 bytes each: it has ${copy.length} bytes`)
  const bytes = Buffer.from(copy.buffer)
  inPlace(bytes, changeBytes)
  return bytes
}

/**
 * @template T
 * @param {unknown} ids
 * @param {() => T} copy
 */
function copyOf(ids, copy) {
  const copied = unlessGone(copy)
  if (copied === undefined) throw errors().idError(ids, `an array of IDs: its ${GONE}`)
  return copied
}

module.exports = { Seal }
