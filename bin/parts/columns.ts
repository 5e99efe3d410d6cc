// The condition that finds exactly the IDs of a range, for each kind of column: also where signed numbers wrap around, and
// where decimal text gets another digit.

import { format, type Layout, toBigInt, toSigned } from '../../lib/entries/codec.ts'

type Range = { min: Buffer; max: Buffer }

const between: (min: string | bigint, max: string | bigint) => string = (min, max) => `id BETWEEN ${min} AND ${max}`

/** Signed bounds may be in the opposite order: then IDs are outside of them. */
function signed({ min, max }: Range) {
  const [low, high] = [toSigned(min), toSigned(max)]
  return low <= high ? between(low, high) : `(id >= ${low} OR id <= ${high})`
}

/** Decimal text of one length sorts as numbers do, and '9' comes after '10'. */
function decimal({ min, max }: Range) {
  const [low, high] = [format(min), format(max)]
  const [short, long] = [low.length, high.length]
  if (short === long) return `length(id) = ${short} AND ${between(`'${low}'`, `'${high}'`)}`
  const middle = long - short > 1 ? ` OR length(id) BETWEEN ${short + 1} AND ${long - 1}` : ''
  return `((length(id) = ${short} AND id >= '${low}')${middle} OR (length(id) = ${long} AND id <= '${high}'))`
}

/** A condition on text or bytes that sort as the IDs do. */
const sorted =
  (literal: (id: Buffer, layout: Layout) => string): ((range: Range, layout: Layout) => string) =>
  ({ min, max }, layout) =>
    between(literal(min, layout), literal(max, layout))

const CONDITIONS = {
  bigint: signed,
  unsigned: sorted((id) => String(toBigInt(id))),
  bytea: sorted((id) => `'\\x${id.toString('hex')}'`),
  binary: sorted((id) => `x'${id.toString('hex')}'`),
  text: decimal,
  base32: sorted((id) => `'${format(id, 'base32')}'`),
  uuid: sorted((id, layout) => `'${layout.toUuid(id)}'`),
} satisfies Record<string, (range: Range, layout: Layout) => string>

export type Column = keyof typeof CONDITIONS

export const COLUMNS = Object.keys(CONDITIONS) as Column[]

export const whereOf = (column: Column, range: Range, layout: Layout) => `WHERE ${CONDITIONS[column](range, layout)}`
