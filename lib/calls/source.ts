// The interfaces behind the calls: a source of IDs, which each generator class provides, and a host, which is Node.js or any
// other runtime with promises.

/** A call that waits for IDs. */
export interface Call<Bytes extends Uint8Array = Uint8Array> {
  /** how many IDs it wants */
  readonly n: number
  /** whether it is a `takeAsync(n)`, which counts as a batch even for one ID */
  readonly isBatch: boolean
  /** how many of them it holds */
  made: number
  /** its IDs, 8 bytes each; the source makes the array when it has the first one */
  into: Bytes | undefined
  state: 'waiting' | 'done' | 'failed' | 'cancelled'
  /** the failure */
  error: unknown
  /** since when it has waited, if its source records that */
  since: number | undefined
  /** Gives the user the result. */
  tell(): void
}

export interface Source<Bytes extends Uint8Array> {
  /** the most IDs of one call */
  readonly most: number
  /** Appends IDs to `call.into` and adjusts `call.made`. Returns whether the call is complete. */
  claim(call: Call<Bytes>): boolean
  /**
   * After `claim()` returned false: in how many ms to retry if nothing calls `wake()` before. Infinity means that something
   * will call it. Throws if waiting does not help.
   */
  lack(call: Call<Bytes>): number
  /** A call waits behind others and was not tried. */
  queued?(call: Call<Bytes>): void
  /** A wait is over; it took this many ms. */
  waited?(ms: number): void
  /** The last waiting call was given up. */
  idle?(): void
}

/** Lets other code call `goOn()` of a queue. */
export type Resumable = { goOn(): void }

export type Callback<Bytes> = (error: any, id?: Bytes) => unknown

// A method's parameters are compared in both directions. So a callback may also be declared with an `Error` that is never null,
// as in the types of flake-idgen.
/** The callback of `next()`, which gets `(null, id)` or `(error)`. */
export type NextCallback<Bytes> = { call(error: Error | null, id: Bytes): void }['call']

export interface Host<Bytes extends Uint8Array> {
  /** A call for one ID. Its callback runs in the async context of the caller. */
  callOf(callback: Callback<Bytes>): Call<Bytes>
  /** Runs this after the current code. */
  soon(run: () => void): void
  /** Whether callbacks have run for so long that the event loop should turn. */
  isSliceOver(): boolean
  /** Makes a queue continue in the next turn of the event loop. */
  goOnNextTurn(queue: Resumable): void
  /** Makes a queue continue in this many ms, or earlier. */
  goOnIn(ms: number, queue: Resumable): void
  /** Undoes `goOnIn()`. */
  stopWaiting(queue: Resumable): void
}
