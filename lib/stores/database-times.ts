// What `flakeforge schema --times` needs to know of a layout, whatever the database: which bits are the tick, which ticks
// exist, and what an ID adds to them. The functions are the twins of `decode` and `range` in SQL.

import { optionError } from '../base/errors.ts'
import { FARTHEST_MS, MAX_U64 } from '../base/values.ts'
import type { LayoutFacts } from '../codec/facts.ts'
import { fingerprintOf } from './database-function.ts'

/** How many numbers 64 bits have, and the highest one with and without a sign. */
export const NUMBERS: bigint = MAX_U64 + 1n
export const MOST: bigint = MAX_U64
export const MOST_SIGNED: bigint = MAX_U64 >> 1n

/** The figures of the functions' SQL. */
export interface TimesPlan {
  /** Unix ns of tick 0 */
  epochNs: bigint
  tickNs: bigint
  firstTick: bigint
  /** the last one that a Date can show, as in `range` */
  lastTick: bigint
  /** the last one that an ID can have, as in `decode` */
  highestTick: bigint
  /** what is added to every ID */
  offset: bigint
  /** the bits that are 0 in every ID, as a number without a sign */
  zeros: bigint
  /** where the tick is; undefined if it is the whole ID, divided by this */
  bits: { shift: number; width: number } | { divisor: bigint }
  /** the bit that is 0 in IDs whose tick has its bits in reverse order; 0 if all IDs' ticks have, undefined if none has */
  orderBit: bigint | undefined
  /** for layouts that are ordered by time: the distance of two ticks' IDs, the first ID of tick 0 and the last one */
  order: { size: bigint; lowest: bigint; highest: bigint } | undefined
  /** the mark of the functions: one line */
  comment: string
}

/** The field `mode` of java-uniqueid. In other layouts, the mode is the same for all IDs. */
function orderBitOf({ fields, mode }: LayoutFacts) {
  if (mode === undefined) return
  const index = fields.findIndex(([name]) => name === 'mode')
  if (index < 0) return 0n
  return 1n << BigInt(fields.slice(index + 1).reduce((sum, [, width]) => sum + width, 0))
}

export function timesPlanOf(facts: LayoutFacts): TimesPlan {
  const { packing, host, name } = facts
  if (packing.time.width === 0) {
    throw optionError(RangeError, 'layout', name, `the IDs of layout '${name}' have no timestamp: choose one that has`)
  }
  const { first, last } = packing.ticksOf(-FARTHEST_MS, FARTHEST_MS)
  const [lowest, highest] = [packing.pack(0n, 0, 0), packing.pack(0n, packing.counterMax, packing.nodeMax)]
  return {
    epochNs: packing.epochNs,
    tickNs: BigInt(facts.tickNs),
    firstTick: first,
    lastTick: last,
    highestTick: packing.tickMax,
    offset: packing.offset,
    zeros: packing.zero.mask,
    bits: host === undefined ? { shift: packing.time.shift, width: packing.time.width } : { divisor: 100n },
    orderBit: orderBitOf(facts),
    order: packing.isTimeOrdered ? { size: packing.pack(1n, 0, 0) - lowest, lowest, highest } : undefined,
    comment: `flakeforge times of IDs with bits ${JSON.stringify(fingerprintOf(facts))}`,
  }
}

/** The endings of the functions' names. IDs that are not ordered by time have no range. */
export const endingsOf = ({ order }: TimesPlan): string[] => (order === undefined ? ['time'] : ['time', 'min', 'max'])
