// The calls of attach() that wait for the same slot. The search for it ends when they have waited long enough, or when no
// call waits any more. The limit is a timer, so setting the clock does not prolong a wait.

import { unlessAborted } from '../base/abort.ts'
import { clearTimeout, LONGEST_TIMER_MS, setTimeout } from '../base/timers.ts'
import { BUDGET } from '../stores/time-budget.ts'

export class AttachCalls {
  #giveUp
  #timer: ReturnType<typeof setTimeout> | undefined
  #count = 0
  #isOver = false
  /** Resolves all calls; called after end(). */
  resolve = () => {}
  /** Rejects them with an error. */
  reject: (error: unknown) => void = () => {}
  #answer: Promise<void> = new Promise((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })

  /** @param giveUp ends the search */
  constructor(waitMs: number, giveUp: () => void) {
    this.#giveUp = giveUp
    const ms = waitMs + BUDGET.LAST_LOOK_MS
    if (ms <= LONGEST_TIMER_MS) this.#timer = setTimeout(giveUp, ms)
  }

  /** Adds a waiting call, until there is an answer or its signal aborts. */
  wait(signal?: AbortSignal) {
    this.#count++
    return unlessAborted(signal, this.#answer, () => this.#stop())
  }

  /** One call stops waiting. Returns false if all calls already have their answer. */
  #stop() {
    if (this.#isOver) return false
    this.#count--
    if (this.#count === 0) this.#giveUp()
    return true
  }

  /** There is an answer. From now on no call can stop waiting for it. */
  end() {
    this.#isOver = true
    clearTimeout(this.#timer)
  }
}
