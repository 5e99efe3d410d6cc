// How much to ask for at once: twice as much where it is used up so fast that the calls for it would take much of the time, half
// of it where it lasts. It must never let anybody hold much more than is used: what is held is lost when its holder ends.

/** What a call brings should last this long, plus the time that the call takes. A call costs 0.1 to 0.6 ms of CPU time. */
const LAST_MS = 20
/** If it lasts this many times longer, the next call asks for less. */
const AMPLE = 4

/** At most this part of all that came before, so that a short-lived member does not waste much. */
export const sixteenth = (had: number) => Math.ceil(had / 16)

/** Times are ms by any clock that never goes back. */
export class Demand {
  #least
  #most
  #count
  #had = 1 // how much has come so far, which begins with one
  #askedAt = Number.NEGATIVE_INFINITY
  /** how long the last answer took, in ms */
  tookMs = 1

  /** @param most the bound, which may follow from how much has come so far */
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

  /** A call is made now: for how much. */
  ask(now: number) {
    const lasted = now - this.#askedAt
    const enough = this.tookMs + LAST_MS
    if (lasted < enough) this.#count = Math.min(this.#count * 2, this.#most(this.#had))
    else if (lasted > enough * AMPLE) this.#count = Math.max(Math.ceil(this.#count / 2), this.#least)
    this.#askedAt = now
    return this.#count
  }

  /** So much has come; it counts where the bound follows from it. */
  came(now: number, count: number = 0) {
    this.tookMs = now - this.#askedAt
    this.#had += count
  }
}
