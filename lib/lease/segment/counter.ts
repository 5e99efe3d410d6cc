// A member's calls to its counter on a store, one after the other, because answers could arrive out of order.
//
// Once the counter was found below a value that it granted before, all its numbers are unsafe: they were handed out already,
// even those after it has passed our last one. Only raise() ends that, because the user then sets where to continue.

import { MAX_U64 } from '../../base/check.ts'
import { FlakeError, ownStoreError, wentBackError } from '../../base/errors.ts'
import type { SlotStore } from '../../stores/store.ts'

export class Counter {
  /** the error, once the counter was found below a value that it granted before */
  lost: (Error & { code: string }) | undefined
  lineage: string | undefined // its identity in its last answer
  #store
  #name
  #durable
  #known = 0n // its value in its last answer
  #turns: Promise<unknown> = Promise.resolve() // ends with the last call; it never fails

  constructor(store: Pick<SlotStore, 'advance' | 'located'>, name: string, durable: boolean) {
    this.#store = store
    this.#name = name
    this.#durable = durable
  }

  /** How many numbers it has left above those that it granted. The largest is never granted: there it is used up. */
  get room() {
    return Number(MAX_U64 - this.#known)
  }

  /** Resolves when the calls made so far have ended. */
  get idle() {
    return this.#turns
  }

  /** Does this work after all earlier work. */
  inTurn<T>(work: () => Promise<T>) {
    const done = this.#turns.then(work)
    this.#turns = done.catch(() => {})
    return done
  }

  /**
   * Takes this many numbers and returns the first. If there is no counter and `init` is given, it creates one that begins
   * there.
   */
  async take(count: number, init?: bigint) {
    if (this.lost !== undefined) throw this.lost
    const first = await this.#ask(BigInt(count), init)
    if (first < this.#known) {
      const error = wentBackError(this.#name, first, this.#known)
      this.lost = this.#store.located?.(error) ?? error
      throw this.lost
    }
    this.#known = first + BigInt(count)
    return first
  }

  /** Makes the counter continue at `place` or above, and returns its new value. */
  async raise(place: bigint) {
    const stands = await this.#ask(0n, place)
    this.lost = undefined
    return stands
  }

  /** Runs a step of the store, which may be the user's own: an invalid answer must not become an ID. */
  async #ask(by: bigint, init?: bigint) {
    try {
      const { number, lineage } = await this.#store.advance(this.#name, by, init, this.#durable)
      if (typeof number !== 'bigint' || number < 0n || number > MAX_U64) {
        throw new TypeError(`advance() returned ${typeof number} ${String(number)}, which is not a valid counter value`)
      }
      this.lineage = lineage
      return number
    } catch (error) {
      if (error instanceof FlakeError) throw error
      throw ownStoreError(`A call to the store of segment counter '${this.#name}' failed. See the cause.`, error)
    }
  }
}
