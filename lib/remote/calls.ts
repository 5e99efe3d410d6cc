// The calls of a client that wait for IDs, in their order. It must never let one overtake another.

import type { IdBuffer } from './buffer.ts'

export type Callback = (error: unknown, ids?: any) => unknown

export type Call = { into: Uint8Array; filled: number; since: number; callback: Callback; isOver: boolean }

export class Calls {
  /** how many IDs they still need together */
  missing = 0
  /** how many they have got so far */
  held = 0
  /** how many IDs calls had got that were then given up */
  lost = 0
  /** how many calls wait */
  size = 0
  #queue: Call[] = []
  #first = 0 // index of the first one that waits; those before it are over

  /** @param since when it was made, in ms by a clock that never goes back */
  add(into: Uint8Array, since: number, callback: Callback) {
    const call = { into, filled: 0, since, callback, isOver: false }
    this.#queue.push(call)
    this.size++
    this.missing += into.length / 8
    return call
  }

  /** Since when the first one waits. */
  get since() {
    return this.#head()?.since
  }

  /** Gives the IDs of the buffer to the calls, as far as they go. */
  serve(buffer: IdBuffer) {
    for (let call = this.#head(); call !== undefined; call = this.#head()) {
      const filled = buffer.fill(call.into, call.filled)
      this.held += (filled - call.filled) / 8
      this.missing -= (filled - call.filled) / 8
      call.filled = filled
      if (call.filled < call.into.length) return
      this.#end(call)
      call.callback(null, call.into)
    }
  }

  /** Takes back what they have got so far: none may get IDs of two groups. */
  restart() {
    for (const call of this.#queue.slice(this.#first)) {
      if (call.isOver) continue
      const got = call.filled / 8
      this.lost += got
      this.held -= got
      this.missing += got
      call.filled = 0
    }
  }

  /**
   * Ends those that have waited since then or longer, with an error.
   * @param since all of them, if it is left out
   */
  fail(error: unknown, since: number = Number.POSITIVE_INFINITY) {
    for (let call = this.#head(); call !== undefined && call.since <= since; call = this.#head()) {
      this.#forget(call)
      call.callback(error)
    }
  }

  /** Ends a call that its user gave up; false if it is over already. */
  cancel(call: Call) {
    if (call.isOver) return false
    this.#forget(call)
    return true
  }

  /** The first call that waits. */
  #head() {
    const queue = this.#queue
    while (this.#first < queue.length && queue[this.#first].isOver) this.#first++
    if (this.#first * 2 > queue.length) {
      queue.splice(0, this.#first)
      this.#first = 0
    }
    return queue[this.#first]
  }

  #forget(call: Call) {
    this.lost += call.filled / 8
    this.missing -= (call.into.length - call.filled) / 8
    this.#end(call)
  }

  #end(call: Call) {
    call.isOver = true
    this.held -= call.filled / 8
    this.size--
  }
}
