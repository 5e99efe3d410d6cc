'use strict'

// A lease's calls to its store, with the lease's group and options. It gives every error a code. It must never limit a
// wait (lease.js does) or say what a refusal means (core/src/lease.rs does).

const { storeFailure } = require('../base/errors.js')

class LeaseStore {
  #store
  #group
  #config
  #host
  #joins = true // until the first slot: only who joins may make the group

  constructor(store, { group, config, host }) {
    this.#store = store
    this.#group = group
    this.#config = config
    this.#host = host
  }

  /** A slot and its window. */
  async acquire(owner) {
    const request = { config: this.#config, owner, host: this.#host, joins: this.#joins }
    const grant = await this.#coded(() => this.#store.acquire(this.#group, request))
    this.#joins = false
    return grant
  }

  /** The next window of a slot, 'lost' or 'destroyed'. `hi`: the last ms that was answered before. */
  renew(owner, slot, hi) {
    return this.#coded(() => this.#store.renew(this.#group, { config: this.#config, slot, owner, hi }))
  }

  /**
   * Whether the store knows that the slot is no longer used. If the call fails, the slot becomes free after the ttl.
   */
  async isReleased(owner, slot, last) {
    try {
      await this.#store.release(this.#group, { config: this.#config, slot, owner, last })
      return true
    } catch {
      return false
    }
  }

  destroy() {
    return this.#coded(() => this.#store.destroy(this.#group))
  }

  async #coded(step) {
    try {
      return await step()
    } catch (error) {
      throw storeFailure(this.#group, error)
    }
  }
}

module.exports = { LeaseStore }
