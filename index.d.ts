// The types of flakeforge, and its reference: an editor shows what is written here and in types/.
//
// require('flakeforge') returns the class, with every other export as a property of it. So this file says `export =`, and
// the class is merged with a namespace. index.d.mts is its ES twin. A new export goes into both, and into the namespace.
/// <reference types="node" />

import {
  Base,
  compare,
  FormatOptions,
  format,
  fromSigned,
  IdBytes,
  IdLike,
  parse,
  toBigInt,
  toSigned,
} from './types/ids.js'
import {
  createGroup,
  ElseFrom,
  JoinOptions,
  LeaseDetail,
  LeasedFlakeId,
  LeasedStats,
  LeaseEvent,
  LeaseListener,
  LeaseOptions,
  restored,
} from './types/join.js'
import { jsonReplacer, jsonReviver } from './types/json.js'
import {
  CommonParts,
  CommonPartsToEncode,
  Decode,
  Layout,
  LayoutOptions,
  LayoutSettings,
  LayoutSpec,
  layouts,
  Parts,
  PartsToEncode,
} from './types/layout.js'
import { AnyLayout, LayoutName, NodeFields, Unspecified } from './types/node-fields.js'
import {
  FlakeIdOptions,
  GeneratorOptions,
  IterationOptions,
  OwnNodeOptions,
  SignalOptions,
  Stats,
} from './types/options.js'
import { Seal, SealOptions } from './types/seal.js'
import { SegmentId } from './types/segment-id.js'
import {
  etcdStore,
  fileStore,
  mysqlStore,
  openStore,
  postgresStore,
  RecordStore,
  recordStore,
  redisStore,
  SlotInfo,
  Store,
  StoreIdentity,
} from './types/stores.js'

/**
 * Makes 64-bit IDs that are unique and ordered by time, without coordination.
 *
 * An ID holds the time, a node number and a counter. In the default layout, `flake`, these are 42 bits for the milliseconds
 * since the epoch, 5 bits each for datacenter and worker, and 12 bits for the counter: 4 096 IDs per millisecond. `layout`
 * chooses the layout of another system, or your own. Give each process its own node number. Within a process, any number of
 * generators, in worker threads too, can have the same one: they never make an ID twice.
 *
 * `L` is the layout, as the types know it: a dialect's name or your own spec. It follows from the option `layout`. A plain
 * `FlakeId`, as the type of a variable or parameter, takes a generator of any layout; its `decode` has the fields of the
 * default layout, so write `FlakeId<'hazelcast'>` where you read those of another.
 *
 * @example
 * const FlakeId = require('flakeforge')
 * const flake = new FlakeId({ datacenter: 9, worker: 7 })
 * flake.next()       // <Buffer 68 7e 48 89 89 12 70 00>
 * flake.nextString() // '7529535382561648640'
 */
declare class FlakeId<const L extends AnyLayout = Unspecified> implements AsyncIterable<Buffer> {
  /**
   * Generators with the same options share everything except the object itself, so one for each request costs about a
   * microsecond. Generators with `clock` or `shared` share nothing.
   *
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is unknown, out of its bounds, or of the wrong type.
   * No value is silently reduced: `worker: 32` is an error, not worker 0.
   */
  constructor(options?: FlakeIdOptions<L> | null)

  /**
   * One ID: 8 bytes, big-endian, in its own ArrayBuffer. The time is read at the call. A call that throws uses up no
   * number.
   *
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: the counter of this tick is used up, for longer than `maxWaitMs`.
   * @throws {Error} `ERR_FLAKE_CLOCK_BACKWARDS`: the clock is behind the last ID, for longer than `maxWaitMs`.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the clock is before the epoch or after the layout's last tick.
   */
  next(): Buffer
  next(callback: null | undefined): Buffer
  /**
   * One ID for a callback: `(null, id)`, always asynchronously (by `process.nextTick`) and in the order of the calls.
   * It waits as long as an overflow or a clock step lasts, and keeps the process alive until then. The callback gets an
   * error only if waiting does not help (`ERR_FLAKE_TIME_RANGE`), or if your own `clock` threw one.
   *
   * If the callbacks take longer than about a millisecond, for example because each calls `next` again, the rest run in
   * the next turn of the event loop, so that timers, sockets and signals get their turn.
   *
   * @throws {TypeError} `ERR_FLAKE_OPTION`: the callback is not a function. No number is taken.
   */
  next(callback: (error: Error | null, id: Buffer) => void): void
  /**
   * Like `next(callback)`, as a promise.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason` and no number is taken.
   */
  nextAsync(options?: SignalOptions | null): Promise<Buffer>
  /** Like `next()`, as a bigint from 0 to 2^64 − 1: the fastest form of an ID to make. */
  nextBigInt(): bigint
  /**
   * Like `next()`, as a number, for columns and APIs that know only JavaScript numbers. The number is the ID, exact to the
   * last digit: it is at most 2^53 − 1 (`Number.MAX_SAFE_INTEGER`).
   *
   * It works with every layout whose IDs stay below 2^53 for the next ten years, whatever the node: `safe`, which is made
   * for this, `chronicle-micros`, and layouts of your own that have 53 bits or few enough. Each process of the layout can
   * do it or none can. When such a layout's IDs have reached 2^53, calls throw, and take no number.
   *
   * @throws {RangeError} `ERR_FLAKE_OPTION`: the layout's IDs are above 2^53 − 1, or will be within ten years. The message
   * says from when on.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: they were below it when the generator was made, and no longer are. Or as
   * `next()`.
   * @throws otherwise as `next()`
   * @example
   * const flake = new FlakeId({ layout: 'safe', node: 3 })
   * flake.nextNumber() // 890044416000192
   */
  nextNumber(): number
  /**
   * Like `next()`, as text: the same as `format(next(), base)`.
   * @param base default `'dec'`
   */
  nextString(base?: Base): string

  /**
   * `n` IDs in order, 8 bytes each, big-endian. It takes a fiftieth of the time of `n` calls of `next()`.
   *
   * It blocks for as long as `n` IDs need at the layout's rate (1 ms for every 4 096), and up to `maxWaitMs` longer. If
   * it throws, the numbers that it had already taken are lost: they are never used again.
   *
   * @param n 0 or more
   * @throws as `next()`
   */
  take(n: number): Buffer
  /** Like `take(n)`, as bigints. */
  takeBigInts(n: number): BigUint64Array
  /**
   * Like `take(n)`, as numbers, with the layouts that `nextNumber()` works with.
   * @throws as `nextNumber()`
   */
  takeNumbers(n: number): Float64Array
  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   */
  takeStrings(n: number, base?: Base): string[]
  /**
   * Like `take(n)`, but waits as `next(callback)` does instead of blocking.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason`. Numbers that the call has
   * already taken are lost; it takes no more.
   */
  takeAsync(n: number, options?: SignalOptions | null): Promise<Buffer>

  /**
   * An endless series of IDs. Each step is a `nextAsync()` and waits like one.
   *
   * The iterator's `return()` never waits. Calls of its `next()` that are still waiting then resolve as done and take
   * no number.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer>
  /**
   * The same iteration, but you can end it: when the signal aborts, the loop ends without an error.
   * @example
   * for await (const id of flake.ids({ signal: AbortSignal.timeout(1000) })) await save(id)
   */
  ids(options?: IterationOptions | null): AsyncIterableIterator<Buffer>

  /** 0…31; undefined if `id` was given, or if the layout has no such field */
  readonly datacenter: number | undefined
  /** 0…31; undefined if `id` was given, or if the layout has no such field */
  readonly worker: number | undefined
  /** the whole node number, `nodeOffset` included: all node fields joined; flake: `datacenter << 5 | worker`, 0…1023 */
  readonly id: number
  /** Unix ms from which timestamps count */
  readonly epoch: number
  /** what the bits mean, and how long they last */
  readonly layout: Layout<L>
  /**
   * What was made in this thread, and how long calls waited: by this generator and all others with the same layout,
   * node number and options (`maxWaitMs` may differ).
   */
  readonly stats: Stats
  /**
   * The parts of an ID, read with this generator's layout and epoch.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not valid in this layout.
   */
  readonly decode: Decode<L>

  /**
   * Makes a generator that gets its node number by itself. It holds a *slot* of its group as long as it lives, and no
   * two living generators of a group hold the same slot. Resolves once it can make IDs.
   *
   * @param store where slots are kept. For many machines: `'redis://…'`, `'postgres://…'`, `'mysql://…'` (MariaDB too) or
   * `'etcd://…'`, with the client package that you have installed (etcd needs none); or your own client in `redisStore`,
   * `postgresStore`, `mysqlStore` or `etcdStore`; or your own database in `recordStore`. For the processes of one
   * machine: `'file:DIR'`, with an absolute path. Default: the store that the environment variable `FLAKEFORGE_STORE` names, or else the
   * folder `flakeforge` in `$XDG_STATE_HOME` or in `~/.local/state`.
   * @param options the group and its lease, the layout, and node fields that stay fixed
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of its bounds or does not belong here (`id`,
   * `shared`, `clock`). Or no store is named and there is no default: in a container, because each one would have its
   * own folder, or without a home folder. Or the server is set up so that it may lose what it acknowledged, and
   * `durable` says that it does not.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the group was created with other options that its members must agree on
   * (`theirs`, `ours`).
   * @throws {Error} `ERR_FLAKE_EXHAUSTED`: no slot becomes free within `waitMs` (`retryAt`). A slot is skipped if
   * another generator of this process uses its node number; if no other slot is free, the `cause` says so.
   * @throws {Error} `ERR_FLAKE_QUIET`: the store is new, or may have lost grants, and `waitMs` ends before it is safe
   * to make IDs (`retryAt`). See `createGroup`.
   * @throws {Error} `ERR_FLAKE_CLOCK_SKEW`: the clocks of this machine and of the store are further apart than `skewMs`, or
   * the window begins after the end of `waitMs` by this machine's clock.
   * @throws {Error} `ERR_FLAKE_STORE`: the store cannot be reached, failed (`cause`), must not be used (a replica, for
   * example), or did not answer within a second after `waitMs`.
   * @throws {Error} `ERR_FLAKE_RECORD`: a record of the group cannot be read, or was written by a newer version of
   * flakeforge (`group`, `record`). Nothing was written over it.
   * @throws {Error} `ERR_FLAKE_FILE`: a file or the folder cannot be used (`path`).
   * @throws the signal's `reason`, if `signal` aborts first
   * @example
   * const flake = await FlakeId.join()
   * flake.next()
   * await flake.close() // at the end: gives the slot back at once
   */
  static join<const L extends AnyLayout = 'flake'>(
    store?: Store | string | null,
    options?: JoinOptions<L> | null,
  ): Promise<LeasedFlakeId<L>>
}

declare namespace FlakeId {
  export {
    AnyLayout,
    Base,
    CommonParts,
    CommonPartsToEncode,
    compare,
    createGroup,
    Decode,
    ElseFrom,
    etcdStore,
    FlakeId,
    FlakeId as default,
    FlakeIdOptions,
    FormatOptions,
    fileStore,
    format,
    fromSigned,
    GeneratorOptions,
    IdBytes,
    IdLike,
    IterationOptions,
    JoinOptions,
    jsonReplacer,
    jsonReviver,
    Layout,
    LayoutName,
    LayoutOptions,
    LayoutSettings,
    LayoutSpec,
    LeaseDetail,
    LeasedFlakeId,
    LeasedStats,
    LeaseEvent,
    LeaseListener,
    LeaseOptions,
    layouts,
    mysqlStore,
    NodeFields,
    OwnNodeOptions,
    openStore,
    Parts,
    PartsToEncode,
    parse,
    postgresStore,
    RecordStore,
    recordStore,
    redisStore,
    restored,
    Seal,
    SealOptions,
    SegmentId,
    SignalOptions,
    SlotInfo,
    Stats,
    Store,
    StoreIdentity,
    toBigInt,
    toSigned,
  }
}

export = FlakeId
