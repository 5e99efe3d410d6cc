'use strict'

// What is still to be told of a lease: to those who listen, and to those who wait for a promise.
//
// It must never run anything inside the call that it is told in: a listener that throws would end a step of the lease's in
// its middle.

const { nextTick } = require('./timers.js')

class News {
  #untold = []
  #isTelling = false

  /** Calls this in a turn of its own, after what was to be told before. */
  add(telling) {
    this.#untold.push(telling)
    if (!this.#isTelling) this.#tellSoon()
  }

  /** Resolves when all is told that is known by now. */
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
