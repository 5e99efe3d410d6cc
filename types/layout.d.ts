// What the 64 bits of an ID mean: layouts, and the parts of an ID.

import { IdBytes, IdLike } from './ids.js'
import { AnyLayout, DecodedFields, GivenFields, LayoutChoices, LayoutName } from './node-fields.js'

/**
 * A layout of your own. Write it where it is used, or as a constant with `as const satisfies LayoutSpec`; then the types
 * know the names of its fields. After `const spec: LayoutSpec = …` they do not.
 */
export interface LayoutSpec {
  /** the name that error messages use; default `'custom'` */
  name?: string | undefined
  /** Unix ms of tick 0, or a Date; default 0 */
  epoch?: number | Date | undefined
  /** length of a tick in ms; default 1. It must be a whole number of nanoseconds. */
  tickMs?: number | undefined
  /**
   * Names and widths in bits (1…63), the most significant first, 64 bits in total. There must be exactly one
   * `'timestamp'` and at most one `'counter'`. `'zero'` stands for unused bits. All other fields together are the node
   * number, 53 bits at most. Names of options and of `Parts` cannot be used.
   */
  fields: ReadonlyArray<readonly [name: string, bits: number]>
}

/** The options of a layout: {@link LayoutSettings}, and snowcast's `nodes` or uniqueid's `mode`. */
export type LayoutOptions<L extends AnyLayout = AnyLayout> = LayoutSettings & LayoutChoices<L>

export interface LayoutSettings {
  /** Unix ms of tick 0, or a Date; default: the layout's own epoch */
  epoch?: number | string | Date | null | undefined
  /**
   * A number from −2^63 to 2^63 − 1 that is added to every ID (Hazelcast's id-offset). A time whose ID would then not
   * fit into 64 bits is out of range.
   */
  idOffset?: bigint | null | undefined
}

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

/**
 * What the 64 bits of an ID mean.
 *
 * `L` is what the layout was made from: a dialect's name or your spec. It determines the names of the node fields.
 * `Layout` without a type argument is a layout of any kind.
 *
 * @example
 * const { Layout, layouts } = require('flakeforge')
 * layouts.discord.decode('175928847299117063').date // 2016-04-30T11:18:25.796Z
 * const mine = new Layout({ epoch: 1577836800000, fields: [['timestamp', 41], ['shard', 13], ['counter', 10]] })
 * mine.encode({ timestamp: new Date(), shard: 5 })
 */
export class Layout<const L extends AnyLayout = AnyLayout> {
  /**
   * @param spec a dialect's name, the fields of your own layout, or another layout that you want with other options
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: there can be no such layout. The message says which field is
   * wrong and why.
   */
  constructor(spec: L | Layout<L>, options?: LayoutOptions<L> | null)
  readonly name: string
  /** Unix ms of tick 0 */
  readonly epoch: number
  /** length of a tick in ms: 1 for most layouts, 10 for sonyflake, 0.0001 for chronicle */
  readonly tickMs: number
  /** names and widths in bits, the most significant first; empty for the chronicle layouts, which are decimal */
  readonly fields: ReadonlyArray<readonly [name: string, bits: number]>
  /** the first instant that the layout can no longer express; flake with epoch 0: 2109-05-15 */
  readonly end: Date
  /**
   * The first instant at which IDs no longer fit into a signed 64-bit column; flake with epoch 0: 2039-09-07. If the
   * highest bit depends on the node, or is one of uniqueid's reversed bits, this is the epoch or just after it.
   */
  readonly signedEnd: Date
  /**
   * Makes the ID with these parts: the inverse of `decode`.
   * @param parts the time as `tick`, or else as `timestamp`; `counter` (default 0); the node as `id` or by its fields
   * (default 0); `mode`
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: a part does not fit into its field.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time.
   */
  encode(parts: PartsToEncode<L>): IdBytes
  /**
   * The parts of an ID.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not one of this layout, because a bit that must be 0 is
   * set.
   */
  decode(id: IdLike): Parts<L>
  /**
   * The smallest and the largest ID of an instant, or of the time from one instant to another (both included), over all
   * nodes: the bounds for `WHERE id BETWEEN …`.
   * @throws {RangeError} `ERR_FLAKE_OPTION`: IDs of this layout are not ordered by time.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time.
   */
  range(from: number | Date, to?: number | Date): { min: IdBytes; max: IdBytes }
  /**
   * The ID as a UUID of version 8 (RFC 9562), in lower case, for a `uuid` column. UUIDs of a layout sort as their IDs do, as
   * text and as 16 bytes. So `toUuid(min)` and `toUuid(max)` of a `range` are the bounds for `WHERE id BETWEEN …`.
   *
   * | digits | what they are |
   * |---|---|
   * | `687e4889-8912` | the first 48 bits of the ID |
   * | `-8` | the version |
   * | `700` | the next 12 bits |
   * | `-85` | two bits of variant, `10`; the last 4 bits of the ID; two bits that are `01` |
   * | `8f-670cd8eec840` | the mark: the same in all UUIDs of a layout |
   *
   * The mark depends on what times are read with: epoch, tick, the place of the timestamp, and `idOffset`. Name, node
   * fields, counter and mode may change. It is the last 56 bits of the 64-bit FNV-1a hash of a text, which is for `flake`
   * `'flakeforge: epoch 0 ms, tick 1000000 ns, timestamp 42 bits at 22, idOffset 0'`. For the decimal layouts it says
   * `decimal` in place of `timestamp 42 bits at 22`, where 22 is the number of bits after the timestamp.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not one of this layout.
   * @example
   * layouts.flake.toUuid('0x687e488989127001') // '687e4889-8912-8700-858f-670cd8eec840'
   */
  toUuid(id: IdLike): string
  /**
   * The ID that `toUuid` made this UUID from. Digits may be in upper case.
   * @throws {TypeError} `ERR_FLAKE_ID`: any other UUID or text: a UUID of another version, of another program, or of a
   * layout that would read another time from it. The message says what is wrong.
   */
  fromUuid(text: string): IdBytes
  /**
   * Chronicle layouts: the ID as a time with nine digits, `2021-12-28T14:07:02.954100128`. The last digits show the host.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID.
   */
  toText(id: IdLike): string
  /**
   * Chronicle layouts: the ID that `toText` made this text from.
   * @throws {TypeError} `ERR_FLAKE_ID`: the text does not stand for an ID.
   */
  fromText(text: string): IdBytes
}

/**
 * The type of `FlakeId.decode`. It is a named type, and `decode` a property, so that the compiler compares two of them
 * by `L`. That makes a generator of any layout also a plain `FlakeId`, even if its class is your own.
 */
export type Decode<L extends AnyLayout> = (id: IdLike) => Parts<L>

/** Every dialect, with its own epoch and the default of every choice. */
export const layouts: { readonly [Name in LayoutName]: Layout<Name> }
