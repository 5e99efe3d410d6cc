'use strict'

// A member's talk with its counter on a store: one call after the other, as their answers could come in another order.
//
// It must never go on with a counter that was found below what it gave before: its numbers were handed out already, also
// those that it gives once it has passed us. Only raise() ends that, because there the user says where to go on.

const { storeError, wentBackError } = require('./errors.js')

const END = 2n ** 64n - 1n // no number: a counter that stands here is used up

class Counter {
  /** the error, once the counter was found below what it gave before */
  lost
  #store
  #name
  #known = 0n // it was here when we looked last
  #turns = Promise.resolve() // ends with the last call; it never fails

  constructor(store, name) {
    this.#store = store
    this.#name = name
  }

  /** How many numbers are above what it gave. */
  get room() {
    return Number(END - this.#known)
  }

  /** The end of the work that is in turn now. */
  get idle() {
    return this.#turns
  }

  /** Does this work when all that came before is done. */
  inTurn(work) {
    const done = this.#turns.then(work)
    this.#turns = done.catch(() => {})
    return done
  }

  /** Takes so many numbers, and gives the first; makes a counter that begins at `init`, where that is given and there is none. */
  async take(count, init) {
    if (this.lost !== undefined) throw this.lost
    const first = await this.#ask(BigInt(count), init)
    if (first < this.#known) {
      this.lost = wentBackError(this.#name, first, this.#known)
      throw this.lost
    }
    this.#known = first + BigInt(count)
    return first
  }

  /** Lets it go on at `place` at least, and gives the place where it then stands. */
  async raise(place) {
    const stands = await this.#ask(0n, place)
    this.lost = undefined
    return stands
  }

  /** A step of the store's. It may be the user's own: what is no place of a counter must not become an ID. */
  async #ask(by, init) {
    try {
      const value = await this.#store.advance(this.#name, by, init)
      if (typeof value === 'bigint' && value >= 0n && value <= END) return value
      throw new TypeError(`advance() gave ${typeof value} ${String(value)}, which is no place of a counter`)
    } catch (error) {
      if (error?.code?.startsWith?.('ERR_FLAKE_')) throw error
      throw storeError(`the store of counter '${this.#name}' failed`, error)
    }
  }
}

module.exports = { Counter, END }
