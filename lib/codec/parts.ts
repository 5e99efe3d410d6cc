// The parts of an ID, as `decode` returns them and as `encode` takes them.

import type { AnyLayout, DecodedFields, GivenFields } from './node-fields.ts'

/**
 * The parts of an ID: those in {@link CommonParts}, and the node fields under their own names, `datacenter` and `worker` in
 * flake, `node` in hazelcast, and so on.
 *
 * `Parts` without a layout, as in `const parts: Parts = …`, has all node fields of all dialects, each optional.
 *
 * `JSON.stringify` writes `tick` as text. For Node's `assert.deepStrictEqual`, which compares prototypes too, use
 * `{ ...parts }`.
 */
export type Parts<L extends AnyLayout = AnyLayout> = CommonParts & DecodedFields<L>

export interface CommonParts {
  /** Unix ms; has a fraction if a tick is shorter than 1 ms */
  timestamp: number
  /** the timestamp as a Date, in whole ms */
  date: Date
  /** ticks since the epoch */
  tick: bigint
  /** the counter within the tick */
  counter: number
  /** the whole node number: all node fields joined, the most significant first */
  id: number
  /** uniqueid: the mode in which the ID was made */
  mode?: 'spread' | 'sequential'
}

/**
 * What `Layout.encode` takes: {@link CommonPartsToEncode}, and the node fields under their own names. It accepts
 * whatever `decode` returns.
 */
export type PartsToEncode<L extends AnyLayout = AnyLayout> = CommonPartsToEncode & GivenFields<L>

export interface CommonPartsToEncode {
  /** Unix ms, a Date, or Unix ns as a bigint. Ignored if `tick` is given. */
  timestamp?: number | bigint | Date | null | undefined
  /** the time, if neither `tick` nor `timestamp` is given */
  date?: Date | null | undefined
  /** ticks since the epoch */
  tick?: bigint | null | undefined
  /** default 0 */
  counter?: number | string | null | undefined
  /** the whole node number; default: what the node fields say, or 0 */
  id?: number | string | null | undefined
  /** uniqueid: default the layout's own mode */
  mode?: 'spread' | 'sequential' | null | undefined
}
