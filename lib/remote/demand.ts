// How many IDs a client keeps at hand: `prefetch`, or more while they are used up so fast that the requests would take much
// of the time. It must never let it hold much more than it uses: what it holds is lost when it ends.

import { MOST } from './options.ts'

/** What is at hand should last this long, plus the time that a request takes. */
const LAST_MS = 20
/** If it lasts this many times longer, less is kept. */
const AMPLE = 4

/** Times are ms by any clock that never goes back. */
export class Demand {
  #least
  #count
  #askedAt = Number.NEGATIVE_INFINITY
  /** how long the last answer took, in ms */
  tookMs = 1

  constructor({ prefetch }: { prefetch: number }) {
    this.#least = prefetch
    this.#count = prefetch
  }

  /** How many IDs to keep at hand. */
  get count() {
    return this.#count
  }

  /** A refill starts when no more than these are left. */
  get low() {
    return Math.floor(this.#count / 2)
  }

  /** A refill starts now. */
  ask(now: number) {
    const lasted = now - this.#askedAt
    const enough = this.tookMs + LAST_MS
    if (lasted < enough) this.#count = Math.min(this.#count * 2, MOST)
    else if (lasted > enough * AMPLE) this.#count = Math.max(Math.ceil(this.#count / 2), this.#least)
    this.#askedAt = now
  }

  /** Its answer has come. */
  came(now: number) {
    this.tookMs = now - this.#askedAt
  }
}
