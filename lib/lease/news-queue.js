'use strict'

// News of a lease that has still to be delivered: to its listeners, and to those who await a promise.
//
// It must never run anything inside the call that brings the news: a listener that throws would interrupt a step of the
// lease.

const { nextTick } = require('../base/timers.js')

class News {
  #untold = []
  #isTelling = false

  /** Calls this in a tick of its own, after all earlier news. */
  add(telling) {
    this.#untold.push(telling)
    if (!this.#isTelling) this.#tellSoon()
  }

  /** Resolves when all news so far has been delivered. */
  told() {
    return new Promise((resolve) => this.add(resolve))
  }

  #tellSoon() {
    this.#isTelling = true
    nextTick(this.#tell)
  }

  #tell = () => {
    try {
      while (this.#untold.length > 0) this.#untold.shift()()
    } finally {
      this.#isTelling = false
      if (this.#untold.length > 0) this.#tellSoon() // a listener has thrown
    }
  }
}

module.exports = { News }
