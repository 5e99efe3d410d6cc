'use strict'

// The generator as users see it. It picks the native call, turns the result into Buffers, BigInts and errors, and
// waits. It must never take a number itself: only the core does.
// What the first ID does not need is loaded when it is first used: each file takes 0.2 ms.

const hot = require('./hot.js')
const { CLOCK } = require('../base/check.js')
const { readCount } = require('./options.js')
const { Setup } = require('./opened-generator.js')
const { monotonicNow } = require('../base/timers.js')

const errors = () => require('../base/errors.js') // loaded when the first one is made

const { STATUS, batch, claim, claimText, few, fillBytes, fillNumbers, index, some, toBuffer } = hot
const INSPECT = Symbol.for('nodejs.util.inspect.custom') // without loading node:util for it
const NO_INDEX = 2 ** 32 - 1 // no generator has it: calls are refused with NO_GENERATOR
const OWN_CLOCK_POLL_MS = 1 // a user's clock may run at any speed, so we ask it again soon
const MOST_BACK_OFF_MS = 8 // beyond that a call waits noticeably longer, and hardly fewer tries fail

class FlakeId {
  #index // how native code knows this generator
  #clock // undefined: the system's clock
  #native
  #options
  #lease // undefined: the node number is this generator's own
  #waiters // undefined: no call has waited yet. Made when one does, because a generator may live for one ID only
  #one // the wish of a call that waits for one ID; made with #waiters

  constructor(options) {
    const setup = options instanceof Setup ? options : Setup.of(options)
    this.#clock = setup.options.clock
    this.#lease = setup.lease
    FlakeId.attach(this, setup)
  }

  static join(store, options) {
    return require('../lease/join.js').join(store, options)
  }

  /** Continues with another node number; for lib/ only. */
  static attach(flake, { options, native }) {
    flake.#options = options
    flake.#native = native
    flake.#index = native.index
    flake.#waiters?.serve()
  }

  /** Makes no ID until it is attached again; for lib/ only. */
  static detach(flake) {
    flake.#index = NO_INDEX
  }

  /** Closes what makes its IDs for good, and with it a slot's file; for lib/ only. */
  static end(flake) {
    flake.#native.close()
  }

  /** Tries again for the calls that wait, because something has changed; for lib/ only. */
  static wake(flake) {
    flake.#waiters?.serve()
  }

  /** What console.log shows of it; for lib/ only. */
  static facts(flake) {
    const { facts, nodes, node, seqMask, maxAheadMs, maxWaitMs, prefetch, shared, clock } = flake.#options
    return {
      layout: facts.name,
      node: { ...nodes, id: node },
      epoch: new Date(facts.epoch),
      ...{ seqMask, maxAheadMs, maxWaitMs, prefetch, shared, clock },
    }
  }

  next(callback) {
    if (callback !== undefined && callback !== null) {
      if (typeof callback !== 'function') throw errors().optionTypeError('callback', callback, 'a function')
      this.#submit(callback)
      return
    }
    this.#claim()
    return toBuffer()
  }

  nextBigInt() {
    this.#claim()
    return hot.id[0]
  }

  nextString(base) {
    const code = base === undefined ? 0 : baseCode(base)
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    hot.base[0] = code
    const text = claimText()
    if (typeof text === 'string') return text
    this.#insist(text)
    hot.base[0] = code // a user's clock, asked in between, may have formatted something
    return hot.spell()
  }

  nextAsync(options) {
    if (options === undefined) return promised((callback) => this.next(callback))
    const { abortableBy } = require('../base/abort.js')
    return abortableBy(options, (callback) => this.#submitLater(callback))
  }

  take(n) {
    const count = readCount(n)
    return this.#take(fillBytes, few, count) ?? hot.fewToBuffer(count)
  }

  takeBigInts(n) {
    const count = readCount(n)
    const ids = this.#take(fillNumbers, few, count)
    return ids === undefined ? hot.fewToNumbers(count) : new BigUint64Array(ids.buffer, ids.byteOffset, count)
  }

  takeStrings(n, base) {
    const [count, code] = [readCount(n), baseCode(base)]
    return hot.toTexts(this.#take(fillBytes, some, count) ?? some, count, code)
  }

  takeAsync(n, options) {
    if (options === undefined) return promised((callback) => this.#submit(callback, this.#wishForBatch(n)))
    const { abortableBy } = require('../base/abort.js')
    return abortableBy(options, (callback) => this.#submitLater(callback, this.#wishForBatch(n)))
  }

  ids(options) {
    const { signalOf } = require('../base/abort.js')
    const signal = signalOf(options)
    if (signal === undefined) return this[Symbol.asyncIterator]()
    const { IdIterator } = require('./id-iterator.js')
    return new IdIterator((callback) => this.#submitLater(callback), signal)
  }

  [Symbol.asyncIterator]() {
    const { IdIterator } = require('./id-iterator.js')
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
    return this.#options.facts.layout
  }

  get stats() {
    const { sinceMs, ...counts } = this.#native.stats()
    return { ...counts, since: new Date(sinceMs) }
  }

  decode(id) {
    return this.layout.decode(id)
  }

  [INSPECT](...how) {
    const { node, ...others } = FlakeId.facts(this)
    const { look } = require('../base/inspect.js')
    return look(this, { layout: others.layout, ...node, ...others }, how)
  }

  /** Takes an ID, which is then in the scratch array; blocks within maxWaitMs, or throws. */
  #claim() {
    const status = this.#claimOnce()
    if (status !== STATUS.OK) this.#insist(status)
  }

  /** Calls `callback` with what `wish` wants, which is one ID by default. Returns the waiter. */
  #submit(callback, wish) {
    const waiters = this.#waiters ?? this.#beginWaiting()
    return waiters.submit(callback, wish ?? this.#one)
  }

  /** The same for a call that is likely to be cancelled. */
  #submitLater(callback, wish) {
    const waiters = this.#waiters ?? this.#beginWaiting()
    return waiters.submitLater(callback, wish ?? this.#one)
  }

  #beginWaiting() {
    this.#one = { attempt: () => this.#waitFor(this.#claimOnce()), result: toBuffer }
    const { Waiters } = require('./waiters.js')
    this.#waiters = new Waiters((ms) => this.#native.waited(ms))
    return this.#waiters
  }

  #wishForBatch(n) {
    const ids = Buffer.allocUnsafeSlow(readCount(n) * 8)
    const batch = this.#batch(fillBytes, ids, 0)
    return { attempt: () => this.#waitFor(batch.attempt()), result: () => ids }
  }

  /** In how many ms to try again after a refusal; throws if waiting does not help. */
  #waitFor(status) {
    if (status === STATUS.OK) return 0
    const ms = this.#lease?.isComing(status) ? longestMs() : this.#retryAfter(status)
    if (ms === Number.POSITIVE_INFINITY) throw this.#error(status)
    return ms
  }

  #retryAfter(status) {
    if (status !== STATUS.OVERFLOW && status !== STATUS.CLOCK_BACKWARDS) return Number.POSITIVE_INFINITY
    return this.#clock === undefined ? hot.refusal[0] : OWN_CLOCK_POLL_MS
  }

  /** After a refusal of a synchronous call: blocks and tries again within maxWaitMs, or throws. */
  #insist(status) {
    const attempt = () => this.#claimOnce()
    this.#block(status, attempt, () => 0)
  }

  #claimOnce() {
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    return claim() ?? STATUS.OK
  }

  /**
   * Blocks this thread between tries, for `due()` ms plus maxWaitMs; throws at once if the next try would come later.
   * Only the planned length of a wait counts, and only after a try: a thread that was held up must not throw for that.
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
      this.#native.waited(waited)
    }
  }

  /**
   * How long a batch that needs `needed` ms may sleep at once: if IDs may run ahead, ticks that it sleeps through are
   * not lost. Half of that is kept as a reserve, in case the thread wakes too late.
   */
  #untilAll(needed) {
    return this.#clock === undefined ? Math.min(needed, this.#options.maxAheadMs / 2) : 0
  }

  /**
   * How many ms to sleep beyond the next tick, after so many failed tries. Otherwise all threads and processes that
   * wait for the same ticks would wake for each one, and only one of them gets it.
   */
  #backOff(vain) {
    if (vain === 0 || this.#clock !== undefined) return 0
    const { tickMs } = this.#options.facts
    return Math.min(vain, Math.floor(MOST_BACK_OFF_MS / tickMs)) * tickMs
  }

  /**
   * Makes n IDs. If they fit into `scratch` and need no wait, they are made there and it returns nothing. Otherwise it
   * returns a new Buffer with them.
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

  /** Fills the rest of `ids`, of which `made` are there already; blocks as long as that takes, plus maxWaitMs. */
  #fill(fill, ids, made) {
    const { attempt, due } = this.#batch(fill, ids, made)
    const status = attempt()
    if (status !== STATUS.OK) this.#block(status, attempt, due)
  }

  /** Tries once to fill `ids` up to the `wanted`th; `batch` then says how many there are. */
  #fillOnce(fill, ids, made, wanted) {
    if (this.#clock !== undefined) this.#setTime()
    index[0] = this.#index
    batch[0] = made
    batch[1] = wanted
    return fill(ids) ?? STATUS.OK
  }

  /**
   * A batch being filled. `due()` says how long it may wait without using up maxWaitMs: the time that the missing IDs
   * need at the layout's rate, or 0 after a wait that brought none.
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
    const now = this.#clock()
    if (typeof now !== 'bigint' && typeof now !== 'number') throw errors().optionTypeError('clock', now, CLOCK)
    if (typeof now === 'number' && !Number.isFinite(now)) throw errors().optionRangeError('clock', now, CLOCK)
    hot.putTime(now)
  }

  #error(status) {
    const [retryAfterMs, behindMs, timestamp] = hot.refusal
    const { seqMask, shared } = this.#options
    switch (status) {
      case STATUS.OVERFLOW:
        return errors().overflowError(retryAfterMs, seqMask + 1)
      case STATUS.CLOCK_BACKWARDS:
        return errors().clockBackwardsError(behindMs, retryAfterMs)
      case STATUS.TIME_RANGE:
        return errors().timeRangeError(timestamp, this.layout)
      case STATUS.FILE:
        this.#lease?.isComing(status) // starts the search for another slot, for later calls
        return errors().problemError(this.#native.fault(), shared)
      default:
        return this.#lease?.error(status) ?? new Error(`flakeforge: unknown status ${status}, please report it`)
    }
  }
}

const longestMs = () => require('./event-loop.js').LONGEST_MS

let formatFile // kept here because require() takes longer than nextString()

function baseCode(base) {
  formatFile ??= require('../layout/format.js')
  return formatFile.baseCode(base)
}

const promised = (call) =>
  new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)))
  })

let cell

/** Blocks this thread: nobody ever wakes the cell, so the wait ends with its time. */
function pause(ms) {
  cell ??= new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(cell, 0, 0, ms)
}

module.exports = { FlakeId }
