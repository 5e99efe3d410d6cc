'use strict'

// How many blocks a call to the store asks for: one, and more where they are used up so fast that the calls would take a
// good part of the time.
//
// It must never let a member hold much more than it uses: what it holds is lost when it ends.

/** Blocks that last so long, beside the time that the call takes. A call costs 0.1 to 0.6 ms of the processor's time. */
const LAST_MS = 20
/** Above so many times that, fewer will do. */
const AMPLE = 4
/** A call brings no more than one part in so many of all that came before, so that a short life does not waste much. */
const PART = 16

/** Times are ms of any clock that never goes back. */
class Demand {
  #count = 1
  #had = 1 // blocks that came so far; open() brings the first
  #askedAt = Number.NEGATIVE_INFINITY
  #tookMs = 0

  /** How many blocks to ask for now, where those of the last call are nearly used up. */
  ask(now) {
    const lasted = now - this.#askedAt
    const enough = this.#tookMs + LAST_MS
    if (lasted < enough) this.#count = Math.min(this.#count * 2, Math.ceil(this.#had / PART))
    else if (lasted > enough * AMPLE) this.#count = Math.ceil(this.#count / 2)
    this.#askedAt = now
    return this.#count
  }

  /** So many blocks have come. */
  came(now, count) {
    this.#tookMs = now - this.#askedAt
    this.#had += count
  }
}

module.exports = { Demand }
