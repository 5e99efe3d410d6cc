// The events of a lease, as its listeners see them, and the queue in which they reach them.

import { nextTick } from '../base/timers.ts'

/** The argument of listeners for a lease's events. */
export interface LeaseDetail {
  group: string
  slot?: number
  /** the reason for `renewal-failed` and `lost`, and for `detached` unless you called `detach()` or `close()` */
  cause?: Error
  /** for `renewal-failed`: IDs can be generated until then, or longer if a later renewal succeeds */
  expires?: Date
}

export type LeaseEvent = 'attached' | 'renewed' | 'renewal-failed' | 'lost' | 'detached' | 'destroyed'

export const EVENTS: readonly LeaseEvent[] = ['attached', 'renewed', 'renewal-failed', 'lost', 'detached', 'destroyed']

export type LeaseListener<E extends LeaseEvent | 'error'> = E extends LeaseEvent
  ? (detail: LeaseDetail) => void
  : (error: Error) => void

/**
 * News of a lease that has still to be delivered, to its listeners and to awaited promises. None of it runs inside the call that
 * brings the news: a listener that throws would interrupt a step of the lease.
 */
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
