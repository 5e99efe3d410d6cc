// Small dense numbers as IDs. They come in blocks from a counter that a store keeps.

import { Base } from './ids.js'
import { IterationOptions, SignalOptions } from './options.js'
import { Store } from './stores.js'

/**
 * Small dense numbers as 8-byte IDs: Hazelcast's IdGenerator. A counter on the store grows by a block at a time. Each
 * member hands out its own block, and fetches the next one before that block ends. A member that uses up a block within
 * a few ms takes several at a time: enough for about 20 ms, but at most a sixteenth of all that it has taken before.
 *
 * It has the calls of `FlakeId` for bytes, bigints and text, except `nextString()`: that is `takeStrings(1)[0]`. There is
 * no `nextNumber()`, `takeNumbers()` or `decode()`, for the numbers have no layout.
 *
 * @example
 * const invoices = await SegmentId.open('redis://localhost', { name: 'invoices' })
 * invoices.nextBigInt() // 0n, and in the next member 10000n
 * invoices.takeBigInts(3) // BigUint64Array(3) [ 1n, 2n, 3n ]
 */
export class SegmentId {
  private constructor()
  /**
   * Takes the first block. If the store may have lost blocks, it still resolves, but calls throw until `skipTo` says
   * where to continue.
   * @param options `name`: the counter's name. `block`: how many IDs to take at a time, 1…2^32, default 10 000; the IDs
   * that a member still holds when it ends are lost, up to twice what it takes at a time. `init`: a counter that does
   * not exist yet begins after this value. `durable`: vouches that the store never loses what it acknowledged, as in
   * `LeaseOptions`, default false; then a restart of Redis, MySQL or MariaDB does not stop the counter. All members must agree on it.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of its bounds, or the server contradicts
   * `durable`.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the counter was made with the other `durable` (`theirs`, `ours`).
   * @throws {Error} `ERR_FLAKE_STORE`: the store failed (`cause`), or refuses, as a read-only server does.
   * @throws {Error} `ERR_FLAKE_RECORD`: the counter's record cannot be read, or was written by a newer version of
   * flakeforge (`group`: the counter's name, `record`). Nothing was written over it.
   */
  static open(
    store: Store | string | null | undefined,
    options: {
      name: string
      block?: number | string | null | undefined
      init?: bigint | number | null | undefined
      durable?: boolean | null | undefined
    },
  ): Promise<SegmentId>
  /**
   * Names the counter, as 16 hex digits: random bits that the store was given when the counter was made, or `skipTo` was
   * called. Counters of one name on two stores have different ones. Undefined until it had its first block.
   */
  readonly lineage: string | undefined
  /**
   * One ID: 8 bytes, big-endian.
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: the blocks are used up faster than the event loop lets new ones in.
   * @throws {Error} `ERR_FLAKE_STORE`: the last call to the store failed (`cause`) or was refused, and no other is under
   * way; or the store may have lost blocks, and their IDs could come again: see `skipTo`. With files it is
   * `ERR_FLAKE_FILE` (`path`).
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  next(): Buffer
  next(callback: null | undefined): Buffer
  /**
   * One ID for a callback. It waits for a block if none is left. The callback gets an error only if waiting does not
   * help.
   */
  next(callback: (error: Error | null, id: Buffer) => void): void
  /** Like `next(callback)`, as a promise. */
  nextAsync(options?: SignalOptions | null): Promise<Buffer>
  /** Like `next()`, as a bigint: the fastest form of an ID to make. */
  nextBigInt(): bigint
  /**
   * `n` IDs in order, 8 bytes each, big-endian: all of them, or an error if the member holds fewer. It keeps those for
   * other calls and fetches the missing ones, so that a later call succeeds.
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
  /** Like `take(n)`, but waits as `next(callback)` does. A call that fails uses up no ID. */
  takeAsync(n: number, options?: SignalOptions | null): Promise<Buffer>
  /** An endless series of IDs, until the signal aborts. Each step waits as `nextAsync()` does. */
  ids(options?: IterationOptions | null): AsyncIterableIterator<Buffer>
  /**
   * May be called once, before any ID: the next ID is `value` + 1. Resolves to false if it was called too late; then
   * nothing changes. Until it resolves, calls for IDs wait, or throw `ERR_FLAKE_OVERFLOW`.
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  init(value: bigint | number): Promise<boolean>
  /**
   * Makes all members continue at `value` or above. If the store has lost blocks, give a value above all IDs that were
   * ever handed out.
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  skipTo(value: bigint | number): Promise<void>
  /** Closes it: the rest of its block is lost. Waits at most 5 s for a store that does not answer. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
