// The types of flakeforge, and its reference: an editor shows what stands here.
//
// `export =` with a merged namespace, because that is what require('flakeforge') gives: the class, with every other
// export as a property of it. It serves `import X = require()`, default and named imports alike.
/// <reference types="node" />

/**
 * Makes 64-bit IDs that are unique and ordered by time, without asking anybody.
 *
 * An ID holds the time (42 bits of milliseconds since the epoch), the node number (datacenter and worker, 5 bits each)
 * and a counter (12 bits: 4 096 IDs per millisecond). Give each process its own node number; within a process any
 * number of generators, in worker threads too, share what they need to and never make an ID twice.
 *
 * @example
 * const FlakeId = require('flakeforge')
 * const flake = new FlakeId({ datacenter: 9, worker: 7 })
 * flake.next()       // <Buffer 68 7e 48 89 89 12 70 00>
 * flake.nextString() // '7529535382561648640'
 */
declare class FlakeId implements Iterable<Buffer>, AsyncIterable<Buffer> {
  /**
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of its bounds, of another type, or none at
   * all. Nothing is masked: a worker 32 is an error, not a worker 0.
   */
  constructor(options?: FlakeId.FlakeIdOptions | null)

  /**
   * One ID: 8 bytes, big-endian, in an ArrayBuffer of its own. The time is read at the call.
   * A call that throws has used up no number.
   *
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: this millisecond's counter is used up, for longer than `maxWaitMs`.
   * @throws {Error} `ERR_FLAKE_CLOCK_BACKWARDS`: the clock is behind the last ID, for longer than `maxWaitMs`.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the clock is before the epoch or past the layout's last tick.
   */
  next(): Buffer
  next(callback: null | undefined): Buffer
  /**
   * One ID for a callback: `(null, id)`, always asynchronously (by `process.nextTick`) and in the order of the calls.
   * Overflow and a clock step of any length are waited out, and the process stays alive meanwhile. The callback gets
   * an error only where waiting does not help (`ERR_FLAKE_TIME_RANGE`), or when an own `clock` threw one.
   *
   * @throws {TypeError} `ERR_FLAKE_OPTION`: the callback is no function. No number is taken.
   */
  next(callback: (error: Error | null, id: Buffer) => void): void
  /** As `next(callback)`, for a promise. */
  nextAsync(): Promise<Buffer>
  /** As `next()`, as a bigint from 0 to 2^64 − 1: the cheapest form of an ID. */
  nextBigInt(): bigint
  /**
   * As `next()`, as text: the same as `format(next(), base)`.
   * @param base default `'dec'`; `'base32'` is Crockford's, 13 characters, and sorts as the ID does
   */
  nextString(base?: FlakeId.Base): string

  /**
   * `n` IDs in order, 8 bytes each, big-endian: a fiftieth of what `n` calls of `next()` cost.
   *
   * Blocks as long as `n` IDs need at the layout's rate (1 ms for every 4 096), and up to `maxWaitMs` longer. A call
   * that throws has used up the numbers it took: they are lost, never repeated.
   *
   * @param n 0 or more
   * @throws as `next()`
   */
  take(n: number): Buffer
  /** As `take(n)`, as bigints. */
  takeBigInts(n: number): BigUint64Array
  /** As `take(n)`, but waits as `next(callback)` does instead of blocking. */
  takeAsync(n: number): Promise<Buffer>

  /** IDs without end; each step is a `next()`, and throws as it does. */
  [Symbol.iterator](): Iterator<Buffer>
  /** IDs without end; each step is a `nextAsync()`, and waits as it does. */
  [Symbol.asyncIterator](): AsyncIterator<Buffer>

  /** 0…31; undefined when `id` was given. */
  readonly datacenter: number | undefined
  /** 0…31; undefined when `id` was given. */
  readonly worker: number | undefined
  /** The whole node number, `datacenter << 5 | worker`: 0…1023. */
  readonly id: number
  /** Unix ms that timestamps count from. */
  readonly epoch: number
  /** What the bits mean, and until when they suffice. */
  readonly layout: FlakeId.Layout
  /**
   * What was made and waited for in this thread: by this generator and those with the same node number, epoch,
   * `seqMask` and `maxAheadMs`.
   */
  readonly stats: FlakeId.Stats
  /**
   * What an ID says, read with this generator's layout and epoch.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID.
   */
  decode(id: FlakeId.IdLike): FlakeId.Parts
}

declare namespace FlakeId {
  export { FlakeId, FlakeId as default }

  /**
   * An ID as it comes in anywhere: 8 big-endian bytes, a bigint, or text (`'123'` decimal, `'0x7b'` hex, `'0b1111011'`
   * binary). Never a number: 64 bits do not fit.
   */
  export type IdLike = Uint8Array | bigint | string

  export type LayoutName = 'flake'

  /** Integers may also come as decimal text (`'7'`), as environment variables do. `null` and `undefined` mean absent. */
  export interface FlakeIdOptions {
    /** 0…31, default 0 */
    datacenter?: number | string | null | undefined
    /** 0…31, default 0 */
    worker?: number | string | null | undefined
    /** instead of both: the whole node number, 0…1023 */
    id?: number | string | null | undefined
    /** Unix ms that timestamps count from, or a Date; not in the future; default: the layout's, which is 0 */
    epoch?: number | string | Date | null | undefined
    /** the largest counter to use: 1, 3, 7 … 4095 (the default); a smaller one makes fewer IDs per millisecond */
    seqMask?: number | string | null | undefined
    /** default `'flake'` */
    layout?: LayoutName | null | undefined
    /**
     * How many ms IDs may run ahead of the clock before overflow and a clock step count as such; default 0; may be
     * Infinity. What is borrowed dies with the process: after a restart with the same node number, make no ID before
     * the clock has passed the last one.
     */
    maxAheadMs?: number | string | null | undefined
    /** How many ms a synchronous call may block before it throws; default 0. It throws at once if it cannot succeed. */
    maxWaitMs?: number | string | null | undefined
    /**
     * The time, as Unix ms or as a bigint of Unix ns, instead of the system's: for tests and back-fills. Such a
     * generator shares its numbers with no other, so its IDs can equal another's.
     */
    clock?: (() => number | bigint) | null | undefined
  }

  /** What an ID says. */
  export interface Parts {
    /** Unix ms */
    timestamp: number
    /** the same as a Date */
    date: Date
    /** ticks (here: ms) since the epoch */
    tick: bigint
    /** counter inside the tick, 0…4095 */
    counter: number
    /** the whole node number, 0…1023 */
    id: number
    /** the node fields under their own names: `datacenter` and `worker` */
    [field: string]: unknown
  }

  /** What the 64 bits mean. */
  export interface Layout {
    readonly name: string
    /** Unix ms of tick 0 */
    readonly epoch: number
    /** names and widths, the most significant first */
    readonly fields: ReadonlyArray<readonly [name: string, bits: number]>
    /** the first instant that the layout can no longer express; with epoch 0: 2109-05-15 */
    readonly end: Date
    /** the first instant at which IDs no longer fit a signed 64-bit column; with epoch 0: 2039-09-07 */
    readonly signedEnd: Date
    /**
     * What an ID says.
     * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID.
     */
    decode(id: IdLike): Parts
  }

  export interface Stats {
    /** IDs made */
    ids: number
    /** native batches they were made in, by `take` and its like; single calls do not count */
    batches: number
    /** attempts that found the counter used up */
    overflows: number
    /** times the clock was seen to step back */
    clockSteps: number
    /** waits, blocking or not */
    waits: number
    /** ms they took together */
    waitedMs: number
    /** how many ms the last ID is ahead of the clock now; 0 when it is not */
    aheadMs: number
    /** since when all this is counted */
    since: Date
  }

  /** Decimal, hexadecimal, binary, octal, and Crockford's base 32. */
  export type Base = 'dec' | 'hex' | 'bin' | 'oct' | 'base32'

  export interface FormatOptions {
    /** put in front of all but decimal text */
    prefix?: string | undefined
    /** digits in a group, counted from the end */
    groupsize?: number | undefined
    /** what stands between groups; default a space */
    delimiter?: string | undefined
    /** what fills the text up at its front, repeated and cut to `size` */
    padstr?: string | undefined
    /** length to fill up to, prefix included; longer text stays as it is */
    size?: number | undefined
    /** binary only: without leading zeros */
    trim?: boolean | undefined
    /** byte order of the input; default `'BE'` */
    format?: 'BE' | 'LE' | undefined
  }

  /**
   * Bytes of any length as text, with the call of biguint-format.
   *
   * Decimal, hex and octal have no leading zeros; binary has 8 digits a byte; base 32 has as many as the bytes need (13
   * for an ID). Text is an ID like any other here: `'0x50dd'` is hex, `'50'` decimal. The input is not changed.
   *
   * @param id bytes, an array of bytes, a bigint, or text
   * @param base default `'dec'`
   * @throws {TypeError} `ERR_FLAKE_ID`: it is no number.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an unknown base or option.
   * @example
   * format(id, 'hex', { prefix: '0x' })                   // '0x687e488989127000'
   * format(id, 'bin', { groupsize: 8, delimiter: '_' })   // '01101000_01111110_01001000_…'
   */
  export function format(
    id: IdLike | readonly number[],
    base?: Base | null,
    options?: Readonly<FormatOptions> | null,
  ): string
  /**
   * The 8 bytes that a text without options stands for: the inverse of `format(id, base)`. Letters of either case.
   * @param base default `'dec'`
   * @throws {TypeError} `ERR_FLAKE_ID`: a character that is no digit, no digits, or more than 64 bits.
   */
  export function parse(text: string, base?: Base | null): Buffer
  /**
   * The ID as a bigint from 0 to 2^64 − 1.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID.
   */
  export function toBigInt(id: IdLike): bigint
  /**
   * The ID as a signed 64-bit column stores it: from 2^63 on it is negative.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID.
   */
  export function toSigned(id: IdLike): bigint
  /**
   * The ID of a signed 64-bit value, −2^63…2^63 − 1.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is none.
   */
  export function fromSigned(value: bigint): Buffer
  /**
   * −1, 0 or 1, by unsigned value: what `sort` wants, and what `Buffer.compare` gives.
   * @throws {TypeError} `ERR_FLAKE_ID`: one of them is no ID.
   */
  export function compare(a: IdLike, b: IdLike): -1 | 0 | 1
}

export = FlakeId
