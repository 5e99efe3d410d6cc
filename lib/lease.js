'use strict'

// Carries out what the holder's state machine (core/src/lease.rs) says: calls the store, keeps one timer, and tells its
// generator. It must never decide: when to renew, what a refusal means and when to give up stand in lease.rs.

const { randomBytes } = require('node:crypto')
const { isDate } = require('node:util').types
const { throwIfAborted, unlessAborted } = require('./abort.js')
const { LeaseStore } = require('./lease-store.js')
const native = require('./native.js')
const { News } = require('./news.js')
const { within } = require('./in-time.js')
const { clearTimeout, setTimeout, unixNow } = require('./timers.js')
const {
  STATUS,
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
} = require('./errors.js')

const LONGEST_TIMER_MS = 2 ** 31 - 1
const POLL_MS = 10 // a guess for `retryAfterMs`: the event loop decides

/** How long the last look of one who waits may take: with what else join() does, it is over a second after waitMs. */
const LAST_LOOK_MS = 900
/** How long detach() waits for the store: with what else close() does, it is over after 5 s. */
const RELEASE_MS = 4_000

const NO_ID = -1

/** What a refusal of the store's means to the machine; whatever has no code of ours is a store that failed. */
const FAILURES = {
  __proto__: null, // the code may be any text
  ERR_FLAKE_QUIET: 'quiet',
  ERR_FLAKE_EXHAUSTED: 'exhausted',
  ERR_FLAKE_CLOCK_SKEW: 'skew',
  ERR_FLAKE_CONFIG_MISMATCH: 'fatal',
  ERR_FLAKE_OPTION: 'fatal',
  ERR_FLAKE_FILE: 'fatal',
}

/**
 * What a lease does to its generator. All of it is done within a step, so nothing of it may call the lease.
 * @typedef {object} Holder
 * @property {(lo: number) => number} firstMs the ms in which the first tick that begins at `lo` or later begins
 * @property {(grant: import('..').Grant) => Error | undefined} open makes IDs of this slot and window from now on, or says
 * what else in this process has the slot's node number
 * @property {(window: { lo: number, hi: number }) => void} raise the window goes on to `hi`, and from `lo` on where that is new
 * @property {() => number} seal makes no more IDs; returns the Unix ms of the last one, −1 when there was none
 * @property {() => Error | undefined} fault what is wrong with the slot's file, where there is one
 * @property {(event: string, detail: object) => void} tell in a turn of its own
 */

class Lease {
  #machine
  #store
  #group
  #waitMs
  #howToCreate // says how a new group is made without a quiet period
  #holder
  #events = [] // that came while a step was carried out
  #isStepping = false
  #timer
  #attaching // { promise, resolve, reject, timer, calls } of those who wait for a slot; `calls` is how many they are
  #calls = new Set() // what the store was asked and has not answered: promises that never fail
  #releases = new Set() // what detach() waits for
  #news = new News()
  #ending // what destroy() waits for
  #offer // the last grant, as the store gave it
  #grant // the one that is open, or was last
  #last = NO_ID // Unix ms of the last ID of the slot just sealed
  #cause // the last failure, or why the slot was lost
  #inUse // what has the node number of a slot that this search set aside
  #isAsked = false // whether somebody wanted it detached
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
    return new Date(this.#grant.cursor?.window?.hi ?? hi) // a file's window goes on by itself as IDs are made
  }

  /**
   * Resolves with a slot held and the clock in its window; ends soon after waitMs, and at once when the signal aborts,
   * whatever the store does.
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

  /** One call waits no longer, and without the last of them nobody looks for a slot. False where they have their answer. */
  #stopWaiting(attaching) {
    if (attaching !== this.#attaching) return false
    attaching.calls--
    if (attaching.calls === 0) this.#step({ type: 'giveUp' })
    return true
  }

  /** By a timer, since no clock that is set may prolong it. */
  #waitForSlot() {
    const ms = this.#waitMs + LAST_LOOK_MS
    const timer = ms <= LONGEST_TIMER_MS ? setTimeout(() => this.#step({ type: 'giveUp' }), ms) : undefined
    return { ...withResolvers(), timer, calls: 0 }
  }

  /**
   * Gives the slot back. Resolves when the store knows, or said that it cannot be told: then the slot frees after the ttl.
   * Of a store that says nothing it is an error, in time.
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

  /** Resolves when the store owes no answer: what it still grants after an end was given back then. Never fails. */
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

  /** Whether waiting may help after this refusal of the generator's. */
  isComing(status) {
    if (status === STATUS.FILE) return this.#isLookedAt()
    return status === STATUS.WINDOW_END || (status === STATUS.NO_GENERATOR && this.#machine.isRecovering)
  }

  /**
   * The slot's file failed. Where it was removed, the next renewal brings another slot, so it comes at once. Where the
   * store still says that the slot is held, the file cannot be written, and waiting does not help.
   */
  #isLookedAt() {
    this.#step({ type: 'renewNow' })
    return this.#isStepping || this.#machine.isRenewing
  }

  /** What a call is told that the generator refused; undefined where that has nothing to do with the lease. */
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

  /** Closed; but the end of the group comes first. */
  get #isOver() {
    return this.#isClosed && this.#machine.state !== 'destroyed'
  }

  #detachedError() {
    if (this.#isClosed) return closedLeaseError(this.#group)
    return detachedError(this.#group, this.#machine.isRecovering, this.#isAsked ? undefined : this.#cause)
  }

  /** Hands an event in; one that comes while another is carried out waits its turn. */
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
    clearTimeout(this.#timer) // a step that has something to wait for says so anew
    for (const action of actions) this.#carryOut(action)
  }

  #carryOut({ type, owner, slot, lo, hi, at, what }) {
    switch (type) {
      case 'acquire':
        return this.#call(this.#acquire(owner))
      case 'renew':
        return this.#call(this.#renew(owner, slot))
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

  /** What is still to be answered; `settled` waits for it. */
  async #call(done) {
    this.#calls.add(done)
    await done
    this.#calls.delete(done)
  }

  /** Says whether it worked. */
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

  async #renew(owner, slot) {
    let answer
    try {
      answer = await this.#store.renew(owner, slot)
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

  /** Keeps why nothing came of what was asked, where anybody waits for it. */
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
    // The options were agreed on when the slot was granted: it is another group by now, and its own has ended.
    const isAnother = asked === 'renew' && code === 'ERR_FLAKE_CONFIG_MISMATCH'
    if (code === 'ERR_FLAKE_DESTROYED' || isAnother) return this.#step({ type: 'destroyed', asked, owner })
    const failure = failureOf(error)
    if (failure.why === 'quiet' && this.#attaching !== undefined) this.#warnOfQuiet(failure)
    this.#step({ type: 'failed', asked, owner, ...failure })
  }

  #giveBack(owner, slot, last) {
    const released = this.#release(owner, slot, last)
    const over = released.catch(() => {}) // whoever calls detach() hears of it
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
    // A lease does not keep the process alive; somebody who waits for a slot does.
    if (this.#attaching === undefined) this.#timer.unref()
  }

  #settle(how) {
    const attaching = this.#attaching
    if (attaching === undefined) return
    clearTimeout(attaching.timer)
    this.#attaching = undefined
    this.#news.add(() => how(attaching)) // after what listeners are told
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

/** A refusal as the machine takes it. A store of the user's may leave out by which clock `retryAt` is, but not the time. */
function failureOf(error) {
  const { code, retryAt, storeNow } = error
  const why = FAILURES[code] ?? 'store'
  if (why !== 'quiet' && why !== 'exhausted') return { why }
  if (!isDate(retryAt) || Number.isNaN(retryAt.getTime())) return { why: 'store' }
  return { why, retryAt: retryAt.getTime(), storeNow: Number.isSafeInteger(storeNow) ? storeNow : unixNow() }
}

/** A promise and what settles it: Promise.withResolvers of newer runtimes. */
function withResolvers() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}

module.exports = { Lease }
