'use strict'
// @ts-check

// The generator as users see it. It picks the native call, turns the result into Buffers, BigInts and errors, and
// waits. It must never take a number itself: only the core does.
// What the first ID does not need is loaded when it is first used: each file takes 0.2 ms.

const hot = require('../native/hot.js')
const { CLOCK, errors } = require('../base/check.js')
const { layoutOf } = require('../codec/layout.js')
const { lookAhead, readCount } = require('./options.js')
const { NO_INDEX, OpenedGenerator } = require('./opened-generator.js')
const { monotonicNow } = require('../base/timers.js')

/**
 * A raw function that takes the IDs of a batch.
 * @typedef {typeof hot.fillBytes} Fill
 *
 * @import { Problem, Stats } from '../../target/native.d.ts'
 * @import { Lease } from './opened-generator.js'
 * @import { Callback, Waiters, Wish } from './waiters.js'
 */

const { STATUS, batch, claim, claimFloat, claimText, few, fillBytes, fillFloats, fillNumbers } = hot
const { idAsBuffer, index, some } = hot
const INSPECT = Symbol.for('nodejs.util.inspect.custom') // as in lib/base/inspect.js, which need not be loaded for it
const OWN_CLOCK_POLL_MS = 1 // a user's clock may run at any speed, so we ask it again soon
const MOST_BACK_OFF_MS = 8 // beyond that a call waits noticeably longer, and hardly fewer tries fail

// What a lease may do with its generator. Users cannot reach these: only the class can make them.

/**
 * Continues with another node number.
 * @type {(flake: FlakeId, opened: OpenedGenerator) => void}
 */
let attach
/**
 * Makes no ID until it is attached again.
 * @type {(flake: FlakeId) => void}
 */
let detach
/**
 * Closes what makes its IDs for good, and with it a slot's file.
 * @type {(flake: FlakeId) => void}
 */
let end
/**
 * Tries again for the calls that wait, because something has changed.
 * @type {(flake: FlakeId) => void}
 */
let wake
/**
 * What console.log shows of it.
 * @type {(flake: FlakeId) => { layout: string, node: Record<string, number> } & Record<string, unknown>}
 */
let shownOf

class FlakeId {
  #index // how native code knows this generator
  #clock // undefined: the system's clock
  #native
  #options
  #lease // undefined: the node number is this generator's own
  /** @type {Waiters | undefined} */
  #waiters // undefined: no call has waited yet. Made when one does, because a generator may live for one ID only
  /** @type {Wish | undefined} */
  #one // the wish of a call that waits for one ID; made when one does

  static {
    attach = (flake, { options, native }) => {
      flake.#options = options
      flake.#native = native
      flake.#index = native.index
      flake.#waiters?.serve()
    }
    detach = (flake) => {
      flake.#index = NO_INDEX
    }
    end = (flake) => flake.#native.close()
    wake = (flake) => flake.#waiters?.serve()
    shownOf = (flake) => {
      const { facts, nodes, node, seqMask, maxAheadMs, maxWaitMs, prefetch, shared, clock } = flake.#options
      return {
        layout: facts.name,
        node: { ...nodes, id: node },
        epoch: new Date(facts.epoch),
        ...{ seqMask, maxAheadMs, maxWaitMs, prefetch, shared, clock },
      }
    }
  }

  /** @param {unknown} [options] */
  constructor(options) {
    const opened = options instanceof OpenedGenerator ? options : OpenedGenerator.of(options)
    this.#options = opened.options
    this.#native = opened.native
    this.#index = opened.native.index
    this.#clock = opened.options.clock
    this.#lease = opened.lease
  }

  /** @param {Callback | null} [callback] */
  next(callback) {
    if (callback !== undefined && callback !== null) {
      if (typeof callback !== 'function') throw errors().optionTypeError('callback', callback, 'a function')
      this.#submit(callback)
      return
    }
    this.#claim()
    return idAsBuffer()
  }

  nextBigInt() {
    this.#claim()
    return hot.id[0]
  }

  nextNumber() {
    const status = this.#claimFloatOnce()
    if (status !== STATUS.OK) this.#insist(status, () => this.#claimFloatOnce())
    return hot.float[0]
  }

  /** @param {string} [base] */
  nextString(base) {
    const code = base === undefined ? 0 : texts().baseCode(base)
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    hot.base[0] = code
    const text = claimText()
    if (typeof text === 'string') return text
    this.#insist(this.#elsewhere(text))
    hot.base[0] = code // a user's clock, asked in between, may have formatted something
    return hot.spell()
  }

  /**
   * @param {unknown} [options]
   * @returns {Promise<Buffer>}
   */
  nextAsync(options) {
    if (options === undefined) return waiting().promised((callback) => this.next(callback))
    const { abortableBy } = require('../base/abort.js')
    return abortableBy(options, (callback) => this.#submitLater(callback))
  }

  /** @param {number} n */
  take(n) {
    const count = readCount(n)
    return this.#take(fillBytes, few, count) ?? hot.fewAsBuffer(count)
  }

  /** @param {number} n */
  takeBigInts(n) {
    const count = readCount(n)
    const ids = this.#take(fillNumbers, few, count)
    return ids === undefined ? hot.fewAsNumbers(count) : new BigUint64Array(ids.buffer, ids.byteOffset, count)
  }

  /** @param {number} n */
  takeNumbers(n) {
    const count = readCount(n)
    const ids = this.#take(fillFloats, few, count)
    return ids === undefined ? hot.fewAsFloats(count) : new Float64Array(ids.buffer, ids.byteOffset, count)
  }

  /**
   * @param {number} n
   * @param {string} [base]
   */
  takeStrings(n, base) {
    const [count, code] = [readCount(n), texts().baseCode(base)]
    return texts().toTexts(this.#take(fillBytes, some, count) ?? some, count, code)
  }

  /**
   * @param {number} n
   * @param {unknown} [options]
   * @returns {Promise<Buffer>}
   */
  takeAsync(n, options) {
    if (options === undefined) return waiting().promised((callback) => this.#submit(callback, this.#wishForBatch(n)))
    const { abortableBy } = require('../base/abort.js')
    return abortableBy(options, (callback) => this.#submitLater(callback, this.#wishForBatch(n)))
  }

  /** @param {unknown} [options] */
  ids(options) {
    const { signalOf } = require('../base/abort.js')
    const signal = signalOf(options)
    if (signal === undefined) return this[Symbol.asyncIterator]()
    const { IdIterator } = require('../base/id-iterator.js')
    return new IdIterator((callback) => this.#submitLater(callback), signal)
  }

  [Symbol.asyncIterator]() {
    const { IdIterator } = require('../base/id-iterator.js')
    return new IdIterator((callback) => this.#submit(callback))
  }

  get datacenter() {
    return this.#options.nodes.datacenter
  }

  get worker() {
    return this.#options.nodes.worker
  }

  get id() {
    return this.#options.node
  }

  get epoch() {
    return this.#options.facts.epoch
  }

  get layout() {
    return layoutOf(this.#options.facts)
  }

  get stats() {
    const { sinceMs, ...counts } = /** @type {Stats} */ (this.#native.stats())
    this.#lookAround()
    return { ...counts, since: new Date(sinceMs) }
  }

  /** @param {unknown} id */
  decode(id) {
    return this.layout.decode(id)
  }

  /** @param {[depth: number | null, options: object, inspect: Function]} how */
  [INSPECT](...how) {
    const { layout, node, ...others } = shownOf(this)
    const { textOf } = require('../base/inspect.js')
    return textOf(this, { layout, ...node, ...others }, how)
  }

  /** Takes an ID, which is then in the scratch array; blocks within maxWaitMs, or throws. */
  #claim() {
    const status = this.#claimOnce()
    if (status !== STATUS.OK) this.#insist(status)
  }

  /**
   * Calls `callback` with what `wish` wants, which is one ID by default. Returns the waiter.
   * @param {Callback} callback
   * @param {Wish} [wish]
   */
  #submit(callback, wish) {
    const waiters = this.#waiters ?? this.#beginWaiting()
    return waiters.submit(callback, wish ?? this.#wishForOne())
  }

  /**
   * The same for a call that is likely to be cancelled.
   * @param {Callback} callback
   * @param {Wish} [wish]
   */
  #submitLater(callback, wish) {
    const waiters = this.#waiters ?? this.#beginWaiting()
    return waiters.submitLater(callback, wish ?? this.#wishForOne())
  }

  #beginWaiting() {
    const { Waiters } = waiting()
    this.#waiters = new Waiters((ms) => this.#waited(ms))
    return this.#waiters
  }

  #wishForOne() {
    this.#one ??= { attempt: () => this.#waitFor(this.#claimOnce()), result: idAsBuffer }
    return this.#one
  }

  /** @param {number} n */
  #wishForBatch(n) {
    const ids = Buffer.allocUnsafeSlow(readCount(n) * 8)
    const batch = this.#batch(fillBytes, ids, 0)
    return { attempt: () => this.#waitFor(batch.attempt()), result: () => ids }
  }

  /**
   * In how many ms to try again after a refusal; throws if waiting does not help.
   * @param {number} status
   */
  #waitFor(status) {
    if (status === STATUS.OK) return 0
    const ms = this.#lease?.isComing(status) ? longestMs() : this.#retryAfter(status)
    if (ms === Number.POSITIVE_INFINITY) throw this.#error(status)
    return ms
  }

  /** @param {number} status */
  #retryAfter(status) {
    if (status !== STATUS.OVERFLOW && status !== STATUS.CLOCK_BACKWARDS) return Number.POSITIVE_INFINITY
    if (status === STATUS.CLOCK_BACKWARDS) this.#tellOfStep()
    return this.#clock === undefined ? hot.refusal[0] : OWN_CLOCK_POLL_MS
  }

  /**
   * After a refusal of a synchronous call: blocks and tries again within maxWaitMs, or throws.
   * @param {number} status
   */
  #insist(status, attempt = () => this.#claimOnce()) {
    this.#block(status, attempt, () => 0)
  }

  #claimOnce() {
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    const status = claim()
    return status === undefined ? STATUS.OK : this.#elsewhere(status)
  }

  /** The same with an ID as a number. It is a function of its own, because a parameter would make every ID slower. */
  #claimFloatOnce() {
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    const status = claimFloat()
    if (status === undefined) return STATUS.OK
    return this.#lease?.elsewhere?.claimFloat(status) ?? status
  }

  /**
   * After a refusal: takes an ID from where the lease gets IDs while no slot gives any. Returns the status of that.
   * @param {number} status
   */
  #elsewhere(status) {
    return this.#lease?.elsewhere?.claim(status) ?? status
  }

  /**
   * Blocks this thread between tries, for `due()` ms plus maxWaitMs; throws at once if the next try would come later.
   * Only the planned length of a wait counts, and only after a try: a thread that was held up must not throw for that.
   * @param {number} refused
   * @param {() => number} attempt
   * @param {() => number} due
   */
  #block(refused, attempt, due) {
    let left = this.#options.maxWaitMs
    let vain = 0 // tries in a row in which others were faster
    for (let status = refused; status !== STATUS.OK; status = attempt()) {
      const ms = this.#retryAfter(status)
      const needed = due()
      const beyond = ms - needed
      if (beyond > left) throw this.#error(status)
      const longer = needed > 0 ? this.#untilAll(needed) - ms : Math.min(this.#backOff(vain++), left - beyond)
      const start = monotonicNow()
      pause(Math.min(ms + Math.max(longer, 0), longestMs()))
      const waited = monotonicNow() - start
      if (beyond > 0) left -= waited
      this.#waited(waited)
    }
  }

  #tellOfStep() {
    if (this.#clock !== undefined) return // it is the user's
    const [retryAfterMs, behindMs] = hot.refusal
    steps().refused(this.#native, this.#options, { behindMs, retryAfterMs })
  }

  /**
   * A wait is over.
   * @param {number} ms
   */
  #waited(ms) {
    this.#native.waited(ms)
    this.#lookAround()
  }

  /** Looks at what nobody needs to know in time, where it costs no ID anything: the layout's end, and the clock's steps. */
  #lookAround() {
    if (this.#clock !== undefined) return // then the present is what that clock says
    lookAhead(this.#options.facts)
    steps().look(this.#native, this.#options)
  }

  /**
   * How long a batch that needs `needed` ms may sleep at once: if IDs may run ahead, ticks that it sleeps through are
   * not lost. Half of that is kept as a reserve, in case the thread wakes too late.
   * @param {number} needed
   */
  #untilAll(needed) {
    return this.#clock === undefined ? Math.min(needed, this.#options.maxAheadMs / 2) : 0
  }

  /**
   * How many ms to sleep beyond the next tick, after so many failed tries. Otherwise all threads and processes that
   * wait for the same ticks would wake for each one, and only one of them gets it.
   * @param {number} vain
   */
  #backOff(vain) {
    if (vain === 0 || this.#clock !== undefined) return 0
    const { tickMs } = this.#options.facts
    return Math.min(vain, Math.floor(MOST_BACK_OFF_MS / tickMs)) * tickMs
  }

  /**
   * Makes n IDs. If they fit into `scratch` and need no wait, they are made there and it returns nothing. Otherwise it
   * returns a new Buffer with them.
   * @param {Fill} fill
   * @param {Uint8Array} scratch
   * @param {number} n
   */
  #take(fill, scratch, n) {
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

  /**
   * Fills the rest of `ids`, of which `made` are there already; blocks as long as that takes, plus maxWaitMs.
   * @param {Fill} fill
   * @param {Uint8Array} ids
   * @param {number} made
   */
  #fill(fill, ids, made) {
    const { attempt, due } = this.#batch(fill, ids, made)
    const status = attempt()
    if (status !== STATUS.OK) this.#block(status, attempt, due)
  }

  /**
   * Tries once to fill `ids` up to the `wanted`th; `batch` then says how many there are.
   * @param {Fill} fill
   * @param {Uint8Array} ids
   * @param {number} made
   * @param {number} wanted
   */
  #fillOnce(fill, ids, made, wanted) {
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    batch[0] = made
    batch[1] = wanted
    const status = fill(ids)
    if (status === undefined) return STATUS.OK
    return this.#lease?.elsewhere?.fill(status, fill, ids) ?? status
  }

  /**
   * A batch being filled. `due()` says how long it may wait without using up maxWaitMs: the time that the missing IDs
   * need at the layout's rate, or 0 after a wait that brought none.
   * @param {Fill} fill
   * @param {Uint8Array} ids
   * @param {number} first
   */
  #batch(fill, ids, first) {
    const { facts, seqMask } = this.#options
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

  /** Asks the user's clock before the scratch array is touched, because the clock may make IDs itself. */
  #setTime() {
    const now = this.#clock?.()
    if (typeof now !== 'bigint' && typeof now !== 'number') throw errors().optionTypeError('clock', now, CLOCK)
    if (typeof now === 'number' && !Number.isFinite(now)) throw errors().optionRangeError('clock', now, CLOCK)
    hot.putTime(now)
  }

  /** @param {number} status */
  #error(status) {
    const [retryAfterMs, behindMs, timestamp] = hot.refusal
    const { facts, seqMask, shared } = this.#options
    switch (status) {
      case STATUS.OVERFLOW:
        return errors().overflowError(retryAfterMs, seqMask + 1)
      case STATUS.CLOCK_BACKWARDS:
        return errors().clockBackwardsError(behindMs, retryAfterMs)
      case STATUS.TIME_RANGE:
        return errors().timeRangeError(timestamp, this.layout)
      case STATUS.NOT_EXACT:
        return errors().notExactError(facts.name, hot.nativeLayout(facts).exactEnd)
      case STATUS.NO_LONGER_EXACT:
        return errors().noLongerExactError(facts.name, hot.nativeLayout(facts).exactEnd)
      case STATUS.FILE:
        this.#lease?.isComing(status) // starts the search for another slot, for later calls
        return errors().problemError(/** @type {Problem} */ (this.#native.fault()), shared)
      default:
        return this.#lease?.error(status) ?? new Error(`flakeforge: unknown status ${status}, please report it`)
    }
  }
}

const longestMs = () => require('./event-loop.js').LONGEST_MS

// These are kept because require() takes longer than nextString().
/** @type {typeof import('../native/texts.js') | undefined} */
let textsFile
/** @type {typeof import('./waiters.js') | undefined} */
let waitersFile
/** @type {typeof import('./clock-steps.js') | undefined} */
let stepsFile

function texts() {
  textsFile ??= require('../native/texts.js')
  return textsFile
}

function waiting() {
  waitersFile ??= require('./waiters.js')
  return waitersFile
}

function steps() {
  stepsFile ??= require('./clock-steps.js')
  return stepsFile
}

/** @param {number} ms */
const pause = (ms) => require('../base/pause.js').pause(ms)

exports.FlakeId = FlakeId
exports.attach = attach
exports.detach = detach
exports.end = end
exports.wake = wake
exports.shownOf = shownOf
