'use strict'

// The usual design, for the negative control: a slot is leased by a deadline. Its holder generates IDs with the slot's
// number and its own clock until, by that clock, the ttl has passed since the last renewal. The store and the requests
// to it are the same; only the granted windows are ignored. For the control only.

const FlakeId = require('flakeforge')
const { leaseExpiredError } = require('../../../target/rooms/lib/base/errors.js')
const { readJoinOptions } = require('../../../target/rooms/lib/lease/join-options.js')
const { openGiven } = require('../../../target/rooms/lib/stores/open.js')
const { randomBytes } = require('node:crypto')
const { setTimeout: sleep } = require('node:timers/promises')

const RETRY_MS = 100
const UNUSED = -1 // as the last used ms, this tells the store that the slot is free at once

class DeadlineLease {
  #store
  #closeStore
  #options
  #held // { owner, slot, flake }
  #deadline = Number.NEGATIVE_INFINITY
  #isClosed = false

  /** @param {string} url @param {object} options as for FlakeId.join() */
  static async open(url, options) {
    const lease = new DeadlineLease()
    const { store, close } = openGiven(url)
    lease.#store = store
    lease.#closeStore = close
    lease.#options = { ...readJoinOptions(options), generator: generatorOptions(options) }
    lease.#attend()
    return lease
  }

  /** The generator, as long as the deadline has not passed. */
  get flake() {
    if (Date.now() < this.#deadline) return this.#held.flake
    throw leaseExpiredError(this.#options.group, this.#held?.slot, new Error('its deadline has passed.'))
  }

  /** The orderly end: no more IDs are generated, and the next member can have the slot. */
  async close() {
    this.#isClosed = true
    this.#deadline = Number.NEGATIVE_INFINITY
    if (this.#held !== undefined) {
      const { owner, slot } = this.#held
      await this.#store
        .release(this.#options.group, { config: this.#options.config, slot, owner, last: UNUSED })
        .catch(() => {})
    }
    await this.#closeStore()
  }

  async #attend() {
    while (!this.#isClosed) {
      const isDone = await this.#ask().catch(() => false) // a store that fails or refuses: the deadline decides
      await sleep(isDone ? this.#options.config.ttlMs / 3 : RETRY_MS)
    }
  }

  /** Acquires or renews. Returns whether there is nothing to do for a while. */
  async #ask() {
    const { group, host, config } = this.#options
    if (this.#held === undefined) {
      const owner = randomBytes(16).toString('hex')
      const { slot, hi } = await this.#store.acquire(group, { config, owner, host, joins: true })
      if (this.#isClosed) return true
      this.#held = { owner, slot, hi, flake: new FlakeId({ ...this.#options.generator, id: slot }) }
    } else {
      const { owner, slot } = this.#held
      const answer = await this.#store.renew(group, { config, slot, owner, hi: this.#held.hi })
      if (typeof answer === 'string') return this.#lose()
      this.#held.hi = answer.hi
    }
    if (!this.#isClosed) this.#deadline = Date.now() + this.#options.config.ttlMs
    return true
  }

  #lose() {
    this.#deadline = Number.NEGATIVE_INFINITY
    this.#held = undefined
    return false
  }
}

const LEASE_OPTIONS = ['group', 'slots', 'ttlMs', 'skewMs', 'waitMs', 'host']

const generatorOptions = (options) =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !LEASE_OPTIONS.includes(name)))

module.exports = { DeadlineLease }
