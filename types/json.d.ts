// IDs in JSON, which has no bigints.

/**
 * The second argument of `JSON.stringify`: writes every bigint as decimal text, at any depth, also negative ones, and every
 * Buffer or Uint8Array of 8 bytes, as `next()` gives it.
 *
 * Everything else is written as JSON writes it. So a BigUint64Array becomes an object of texts: use `[...ids]`. If your
 * project gave `BigInt.prototype` a `toJSON` that makes numbers, bigints are written as exact text all the same.
 *
 * @example
 * JSON.stringify({ id: 7529535382561648641n }, jsonReplacer) // '{"id":"7529535382561648641"}'
 */
export function jsonReplacer(key: string, value: unknown): unknown

/**
 * Makes the second argument of `JSON.parse` that turns the values of these keys back into bigints, at any depth.
 *
 * | value | what it becomes |
 * |---|---|
 * | decimal text, −2^63 to 2^64 − 1, 20 digits at most | a bigint. It stays negative: `fromSigned` makes the ID of it |
 * | an array | an array, each element read in the same way |
 * | `null` | `null`; a key that is missing stays missing |
 * | a number | a bigint, if it is exact: a safe integer; from Node.js 21 on any integer of 64 bits that is not in an array |
 *
 * @param keys one key at least. The empty key is the whole text: `JSON.parse('["1","2"]', jsonReviver(['']))` reads an
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
