'use strict'
// @ts-check

// The condition that finds the IDs of a range, for each kind of column that IDs are kept in. It must never print one that
// misses an ID or finds another: neither where signed numbers wrap around, nor where decimal text gets a digit more.

/** @import { Layout } from '../../index.d.ts' */

const { format, toBigInt, toSigned } = require('../../index.js')

/** @typedef {{ min: Buffer, max: Buffer }} Range */

/** @type {(min: string | bigint, max: string | bigint) => string} */
const between = (min, max) => `id BETWEEN ${min} AND ${max}`

/**
 * Signed bounds may be in the opposite order: then IDs are outside of them.
 * @param {Range} range
 */
function signed({ min, max }) {
  const [low, high] = [toSigned(min), toSigned(max)]
  return low <= high ? between(low, high) : `(id >= ${low} OR id <= ${high})`
}

/**
 * Decimal text of one length sorts as numbers do, and '9' comes after '10'.
 * @param {Range} range
 */
function decimal({ min, max }) {
  const [low, high] = [format(min), format(max)]
  const [short, long] = [low.length, high.length]
  if (short === long) return `length(id) = ${short} AND ${between(`'${low}'`, `'${high}'`)}`
  const middle = long - short > 1 ? ` OR length(id) BETWEEN ${short + 1} AND ${long - 1}` : ''
  return `((length(id) = ${short} AND id >= '${low}')${middle} OR (length(id) = ${long} AND id <= '${high}'))`
}

/**
 * A condition on text or bytes that sort as the IDs do.
 * @param {(id: Buffer, layout: Layout) => string} literal
 * @returns {(range: Range, layout: Layout) => string}
 */
const sorted =
  (literal) =>
  ({ min, max }, layout) =>
    between(literal(min, layout), literal(max, layout))

/** @satisfies {Record<string, (range: Range, layout: Layout) => string>} */
const CONDITIONS = {
  bigint: signed,
  unsigned: sorted((id) => String(toBigInt(id))),
  bytea: sorted((id) => `'\\x${id.toString('hex')}'`),
  binary: sorted((id) => `x'${id.toString('hex')}'`),
  text: decimal,
  base32: sorted((id) => `'${format(id, 'base32')}'`),
  uuid: sorted((id, layout) => `'${layout.toUuid(id)}'`),
}

/** @typedef {keyof typeof CONDITIONS} Column */

const COLUMNS = /** @type {Column[]} */ (Object.keys(CONDITIONS))

/**
 * @param {Column} column
 * @param {Range} range
 * @param {Layout} layout
 */
const whereOf = (column, range, layout) => `WHERE ${CONDITIONS[column](range, layout)}`

module.exports = { COLUMNS, whereOf }
