// Written by `npm run dist` from lib/entries/remote.ts.

/// <reference lib="esnext.disposable" />
import {
  Base,
  FlakeError,
  FlakeErrorClass,
  FlakeErrorCode,
  PrefixOptions,
  RemoteFailure,
} from "./codec.js";

/** The options of `RemoteFlakeId.connect`. Integers may also be given as decimal text (`'7'`). */
interface RemoteOptions {
  /** The name that the IDs have on the servers: a group or a segment of their configuration. 1 to 128 characters. */
  name: string;
  /**
   * How many IDs to keep in memory, 1…10,000. Default 100. When half of them are used up, a request fetches more. Under load,
   * the client keeps as many as are used up within about 20 ms, up to 10,000, and returns to `prefetch` afterwards.
   */
  prefetch?: number | string | null | undefined;
  /**
   * How long fetched IDs are used before they are dropped, in ms. Default 600,000; 0 means forever. This limits the age of
   * the time in an ID.
   */
  validityMs?: number | string | null | undefined;
  /**
   * How long a server may take to answer, in ms, 1…2,147,483,647. Default 2,000. Then another server is asked. A server that
   * hangs delays calls by this time once, and again when the client next chooses that server, minutes later.
   */
  timeoutMs?: number | string | null | undefined;
  /**
   * How long a call keeps waiting while all servers fail, in ms. Default 10,000. Each call asks every server at least once, so
   * it may take longer by one `timeoutMs` per server. 0 means that each server is asked exactly once.
   */
  waitMs?: number | string | null | undefined;
  /** The bearer token of the servers. It is sent in a header, to these servers only, and appears in no error. */
  token?: string | null | undefined;
  /** Cancels `connect()`: the promise rejects with `signal.reason`. Later, the signal has no effect. */
  signal?: AbortSignal | null | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch | null | undefined;
}
/** Cancels a wait. */
interface SignalOptions {
  /**
   * Cancels the call: the promise rejects with `signal.reason` (an `AbortError` by default), and no number is taken. If the
   * signal has already aborted, the promise rejects at once.
   */
  signal?: AbortSignal | null | undefined;
}
/** Ends an iteration. */
interface IterationOptions {
  /** Ends the iteration without an error. No number is taken. */
  signal?: AbortSignal | null | undefined;
}
/** The callback of `next()`, which gets `(null, id)` or `(error)`. */
type NextCallback<Bytes> = {
  call(error: Error | null, id: Bytes): void;
}['call'];
/** Counts of a client. */
interface RemoteStats {
  /** IDs handed out */
  ids: number;
  /** requests sent, including failed ones */
  requests: number;
  /** requests sent because the previous one had failed */
  retries: number;
  /** IDs fetched but never handed out: too old, taken by a call that was then aborted, or left over by `close()` */
  dropped: number;
  /** IDs that can be handed out without a request */
  buffered: number;
  /** the URL of the server in use */
  server: string;
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
declare class RemoteFlakeId {
  #private;
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
  static connect(urls: string | URL | readonly (string | URL)[], options: Readonly<RemoteOptions>, ...more: never[]): Promise<RemoteFlakeId>;
  private constructor();
  /**
   * One ID: 8 bytes, big-endian, in a separate ArrayBuffer. In Node.js it is a Buffer.
   *
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: no ID is buffered. A request for more is pending, or starts now; `retryAfterMs` is when
   * they may arrive, and `cause` is why the last request brought none.
   * @throws {Error} the server's code, if it refused the last request for a reason that a retry cannot fix. The client
   * meanwhile asks the server again.
   * @throws {Error} `ERR_FLAKE_DETACHED`: the client was closed.
   */
  next(): Uint8Array;
  next(callback: null | undefined): Uint8Array;
  /**
   * One ID for a callback: `(null, id)`, always asynchronously and in the order of the calls. It waits for an answer if no ID
   * is buffered. The callback gets an error if all servers fail for `waitMs`, or if one refuses: see `connect`.
   *
   * @throws {TypeError} `ERR_FLAKE_OPTION`: the callback is not a function. No ID is taken.
   */
  next(callback: NextCallback<Uint8Array>): void;
  /**
   * Like `next(callback)`, as a promise.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason` and no ID is taken.
   * @throws {Error} `ERR_FLAKE_REMOTE`, `ERR_FLAKE_REPLAY` and the server's own codes, as `connect`; `ERR_FLAKE_DETACHED`:
   * the client was closed.
   */
  nextAsync(options?: SignalOptions | null, ...more: never[]): Promise<Uint8Array>;
  /**
   * Like `next()`, as a bigint from 0 to 2^64 − 1.
   * @throws as `next()`
   */
  nextBigInt(): bigint;
  /**
   * Like `next()`, as a number. It works with names whose IDs are below 2^53, as in layout `safe`: the number is the ID,
   * exact to the last digit.
   * @throws {RangeError} `ERR_FLAKE_OPTION`: a buffered ID is above 2^53 − 1. No ID is taken.
   * @throws otherwise as `next()`
   */
  nextNumber(): number;
  /**
   * Like `next()`, as text: the same as `format(next(), base)` of `flakeforge/codec`.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of the text, as in `format`
   * @throws as `next()`
   */
  nextString(base?: Base | null, options?: Readonly<PrefixOptions> | null): string;
  /**
   * `n` IDs, 8 bytes each, big-endian, from the buffered ones: all of them, or an error. After an error they stay buffered
   * for other calls, and the missing ones are fetched, so that a later call succeeds.
   * @param n 0…10,000,000
   * @throws as `next()`
   * @example
   * const ids = await flake.takeAsync(500) // however many are here
   */
  take(n: number): Uint8Array;
  /**
   * Like `take(n)`, as bigints.
   * @throws as `next()`
   */
  takeBigInts(n: number): BigUint64Array;
  /**
   * Like `take(n)`, as numbers, for the names that `nextNumber()` supports.
   * @throws as `nextNumber()`
   */
  takeNumbers(n: number): Float64Array;
  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of each text, as in `format`
   * @throws as `next()`
   */
  takeStrings(n: number, base?: Base | null, options?: Readonly<PrefixOptions> | null): string[];
  /**
   * Like `take(n)`, but waits for the missing ones. More than 10,000 arrive by several requests, one after the other.
   * @param n 0…10,000,000
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason`. IDs that the call has already taken
   * are lost; it takes no more.
   * @throws as `nextAsync()`
   */
  takeAsync(n: number, options?: SignalOptions | null, ...more: never[]): Promise<Uint8Array>;
  /**
   * The same iteration, with a signal: when it aborts, the loop ends without an error.
   * @example
   * for await (const id of flake.ids({ signal: AbortSignal.timeout(1000) })) await save(id)
   */
  ids(options?: IterationOptions | null, ...more: never[]): AsyncIterableIterator<Uint8Array>;
  /** An endless series of IDs. Each step calls `nextAsync()`, and waits as that does. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array>;
  /** counts of the IDs and requests so far */
  get stats(): RemoteStats;
  /**
   * Closes the client: its buffered IDs are lost, and waiting calls reject with `ERR_FLAKE_DETACHED`. If you drop a client
   * without closing it, it holds nothing on any server and does not keep the process alive.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /** What console.log shows, for logs. */
  toJSON(): object;
}
export {
  FlakeError,
  FlakeErrorClass,
  FlakeErrorCode,
  PrefixOptions,
  RemoteFailure,
  RemoteFlakeId,
  RemoteOptions,
  RemoteStats,
};
