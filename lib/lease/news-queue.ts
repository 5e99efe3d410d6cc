// News of a lease that has still to be delivered, to its listeners and to awaited promises. None of it runs inside the call
// that brings the news: a listener that throws would interrupt a step of the lease.

import { nextTick } from '../base/timers.ts'

export class NewsQueue {
  #untold: Array<() => void> = []
  #isTelling = false

  /** Calls this in a separate tick, after all earlier news. */
  add(tell: () => void) {
    this.#untold.push(tell)
    if (!this.#isTelling) this.#tellSoon()
  }

  /** Resolves when all news so far has been delivered. */
  told() {
    return new Promise((resolve: (value?: undefined) => void) => this.add(resolve))
  }

  #tellSoon() {
    this.#isTelling = true
    nextTick(this.#tellAll)
  }

  #tellAll = () => {
    try {
      for (let tell = this.#untold.shift(); tell !== undefined; tell = this.#untold.shift()) tell()
    } finally {
      this.#isTelling = false
      if (this.#untold.length > 0) this.#tellSoon() // a listener threw
    }
  }
}
