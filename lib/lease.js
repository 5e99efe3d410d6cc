'use strict'

// Carries out what the holder's state machine (core/src/lease.rs) says: calls the store, keeps one timer, and tells its
// generator. It must never decide: when to renew, what a refusal means and when to give up stand in lease.rs.

const { randomBytes } = require('node:crypto')
const { inspect } = require('node:util')
const { isDate } = require('node:util').types
const native = require('./native.js')
const {
  STATUS,
  closedLeaseError,
  destroyedError,
  detachedError,
  leaseExpiredError,
  lostError,
  slowStoreError,
  storeError,
  storeFailure,
  windowEndError,
} = require('./errors.js')

const LONGEST_TIMER_MS = 2 ** 31 - 1
const POLL_MS = 10 // a guess for `retryAfterMs`: the event loop decides

const NO_ID = -1
const ENDS = ['lost', 'destroyed'] // what a renewal may be answered with instead of a window

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
 * What a lease does to its generator; `open` alone may throw.
 * @typedef {object} Holder
 * @property {(lo: number) => number} firstMs the ms in which the first tick that begins at `lo` or later begins
 * @property {(grant: import('..').Grant) => void} open makes IDs of this slot and window from now on
 * @property {(window: { lo: number, hi: number }) => void} raise the window goes on to `hi`, and from `lo` on where that is new
 * @property {() => number} seal makes no more IDs; returns the Unix ms of the last one, −1 when there was none
 * @property {() => Error | undefined} fault what is wrong with the slot's file, where there is one
 * @property {(event: string, detail: object) => void} tell
 */

class Lease {
  #machine
  #store
  #group
  #config
  #host
  #holder
  #timer
  #attaching // { promise, resolve, reject } of the call that waits for a slot
  #released = Promise.resolve() // what detach() waits for; it never fails
  #ending // what destroy() waits for
  #grant // the last, as the store gave it
  #last = NO_ID // Unix ms of the last ID of the slot just sealed
  #cause // the last failure, or why the slot was lost
  #isAsked = false // whether somebody wanted it detached
  #isClosed = false
  #wakesAt = 0 // when the timer goes off, Unix ms
  #isRenewing = false
  #hasLooked = false // whether the store was asked because the slot's file failed
  #hasWarned = false
  #isOpen = true // whether the group was opened with our options just now: join() does so before it makes a lease

  constructor(store, { group, host, config, waitMs }) {
    this.#config = config
    this.#machine = new native.Lease({ ttlMs: config.ttlMs, waitMs })
    this.#store = store
    this.#group = group
    this.#host = host
  }

  /** @param {Holder} holder */
  hold(holder) {
    this.#holder = holder
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

  /** Resolves with a slot held and the clock in its window. */
  async attach() {
    if (this.#isOver) throw closedLeaseError(this.#group)
    this.#isAsked = false
    this.#attaching ??= withResolvers()
    const { promise } = this.#attaching
    this.#step({ type: 'attach' })
    await promise
  }

  /** Gives the slot back. Resolves when the store knows, or could not be told: then the slot frees after the ttl. */
  async detach() {
    this.#isAsked = true
    this.#step({ type: 'detach' })
    await this.#released
  }

  /** Gives the slot back for good: the client may be closed after this. */
  async close() {
    this.#isClosed = true
    await this.detach()
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
   * The slot's file failed. Where it was removed, the next renewal brings another slot: it comes at once, as if its time
   * had come. Where the store still says that the slot is held, the file cannot be written, and waiting does not help.
   */
  #isLookedAt() {
    if (!this.#hasLooked) {
      this.#hasLooked = true
      this.#step({ type: 'time' }, Math.max(this.#wakesAt, Date.now()))
    }
    return this.#isRenewing
  }

  /** What a call is told that the generator refused; undefined where that has nothing to do with the lease. */
  error(status) {
    const { slot, state } = this.#machine
    if (status === STATUS.WINDOW_END) {
      return this.#machine.renewalsFail(Date.now())
        ? leaseExpiredError(this.#group, slot, this.#cause)
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

  #step(event, now = Date.now()) {
    const actions = this.#machine.step(event, now, randomBytes(16).toString('hex'))
    clearTimeout(this.#timer) // a step that has something to wait for says so anew
    try {
      for (const action of actions) this.#carryOut(action)
    } catch (error) {
      this.#cannotOpen(error)
    }
  }

  /** Nothing can be made of the grant: another generator of this process has the same node number, for example. */
  #cannotOpen(error) {
    this.#settle((attaching) => attaching.reject(error))
    this.#cause = error
    this.#step({ type: 'detach' })
  }

  #carryOut({ type, owner, slot, lo, hi, at, what }) {
    const [store, group] = [this.#store, this.#group]
    switch (type) {
      case 'acquire':
        return this.#ask('granted', owner, () =>
          store.acquire(group, { owner, host: this.#host, clientNow: Date.now() }),
        )
      case 'renew':
        return this.#ask('renewed', owner, () => store.renew(group, { slot, owner, clientNow: Date.now() }))
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
        this.#hasLooked = false
        return this.#holder.open({ ...this.#grant, lo, hi }) // alone may throw
      case 'raise':
        return this.#holder.raise({ lo, hi })
      case 'wait':
        return this.#wakeAt(at)
      case 'resolve':
        return this.#settle((attaching) => attaching.resolve())
      case 'reject':
        return this.#settle((attaching) => attaching.reject(this.#reason(what)))
      case 'tell':
        return this.#tell(what)
    }
  }

  /** A step of the store's that grants or renews; `event` is what its answer is to the machine. */
  async #ask(event, owner, call) {
    const sentAt = performance.now()
    this.#isRenewing = event === 'renewed'
    let answer
    try {
      answer = await call()
      this.#check(answer, event === 'renewed' ? ENDS : [])
      if (event === 'granted') await this.#insistOnGroup(owner, answer)
    } catch (error) {
      this.#isOpen = false
      this.#isRenewing = false
      return this.#failed(event, owner, this.#orSlow(error, performance.now() - sentAt))
    }
    this.#isRenewing = false
    this.#cause = answer === 'lost' ? this.#lostError() : undefined
    if (typeof answer === 'string') return this.#step({ type: answer, owner })
    if (event === 'granted') this.#grant = answer
    const { slot, lo, hi } = answer
    this.#step({ type: event, owner, slot, lo: this.#holder.firstMs(lo), hi })
  }

  #lostError() {
    return lostError(this.#group, this.#grant.slot, this.#holder.fault() ?? this.#cause)
  }

  /**
   * A name may stand for another group by now, of which others opened the same store: its slots are none of ours. It is
   * asked for after the grant and not before, since to open a group that was destroyed would make it anew.
   */
  async #insistOnGroup(owner, { slot }) {
    const isSure = this.#isOpen
    this.#isOpen = false // of the next grant nobody knows
    if (isSure) return
    try {
      await this.#store.open(this.#group, this.#config)
    } catch (error) {
      await this.#isReleased(owner, slot, NO_ID)
      throw error
    }
  }

  /** A clock that seems behind by no more than the step took is right: it was read before the step was on its way. */
  #orSlow(error, tookMs) {
    const isSlow = error?.code === 'ERR_FLAKE_CLOCK_SKEW' && error.skewMs < 0 && -error.skewMs <= tookMs + 1 // clocks of whole ms
    return isSlow ? slowStoreError(this.#group, tookMs, this.#config.skewMs, error) : error
  }

  /** A store may be the user's own: an answer that is none must not become a node number. */
  #check(answer, words) {
    if (words.includes(answer)) return
    const { slot, lo, hi } = answer ?? {}
    const isGrant =
      Number.isInteger(slot) && slot >= 0 && slot < this.#config.slots && [lo, hi].every(Number.isSafeInteger)
    if (isGrant) return
    throw storeError(
      `the store of group '${this.#group}' gave an answer that is no grant: ${inspect(answer, { depth: 0 })}`,
    )
  }

  #failed(event, owner, error) {
    const code = error?.code
    this.#cause = storeFailure(this.#group, error)
    // The options were agreed on when the slot was granted: it is another group by now, and its own has ended.
    const isAnother = event === 'renewed' && code === 'ERR_FLAKE_CONFIG_MISMATCH'
    if (code === 'ERR_FLAKE_DESTROYED' || isAnother) return this.#step({ type: 'destroyed', owner })
    const failure = failureOf(error)
    if (failure.why === 'quiet' && this.#attaching !== undefined) this.#warnOfQuiet(error)
    this.#step({ type: 'failed', owner, ...failure })
  }

  #giveBack(owner, slot, last) {
    this.#released = this.#release(owner, slot, last)
  }

  async #release(owner, slot, last) {
    const isReleased = await this.#isReleased(owner, slot, last)
    this.#step(isReleased ? { type: 'released', owner } : { type: 'failed', owner, why: 'store' })
  }

  /** Where the store cannot be told, the slot gets free after the ttl. */
  async #isReleased(owner, slot, last) {
    try {
      await this.#store.release(this.#group, { slot, owner, last })
      return true
    } catch {
      return false
    }
  }

  async #end() {
    try {
      await this.#store.destroy(this.#group)
    } catch (error) {
      throw storeFailure(this.#group, error)
    }
    this.#step({ type: 'ended' })
  }

  #wakeAt(at) {
    this.#wakesAt = at
    const ms = Math.min(Math.max(at - Date.now(), 0), LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => this.#step({ type: 'time' }), ms)
    // A lease does not keep the process alive; somebody who waits for a slot does.
    if (this.#attaching === undefined) this.#timer.unref()
  }

  #settle(how) {
    if (this.#attaching === undefined) return
    how(this.#attaching)
    this.#attaching = undefined
    this.#timer?.unref()
  }

  #reason(what) {
    if (what === 'destroyed') return destroyedError(this.#group)
    return what === 'detached' ? this.#detachedError() : this.#cause
  }

  #tell(event) {
    const isTrouble = event === 'lost' || (event === 'detached' && !this.#isAsked)
    const cause = isTrouble ? this.#cause : undefined
    this.#holder.tell(event, { group: this.#group, slot: this.#grant?.slot, ...(cause && { cause }) })
  }

  #warnOfQuiet(error) {
    if (this.#hasWarned) return
    this.#hasWarned = true
    process.emitWarning(String(error.message), { code: 'FLAKEFORGE_QUIET' })
  }
}

/** A refusal as the machine takes it. A store of the user's may leave out by which clock `retryAt` is, but not the time. */
function failureOf(error) {
  const { code, retryAt, storeNow } = error ?? {}
  const why = FAILURES[code] ?? 'store'
  if (why !== 'quiet' && why !== 'exhausted') return { why }
  if (!isDate(retryAt) || Number.isNaN(retryAt.getTime())) return { why: 'store' }
  return { why, retryAt: retryAt.getTime(), storeNow: Number.isSafeInteger(storeNow) ? storeNow : Date.now() }
}

/** A promise and what settles it: Promise.withResolvers of newer runtimes. */
function withResolvers() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}

module.exports = { Lease }
