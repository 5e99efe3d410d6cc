// Small dense numbers as IDs, from blocks of a counter that a store keeps.

import { Base } from './ids.js'
import { IterationOptions, SignalOptions } from './options.js'
import { Store } from './stores.js'

/**
 * Small dense numbers as 8-byte IDs: Hazelcast's IdGenerator. A counter on the store grows by a block at a time. Each member
 * hands out its block by itself, and fetches the next block before that one ends. A member that uses up a block within a few
 * ms takes several at a time: as many as last about 20 ms, but at most a sixteenth of all that it has taken before.
 *
 * @example
 * const invoices = await SegmentId.open('redis://localhost', { name: 'invoices' })
 * invoices.nextBigInt() // 0n, and in the next member 10000n
 * invoices.takeBigInts(3) // BigUint64Array(3) [ 1n, 2n, 3n ]
 */
export class SegmentId {
  private constructor()
  /**
   * Takes the first block. If the store may have lost blocks, it resolves all the same, and the calls throw until `skipTo`
   * says where to go on.
   * @param options `name`: of the counter. `block`: IDs taken at a time, 1…2^32, default 10 000; what a member holds when
   * it ends is lost, up to twice what it takes at a time. `init`: a counter that does not exist yet begins after this value.
   * @throws {Error} `ERR_FLAKE_STORE`: the store failed (`cause`).
   */
  static open(
    store: Store | string | null | undefined,
    options: {
      name: string
      block?: number | string | null | undefined
      init?: bigint | number | null | undefined
    },
  ): Promise<SegmentId>
  /**
   * One ID: 8 bytes, big-endian.
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: the blocks are used up faster than the event loop lets new ones in.
   * @throws {Error} `ERR_FLAKE_STORE`: the last call to the store failed (`cause`) and no other is on its way; or the store
   * may have lost blocks, whose IDs could come again: see `skipTo`. On files it is `ERR_FLAKE_FILE` (`path`).
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  next(): Buffer
  next(callback: null | undefined): Buffer
  /** One ID for a callback. Waits for a block if there is none. It gets an error only if waiting does not help. */
  next(callback: (error: Error | null, id: Buffer) => void): void
  /** Like `next(callback)`, as a promise. */
  nextAsync(options?: SignalOptions | null): Promise<Buffer>
  /** Like `next()`, as a bigint: the cheapest form of an ID. */
  nextBigInt(): bigint
  /**
   * `n` IDs in order, 8 bytes each, big-endian: all of them, or an error if fewer are here. Those then stay for other calls,
   * and the missing ones are fetched, so that a later call succeeds.
   * @param n 0 or more
   * @throws as `next()`
   */
  take(n: number): Buffer
  /** Like `take(n)`, as bigints. */
  takeBigInts(n: number): BigUint64Array
  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   */
  takeStrings(n: number, base?: Base): string[]
  /** Like `take(n)`, but waits as `next(callback)` does. A call that fails has used up no ID. */
  takeAsync(n: number, options?: SignalOptions | null): Promise<Buffer>
  /** IDs without end, until the signal aborts. Each step waits as `nextAsync()` does. */
  ids(options?: IterationOptions | null): AsyncIterableIterator<Buffer>
  /**
   * May be called once, before any ID: the next ID is `value` + 1. Resolves to false if it was called too late, and then
   * changes nothing. IDs that are asked for meanwhile wait for the answer, or throw `ERR_FLAKE_OVERFLOW`.
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  init(value: bigint | number): Promise<boolean>
  /**
   * Goes on at `value` or above, for all members. After the store has lost blocks, name a value above all IDs that were ever
   * handed out.
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  skipTo(value: bigint | number): Promise<void>
  /** Ends it: the rest of the block is lost. Waits at most 5 s for a store that does not answer. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
