// IDs in JSON, as decimal text and back: jsonReplacer for JSON.stringify, jsonReviver(keys) for JSON.parse, and jsonReviver()
// for JSON with numbers that other programs wrote. A number that has lost digits on its way is an error.

import { jsonIdError } from '../base/errors/portable.ts'
import * as errors from '../base/errors/values.ts'
import { isBigInt64Array, isBigUint64Array, isUint8Array } from '../base/objects.ts'
import { MAX_U64 } from '../base/values.ts'
import { toBigInt } from './ids.ts'

const MIN_I64 = -(2n ** 63n)

/** At most 20 digits: longer text is not an ID, and BigInt() is slow for very long text. */
const DECIMAL = /^-?\d{1,20}$/
const WANTED = "an ID as decimal text, such as '7529535382561648641'"
const LOST =
  ' JSON.parse reads a number with 53 bits, so its last digits may be lost. Write IDs as text: ' +
  'JSON.stringify(value, jsonReplacer).'

/**
 * Pass this function to `JSON.stringify` as its second argument. It writes every ID as decimal text, at any depth: bigints,
 * including negative ones; Buffers and Uint8Arrays of 8 bytes, as `next()` returns; and each element of a BigUint64Array, as
 * `takeBigInts()` returns, or of a BigInt64Array.
 *
 * Everything else is written as usual. Bigints are written as exact text even if your project gave `BigInt.prototype` a
 * `toJSON` that returns numbers.
 *
 * Called from an arrow function, `(key, value) => jsonReplacer(key, value)`, it does not see values before their `toJSON`, and
 * recognizes a Buffer by the JSON of its 8 bytes.
 *
 * @example
 * JSON.stringify({ id: 7529535382561648641n }, jsonReplacer) // '{"id":"7529535382561648641"}'
 */
export function jsonReplacer(key: string, value: unknown): unknown
export function jsonReplacer(this: unknown, key: string, value: unknown): unknown {
  // A `toJSON` has already run: Buffer's, or one on BigInt.prototype that makes numbers and so loses digits. So for a number
  // or an object, read the original value.
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'number' && typeof value !== 'object') return value
  const held = this === undefined ? bytesOf(value) : (this as Record<string, unknown>)[key]
  if (isUint8Array(held) && held.length === 8) return String(toBigInt(held))
  if (isBigUint64Array(held) || isBigInt64Array(held)) return Array.from<bigint, string>(held, String)
  return typeof held === 'bigint' ? String(held) : value
}

/** The bytes that Buffer's toJSON wrote; anything else as it is. */
function bytesOf(value: unknown) {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown }
  const isBuffer = type === 'Buffer' && Array.isArray(data) && data.length === 8
  return isBuffer ? Uint8Array.from(data) : value
}

/** From Node 21 on: the text of a number. V8 makes it on access. */
export type Context = { source?: string }

/** BigInt() needs 5 µs for so many, and a second for 4 million. */
const MOST_DIGITS = 1000

const KEYS = "an array of keys, such as ['id', 'userId']"
const NO_SOURCE = `${KEYS}, on Node.js 20 (without keys, jsonReviver() needs Node.js 21 or newer)`

/**
 * Returns a second argument for `JSON.parse` that turns every integer beyond 2^53, which a number cannot hold exactly, into a
 * bigint, at any depth. Everything else stays as it is, including `1e20`, `1.0` and `-0`. Use this for JSON in which IDs are
 * numbers, such as a database's.
 * @returns a function that throws a TypeError with `ERR_FLAKE_ID` for an integer of more than 1,000 digits: reading one takes
 * time that grows with the square of its length.
 * @throws {TypeError} `ERR_FLAKE_OPTION`: `JSON.parse` does not show the text of numbers on this runtime, as before Node.js
 * 21.
 * @example
 * JSON.parse('{"id":7529535382561648641,"n":5}', jsonReviver()) // { id: 7529535382561648641n, n: 5 }
 */
export function jsonReviver(): (key: string, value: unknown, context?: { source?: string }) => unknown
/**
 * Returns a second argument for `JSON.parse` that turns the values of these keys back into bigints, at any depth.
 *
 * | value | result |
 * |---|---|
 * | decimal text, −2^63 to 2^64 − 1, 20 digits at most | a bigint. A negative value stays negative: `fromSigned` converts it
 * into the ID |
 * | an array | an array, each element read in the same way |
 * | `null` | `null`; a missing key stays missing |
 * | a number | a bigint, if it is exact: a safe integer; from Node.js 21 on any integer of 64 bits |
 *
 * @param keys at least one key. The empty key stands for the whole text: `JSON.parse('["1","2"]', jsonReviver(['']))` reads an
 * array of IDs.
 * @returns a function that throws a TypeError with `ERR_FLAKE_ID` for any other value: text that is not decimal, more than 64
 * bits, or a number that has lost digits. The error has the `key` and the `value`.
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: `keys` is not an array, is empty, or has an element that is not text.
 * @example
 * JSON.parse('{"id":"7529535382561648641","user":{"id":null}}', jsonReviver(['id'])) // { id: 7529535382561648641n, user: { id: null } }
 */
export function jsonReviver(
  keys: readonly string[],
): (key: string, value: unknown, context?: { source?: string }) => unknown
export function jsonReviver(keys?: readonly string[]) {
  if (keys === undefined) return reviverOfAll()
  const names = new Set(checkKeys(keys))
  // JSON.parse comes to the elements of an array before it comes to the array and its key.
  const texts: Texts = new WeakMap()
  return function (this: unknown, key: string, value: unknown, context?: Context) {
    if (names.has(key)) return revive(key, value, texts, context?.source)
    if (typeof value === 'number' && !Number.isSafeInteger(value) && Array.isArray(this))
      keep(texts, this, key, context)
    return value
  }
}

/** The texts of the numbers in arrays that a number cannot hold, by their index. */
type Texts = WeakMap<unknown[], Record<string, string>>

function keep(texts: Texts, array: unknown[], index: string, { source }: Context = {}) {
  if (source === undefined) return
  const kept = texts.get(array) ?? {}
  kept[index] = source
  texts.set(array, kept)
}

function reviverOfAll() {
  let hasSource = false
  JSON.parse('1', (_key: string, _value: unknown, context?: Context) => {
    hasSource = context?.source === '1'
  })
  if (!hasSource) throw errors.optionTypeError('keys', undefined, NO_SOURCE)
  return (key: string, value: unknown, context?: Context) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    const source = context?.source ?? ''
    if (!/^-?\d+$/.test(source)) return value
    if (source.length > MOST_DIGITS) throw jsonIdError(key, source, `an integer of at most ${MOST_DIGITS} digits`)
    return BigInt(source)
  }
}

function checkKeys(keys: unknown): string[] {
  if (!Array.isArray(keys)) throw errors.optionTypeError('keys', keys, KEYS)
  if (keys.length === 0) throw errors.optionRangeError('keys', keys, `${KEYS}, with at least one key`)
  for (const [i, key] of keys.entries()) {
    if (typeof key !== 'string') throw errors.optionTypeError(`keys[${i}]`, key, 'text')
  }
  return keys
}

function revive(key: string, value: unknown, texts: Texts, source?: string): unknown {
  if (value === null || typeof value === 'bigint') return value
  if (Array.isArray(value)) return value.map((element, i) => revive(key, element, texts, texts.get(value)?.[i]))
  if (typeof value === 'number') return fromNumber(key, value, source)
  if (typeof value === 'string' && DECIMAL.test(value)) return inRange(key, value)
  throw jsonIdError(key, value, WANTED)
}

function fromNumber(key: string, value: number, source: string = '') {
  if (DECIMAL.test(source)) return inRange(key, source)
  if (Number.isSafeInteger(value)) return BigInt(value)
  throw jsonIdError(key, value, WANTED, Number.isInteger(value) ? LOST : '')
}

function inRange(key: string, text: string) {
  const id = BigInt(text)
  if (id < MIN_I64 || id > MAX_U64) throw jsonIdError(key, text, `${WANTED}, from −2^63 to 2^64 − 1`)
  return id
}
