'use strict'

// What a lease asks of its store: slots of a group that was opened with the lease's options. Answers are checked, since a
// store may be the user's own, and whatever it throws becomes an error with a code.
// It must never bound a wait, nor say what a refusal means: lease.js does the one, core/src/lease.rs the other.

const { inspect } = require('node:util')
const { slowStoreError, storeError, storeFailure } = require('./errors.js')
const { monotonicNow, unixNow } = require('./timers.js')

/** What a renewal may be answered with instead of a window. */
const ENDS = ['lost', 'destroyed']
const NO_ID = -1
const LAST_MS = 8.64e15 // of a Date

class LeaseStore {
  #store
  #group
  #config
  #host
  #hasJoined = false // whether the group was ever opened
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

  /** Whether the store knows that the slot is not used any more. Where it cannot be told, the slot gets free after the ttl. */
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

  /** After a failure nobody knows whose group it is. */
  async #coded(step) {
    try {
      return await step()
    } catch (error) {
      this.#isOpen = false
      throw storeFailure(this.#group, error)
    }
  }

  /** Before the first slot the group is opened, which makes it where it is missing. */
  async #join() {
    await this.#store.open(this.#group, this.#config)
    this.#hasJoined = true
    this.#isOpen = true
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
      await this.isReleased(owner, slot, NO_ID)
      throw error
    }
  }

  /** A step that gives a window, or one of these words. */
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

  /** A clock that seems behind by no more than the step took is right: it was read before the step was on its way. */
  #orSlow(error, tookMs) {
    const isSlow = error?.code === 'ERR_FLAKE_CLOCK_SKEW' && error.skewMs < 0 && -error.skewMs <= tookMs + 1 // clocks of whole ms
    return isSlow ? slowStoreError(this.#group, tookMs, this.#config.skewMs, error) : error
  }

  /** An answer that is no grant must not become a node number, nor a wait for ever. */
  #check(answer, clientNow) {
    const { slot, lo, hi, cursor } = answer ?? {}
    const isSlot = Number.isInteger(slot) && slot >= 0 && slot < this.#config.slots
    const isWindow = [lo, hi].every(Number.isSafeInteger) && 0 <= lo && lo <= hi && hi <= LAST_MS
    // A file's window stands still while no IDs are made; another one is never over when it is granted.
    const isOver = cursor === undefined && hi < clientNow - this.#config.skewMs
    if (isSlot && isWindow && !isOver) return
    throw storeError(
      `the store of group '${this.#group}' gave an answer that is no grant: ${inspect(answer, { depth: 0 })}`,
    )
  }
}

module.exports = { LeaseStore }
