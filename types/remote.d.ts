// IDs that flakeforge-server makes: `flakeforge/remote`. They must do without @types/node: pages and workers have none.
/// <reference lib="esnext.disposable" />

import { Base } from './ids.js'
import { IterationOptions, SignalOptions } from './options.js'

/** The options of `RemoteFlakeId.connect`. Integers may also be given as decimal text (`'7'`). */
export interface RemoteOptions {
  /** the name that the IDs have on the servers: a group or a segment of their configuration; 1 to 128 characters */
  name: string
  /**
   * How many IDs to keep at hand, 1…10 000; default 100. When half of them are used up, a request brings more. Under load
   * the client keeps as many as are used up within about 20 ms, up to 10 000, and goes back to `prefetch` afterwards.
   */
  prefetch?: number | string | null | undefined
  /**
   * For how many ms fetched IDs are handed out; later they are dropped. Default 600 000; 0 means for ever. It bounds how far
   * the time in an ID lies back.
   */
  validityMs?: number | string | null | undefined
  /**
   * How many ms a server may take for an answer, 1…2 147 483 647; default 2 000. Then another server is asked; so a server
   * that hangs delays calls by this once, and again when the client chooses it anew, minutes later.
   */
  timeoutMs?: number | string | null | undefined
  /**
   * How many ms a call goes on waiting while all servers fail; default 10 000. Each call has every server asked at least
   * once, so it may take longer by one `timeoutMs` for each of them. 0 means: once, and no more.
   */
  waitMs?: number | string | null | undefined
  /** the bearer token of the servers. It is sent in a header, to these servers only, and is in no error. */
  token?: string | null | undefined
  /** ends `connect()`: the promise rejects with `signal.reason`. Later it has no effect. */
  signal?: AbortSignal | null | undefined
  /** the function to make requests with; default the global `fetch` */
  fetch?: typeof globalThis.fetch | null | undefined
}

/** Why a server gave no IDs. */
export interface RemoteFailure {
  /** its URL */
  server: string
  /** what happened, as a sentence without its full stop */
  reason: string
  /** of its answer; undefined if there was none */
  status?: number
  /** one of our codes, if the server named one */
  code?: string
  /** if the server said when to come back */
  retryAfterMs?: number
}

/** Counts of a client. */
export interface RemoteStats {
  /** IDs handed out */
  ids: number
  /** requests sent, those without success too */
  requests: number
  /** requests sent because the one before them had failed */
  retries: number
  /** IDs fetched that nobody will get: too old, taken by a call that was then aborted, or left over by `close()` */
  dropped: number
  /** IDs that are here, to be handed out without a request */
  buffered: number
  /** the URL of the server in use */
  server: string
}

/**
 * IDs that flakeforge-server makes, with the calls of `FlakeId`. For programs that cannot hold a node number or load an
 * addon: browsers, workers, functions. It needs `fetch` and nothing else.
 *
 * It fetches IDs ahead and hands them out of memory, so a call costs what it costs with `FlakeId`. It asks one server, another
 * one when that fails, and chooses anew every one to three minutes. One request is under way at a time; calls that find no
 * ID here join the next one, which asks for up to 10 000.
 *
 * The IDs of one answer ascend, except in layouts that spread them. Those of two servers are in no order to each other,
 * within the time of one answer and the next. No two are equal.
 *
 * @example
 * import { RemoteFlakeId } from 'flakeforge/remote'
 *
 * const flake = await RemoteFlakeId.connect('http://127.0.0.1:8080', { name: 'default' })
 * const id = await flake.nextAsync() // 8 bytes, as of FlakeId
 */
export class RemoteFlakeId {
  private constructor()
  /**
   * Resolves with the first answer of a server. Then IDs are here for the synchronous calls.
   *
   * @param urls of the servers, `http:` or `https:`, perhaps with a path (`'https://example.com/ids'`), without user,
   * password, `?` and `#`. The client begins with one by chance.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is unknown, out of its bounds or of the wrong type
   * (`option`, `value`; a token and a password are never shown).
   * @throws {Error} `ERR_FLAKE_REMOTE`: all servers failed for `waitMs`. The message names each with its reason, and so does
   * `failures`; `retryAfterMs` if one said when to come back.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: a server makes IDs of another group or layout than the one before it, and
   * they could be equal (`server`, `other`; `theirs`, `ours`). A group that was made again is taken if all servers show it.
   * @throws {Error} a server refused for a reason that no other try can help. The error has the code of the server and what
   * it said: `ERR_FLAKE_NAME` (404: it has no such name), `ERR_FLAKE_TOKEN` (401), and so on (`server`, `status`).
   * @throws the signal's `reason`, if `signal` aborts first
   * @example
   * const flake = await RemoteFlakeId.connect(['https://ids-1.example', 'https://ids-2.example'], {
   *   name: 'orders',
   *   token: process.env.IDS_TOKEN,
   * })
   */
  static connect(
    urls: string | URL | readonly (string | URL)[],
    options: Readonly<RemoteOptions>,
  ): Promise<RemoteFlakeId>

  /**
   * One ID: 8 bytes, big-endian, in its own ArrayBuffer. In Node.js it is a Buffer.
   *
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: none is here. A request for more is under way, or starts now; `retryAfterMs` says
   * when they may be here, and `cause` why the last request brought none.
   * @throws {Error} the code of the server, if it refused the last request for a reason that no other try can help. It is
   * asked again meanwhile.
   * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
   */
  next(): Uint8Array
  next(callback: null | undefined): Uint8Array
  /**
   * One ID for a callback: `(null, id)`, always asynchronously and in the order of the calls. It waits for an answer if no
   * ID is here. The callback gets an error if all servers fail for `waitMs`, or if one refuses: see `connect`.
   *
   * @throws {TypeError} `ERR_FLAKE_OPTION`: the callback is not a function. No ID is taken.
   */
  next(callback: (error: Error | null, id: Uint8Array) => void): void
  /**
   * Like `next(callback)`, as a promise.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason` and no ID is taken.
   * @throws {Error} `ERR_FLAKE_REMOTE` and the server's own codes, as `connect`; `ERR_FLAKE_DETACHED`: it was closed.
   */
  nextAsync(options?: SignalOptions | null): Promise<Uint8Array>
  /**
   * Like `next()`, as a bigint from 0 to 2^64 − 1.
   * @throws as `next()`
   */
  nextBigInt(): bigint
  /**
   * Like `next()`, as text: the same as `format(next(), base)` of `flakeforge/codec`.
   * @param base default `'dec'`
   * @throws as `next()`
   */
  nextString(base?: Base | null): string

  /**
   * `n` IDs, 8 bytes each, big-endian, out of what is here: all of them, or an error. Then they stay here for other calls,
   * and the missing ones are fetched, so that a later call succeeds.
   * @param n 0…10 000 000
   * @throws as `next()`
   * @example
   * const ids = await flake.takeAsync(500) // however many are here
   */
  take(n: number): Uint8Array
  /**
   * Like `take(n)`, but waits for what is missing. More than 10 000 come by several requests, one after the other.
   * @param n 0…10 000 000
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason`. IDs that the call has already taken
   * are lost; it takes no more.
   * @throws as `nextAsync()`
   */
  takeAsync(n: number, options?: SignalOptions | null): Promise<Uint8Array>

  /** An endless series of IDs. Each step is a `nextAsync()` and waits like one. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array>
  /**
   * The same iteration, but you can end it: when the signal aborts, the loop ends without an error.
   * @example
   * for await (const id of flake.ids({ signal: AbortSignal.timeout(1000) })) await save(id)
   */
  ids(options?: IterationOptions | null): AsyncIterableIterator<Uint8Array>

  /** what was handed out and fetched so far */
  readonly stats: RemoteStats

  /**
   * Closes it: the IDs that are here are lost, and calls that wait reject with `ERR_FLAKE_DETACHED`. A client that is only
   * dropped holds nothing on any server, and does not keep the process alive.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
