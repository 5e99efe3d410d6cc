// Hazelcast's IdGenerator as users see it: small dense numbers, handed out in blocks from a counter on a store. It converts
// numbers into Buffers and texts, and waits; block-supply.ts takes the numbers.
//
// Only the class is loaded with the package, since an ES import of any export loads them all. open() loads the rest.

import type { IterationOptions, SignalOptions } from '../../base/abort.ts'
import * as errors from '../../base/errors.ts'
import { within } from '../../base/in-time.ts'
import { INSPECT, textOf } from '../../base/inspect.ts'
import { unixNow } from '../../base/timers.ts'
import { keepHere } from '../../base/uncloneable.ts'
import { refuseMore } from '../../base/values.ts'
import { Calls } from '../../calls/calls.ts'
import type { Call, NextCallback, Source } from '../../calls/source.ts'
import { type Base, baseName } from '../../codec/bases.ts'
import { type PrefixOptions, prefixed, prefixOf } from '../../codec/prefix.ts'
import { NODE } from '../../generator/node-host.ts'
import { mostOfACall, readCount } from '../../generator/options.ts'
import { idAsBuffer, putBigInt } from '../../native/hot.ts'
import { baseCode, spellPut, toTexts } from '../../native/texts.ts'
import { checkStore, openGiven } from '../../stores/open.ts'
import type { SlotStore, Store } from '../../stores/store.ts'
import { BUDGET } from '../../stores/time-budget.ts'
import { segments } from '../counts-for-metrics.ts'
import { BlockSupply } from './block-supply.ts'
import { readId, readOptions } from './segment-options.ts'

/** What open() builds a member from. */
export interface Parts {
  name: string
  block: number
  durable: boolean
  store: SlotStore
  /** ends the store's client, if it is ours */
  close: () => Promise<void>
}

/** Counts of a member. */
export interface SegmentStats {
  /** IDs handed out */
  ids: number
  /** numbers taken from the counter, in blocks */
  taken: number
  /** IDs that can be handed out without the store */
  buffered: number
  /** numbers taken but never handed out: skipped by `init` or `skipTo`, or left over by `close` */
  dropped: number
  /** how often calls waited for a block */
  waits: number
  /** the total duration of all waits, in ms */
  waitedMs: number
  /** when this count began */
  since: Date
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const MAKING = Symbol('made by open()')

/**
 * Generates small consecutive numbers as 8-byte IDs, as Hazelcast's IdGenerator does. A counter on the store grows by a block
 * at a time. Each member hands out numbers from its own block, and fetches the next block before that one is used up. A member
 * that uses up a block within a few ms takes several at a time: enough for about 20 ms, but at most a sixteenth of all that it
 * has taken before.
 *
 * The calls for bytes, bigints and text, and `for await`, are those of `FlakeId`. There is no `nextNumber()`, `takeNumbers()`
 * or `decode()`, because the numbers have no layout and may exceed 2^53.
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
  #calls
  #since = new Date(unixNow())
  #waits = 0
  #waitedMs = 0
  #closing: Promise<void> | undefined

  /**
   * Opens a counter and takes the first block. If the store may have lost blocks, the promise still resolves, but calls throw
   * until `skipTo` sets where to continue.
   * @param options `name`: the counter's name. `block`: how many IDs to take at a time, 1…2^32, default 10,000; a member that
   * ends loses the IDs that it still holds, up to twice what it takes at a time. `init`: a counter that does not exist yet
   * begins after this value. `durable`: your promise that the store never loses acknowledged writes, as in `LeaseOptions`,
   * default false. A restart of the server then does not stop the counter. All members must agree on this option.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of bounds, or the server contradicts `durable`.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the counter was created with a different value of `durable` (`theirs`,
   * `ours`).
   * @throws {Error} `ERR_FLAKE_STORE`: the store failed (`cause`), or refuses, as a read-only server does.
   * @throws {Error} `ERR_FLAKE_RECORD`: the counter's record cannot be read, or was written by a newer version of flakeforge
   * (`group`: the counter's name, `record`). Nothing was written over it.
   */
  static open(
    store: Store | string | readonly string[] | null | undefined,
    options: {
      name: string
      block?: number | string | null | undefined
      init?: bigint | number | null | undefined
      durable?: boolean | null | undefined
    },
    ...more: never[]
  ): Promise<SegmentId>
  static async open(given: unknown, givenOptions: unknown, ...more: unknown[]) {
    refuseMore('SegmentId.open', more, 'only a store and options')
    checkStore(given, 'SegmentId.open')
    const { name, block, init, durable } = readOptions(givenOptions)
    const { store, close } = openGiven(given)
    const segment = new SegmentId(MAKING, { name, block, durable, store, close })
    try {
      await segment.#supply.begin(init)
      segments.add(segment.#supply)
      return segment
    } catch (error) {
      await close()
      throw error
    }
  }

  private constructor(key: unknown, parts: Parts) {
    if (key !== MAKING) {
      throw errors.optionError(
        TypeError,
        'options',
        key,
        'A SegmentId is created by await SegmentId.open(store, { name })',
      )
    }
    this.#name = parts.name
    this.#block = parts.block
    this.#supply = new BlockSupply(parts.store, parts, () => this.#calls.wake())
    this.#calls = new Calls(this.#source(), NODE)
    this.#onClose = parts.close
    keepHere(this)
  }

  /**
   * Identifies the counter, as 16 hex digits: random bits that the store recorded when the counter was created or `skipTo` was
   * called. Counters with the same name on two stores have different digits. Undefined until the member has had its first
   * block.
   */
  get lineage(): string | undefined {
    return this.#supply.lineage
  }

  /**
   * One ID: 8 bytes, big-endian.
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: the fetched blocks are used up, and the event loop has to run before the next one
   * can arrive.
   * @throws {Error} `ERR_FLAKE_STORE`: the last call to the store failed (`cause`) or was refused, and no other call is
   * pending; or the store may have lost blocks, and their IDs could be repeated: see `skipTo`. With files it is
   * `ERR_FLAKE_FILE` (`path`).
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  next(): Buffer
  next(callback: null | undefined): Buffer
  /** One ID for a callback. It waits for a block if none is left. The callback gets an error only if waiting does not help. */
  next(callback: NextCallback<Buffer>): void
  next(callback?: unknown) {
    if (callback !== undefined && callback !== null) return this.#calls.call(callback)
    return this.#one()
  }

  /** Like `next(callback)`, as a promise. */
  nextAsync(options?: SignalOptions | null, ...more: never[]): Promise<Buffer> {
    return this.#calls.one(options, more)
  }

  /** Like `next()`, as a bigint: the fastest form of an ID. */
  nextBigInt(): bigint {
    return this.#supply.next()
  }

  /**
   * `n` IDs in order, 8 bytes each, big-endian: all of them, or an error if the member holds fewer. After an error, the member
   * keeps its IDs for other calls and fetches the missing ones, so that a later call succeeds.
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
   * Like `next()`, as text: the same as `format(next(), base)`.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of the text, as in `format`
   * @throws as `next()`
   * @example
   * invoices.nextString('dec', { prefix: 'inv_' }) // 'inv_4711'
   */
  nextString(base?: Base | null, options?: Readonly<PrefixOptions> | null): string {
    const [code, prefix] = [baseCode(base), prefixOf(options, baseName(base))]
    putBigInt(this.nextBigInt())
    return prefix + spellPut(code)
  }

  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of each text, as in `format`
   */
  takeStrings(n: number, base?: Base | null, options?: Readonly<PrefixOptions> | null): string[] {
    const [code, prefix] = [baseCode(base), prefixOf(options, baseName(base))]
    return prefixed(prefix, toTexts(this.take(n), n, code))
  }

  /** Like `take(n)`, but waits as `next(callback)` does. A call that fails uses up no ID. */
  takeAsync(n: number, options?: SignalOptions | null, ...more: never[]): Promise<Buffer> {
    return this.#calls.batch(n, options, more)
  }

  /** An endless series of IDs, until the signal aborts. Each step waits as `nextAsync()` does. */
  ids(options?: IterationOptions | null, ...more: never[]): AsyncIterableIterator<Buffer> {
    return this.#calls.iterate(options, more)
  }

  /** An endless series of IDs. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer> {
    return this.#calls.iterate()
  }

  /** Counts of this member: numbers taken, IDs handed out, and how long calls waited for blocks. */
  get stats(): SegmentStats {
    const { given: ids, left: buffered, taken } = this.#supply
    const [waits, waitedMs, since] = [this.#waits, this.#waitedMs, new Date(this.#since)]
    return { ids, taken, buffered, dropped: taken - ids - buffered, waits, waitedMs, since }
  }

  /**
   * Sets where the counter starts: the next ID is `value` + 1. Call it at most once, before any ID. Resolves to false if it
   * was called too late; then nothing changes. Until it resolves, calls for IDs wait, or throw `ERR_FLAKE_OVERFLOW`.
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  async init(value: bigint | number, ...more: never[]): Promise<boolean> {
    refuseMore('init', more, 'only a number')
    return this.#supply.init(readId('value', value) + 1n)
  }

  /**
   * Lets all members continue at `value` or above. If the store has lost blocks, pass a value above all IDs that were ever
   * handed out.
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  async skipTo(value: bigint | number, ...more: never[]): Promise<void> {
    refuseMore('skipTo', more, 'only a number')
    await this.#supply.skipTo(readId('value', value))
  }

  /** Closes the member: the rest of its block is lost. The call waits at most 5 s for a store that does not answer. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** @internal */
  [INSPECT](...how: Parameters<typeof textOf>[2]) {
    return textOf(this, this.toJSON(), how)
  }

  /** What console.log shows, for logs. */
  toJSON(): object {
    const { left, isClosed } = this.#supply
    return { name: this.#name, block: this.#block, left, isClosed }
  }

  /** The source of IDs for the waiting calls. A batch gets all of its IDs at once, so one that fails uses up none. */
  #source(): Source<Buffer> {
    const claim = (call: Call<Buffer>) => {
      if (!this.#supply.has(call.n)) return false
      call.into = call.isBatch ? bigEndian(this.#supply.fill(memoryFor(call.n))) : this.#one()
      return true
    }
    return { most: mostOfACall(), claim, lack: () => this.#supply.lack(), waited: (ms) => this.#waited(ms) }
  }

  #one() {
    putBigInt(this.#supply.next())
    return idAsBuffer()
  }

  #waited(ms: number) {
    this.#waits++
    this.#waitedMs += ms
  }

  async #end() {
    await this.#supply.end()
    await within(this.#onClose(), BUDGET.CLIENT_END_MS)
  }
}

/** Memory for this many IDs. It is not zeroed; a new BigUint64Array would be. */
function memoryFor(n: number) {
  const bytes = Buffer.allocUnsafeSlow(readCount(n) * 8)
  return new BigUint64Array(bytes.buffer, bytes.byteOffset, n)
}

/** Converts these IDs from this machine's byte order into big-endian bytes, in place. */
function bigEndian(ids: BigUint64Array) {
  const bytes = Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
  return IS_LITTLE_ENDIAN ? bytes.swap64() : bytes
}
