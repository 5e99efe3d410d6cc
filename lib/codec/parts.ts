// The parts of an ID, as `decode` returns them and as `encode` accepts them.

import type { TemporalInstant } from '../base/objects.ts'
import type { AnyLayout, DecodedFields, GivenFields } from './node-fields.ts'

/**
 * The parts of an ID: those in {@link CommonParts}, and the node fields under their own names: `datacenter` and `worker` in
 * flake, `node` in hazelcast, and so on.
 *
 * `Parts` without a layout, as in `const parts: Parts = …`, has the node fields of all layouts, each optional.
 *
 * `JSON.stringify` writes `tick` as text. Node's `assert.deepStrictEqual` also compares prototypes: use `{ ...parts }` there.
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
  /** the mode in which the ID was generated; only in mode `'spread'`, and in uniqueid, whose IDs contain it */
  mode?: 'spread' | 'sequential'
}

/**
 * The argument of `Layout.encode`: {@link CommonPartsToEncode}, and the node fields under their own names. You may pass
 * whatever `decode` returns, or its JSON form. Contradictory parts are rejected.
 */
export type PartsToEncode<L extends AnyLayout = AnyLayout> = CommonPartsToEncode & GivenFields<L>

export interface CommonPartsToEncode {
  /**
   * Unix ms, a Date, a Temporal.Instant, or Unix ns as a bigint; decimal text of Unix ms, as in CSV files. It must be within
   * `tick` if both are given. A number selects the tick for which `decode` returns this number, or else the tick that contains
   * it.
   */
  timestamp?: number | bigint | string | Date | TemporalInstant | null | undefined
  /** a Date or Temporal.Instant, or the JSON form of a Date. It must be within `tick` and `timestamp` if they are given. */
  date?: Date | TemporalInstant | string | null | undefined
  /** ticks since the epoch, as a bigint or as text */
  tick?: bigint | string | null | undefined
  /** default 0 */
  counter?: number | string | null | undefined
  /** the whole node number; it must agree with the given node fields. Default: the node number of these fields, or 0 */
  id?: number | string | null | undefined
  /** default the layout's own mode; only uniqueid, whose IDs contain it, accepts the other one */
  mode?: 'spread' | 'sequential' | null | undefined
}
