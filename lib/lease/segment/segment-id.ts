// Hazelcast's IdGenerator as users see it: small dense numbers, handed out from blocks that a counter on a store grows
// by. It turns numbers into Buffers and texts, and waits. It must never take a number itself: block-supply.ts does.
//
// Only the class is loaded with the package, since an ES import of any export loads them all. open() loads what a
// member is made of.

import type { IterationOptions, SignalOptions } from '../../base/abort.ts'
import { abortable, abortableBy, signalOf } from '../../base/abort.ts'
import { isAbsent } from '../../base/check.ts'
import * as errors from '../../base/errors.ts'
import { IdIterator } from '../../base/id-iterator.ts'
import { within } from '../../base/in-time.ts'
import { INSPECT, textOf } from '../../base/inspect.ts'
import { keepHere } from '../../base/uncloneable.ts'
import type { Base } from '../../codec/bases.ts'
import { readCount } from '../../generator/options.ts'
import { Waiters, type Wish } from '../../generator/waiters.ts'
import { idAsBuffer, putBigInt } from '../../native/hot.ts'
import { baseCode, toTexts } from '../../native/texts.ts'
import * as census from '../census.ts'
import type { SlotStore } from '../stores/database.ts'
import { checkStore, openGiven } from '../stores/open.ts'
import type { Store } from '../stores/store.ts'
import { BlockSupply } from './block-supply.ts'
import { readId, readOptions } from './segment-options.ts'

/** What open() makes a member of. */
export interface Parts {
  name: string
  block: number
  durable: boolean
  store: SlotStore
  /** ends the store's client, if it is ours */
  close: () => Promise<void>
}

/** How long close() waits for our own client to end. */
const CLIENT_MS = 900
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const MAKING = Symbol('made by open()')

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
  #name
  #block
  #onClose
  #supply
  #waiters
  #closing: Promise<void> | undefined

  /**
   * Takes the first block. If the store may have lost blocks, it still resolves, but calls throw until `skipTo` says
   * where to continue.
   * @param options `name`: the counter's name. `block`: how many IDs to take at a time, 1…2^32, default 10 000; the IDs
   * that a member still holds when it ends are lost, up to twice what it takes at a time. `init`: a counter that does
   * not exist yet begins after this value. `durable`: your promise that the store never loses acknowledged writes, as in
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
  static async open(given: unknown, givenOptions: unknown) {
    checkStore(given, 'SegmentId.open')
    const { name, block, init, durable } = readOptions(givenOptions)
    const { store, close } = openGiven(given)
    const segment = new SegmentId(MAKING, { name, block, durable, store, close })
    try {
      await segment.#supply.begin(init)
      census.segments.add(segment.#supply)
      return segment
    } catch (error) {
      await close()
      throw error
    }
  }

  private constructor(key: unknown, parts: Parts) {
    if (key !== MAKING) {
      throw errors.optionError(TypeError, 'options', key, 'SegmentId is made by await SegmentId.open(store, { name })')
    }
    this.#name = parts.name
    this.#block = parts.block
    this.#waiters = new Waiters(() => {})
    this.#supply = new BlockSupply(parts.store, parts, () => this.#waiters.serve())
    this.#onClose = parts.close
    keepHere(this)
  }

  /**
   * Names the counter, as 16 hex digits: random bits that the store was given when the counter was made, or `skipTo` was
   * called. Counters of one name on two stores have different ones. Undefined until it had its first block.
   */
  get lineage(): string | undefined {
    return this.#supply.lineage
  }

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
  next(callback?: ((error: Error | null, id: Buffer) => void) | null) {
    if (isAbsent(callback)) {
      putBigInt(this.nextBigInt())
      return idAsBuffer()
    }
    if (typeof callback !== 'function') throw errors.optionTypeError('callback', callback, 'a function')
    this.#waiters.submit(callback, this.#one)
  }

  /** Like `next(callback)`, as a promise. */
  nextAsync(options?: SignalOptions | null): Promise<Buffer> {
    return this.#promised(options, () => this.#one)
  }

  /** Like `next()`, as a bigint: the fastest form of an ID to make. */
  nextBigInt(): bigint {
    return this.#supply.next()
  }

  /**
   * `n` IDs in order, 8 bytes each, big-endian: all of them, or an error if the member holds fewer. It keeps those for
   * other calls and fetches the missing ones, so that a later call succeeds.
   * @param n 0 or more
   * @throws as `next()`
   */
  take(n: number): Buffer {
    return bigEndian(this.takeBigInts(n))
  }

  /** Like `take(n)`, as bigints. */
  takeBigInts(n: number): BigUint64Array {
    return this.#supply.fill(memoryFor(n))
  }

  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   */
  takeStrings(n: number, base?: Base): string[] {
    const code = baseCode(base)
    return toTexts(this.take(n), n, code)
  }

  /** Like `take(n)`, but waits as `next(callback)` does. A call that fails uses up no ID. */
  takeAsync(n: number, options?: SignalOptions | null): Promise<Buffer> {
    return this.#promised(options, () => {
      const ids = memoryFor(n)
      return { attempt: () => this.#supply.attempt(n), result: () => bigEndian(this.#supply.fill(ids)) }
    })
  }

  /** An endless series of IDs, until the signal aborts. Each step waits as `nextAsync()` does. */
  ids(options?: IterationOptions | null): AsyncIterableIterator<Buffer> {
    return new IdIterator((callback) => this.#waiters.submitLater(callback, this.#one), signalOf(options))
  }

  /**
   * May be called once, before any ID: the next ID is `value` + 1. Resolves to false if it was called too late; then
   * nothing changes. Until it resolves, calls for IDs wait, or throw `ERR_FLAKE_OVERFLOW`.
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  async init(value: bigint | number): Promise<boolean> {
    return this.#supply.init(readId('value', value) + 1n)
  }

  /**
   * Makes all members continue at `value` or above. If the store has lost blocks, give a value above all IDs that were
   * ever handed out.
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  async skipTo(value: bigint | number): Promise<void> {
    await this.#supply.skipTo(readId('value', value))
  }

  /** Closes it: the rest of its block is lost. Waits at most 5 s for a store that does not answer. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** @internal */
  [INSPECT](...how: Parameters<typeof textOf>[2]) {
    const { left, isClosed } = this.#supply
    return textOf(this, { name: this.#name, block: this.#block, left, isClosed }, how)
  }

  /** The wish of a call that waits for one ID. */
  #one = { attempt: () => this.#supply.attempt(1), result: () => this.next() }

  #promised(options: SignalOptions | null | undefined, wish: () => Wish): Promise<Buffer> {
    if (options !== undefined) return abortableBy(options, (callback) => this.#waiters.submitLater(callback, wish()))
    return abortable(undefined, (callback) => this.#waiters.submit(callback, wish()))
  }

  async #end() {
    await this.#supply.end()
    await within(this.#onClose(), CLIENT_MS)
  }
}

/** Memory for so many IDs. It is not zeroed; a new BigUint64Array would be. */
function memoryFor(n: number) {
  const bytes = Buffer.allocUnsafeSlow(readCount(n) * 8)
  return new BigUint64Array(bytes.buffer, bytes.byteOffset, n)
}

/** Turns these IDs, which are in this machine's byte order, into big-endian bytes, in place. */
function bigEndian(ids: BigUint64Array) {
  const bytes = Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
  return IS_LITTLE_ENDIAN ? bytes.swap64() : bytes
}
