// IDs in JSON, as decimal text and back: jsonReplacer for JSON.stringify, jsonReviver(keys) for JSON.parse, and jsonReviver()
// for JSON with numbers that other programs wrote. A number that has lost digits on its way is an error.

import { jsonIdError } from '../base/errors/json.ts'
import * as errors from '../base/errors/values.ts'
import { isUint8Array } from '../base/objects.ts'
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
 * The second argument of `JSON.stringify`: writes every bigint, negative ones too, as decimal text, at any depth, and every
 * Buffer or Uint8Array of 8 bytes, as returned by `next()`.
 *
 * Everything else is written as JSON writes it. So a BigUint64Array becomes an object of texts: use `[...ids]`. Even if your
 * project gave `BigInt.prototype` a `toJSON` that makes numbers, bigints are written as exact text.
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
  const held = (this as Record<string, unknown> | undefined)?.[key]
  if (isUint8Array(held) && held.length === 8) return String(toBigInt(held))
  return typeof held === 'bigint' ? String(held) : value
}

/** From Node 21 on: the text of a number. V8 makes it on access. */
export type Context = { source?: string }

const KEYS = "an array of keys, such as ['id', 'userId']"
const NO_SOURCE = `${KEYS}, because JSON.parse shows the text of a number only from Node.js 21 on`

/**
 * Makes the second argument of `JSON.parse` that turns every integer beyond 2^53, which a number cannot hold exactly, into a
 * bigint, at any depth and of any length. Everything else stays as it is, including `1e20`, `1.0` and `-0`. Use it for JSON
 * with numbers, such as a database's.
 * @throws {TypeError} `ERR_FLAKE_OPTION`: `JSON.parse` does not show the text of numbers on this runtime, as before Node.js
 * 21.
 * @example
 * JSON.parse('{"id":7529535382561648641,"n":5}', jsonReviver()) // { id: 7529535382561648641n, n: 5 }
 */
export function jsonReviver(): (key: string, value: unknown, context?: { source?: string }) => unknown
/**
 * Makes the second argument of `JSON.parse` that turns the values of these keys back into bigints, at any depth.
 *
 * | value | result |
 * |---|---|
 * | decimal text, −2^63 to 2^64 − 1, 20 digits at most | a bigint. It stays negative: `fromSigned` converts it into the ID |
 * | an array | an array, each element read in the same way |
 * | `null` | `null`; a missing key stays missing |
 * | a number | a bigint, if it is exact: a safe integer; from Node.js 21 on any integer of 64 bits that is not in an array |
 *
 * @param keys at least one key. The empty key is the whole text: `JSON.parse('["1","2"]', jsonReviver(['']))` reads an array
 * of IDs.
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
  return (key: string, value: unknown, context?: Context) => (names.has(key) ? revive(key, value, context) : value)
}

function reviverOfAll() {
  let hasSource = false
  JSON.parse('1', (_key: string, _value: unknown, context?: Context) => {
    hasSource = context?.source === '1'
  })
  if (!hasSource) throw errors.optionTypeError('keys', undefined, NO_SOURCE)
  return (_key: string, value: unknown, context?: Context) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    const source = context?.source ?? ''
    return /^-?\d+$/.test(source) ? BigInt(source) : value
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

function revive(key: string, value: unknown, context?: Context): unknown {
  if (value === null || typeof value === 'bigint') return value
  if (Array.isArray(value)) return value.map((element) => revive(key, element))
  if (typeof value === 'number') return fromNumber(key, value, context?.source)
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
