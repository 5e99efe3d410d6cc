'use strict'

// A lease's calls to its store: slots of a group that was opened with the lease's options. It checks the answers,
// because a store may be the user's own, and gives every error a code. It must never limit a wait (lease.js does) or
// say what a refusal means (core/src/lease.rs does).

const { inspect } = require('node:util')
const { slowStoreError, storeError, storeFailure } = require('./errors.js')
const { monotonicNow, unixNow } = require('./timers.js')

/** The answers to a renewal other than a window. */
const ENDS = ['lost', 'destroyed']
const NO_ID = -1
const LAST_MS = 8.64e15 // of a Date

class LeaseStore {
  #store
  #group
  #config
  #host
  #hasJoined = false // whether the group was ever opened here
  #isOpen = false // whether it was opened with our options just now

  constructor(store, { group, config, host }) {
    this.#store = store
    this.#group = group
    this.#config = config
    this.#host = host
  }

  /** A slot and its window. */
  async acquire(owner) {
    const [group, host] = [this.#group, this.#host]
    const grant = await this.#coded(async () => {
      if (!this.#hasJoined) await this.#join()
      return this.#ask((clientNow) => this.#store.acquire(group, { owner, host, clientNow }))
    })
    await this.#coded(() => this.#insistOnGroup(owner, grant))
    return grant
  }

  /** The next window of a slot, 'lost' or 'destroyed'. */
  renew(owner, slot) {
    const group = this.#group
    return this.#coded(() => this.#ask((clientNow) => this.#store.renew(group, { slot, owner, clientNow }), ENDS))
  }

  /**
   * Whether the store knows that the slot is no longer used. If the call fails, the slot becomes free after the ttl.
   */
  async isReleased(owner, slot, last) {
    try {
      await this.#store.release(this.#group, { slot, owner, last })
      return true
    } catch {
      return false
    }
  }

  async destroy() {
    try {
      await this.#store.destroy(this.#group)
    } catch (error) {
      throw storeFailure(this.#group, error)
    }
  }

  /** Runs a step, and gives its error a code. After a failure we no longer know that the group is ours. */
  async #coded(step) {
    try {
      return await step()
    } catch (error) {
      this.#isOpen = false
      throw storeFailure(this.#group, error)
    }
  }

  /** Opens the group before the first slot, which creates it if it is missing. */
  async #join() {
    await this.#store.open(this.#group, this.#config)
    this.#hasJoined = true
    this.#isOpen = true
  }

  /**
   * Others that use the same store object may have opened another group of this name by now; its slots are not for us.
   * We check after the grant, not before it, because opening a destroyed group would create it again.
   */
  async #insistOnGroup(owner, { slot }) {
    const isSure = this.#isOpen
    this.#isOpen = false // for the next grant it is unknown
    if (isSure) return
    try {
      await this.#store.open(this.#group, this.#config)
    } catch (error) {
      await this.isReleased(owner, slot, NO_ID)
      throw error
    }
  }

  /** A step that returns a window or one of these words. */
  async #ask(call, words = []) {
    const [sentAt, clientNow] = [monotonicNow(), unixNow()]
    try {
      const answer = await call(clientNow)
      if (!words.includes(answer)) this.#check(answer, clientNow)
      return answer
    } catch (error) {
      throw this.#orSlow(error, monotonicNow() - sentAt)
    }
  }

  /** If the clock seems behind by no more than the step took, it is right: it was read before the step was sent. */
  #orSlow(error, tookMs) {
    const isSlow = error?.code === 'ERR_FLAKE_CLOCK_SKEW' && error.skewMs < 0 && -error.skewMs <= tookMs + 1 // whole ms
    return isSlow ? slowStoreError(this.#group, tookMs, this.#config.skewMs, error) : error
  }

  /** An answer that is not a grant must not become a node number or an endless wait. */
  #check(answer, clientNow) {
    const { slot, lo, hi, cursor } = answer ?? {}
    const isSlot = Number.isInteger(slot) && slot >= 0 && slot < this.#config.slots
    const isWindow = [lo, hi].every(Number.isSafeInteger) && 0 <= lo && lo <= hi && hi <= LAST_MS
    // A file's window does not move while no IDs are made. Any other window must not have ended when it is granted.
    const isOver = cursor === undefined && hi < clientNow - this.#config.skewMs
    if (isSlot && isWindow && !isOver) return
    throw storeError(
      `The store of group '${this.#group}' gave an answer that is not a grant: ${inspect(answer, { depth: 0 })}`,
    )
  }
}

module.exports = { LeaseStore }
