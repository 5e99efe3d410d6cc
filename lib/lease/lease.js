'use strict'

// Carries out what the holder's state machine (core/src/lease.rs) says: calls the store, keeps one timer, and tells its
// generator. It must never decide anything: lease.rs says when to renew, what a refusal means and when to give up.

const { randomBytes } = require('node:crypto')
const { throwIfAborted, unlessAborted } = require('../base/abort.js')
const { LeaseStore } = require('./lease-store.js')
const { STATUS } = require('../generator/hot.js')
const native = require('../native/index.js')
const { News } = require('./news.js')
const { within } = require('../base/in-time.js')
const { clearTimeout, setTimeout, unixNow } = require('../base/timers.js')
const {
  aheadError,
  closedLeaseError,
  destroyedError,
  detachedError,
  inUseError,
  leaseExpiredError,
  lostError,
  quietWarning,
  unansweredError,
  unreleasedError,
  windowEndError,
} = require('../base/errors.js')

const LONGEST_TIMER_MS = 2 ** 31 - 1
const POLL_MS = 10 // a guess for `retryAfterMs`: the event loop decides

/**
 * How long the last try for a slot may take. With all else that join() does, this makes it end a second after waitMs.
 */
const LAST_LOOK_MS = 900
/** How long detach() waits for the store. With all else that close() does, this makes it end after 5 s. */
const RELEASE_MS = 4_000

const NO_ID = -1

/** What the store's refusals mean to the machine. Any other error means that the store failed. */
const FAILURES = {
  ERR_FLAKE_QUIET: 'quiet',
  ERR_FLAKE_EXHAUSTED: 'exhausted',
  ERR_FLAKE_CLOCK_SKEW: 'skew',
  ERR_FLAKE_CONFIG_MISMATCH: 'fatal',
  ERR_FLAKE_OPTION: 'fatal',
  ERR_FLAKE_FILE: 'fatal',
  ERR_FLAKE_RECORD: 'fatal',
}

/**
 * What a lease does to its generator. All of this happens within a step, so none of it may call the lease.
 * @typedef {object} Holder
 * @property {(lo: number) => number} firstMs the ms in which the first tick at or after `lo` begins
 * @property {(grant: import('..').Grant) => Error | undefined} open makes IDs of this slot and window from now on, or
 * returns an error that says what else in this process has the slot's node number
 * @property {(window: { lo: number, hi: number }) => void} raise the window now ends at `hi`, and a new window begins
 * at `lo`
 * @property {() => number} seal makes no more IDs; returns the Unix ms of the last one, or −1 if it made none
 * @property {() => Error | undefined} fault what is wrong with the slot's file, if it has one
 * @property {(event: string, detail: object) => void} tell in a turn of its own
 */

class Lease {
  #machine
  #store
  #group
  #waitMs
  #howToCreate // returns the command that makes a new group without a quiet period
  #holder
  #events = [] // events that came during a step
  #isStepping = false
  #timer
  #attaching // { promise, resolve, reject, timer, calls } while calls wait for a slot; `calls` is how many
  #calls = new Set() // calls that the store has not answered yet: promises that never fail
  #releases = new Set() // promises that detach() waits for
  #news = new News()
  #ending // the promise that destroy() waits for
  #offer // the last grant, as the store gave it
  #grant // the grant that is open, or was last
  #last = NO_ID // Unix ms of the last ID of the slot that was just sealed
  #cause // the last failure, or why the slot was lost
  #inUse // an error: what uses the node number of a slot that this search skipped
  #isAsked = false // whether the user asked to detach it
  #isClosed = false
  #hasWarned = false

  constructor(store, { group, host, config, waitMs, howToCreate }) {
    this.#machine = new native.Lease({ ttlMs: config.ttlMs, waitMs })
    this.#store = new LeaseStore(store, { group, host, config })
    this.#group = group
    this.#waitMs = waitMs
    this.#howToCreate = howToCreate
  }

  /** @param {Holder} holder */
  hold(holder) {
    this.#holder = holder
  }

  get group() {
    return this.#group
  }

  get state() {
    return this.#machine.state
  }

  get slot() {
    return this.#machine.slot ?? undefined
  }

  get expires() {
    const { hi } = this.#machine
    if (hi === null) return undefined
    return new Date(this.#grant.cursor?.window?.hi ?? hi) // a file's window moves on by itself as IDs are made
  }

  /**
   * Resolves when a slot is held and the clock is in its window. It ends soon after waitMs, and at once if the signal
   * aborts, whatever the store does.
   */
  async attach(signal) {
    if (this.#isOver) throw closedLeaseError(this.#group)
    throwIfAborted(signal)
    this.#isAsked = false
    this.#attaching ??= this.#waitForSlot()
    const attaching = this.#attaching
    attaching.calls++
    this.#step({ type: 'attach' })
    await unlessAborted(signal, attaching.promise, () => this.#stopWaiting(attaching))
  }

  /**
   * One call stops waiting; after the last one, the search for a slot ends. False if the calls already have their
   * answer.
   */
  #stopWaiting(attaching) {
    if (attaching !== this.#attaching) return false
    attaching.calls--
    if (attaching.calls === 0) this.#step({ type: 'giveUp' })
    return true
  }

  /** By a timer, because setting a clock must not prolong the wait. */
  #waitForSlot() {
    const ms = this.#waitMs + LAST_LOOK_MS
    const timer = ms <= LONGEST_TIMER_MS ? setTimeout(() => this.#step({ type: 'giveUp' }), ms) : undefined
    return { ...withResolvers(), timer, calls: 0 }
  }

  /**
   * Gives the slot back. Resolves when the store knows, or when the call to it has failed: then the slot becomes free
   * after the ttl. If the store does not answer in time, it rejects.
   */
  async detach() {
    this.#isAsked = true
    this.#step({ type: 'detach' })
    await Promise.all([this.#news.told(), ...this.#releases])
  }

  /** Gives the slot back for good: the client may be closed once this has `settled`. */
  async close() {
    this.#isClosed = true
    await this.detach()
  }

  /**
   * Resolves when no call to the store is open. A slot that was granted after the end has been given back by then.
   * Never fails.
   */
  async settled() {
    while (this.#calls.size > 0) await Promise.all(this.#calls)
  }

  /** Ends the group for every member. */
  async destroy() {
    if (this.#isOver) throw closedLeaseError(this.#group)
    this.#ending = undefined
    this.#step({ type: 'destroy' })
    await this.#ending
  }

  /** Whether waiting may help after the generator refused with this status. */
  isComing(status) {
    if (status === STATUS.FILE) return this.#isLookedAt()
    return status === STATUS.WINDOW_END || (status === STATUS.NO_GENERATOR && this.#machine.isRecovering)
  }

  /**
   * The slot's file failed. If it was removed, the next renewal brings another slot, so we renew at once. If the store
   * still says that the slot is held, the file cannot be written, and waiting does not help.
   */
  #isLookedAt() {
    this.#step({ type: 'renewNow' })
    return this.#isStepping || this.#machine.isRenewing
  }

  /** The error for a call that the generator refused; undefined if the refusal has nothing to do with the lease. */
  error(status) {
    const { slot, state } = this.#machine
    if (status === STATUS.WINDOW_END) {
      return this.#machine.renewalsFail(unixNow())
        ? leaseExpiredError(this.#group, slot, this.#cause ?? unansweredError(this.#group, 'a renewal'))
        : windowEndError(this.#group, slot, POLL_MS)
    }
    if (status !== STATUS.NO_GENERATOR) return undefined
    return state === 'destroyed' ? destroyedError(this.#group) : this.#detachedError()
  }

  /** Whether it was closed; the end of the group takes precedence. */
  get #isOver() {
    return this.#isClosed && this.#machine.state !== 'destroyed'
  }

  #detachedError() {
    if (this.#isClosed) return closedLeaseError(this.#group)
    return detachedError(this.#group, this.#machine.isRecovering, this.#isAsked ? undefined : this.#cause)
  }

  /** Hands an event to the machine. One that comes while another is being handled waits its turn. */
  #step(event) {
    this.#events.push(event)
    if (this.#isStepping) return
    this.#isStepping = true
    try {
      while (this.#events.length > 0) this.#take(this.#events.shift())
    } finally {
      this.#isStepping = false
    }
  }

  #take(event) {
    const actions = this.#machine.step(event, unixNow(), randomBytes(16).toString('hex'))
    clearTimeout(this.#timer) // a step that waits for something sets it again
    for (const action of actions) this.#carryOut(action)
  }

  #carryOut({ type, owner, slot, lo, hi, at, what }) {
    switch (type) {
      case 'acquire':
        return this.#call(this.#acquire(owner))
      case 'renew':
        return this.#call(this.#renew(owner, slot, hi))
      case 'seal':
        this.#last = this.#holder.seal()
        return
      case 'release':
        return this.#giveBack(owner, slot, this.#last)
      case 'giveBack':
        return this.#giveBack(owner, slot, NO_ID)
      case 'end':
        this.#ending = this.#end()
        return
      case 'open':
        this.#events.unshift(this.#open({ ...this.#offer, lo, hi }, owner)) // comes before any other event
        return
      case 'raise':
        return this.#holder.raise({ lo, hi })
      case 'wait':
        return this.#wakeAt(at)
      case 'resolve':
        return this.#settle((attaching) => attaching.resolve())
      case 'reject':
        return this.#reject(this.#reason(what))
      case 'tell':
        return this.#tell(what)
    }
  }

  /** A call without an answer yet; `settled` waits for it. */
  async #call(done) {
    this.#calls.add(done)
    await done
    this.#calls.delete(done)
  }

  /** Returns the event that says whether it worked. */
  #open(grant, owner) {
    this.#inUse = this.#holder.open(grant)
    if (this.#inUse === undefined) {
      this.#grant = grant
      return { type: 'opened', owner }
    }
    this.#cause = inUseError(this.#group, this.#inUse)
    return { type: 'inUse', owner }
  }

  async #acquire(owner) {
    let grant
    try {
      grant = await this.#store.acquire(owner)
    } catch (error) {
      return this.#failed('acquire', owner, error)
    }
    this.#learn('acquire', owner, undefined)
    this.#offer = grant
    this.#step({ type: 'granted', owner, ...this.#windowOf(grant) })
  }

  async #renew(owner, slot, hi) {
    let answer
    try {
      answer = await this.#store.renew(owner, slot, hi)
    } catch (error) {
      return this.#failed('renew', owner, error)
    }
    const isLost = answer === 'lost'
    this.#learn('renew', owner, isLost ? this.#lostError(slot) : undefined)
    if (isLost || answer === 'destroyed') return this.#step({ type: answer, asked: 'renew', owner })
    this.#step({ type: 'renewed', owner, ...this.#windowOf(answer) })
  }

  #lostError(slot) {
    return lostError(this.#group, slot, this.#holder.fault() ?? this.#cause)
  }

  /** Keeps the reason why a request failed, if the machine still awaits its answer. */
  #learn(asked, owner, cause) {
    if (this.#machine.awaits(asked, owner)) this.#cause = cause
  }

  /** What the machine needs of a grant. */
  #windowOf({ slot, lo, hi }) {
    return { slot, lo: this.#holder.firstMs(lo), hi }
  }

  #failed(asked, owner, error) {
    const { code } = error
    const isFull = code === 'ERR_FLAKE_EXHAUSTED' && this.#inUse !== undefined
    this.#learn(asked, owner, isFull ? inUseError(this.#group, this.#inUse, error) : error)
    if (asked === 'acquire') this.#inUse = undefined
    if (code === 'ERR_FLAKE_DESTROYED') return this.#step({ type: 'destroyed', asked, owner })
    const failure = failureOf(error)
    if (failure.why === 'quiet' && this.#attaching !== undefined) this.#warnOfQuiet(failure)
    this.#step({ type: 'failed', asked, owner, ...failure })
  }

  #giveBack(owner, slot, last) {
    const released = this.#release(owner, slot, last)
    const over = released.catch(() => {}) // detach() passes the error on
    this.#call(over)
    this.#releases.add(released)
    over.then(() => this.#releases.delete(released))
  }

  async #release(owner, slot, last) {
    const isReleased = await within(this.#store.isReleased(owner, slot, last), RELEASE_MS)
    this.#step(isReleased ? { type: 'released', owner } : { type: 'failed', asked: 'release', owner, why: 'store' })
    if (isReleased === undefined) throw unreleasedError(this.#group, slot, RELEASE_MS)
  }

  async #end() {
    await this.#store.destroy()
    this.#step({ type: 'ended' })
  }

  #wakeAt(at) {
    const ms = Math.min(Math.max(at - unixNow(), 0), LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => this.#step({ type: 'time' }), ms)
    // A lease does not keep the process alive; a call that waits for a slot does.
    if (this.#attaching === undefined) this.#timer.unref()
  }

  #settle(how) {
    const attaching = this.#attaching
    if (attaching === undefined) return
    clearTimeout(attaching.timer)
    this.#attaching = undefined
    this.#news.add(() => how(attaching)) // after the listeners
  }

  #reject(error) {
    this.#settle((attaching) => attaching.reject(error))
  }

  #reason(what) {
    if (what === 'destroyed') return destroyedError(this.#group)
    if (what === 'detached') return this.#detachedError()
    if (what === 'ahead') return aheadError(this.#group, this.#windowOf(this.#offer).lo - unixNow())
    const isSilent = what === 'late' && !this.#machine.isSettled
    return isSilent ? unansweredError(this.#group, 'a slot', this.#cause) : this.#cause
  }

  #tell(event) {
    const isTrouble = event === 'lost' || (event === 'detached' && !this.#isAsked)
    const cause = isTrouble ? this.#cause : undefined
    const detail = { group: this.#group, slot: this.#grant?.slot, ...(cause && { cause }) }
    this.#news.add(() => this.#holder.tell(event, detail))
  }

  #warnOfQuiet(refusal) {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const warning = quietWarning(this.#group, refusal, this.#howToCreate())
    process.emitWarning(warning, { code: 'FLAKEFORGE_QUIET' })
  }
}

/** A refusal as the machine takes it. */
function failureOf(error) {
  const { code, retryAt, storeNow } = error
  const why = FAILURES[code] ?? 'store'
  if (why !== 'quiet' && why !== 'exhausted') return { why }
  return { why, retryAt: retryAt.getTime(), storeNow }
}

/** A promise and the functions that settle it, like Promise.withResolvers of newer runtimes. */
function withResolvers() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}

module.exports = { Lease }
