// What Seal is given: keys, options, texts, and arrays of IDs. No error here shows a key. The first seal loads this file.

import { hidesOptions, isAbsent, ownOf } from '../base/check.ts'
import * as wanted from '../base/errors/wanted.ts'
import * as errors from '../base/errors.ts'
import { isBigUint64Array, isUint8Array } from '../base/objects.ts'
import { BASES, type Base, textWidth } from '../codec/bases.ts'
import { type IdLike, toBigInt } from '../codec/ids.ts'
import { PREFIX } from '../codec/prefix.ts'
import native from '../native/index.ts'
import { inPlace as inPlaceOf, type Wasm } from '../native/wasm.ts'

const { wasm } = native as { wasm?: Wasm }

/** Calls a function of the addon that changes IDs in place. Only the caller may have the array. */
export const inPlace: (ids: Uint8Array, change: (ids: Uint8Array) => void) => void =
  wasm === undefined ? (ids, change) => change(ids) : inPlaceOf(wasm)

const { keyBytes: KEY_BYTES, mostTweakBytes: MOST_TWEAK_BYTES } = native.sealBounds()

/** The bases whose text of an ID always has 11 characters. */
const TEXT_WIDTH = 11
const TEXT_BASES = BASES.filter((base) => textWidth(base) === TEXT_WIDTH)
const DEFAULT_BASE = 'base58'

const NEW_KEY = "crypto.randomBytes(32) makes one; text of a key has to be decoded first: Buffer.from(text, 'hex')"
const OPTIONS = ['tweak', 'prefix', 'check']
/** How many check characters a text may have. More would look like authentication, which takes far more. */
const CHECKS = [0, 2, 3]
const TWEAK = `a Uint8Array or text, of 0 to ${MOST_TWEAK_BYTES} bytes`

/**
 * A copy, because another thread could change a SharedArrayBuffer while native code reads it. An error shows the kind of
 * value, never its content: it could be a key.
 */
export function readKey(key: unknown) {
  const wanted = `a Uint8Array of ${KEY_BYTES.slice(0, -1).join(', ')} or ${KEY_BYTES.at(-1)} bytes`
  if (!isUint8Array(key)) throw secretError(TypeError, 'key', `must be ${wanted}, but is ${kindOf(key)}. ${NEW_KEY}`)
  if (KEY_BYTES.includes(key.length)) return new Uint8Array(key)
  throw secretError(RangeError, 'key', `must be ${wanted}, but has ${key.length}. ${NEW_KEY}`)
}

/** The tweak's bytes; empty if it is absent. */
export function readTweak(tweak: unknown) {
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
export function readPrefix(prefix: unknown) {
  if (isAbsent(prefix)) return ''
  if (typeof prefix === 'string' && PREFIX.test(prefix)) return prefix
  const Type = typeof prefix === 'string' ? RangeError : TypeError
  throw secretError(Type, 'prefix', `must be ${wanted.PREFIX}, but is ${kindOf(prefix)}`)
}

/** How many check characters texts have; 0 if it is absent. */
export function readCheck(check: unknown) {
  if (isAbsent(check)) return 0
  if (CHECKS.includes(check as number)) return check as number
  const [Type, given] = typeof check === 'number' ? [RangeError, check] : [TypeError, kindOf(check)]
  throw secretError(Type, 'check', `must be 0, 2 or 3 characters, but is ${given}`)
}

/** Why a text with check characters is refused; their number is not 0. */
export function wantedText(base: Base, prefix: string, check: number, text: unknown) {
  if (typeof text === 'string' && !text.toLowerCase().startsWith(prefix)) return wanted.idInBase(base, prefix, text)
  const after = prefix && `, after the prefix '${prefix}'`
  return `a sealed ID in ${base} with ${check} check characters. Give ${TEXT_WIDTH + check} characters of ${base}${after}`
}

/** The right characters are not told: whoever guesses would need to ask just once. */
export const WRONG_CHECK =
  'a text of this seal: its check characters are wrong. Either it was mistyped, or another seal made it'

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
export function readOptions(options: unknown): { tweak?: unknown; prefix?: unknown; check?: unknown } {
  if (isAbsent(options)) return ownOf({})
  if (typeof options !== 'object' || Array.isArray(options) || isUint8Array(options))
    throw secretError(TypeError, 'options', `must be an object, { tweak, prefix, check }, but is ${kindOf(options)}`)
  if (hidesOptions(options, OPTIONS))
    throw secretError(
      TypeError,
      'options',
      `must be a plain object, { tweak, prefix, check }, but is ${kindOf(options)}`,
    )
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

export function textBase(base: unknown): Base {
  if (isAbsent(base)) return DEFAULT_BASE
  if (typeof base === 'string' && TEXT_BASES.includes(base)) return base as Base
  throw errors.optionRangeError('base', base, `one of '${TEXT_BASES.join("', '")}'`)
}

/** Sealed 64 bits as a bigint. The text of a seal is not the text of an ID, but is easily mistaken for it. */
export function toSealed(sealed: IdLike, prefix: string) {
  const text = typeof sealed !== 'string' ? '' : sealed.slice(sealed.startsWith(prefix) ? prefix.length : 0)
  if (/^(?!0[bx])[\da-z]{11,14}$/i.test(text) && /\D/.test(sealed as string))
    throw errors.idError(sealed, 'an ID in decimal, hex or binary; openString() opens the text of sealString()')
  return toBigInt(sealed)
}

/**
 * All IDs in the result of take() or takeBigInts(), changed, as a new array of the same kind.
 * @param changeBytes big-endian
 * @param changeNumbers in the byte order of this machine
 */
export function changeAll(
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
