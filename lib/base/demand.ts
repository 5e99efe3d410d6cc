// How much to ask for at once: twice as much when supplies run out so fast that requests would take much of the time, half as
// much when they last. It stays close to what is used, because a holder's unused rest is lost when it ends.

/** A supply should last this long, plus the time that the call takes. A call costs 0.1 to 0.6 ms of CPU time. */
const LAST_MS = 20
/** If a supply lasts this many times longer, the next call asks for less. */
const AMPLE = 4

/** At most a sixteenth of all that came before, so that a short-lived member wastes little. */
export const sixteenth = (had: number) => Math.ceil(had / 16)

/** Times are ms by any monotonic clock. */
export class Demand {
  #least
  #most
  #count
  #had = 1 // total received so far, starting at one
  #askedAt = Number.NEGATIVE_INFINITY
  /** how long the last answer took, in ms */
  tookMs = 1

  /** @param most the bound, which may depend on the total received so far */
  constructor(least: number, most: (had: number) => number) {
    this.#least = least
    this.#most = most
    this.#count = least
  }

  get count() {
    return this.#count
  }

  /** The next call is due when no more than this is left. */
  get low() {
    return Math.floor(this.#count / 2)
  }

  /** Returns how much to ask for in a call made now. */
  ask(now: number) {
    const lasted = now - this.#askedAt
    const enough = this.tookMs + LAST_MS
    if (lasted < enough) this.#count = Math.min(this.#count * 2, this.#most(this.#had))
    else if (lasted > enough * AMPLE) this.#count = Math.max(Math.ceil(this.#count / 2), this.#least)
    this.#askedAt = now
    return this.#count
  }

  /** Records an answer; `count` matters where the bound depends on the total. */
  came(now: number, count: number = 0) {
    this.tookMs = now - this.#askedAt
    this.#had += count
  }
}
