// The queue of calls that wait for IDs of one source, served in the order of the calls.
//
// A callback runs neither inside a call of ours nor inside a timer, but soon after, in the async context of its call. So a
// callback that throws neither loses the calls behind it nor changes their order. Even if each callback calls again, the
// event loop keeps turning, and the queue forgets completed calls.

import { monotonicNow } from '../base/portable-timers.ts'
import type { Call, Host, Source } from './source.ts'

/**
 * A loop with many calls keeps the event loop from turning. So one call in 64 checks whether the wait is over. If each call
 * did, it would cost more than the ID.
 */
const LOOK_EVERY = 64

/** How many calls are served at a time. More than LOOK_EVERY, so that a loop of calls can use up the counter of a tick. */
const BATCH = 256

/**
 * Calls that were served but whose callbacks have not run yet, then waiting calls. It is an array, because a linked list
 * costs the garbage collector twice as much.
 */
export class Queue<Bytes extends Uint8Array> {
  /** how many IDs were held by calls that then failed or were cancelled */
  lost = 0
  #source
  #host
  #calls: (Call<Bytes> | undefined)[] = [] // undefined: completed
  #untold = 0 // index of the first call whose callback has not run; those before it are gone
  #unserved = 0 // index of the first waiting call
  #cancelled = 0 // how many of the waiting calls were cancelled
  #submitted = 0
  #isServing = false
  #isTelling = false
  #waitsSince: number | undefined

  constructor(source: Source<Bytes>, host: Host<Bytes>) {
    this.#source = source
    this.#host = host
  }

  /** Whether every call has completed. */
  get isEmpty() {
    return this.#untold === this.#calls.length
  }

  /** How many calls wait. */
  get size() {
    return this.#calls.length - this.#unserved - this.#cancelled
  }

  /** The first waiting call. Only this one can hold IDs already. */
  get first() {
    for (let i = this.#unserved; i < this.#calls.length; i++) {
      if (isWaiting(this.#calls[i])) return this.#calls[i]
    }
    return undefined
  }

  /** The last waiting call. */
  get last() {
    for (let i = this.#calls.length - 1; i >= this.#unserved; i--) {
      if (isWaiting(this.#calls[i])) return this.#calls[i]
    }
    return undefined
  }

  /** How many IDs the waiting calls still need together. */
  get missing() {
    let missing = 0
    for (let i = this.#unserved; i < this.#calls.length; i++) {
      const call = this.#at(i)
      if (isWaiting(call)) missing += call.n - call.made
    }
    return missing
  }

  /** Adds a call, which is completed when it has its IDs or has failed. */
  submit(call: Call<Bytes>) {
    const isNext = this.#calls.push(call) === this.#unserved + 1
    if (isNext || ++this.#submitted % LOOK_EVERY === 0) this.serve()
    if (!isNext) this.#source.queued?.(call)
  }

  /**
   * The same, but nothing is tried before the call can be completed: until then it can be cancelled without using up a
   * number.
   */
  submitLater(call: Call<Bytes>) {
    const isNext = this.#calls.push(call) === this.#unserved + 1
    if (!isNext) this.#source.queued?.(call)
    else if (!this.#isTelling) this.#tellSoon()
  }

  /**
   * Cancels a call: it is not completed, and takes no more IDs. Returns false if it is too late for that: then the call gets
   * its result.
   */
  cancel(call: Call<Bytes>) {
    if (call.state !== 'waiting') return false
    call.state = 'cancelled'
    this.lost += call.made
    this.#cancelled++
    // Removed in bulk, because each removal scans the whole queue.
    if (this.#cancelled * 2 > this.#calls.length - this.#unserved && !this.#isServing) this.#forgetCancelled()
    if (this.size === 0) this.#source.idle?.()
    return true
  }

  /** Takes back the IDs that a waiting call holds. */
  restart() {
    const { first } = this
    if (first === undefined) return
    this.lost += first.made
    first.made = 0
  }

  /** Serves the first waiting calls; sleeps if one cannot be served. The rest are served after these have completed. */
  serve() {
    if (this.#isServing) return // the user's clock made this call: it is served when the clock has returned
    this.#isServing = true
    const first = this.#unserved
    const end = Math.min(this.#calls.length, first + BATCH)
    let ms: number | undefined
    while (this.#unserved < end) {
      const call = this.#at(this.#unserved)
      ms = this.#attempt(call)
      if (ms !== undefined) break
      if (call.state === 'cancelled') this.#cancelled--
      this.#unserved++
    }
    this.#isServing = false
    if (this.#unserved > first) this.#served()
    if (ms !== undefined) this.#sleep(ms)
  }

  /** Serves calls and runs their callbacks, soon. */
  goOn() {
    this.#isTelling = true
    this.#host.soon(this.#tell)
  }

  /** Tries once. Returns undefined if the call is over, else in how many ms to retry. */
  #attempt(call: Call<Bytes>) {
    if (call.state === 'cancelled') return
    try {
      if (!this.#source.claim(call)) return this.#source.lack(call)
      if (call.state === 'waiting') call.state = 'done'
    } catch (error) {
      if (call.state !== 'waiting') return // the user's clock cancelled it
      this.lost += call.made
      call.error = error
      call.state = 'failed'
    }
  }

  /** A call that is still to be served or completed. */
  #at(index: number) {
    return this.#calls[index] as Call<Bytes>
  }

  #served() {
    this.#endWait()
    if (!this.#isTelling) this.#tellSoon()
  }

  #endWait() {
    if (this.#waitsSince !== undefined) this.#source.waited?.(monotonicNow() - this.#waitsSince)
    this.#waitsSince = undefined
  }

  /** Removes cancelled calls. Without waiting calls no timer keeps the process alive. */
  #forgetCancelled() {
    const waiting = this.#calls.slice(this.#unserved).filter(isWaiting)
    this.#calls.length = this.#unserved
    for (const call of waiting) this.#calls.push(call)
    this.#cancelled = 0
    if (waiting.length > 0) return
    this.#endWait()
    this.#host.stopWaiting(this)
  }

  #sleep(ms: number) {
    this.#waitsSince ??= monotonicNow()
    if (ms !== Number.POSITIVE_INFINITY) this.#host.goOnIn(ms, this)
  }

  #tellSoon() {
    this.#isTelling = true
    if (this.#host.isSliceOver()) this.#host.goOnNextTurn(this)
    else this.goOn()
  }

  /**
   * Completes all served calls, and those that can be served after them, for as long as the slice lasts. One turn for many
   * calls costs a tenth of one turn for each.
   */
  #tell = () => {
    let isOver = false
    let hasThrown = true
    try {
      while (!isOver && this.#hasServed()) {
        const call = this.#at(this.#untold)
        this.#calls[this.#untold++] = undefined
        if (call.state !== 'cancelled') call.tell()
        isOver = this.#host.isSliceOver()
      }
      hasThrown = false
    } finally {
      this.#forgetTold()
      this.#isTelling = false
      if (isOver || hasThrown) this.#tellSoon()
    }
  }

  #hasServed() {
    if (this.#untold === this.#unserved) this.serve()
    return this.#untold < this.#unserved
  }

  /** Drops completed calls half a queue at a time, so that a long queue is not moved for each slice. */
  #forgetTold() {
    if (this.#untold * 2 < this.#calls.length) return
    this.#calls.splice(0, this.#untold)
    this.#unserved -= this.#untold
    this.#untold = 0
  }
}

const isWaiting = (call: Call | undefined) => call?.state === 'waiting'
