// Servers' IDs as users see them: the calls of FlakeId, without an addon and without a module of Node. The supply takes the
// IDs.

import type { IterationOptions, SignalOptions } from '../base/abort.ts'
import { throwIfAborted } from '../base/abort.ts'
import * as errors from '../base/errors/values.ts'
import { INSPECT, textOf } from '../base/inspect.ts'
import { newBytes } from '../base/objects.ts'
import { keepHere } from '../base/uncloneable.ts'
import { refuseMore } from '../base/values.ts'
import { checkCount } from '../calls/count.ts'
import { tell } from '../calls/portable-host.ts'
import type { Callback, NextCallback } from '../calls/source.ts'
import type { Base } from '../codec/bases.ts'
import { baseName, spell } from '../codec/bases.ts'
import { type PrefixOptions, prefixOf } from '../codec/prefix.ts'
import { ClientSupply, MOST_OF_A_CALL } from './client-supply.ts'
import type { RemoteOptions } from './options.ts'
import { type RemoteSettings, readConnectOptions } from './options.ts'

const MAKING = Symbol('made by connect()')

/** Counts of a client. */
export interface RemoteStats {
  /** IDs handed out */
  ids: number
  /** requests sent, including failed ones */
  requests: number
  /** requests sent because the previous one had failed */
  retries: number
  /** IDs fetched but never handed out: too old, taken by a call that was then aborted, or left over by `close()` */
  dropped: number
  /** IDs that can be handed out without a request */
  buffered: number
  /** the URL of the server in use */
  server: string
}

/**
 * Gets IDs from flakeforge-server, with the same calls as `FlakeId`, for programs that cannot hold a node number or load an
 * addon: browsers, workers, functions. It needs only `fetch`.
 *
 * It fetches IDs ahead and serves them from memory, so a call costs as much as with `FlakeId`. It asks one server,
 * switches to another when that one fails, and chooses again every one to three minutes. One request is pending at a time;
 * calls that find no ID join the next one, which asks for up to 10,000.
 *
 * The IDs of one response ascend, except in layouts that spread them. IDs from different servers are in no particular order,
 * but no two are equal.
 *
 * @example
 * import { RemoteFlakeId } from 'flakeforge/remote'
 *
 * const flake = await RemoteFlakeId.connect('http://127.0.0.1:8080', { name: 'default' })
 * const id = await flake.nextAsync() // 8 bytes, as from FlakeId
 */
export class RemoteFlakeId {
  #name
  #supply
  #buffer
  #calls

  /**
   * Resolves after the first response from a server. From then on, synchronous calls can return IDs.
   *
   * @param urls of the servers, `http:` or `https:`, perhaps with a path (`'https://example.com/ids'`), without user,
   * password, `?` and `#`. The client begins with a random one.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is unknown, out of bounds or of the wrong type (`option`,
   * `value`; a token and a password are never shown).
   * @throws {Error} `ERR_FLAKE_REMOTE`: all servers failed for `waitMs`. The message names each with its reason, and so does
   * `failures`; `retryAfterMs` is set if one sent a Retry-After.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: a server generates IDs of a different group or layout than the previous
   * server, so IDs could be equal (`server`, `other`; `theirs`, `ours`). A recreated group is accepted if all servers show it.
   * @throws {Error} `ERR_FLAKE_REPLAY`: no server supplied IDs within `waitMs`, and an intermediary returned a response twice.
   * The IDs of the copy are not used. A proxy or cache must not cache POST, and must pass on the header `flakeforge-nonce`
   * (`failures`).
   * @throws {Error} a server refused for a reason that a retry cannot fix. The error has the server's code and message:
   * `ERR_FLAKE_NAME` (404: it has no such name), `ERR_FLAKE_TOKEN` (401), and so on (`server`, `status`).
   * @throws the signal's `reason`, if `signal` aborts first
   * @example
   * const flake = await RemoteFlakeId.connect(['https://ids-1.example', 'https://ids-2.example'], {
   *   name: 'orders',
   *   token: process.env.IDS_TOKEN,
   * })
   */
  static async connect(
    urls: string | URL | readonly (string | URL)[],
    options: Readonly<RemoteOptions>,
    ...more: never[]
  ): Promise<RemoteFlakeId> {
    refuseMore('RemoteFlakeId.connect', more, 'only URLs and options')
    const { settings, signal } = readConnectOptions(urls, options)
    throwIfAborted(signal)
    const remote = new RemoteFlakeId(MAKING, settings)
    try {
      await remote.#supply.begin(signal)
      return remote
    } catch (error) {
      await remote.close()
      throw error
    }
  }

  private constructor(key: unknown, settings: RemoteSettings) {
    if (key !== MAKING) {
      const message = 'A RemoteFlakeId is created by await RemoteFlakeId.connect(urls, { name })'
      throw errors.optionError(TypeError, 'options', key, message)
    }
    this.#name = settings.name
    this.#supply = new ClientSupply(settings)
    this.#buffer = this.#supply.buffer
    this.#calls = this.#supply.calls
    keepHere(this)
  }

  /**
   * One ID: 8 bytes, big-endian, in a separate ArrayBuffer. In Node.js it is a Buffer.
   *
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: no ID is buffered. A request for more is pending, or starts now; `retryAfterMs` is when
   * they may arrive, and `cause` is why the last request brought none.
   * @throws {Error} the server's code, if it refused the last request for a reason that a retry cannot fix. The client
   * meanwhile asks the server again.
   * @throws {Error} `ERR_FLAKE_DETACHED`: the client was closed.
   */
  next(): Uint8Array
  next(callback: null | undefined): Uint8Array
  /**
   * One ID for a callback: `(null, id)`, always asynchronously and in the order of the calls. It waits for an answer if no ID
   * is buffered. The callback gets an error if all servers fail for `waitMs`, or if one refuses: see `connect`.
   *
   * @throws {TypeError} `ERR_FLAKE_OPTION`: the callback is not a function. No ID is taken.
   */
  next(callback: NextCallback<Uint8Array>): void
  next(callback?: unknown): any {
    if (callback !== undefined && callback !== null) return this.#call(callback)
    const id = newBytes(8)
    if (this.#buffer.ready === 0) this.#supply.copyTo(id)
    else this.#buffer.copyTo(id)
    return id
  }

  /**
   * Like `next(callback)`, as a promise.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason` and no ID is taken.
   * @throws {Error} `ERR_FLAKE_REMOTE`, `ERR_FLAKE_REPLAY` and the server's own codes, as `connect`; `ERR_FLAKE_DETACHED`:
   * the client was closed.
   */
  nextAsync(options?: SignalOptions | null, ...more: never[]): Promise<Uint8Array> {
    const id = options === undefined && more.length === 0 ? this.#supply.atOnce(1) : undefined
    return id === undefined ? this.#calls.one(options, more) : Promise.resolve(id)
  }

  /**
   * Like `next()`, as a bigint from 0 to 2^64 − 1.
   * @throws as `next()`
   */
  nextBigInt(): bigint {
    return this.#buffer.ready === 0 ? this.#supply.nextBigInt() : this.#buffer.nextBigInt()
  }

  /**
   * Like `next()`, as a number. It works with names whose IDs are below 2^53, as in layout `safe`: the number is the ID,
   * exact to the last digit.
   * @throws {RangeError} `ERR_FLAKE_OPTION`: a buffered ID is above 2^53 − 1. No ID is taken.
   * @throws otherwise as `next()`
   */
  nextNumber(): number {
    this.#supply.assertExact()
    return Number(this.nextBigInt())
  }

  /**
   * Like `next()`, as text: the same as `format(next(), base)` of `flakeforge/codec`.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of the text, as in `format`
   * @throws as `next()`
   */
  nextString(base?: Base | null, options?: Readonly<PrefixOptions> | null): string {
    const name = baseName(base) // before an ID is taken
    const prefix = prefixOf(options, name)
    return prefix + spell(this.nextBigInt(), 8, name)
  }

  /**
   * `n` IDs, 8 bytes each, big-endian, from the buffered ones: all of them, or an error. After an error they stay buffered
   * for other calls, and the missing ones are fetched, so that a later call succeeds.
   * @param n 0…10,000,000
   * @throws as `next()`
   * @example
   * const ids = await flake.takeAsync(500) // however many are here
   */
  take(n: number): Uint8Array {
    const ids = newBytes(checkCount(n, MOST_OF_A_CALL) * 8)
    this.#supply.fill(ids)
    return ids
  }

  /**
   * Like `take(n)`, as bigints.
   * @throws as `next()`
   */
  takeBigInts(n: number): BigUint64Array {
    const view = viewOf(this.take(n))
    return BigUint64Array.from({ length: n }, (_, i) => view.getBigUint64(i * 8))
  }

  /**
   * Like `take(n)`, as numbers, for the names that `nextNumber()` supports.
   * @throws as `nextNumber()`
   */
  takeNumbers(n: number): Float64Array {
    this.#supply.assertExact()
    const view = viewOf(this.take(n))
    return Float64Array.from({ length: n }, (_, i) => Number(view.getBigUint64(i * 8)))
  }

  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of each text, as in `format`
   * @throws as `next()`
   */
  takeStrings(n: number, base?: Base | null, options?: Readonly<PrefixOptions> | null): string[] {
    const name = baseName(base)
    const prefix = prefixOf(options, name)
    const view = viewOf(this.take(n))
    return Array.from({ length: n }, (_, i) => prefix + spell(view.getBigUint64(i * 8), 8, name))
  }

  /**
   * Like `take(n)`, but waits for the missing ones. More than 10,000 arrive by several requests, one after the other.
   * @param n 0…10,000,000
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason`. IDs that the call has already taken
   * are lost; it takes no more.
   * @throws as `nextAsync()`
   */
  takeAsync(n: number, options?: SignalOptions | null, ...more: never[]): Promise<Uint8Array> {
    const ids = options === undefined && more.length === 0 ? this.#supply.atOnce(n) : undefined
    return ids === undefined ? this.#calls.batch(n, options, more) : Promise.resolve(ids)
  }

  /**
   * The same iteration, with a signal: when it aborts, the loop ends without an error.
   * @example
   * for await (const id of flake.ids({ signal: AbortSignal.timeout(1000) })) await save(id)
   */
  ids(options?: IterationOptions | null, ...more: never[]): AsyncIterableIterator<Uint8Array> {
    return this.#calls.iterate(options, more)
  }

  /** An endless series of IDs. Each step calls `nextAsync()`, and waits as that does. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    return this.#calls.iterate()
  }

  /** counts of the IDs and requests so far */
  get stats(): RemoteStats {
    return this.#supply.stats
  }

  /**
   * Closes the client: its buffered IDs are lost, and waiting calls reject with `ERR_FLAKE_DETACHED`. If you drop a client
   * without closing it, it holds nothing on any server and does not keep the process alive.
   */
  async close(): Promise<void> {
    this.#supply.close()
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
    return { name: this.#name, ...this.stats }
  }

  #call(callback: unknown) {
    const id = typeof callback === 'function' ? this.#supply.atOnce(1) : undefined
    if (id === undefined) this.#calls.call(callback)
    else tell(callback as Callback<Uint8Array>, Promise.resolve(id))
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)
