// The generator as users see it. It picks the native call, turns the result into Buffers, BigInts and errors, and waits. Only
// the core takes numbers.

import type { Stats as Counts, Problem } from '../../src/native.d.ts'
import type { IterationOptions, SignalOptions } from '../base/abort.ts'
import { CLOCK } from '../base/check.ts'
import * as errors from '../base/errors.ts'
import { INSPECT, textOf } from '../base/inspect.ts'
import { monotonicNow } from '../base/timers.ts'
import { keepHere } from '../base/uncloneable.ts'
import { checkClock } from '../base/values.ts'
import { Calls } from '../calls/calls.ts'
import type { Call, NextCallback, Source } from '../calls/source.ts'
import { type Base, baseName } from '../codec/bases.ts'
import type { IdLike } from '../codec/ids.ts'
import type { Decode, Layout } from '../codec/layout.ts'
import { layoutOf, timeError } from '../codec/layout.ts'
import type { AnyLayout, Unspecified } from '../codec/node-fields.ts'
import { type PrefixOptions, prefixed, prefixOf } from '../codec/prefix.ts'
import { lookAhead } from '../layout/horizon.ts'
import * as hot from '../native/hot.ts'
import {
  batch,
  claim,
  claimFloat,
  claimText,
  few,
  fillBytes,
  fillFloats,
  fillNumbers,
  idAsBuffer,
  index,
  STATUS,
  some,
} from '../native/hot.ts'
import { baseCode, toTexts } from '../native/texts.ts'
import { look, refused } from './clock-steps.ts'
import { LONGEST_MS } from './event-loop.ts'
import { NODE } from './node-host.ts'
import { NO_INDEX, OpenedGenerator } from './opened-generator.ts'
import type { FlakeIdOptions } from './options.ts'
import { mostOfACall, readCount } from './options.ts'
import { claimFloatFrom, claimFrom, fillFrom } from './other-source.ts'

/** A raw function that takes the IDs of a batch. */
type Fill = typeof hot.fillBytes

const OWN_CLOCK_POLL_MS = 1 // custom clocks may run at any speed, so they are polled often
const MOST_BACK_OFF_MS = 8 // beyond that a call waits noticeably longer, and hardly fewer attempts fail

/** Counts of IDs and of waits. */
export interface Stats {
  /** IDs generated */
  ids: number
  /** batches of `take` and similar calls, and of prefetch; single calls do not count */
  batches: number
  /** attempts that found the counter used up */
  overflows: number
  /** how often the clock stepped back */
  clockSteps: number
  /** how many waits there were, blocking or not */
  waits: number
  /** the total duration of all waits, in ms */
  waitedMs: number
  /** how far the last ID is ahead of the clock at present, in ms; 0 if it is not */
  aheadMs: number
  /** when this count began */
  since: Date
}

// What a lease may do with its generator. Users cannot reach these functions: only the class can make them.

/** Continues with another node number. */
export let attach: (flake: FlakeId, opened: OpenedGenerator) => void
/** Generates no ID until it is attached again. */
export let detach: (flake: FlakeId) => void
/** Closes the source of its IDs permanently, and with it a slot's file. */
export let end: (flake: FlakeId) => void
/** Retries the waiting calls, because something has changed. */
export let wake: (flake: FlakeId) => void
/** What console.log shows of it. */
export let shownOf: (flake: FlakeId) => { layout: string; node: Record<string, number> } & Record<string, unknown>

/**
 * Generates 64-bit IDs that are ordered by time, and unique among generators with different node numbers.
 *
 * An ID holds the time, a node number and a counter. In the default layout, `flake`, these are 42 bits for the milliseconds
 * since the epoch, 5 bits each for datacenter and worker, and 12 bits for the counter: 4,096 IDs per millisecond. `layout`
 * selects the layout of another system, or your own. Give each process its own node number. Within a process, any number of
 * generators can share one, even across worker threads: they never generate the same ID twice.
 *
 * `L` is the name of the layout, or your own definition. It follows from the option `layout`. A plain `FlakeId`, as the type
 * of a variable or parameter, accepts a generator of any layout, but its `decode` has the fields of the default layout. For
 * the fields of another layout, write `FlakeId<'hazelcast'>`.
 *
 * @example
 * import { FlakeId } from 'flakeforge'
 * const flake = new FlakeId({ datacenter: 9, worker: 7 })
 * flake.next()       // <Buffer 68 7e 48 89 89 12 70 00>
 * flake.nextString() // '7529535382561648640'
 */
export class FlakeId<const L extends AnyLayout = Unspecified> implements AsyncIterable<Buffer> {
  /**
   * The parts of an ID, read with this generator's layout and epoch.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is not an ID, or not valid in this layout.
   */
  declare readonly decode: Decode<L>

  #index // the index by which native code knows this generator
  #clock // undefined: the system's clock
  #native
  #opened // its options are made on first access
  #lease // undefined: the generator has its own node number
  #calls: Calls<Buffer> | undefined // undefined: no call has waited yet. Created lazily, because a generator may live for one ID only

  static {
    attach = (flake, opened) => {
      flake.#opened = opened
      flake.#native = opened.native
      flake.#index = opened.native.index
      flake.#calls?.wake()
    }
    detach = (flake) => {
      flake.#index = NO_INDEX
    }
    end = (flake) => flake.#native.close()
    wake = (flake) => flake.#calls?.wake()
    shownOf = (flake) => {
      const { facts, nodes, node, seqMask, counterStart, maxAheadMs, maxWaitMs, prefetch, shared, clock } =
        flake.#opened.options
      return {
        layout: facts.name,
        node: { ...nodes, id: node },
        epoch: new Date(facts.epoch),
        seqMask,
        ...(counterStart === 0 ? {} : { counterStart }),
        maxAheadMs,
        maxWaitMs,
        prefetch,
        shared,
        clock,
      }
    }
  }

  /**
   * Generators with the same options share everything except the object itself, so creating one per request costs about a
   * microsecond. Generators with `clock` or `shared` share nothing.
   *
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is unknown, out of bounds, or of the wrong type. No value
   * is silently truncated: `worker: 32` is an error, not worker 0.
   */
  constructor(options?: FlakeIdOptions<L> | null) {
    const opened = options instanceof OpenedGenerator ? options : OpenedGenerator.of(options)
    this.#opened = opened
    this.#native = opened.native
    this.#index = opened.native.index
    this.#clock = opened.clock
    this.#lease = opened.lease
    keepHere(this)
  }

  /**
   * One ID: 8 bytes, big-endian, in a separate ArrayBuffer. The time is read at the call. A call that throws uses up no
   * number.
   *
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: the counter of this tick is used up, and the next tick begins later than `maxWaitMs`
   * allows.
   * @throws {Error} `ERR_FLAKE_CLOCK_BACKWARDS`: the clock is behind the last ID, by more than `maxWaitMs` allows.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the clock is before the epoch or after the layout's last tick.
   */
  next(): Buffer
  next(callback: null | undefined): Buffer
  /**
   * One ID for a callback: `(null, id)`, always asynchronously (by `process.nextTick`) and in the order of the calls. The call
   * waits for as long as an overflow or a clock step lasts, and keeps the process alive until then. The callback gets an error
   * only if waiting does not help (`ERR_FLAKE_TIME_RANGE`), or if your own `clock` threw one.
   *
   * If the callbacks take longer than about a millisecond, for example because each calls `next` again, the rest run in the
   * next turn of the event loop, so that timers, sockets and signals get their turn.
   *
   * @throws {TypeError} `ERR_FLAKE_OPTION`: the callback is not a function. No number is taken.
   */
  next(callback: NextCallback<Buffer>): void
  next(callback?: unknown) {
    if (callback !== undefined && callback !== null) return this.#waiting().call(callback)
    this.#claim()
    return idAsBuffer()
  }

  /** Like `next()`, as a bigint from 0 to 2^64 − 1: the fastest form of an ID. */
  nextBigInt(): bigint {
    this.#claim()
    return hot.id[0]
  }

  /**
   * Like `next()`, as a number, for columns and APIs that support only JavaScript numbers. The number is the ID, exact to the
   * last digit: it is at most 2^53 − 1 (`Number.MAX_SAFE_INTEGER`).
   *
   * It works with every layout whose IDs stay below 2^53 for the next ten years, whatever the node: `safe`, which is designed
   * for this, `chronicle-micros`, and your own layouts with at most 53 bits or sufficiently small IDs. This depends only on
   * the layout, not on the process. Once the layout's IDs have reached 2^53, calls throw and take no number.
   *
   * @throws {RangeError} `ERR_FLAKE_OPTION`: the layout's IDs are above 2^53 − 1, or will be within ten years. The message
   * gives the date.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the IDs were below 2^53 when the generator was created, and no longer are.
   * Or as `next()`.
   * @throws otherwise as `next()`
   * @example
   * const flake = new FlakeId({ layout: 'safe', node: 3 })
   * flake.nextNumber() // 890044416000192
   */
  nextNumber(): number {
    const status = this.#claimFloatOnce()
    if (status !== STATUS.OK) this.#insist(status, () => this.#claimFloatOnce())
    return hot.float[0]
  }

  /**
   * Like `next()`, as text: the same as `format(next(), base)`. Hex has no leading zeros:
   * `format(next(), 'hex', { padstr: '0', size: 16 })` always has 16 digits. In a database, columns of base 58 and 62 need a
   * binary collation.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of the text, as in `format`
   * @example
   * flake.nextString('base58', { prefix: 'ord_' }) // 'ord_FTQgaJCJ6rX'
   */
  nextString(base?: Base | null, options?: Readonly<PrefixOptions> | null): string {
    if (options !== undefined) return prefixOf(options, baseName(base)) + this.nextString(base)
    const code = base === undefined ? 0 : baseCode(base)
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    hot.base[0] = code
    const text = claimText()
    if (typeof text === 'string') return text
    this.#insist(this.#elsewhere(text))
    hot.base[0] = code // a user's clock, called in between, may have formatted something
    return hot.spell()
  }

  /**
   * Like `next(callback)`, as a promise.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason` and no number is taken.
   */
  nextAsync(options?: SignalOptions | null, ...more: never[]): Promise<Buffer> {
    return this.#waiting().one(options, more)
  }

  /**
   * `n` IDs in order, 8 bytes each, big-endian. This takes a fiftieth of the time of `n` calls of `next()`.
   *
   * The call blocks for as long as `n` IDs need at the layout's rate (1 ms for every 4,096), and up to `maxWaitMs` longer. If
   * it throws, the numbers that it has already taken are never used.
   *
   * @param n 0 or more
   * @throws as `next()`
   */
  take(n: number): Buffer {
    const count = readCount(n)
    return this.#take(fillBytes, few, count) ?? hot.fewAsBuffer(count)
  }

  /** Like `take(n)`, as bigints. */
  takeBigInts(n: number): BigUint64Array {
    const count = readCount(n)
    const ids = this.#take(fillNumbers, few, count)
    return ids === undefined ? hot.fewAsNumbers(count) : new BigUint64Array(ids.buffer, ids.byteOffset, count)
  }

  /**
   * Like `take(n)`, as numbers, for the layouts that `nextNumber()` supports.
   * @throws as `nextNumber()`
   */
  takeNumbers(n: number): Float64Array {
    const count = readCount(n)
    const ids = this.#take(fillFloats, few, count)
    return ids === undefined ? hot.fewAsFloats(count) : new Float64Array(ids.buffer, ids.byteOffset, count)
  }

  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of each text, as in `format`
   */
  takeStrings(n: number, base?: Base | null, options?: Readonly<PrefixOptions> | null): string[] {
    const [count, code, prefix] = [readCount(n), baseCode(base), prefixOf(options, baseName(base))]
    return prefixed(prefix, toTexts(this.#take(fillBytes, some, count) ?? some, count, code))
  }

  /**
   * Like `take(n)`, but waits as `next(callback)` does instead of blocking.
   * @param options `signal`: when it aborts, the promise rejects with `signal.reason`. Numbers that the call has already
   * taken are lost; it takes no more.
   */
  takeAsync(n: number, options?: SignalOptions | null, ...more: never[]): Promise<Buffer> {
    return this.#waiting().batch(n, options, more)
  }

  /**
   * The same iteration, with a signal: when it aborts, the loop ends without an error.
   * @example
   * for await (const id of flake.ids({ signal: AbortSignal.timeout(1000) })) await save(id)
   */
  ids(options?: IterationOptions | null, ...more: never[]): AsyncIterableIterator<Buffer> {
    return this.#waiting().iterate(options, more)
  }

  /**
   * An endless series of IDs. Each step calls `nextAsync()`, and waits as that does.
   *
   * The iterator's `return()` never waits. Pending calls of its `next()` then resolve as done and take no number.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer> {
    return this.#waiting().iterate()
  }

  /** 0…31; undefined if `id` was given, or if the layout has no such field */
  get datacenter(): number | undefined {
    return this.#opened.options.nodes.datacenter
  }

  /** 0…31; undefined if `id` was given, or if the layout has no such field */
  get worker(): number | undefined {
    return this.#opened.options.nodes.worker
  }

  /** the whole node number, `nodeOffset` included: all node fields joined; flake: `datacenter << 5 | worker`, 0…1023 */
  get id(): number {
    return this.#opened.options.node
  }

  /** Unix ms from which timestamps count */
  get epoch(): number {
    return this.#opened.options.facts.epoch
  }

  /** the meaning of the bits, and how long they last */
  get layout(): Layout<L> {
    return layoutOf(this.#opened.options.facts) as unknown as Layout<L>
  }

  /**
   * Counts of this thread: of this generator and all others with the same layout, node number and options (`maxWaitMs` may
   * differ).
   */
  get stats(): Stats {
    const { sinceMs, ...counts } = this.#native.stats() as Counts
    this.#lookAround()
    return { ...counts, since: new Date(sinceMs) }
  }

  // A property to the compiler (see Decode), a method at run time.
  ['decode' as string](id: IdLike) {
    return this.layout.decode(id)
  }

  /** @internal */
  [INSPECT](...how: [depth: number | null, options: object, inspect: Function]) {
    return textOf(this, this.toJSON(), how)
  }

  /**
   * What console.log shows, for logs. Do not pass the result as options: its `epoch` becomes text in JSON, which no generator
   * accepts.
   */
  toJSON(): object {
    const { layout, node, ...others } = shownOf(this)
    return { layout, ...node, ...others }
  }

  /** Takes an ID, which is then in the scratch array; blocks within maxWaitMs, or throws. */
  #claim() {
    const status = this.#claimOnce()
    if (status !== STATUS.OK) this.#insist(status)
  }

  /** The waiting calls. */
  #waiting() {
    this.#calls ??= new Calls(this.#source(), NODE)
    return this.#calls
  }

  /** The source of their IDs. */
  #source(): Source<Buffer> {
    let status = STATUS.OK // of the last claim
    const claim = (call: Call<Buffer>) => {
      status = call.isBatch ? this.#fillFor(call) : this.#claimFor(call)
      return status === STATUS.OK
    }
    return { most: mostOfACall(), claim, lack: () => this.#waitFor(status), waited: (ms) => this.#waited(ms) }
  }

  #claimFor(call: Call<Buffer>) {
    const status = this.#claimOnce()
    if (status === STATUS.OK) call.into = idAsBuffer()
    return status
  }

  /** A batch keeps the IDs that it has. */
  #fillFor(call: Call<Buffer>) {
    call.into ??= Buffer.allocUnsafeSlow(call.n * 8)
    const status = this.#fillOnce(fillBytes, call.into, call.made, call.n)
    call.made = batch[0]
    return status
  }

  /** In how many ms to retry after a refusal; throws if waiting does not help. */
  #waitFor(status: number) {
    const ms = this.#lease?.isComing(status) ? LONGEST_MS : this.#retryAfter(status)
    if (ms === Number.POSITIVE_INFINITY) throw this.#error(status)
    return ms
  }

  #retryAfter(status: number) {
    if (status !== STATUS.OVERFLOW && status !== STATUS.CLOCK_BACKWARDS) return Number.POSITIVE_INFINITY
    if (status === STATUS.CLOCK_BACKWARDS) this.#tellOfStep()
    return this.#clock === undefined ? hot.refusal[0] : OWN_CLOCK_POLL_MS
  }

  /** After a refusal of a synchronous call: blocks and retries within maxWaitMs, or throws. */
  #insist(status: number, attempt = () => this.#claimOnce()) {
    this.#block(status, attempt, () => 0)
  }

  #claimOnce() {
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    const status = claim()
    return status === undefined ? STATUS.OK : this.#elsewhere(status)
  }

  /** The same for an ID as a number. It is a separate function, because a parameter would make every ID slower. */
  #claimFloatOnce() {
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    const status = claimFloat()
    if (status === undefined) return STATUS.OK
    const source = this.#lease?.after(status)
    return source === undefined ? status : claimFloatFrom(source, this.#opened.options.facts)
  }

  /** After a refusal of the slot: takes an ID from the source that backs it. Returns the status of that. */
  #elsewhere(status: number) {
    const source = this.#lease?.after(status)
    return source === undefined ? status : claimFrom(source)
  }

  /**
   * Blocks this thread between attempts, for `due()` ms plus maxWaitMs; throws at once if the next attempt would come later.
   * Only the planned length of a wait counts, and only after an attempt: a thread that was held up must not throw for that.
   */
  #block(refused: number, attempt: () => number, due: () => number) {
    let left = this.#opened.options.maxWaitMs
    let vain = 0 // attempts in a row in which others were faster
    for (let status = refused; status !== STATUS.OK; status = attempt()) {
      const ms = this.#retryAfter(status)
      const needed = due()
      const beyond = ms - needed
      if (beyond > left) throw this.#error(status)
      const longer = needed > 0 ? this.#untilAll(needed) - ms : Math.min(this.#backOff(vain++), left - beyond)
      const start = monotonicNow()
      hot.pause(Math.min(ms + Math.max(longer, 0), LONGEST_MS))
      const waited = monotonicNow() - start
      if (beyond > 0) left -= waited
      this.#waited(waited)
    }
  }

  #tellOfStep() {
    if (this.#clock !== undefined) return // custom clocks step as the user likes
    const [retryAfterMs, behindMs] = hot.refusal
    refused(this.#native, this.#opened.options, { behindMs, retryAfterMs })
  }

  /** A wait is over. */
  #waited(ms: number) {
    this.#native.waited(ms)
    this.#lookAround()
  }

  /** Runs checks that are not urgent, where they slow down no ID: the layout's end, and the clock's steps. */
  #lookAround() {
    if (this.#clock !== undefined) return // then that clock defines the present
    lookAhead(this.#opened.options.facts)
    look(this.#native, this.#opened.options)
  }

  /**
   * How long a batch that needs `needed` ms may sleep at once: if IDs may run ahead, ticks during the sleep are not lost.
   * Half of that is kept as a reserve, in case the thread wakes too late.
   */
  #untilAll(needed: number) {
    return this.#clock === undefined ? Math.min(needed, this.#opened.options.maxAheadMs / 2) : 0
  }

  /**
   * How many ms to sleep beyond the next tick, after this many failed attempts. Otherwise all threads and processes that wait
   * for the same ticks would wake for each one, and only one of them gets it.
   */
  #backOff(vain: number) {
    if (vain === 0 || this.#clock !== undefined) return 0
    const { tickMs } = this.#opened.options.facts
    return Math.min(vain, Math.floor(MOST_BACK_OFF_MS / tickMs)) * tickMs
  }

  /**
   * Takes n IDs. If they fit into `scratch` and need no wait, they are put there and it returns undefined. Otherwise it
   * returns a new Buffer with them.
   */
  #take(fill: Fill, scratch: Uint8Array, n: number) {
    let made = 0
    if (n * 8 <= scratch.length) {
      if (this.#fillOnce(fill, scratch, 0, n) === STATUS.OK) return undefined
      made = batch[0]
    }
    const ids = Buffer.allocUnsafeSlow(n * 8)
    ids.set(scratch.subarray(0, made * 8))
    this.#fill(fill, ids, made)
    return ids
  }

  /** Fills the rest of `ids`, which has `made` IDs already; blocks as long as that takes, plus maxWaitMs. */
  #fill(fill: Fill, ids: Uint8Array, made: number) {
    const { attempt, due } = this.#batch(fill, ids, made)
    const status = attempt()
    if (status !== STATUS.OK) this.#block(status, attempt, due)
  }

  /** Tries once to fill `ids` up to the `wanted`th; `batch` then has the number of IDs. */
  #fillOnce(fill: Fill, ids: Uint8Array, made: number, wanted: number) {
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    batch[0] = made
    batch[1] = wanted
    const status = fill(ids)
    if (status === undefined) return STATUS.OK
    const source = this.#lease?.after(status)
    return source === undefined ? status : fillFrom(source, this.#opened.options.facts, fill, ids)
  }

  /**
   * A batch that is being filled. `due()` returns how long it may wait without using up maxWaitMs: the time that the missing
   * IDs need at the layout's rate, or 0 after a wait that brought none.
   */
  #batch(fill: Fill, ids: Uint8Array, first: number) {
    const { facts, seqMask } = this.#opened.options
    const { tickMs } = facts
    let made = first
    let tries = 0
    let brought = 0
    const attempt = () => {
      const status = this.#fillOnce(fill, ids, made, ids.length / 8)
      brought = batch[0] - made
      made += brought
      tries++
      return status
    }
    const due = () => {
      if (brought === 0 && tries > 1) return 0
      const needed = Math.ceil((ids.length / 8 - made) / (seqMask + 1)) * tickMs
      return this.#clock === undefined ? needed : Math.max(needed, OWN_CLOCK_POLL_MS)
    }
    return { attempt, due }
  }

  /** Calls the user's clock before the scratch array is touched, because the clock may generate IDs itself. */
  #setTime() {
    const now = this.#clock?.()
    if (typeof now !== 'bigint' && typeof now !== 'number') throw errors.optionTypeError('clock', now, CLOCK)
    if (typeof now === 'number' && !Number.isFinite(now)) throw errors.optionRangeError('clock', now, CLOCK)
    checkClock(now, this.#opened.options.facts.epoch)
    hot.putTime(now)
  }

  #error(status: number) {
    const [retryAfterMs, behindMs, timestamp] = hot.refusal
    const { facts, seqMask, shared } = this.#opened.options
    switch (status) {
      case STATUS.OVERFLOW:
        return errors.overflowError(retryAfterMs, seqMask + 1)
      case STATUS.CLOCK_BACKWARDS:
        return errors.clockBackwardsError(behindMs, retryAfterMs)
      case STATUS.TIME_RANGE:
        return timeError(timestamp, this.layout)
      case STATUS.NOT_EXACT:
        return errors.notExactError(facts.name, hot.nativeLayout(facts).exactEnd)
      case STATUS.NO_LONGER_EXACT:
        return errors.noLongerExactError(facts.name, hot.nativeLayout(facts).exactEnd)
      case STATUS.FILE:
        this.#lease?.isComing(status) // starts the search for another slot, for later calls
        return this.#lease?.error(status) ?? errors.problemError(this.#native.fault() as Problem, shared)
      default:
        return this.#lease?.error(status) ?? new Error(`flakeforge: unknown status ${status}, please report it`)
    }
  }
}
