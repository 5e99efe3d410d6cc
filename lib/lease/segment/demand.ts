// How many blocks a call to the store asks for: one, or more if they are used up so fast that the calls would take much
// of the time.
//
// It must never let a member hold much more than it uses: what it holds is lost when it ends.

/**
 * The blocks of a call should last this long, plus the time that the call takes. A call costs 0.1 to 0.6 ms of CPU
 * time.
 */
const LAST_MS = 20
/** If they last this many times longer, the next call asks for fewer. */
const AMPLE = 4
/** A call brings at most this part of all earlier blocks (1/16), so that a short-lived member does not waste much. */
const PART = 16

/** Times are ms by any clock that never goes back. */
export class Demand {
  #count = 1
  #had = 1 // blocks that came so far; open() brings the first
  #askedAt = Number.NEGATIVE_INFINITY
  #tookMs = 0

  /** How many blocks to ask for, now that those of the last call are nearly used up. */
  ask(now: number) {
    const lasted = now - this.#askedAt
    const enough = this.#tookMs + LAST_MS
    if (lasted < enough) this.#count = Math.min(this.#count * 2, Math.ceil(this.#had / PART))
    else if (lasted > enough * AMPLE) this.#count = Math.ceil(this.#count / 2)
    this.#askedAt = now
    return this.#count
  }

  /** So many blocks have come. */
  came(now: number, count: number) {
    this.#tookMs = now - this.#askedAt
    this.#had += count
  }
}
