'use strict'

// Calls that wait for an ID without blocking the event loop: one queue for each generator, served in the order of the
// calls.
//
// It must never run a callback inside a call of ours or inside a timer: callbacks run on process.nextTick, each in the
// async context of its call, so that one that throws loses none behind it and changes no order. Nor may they keep the
// event loop from turning, or the queue from forgetting those that ran, though each callback calls again.

const { AsyncResource } = require('node:async_hooks')
const { goOnIn, goOnNextTurn, isSliceOver, stopWaiting } = require('./event-loop.js')
const { monotonicNow, nextTick } = require('./timers.js')

/**
 * A loop that makes many calls keeps the event loop from turning. So one in so many looks itself whether the wait is
 * over; each would cost more than the ID.
 */
const LOOK_EVERY = 64

/** How many are served at a time. More than LOOK_EVERY, so that a loop of calls can use up what a tick allows. */
const BATCH = 256

/**
 * What a call wants, shared by all calls of the same kind.
 * @typedef {object} Wish
 * @property {() => number} attempt tries once: 0 when it worked, or in how many ms to try again; throws when it never will
 * @property {() => unknown} result what the last attempt that worked gave
 */

/** A call; as a resource it keeps the async context that it was made in. */
class Waiter extends AsyncResource {
  #queue
  #callback // undefined: cancelled
  #wish // undefined: served or cancelled
  #error = null
  #value

  constructor(queue, callback, wish) {
    super('FLAKEFORGE')
    this.#queue = queue
    this.#callback = callback
    this.#wish = wish
  }

  get isWaiting() {
    return this.#wish !== undefined
  }

  /** Tries once and keeps the outcome. Returns 0, or in how many ms to try again. */
  serve() {
    const wish = this.#wish
    if (wish === undefined) return 0
    try {
      const ms = wish.attempt()
      if (ms > 0) return ms
      this.#value = wish.result()
    } catch (error) {
      this.#error = error
    }
    this.#wish = undefined
    return 0
  }

  tell() {
    if (this.#callback !== undefined) this.runInAsyncScope(this.#callback, undefined, this.#error, this.#value)
  }

  /** Nobody is told any more, and no number is taken. False where one was taken already: then it is told. */
  cancel() {
    if (!this.isWaiting) return false
    this.#callback = undefined
    this.#wish = undefined
    this.#queue.cancelled()
    return true
  }
}

/**
 * The queue of one generator: calls that were served and are still to be told, then calls that wait. An array and not a
 * linked list, which costs the garbage collector twice as much.
 */
class Waiters {
  #queue = []
  #untold = 0 // index of the first that is still to be told; those before it are gone
  #unserved = 0 // index of the first that waits
  #calls = 0
  #cancelled = 0 // how many of those who wait were cancelled since the last were forgotten, or more
  #isServing = false
  #isTelling = false
  #waitsSince
  #onWaited

  /** @param {(ms: number) => void} onWaited is told after each wait how long it was */
  constructor(onWaited) {
    this.#onWaited = onWaited
  }

  /**
   * Calls `callback(null, wish.result())` once `wish.attempt()` has worked, or `callback(error)` when it has thrown.
   * Returns the call, which can be cancelled.
   */
  submit(callback, wish) {
    const waiter = new Waiter(this, callback, wish)
    const isNext = this.#queue.push(waiter) === this.#unserved + 1
    if (isNext || ++this.#calls % LOOK_EVERY === 0) this.serve()
    return waiter
  }

  /** The same, but the call is not tried before it can be told: until then it can be cancelled and takes no number. */
  submitLater(callback, wish) {
    const waiter = new Waiter(this, callback, wish)
    const isNext = this.#queue.push(waiter) === this.#unserved + 1
    if (isNext && !this.#isTelling) this.#tellSoon()
    return waiter
  }

  /** A call that waits was cancelled. They are forgotten many at a time, or each would cost a look at all others. */
  cancelled() {
    this.#cancelled++
    if (this.#cancelled * 2 > this.#queue.length - this.#unserved && !this.#isServing) this.#forgetCancelled()
  }

  /** Serves the first of those who wait; sleeps if one cannot be served. Those behind them are served once they are told. */
  serve() {
    if (this.#isServing) return // a clock of the user's made this call: it is served when the clock has answered
    this.#isServing = true
    const first = this.#unserved
    const end = Math.min(this.#queue.length, first + BATCH)
    let ms = 0
    while (this.#unserved < end) {
      ms = this.#queue[this.#unserved].serve()
      if (ms > 0) break
      this.#unserved++
    }
    this.#isServing = false
    if (this.#unserved > first) this.#served()
    if (ms > 0) this.#sleep(ms)
  }

  /** Serves and tells, in a tick of its own. */
  goOn() {
    this.#isTelling = true
    nextTick(this.#tell)
  }

  #served() {
    this.#endWait()
    if (!this.#isTelling) this.#tellSoon()
  }

  #endWait() {
    if (this.#waitsSince !== undefined) this.#onWaited(monotonicNow() - this.#waitsSince)
    this.#waitsSince = undefined
  }

  /** Where all who waited were cancelled, no timer keeps the process alive for them. */
  #forgetCancelled() {
    const waiting = this.#queue.slice(this.#unserved).filter((waiter) => waiter.isWaiting)
    this.#queue.length = this.#unserved
    for (const waiter of waiting) this.#queue.push(waiter)
    this.#cancelled = 0
    if (waiting.length > 0) return
    this.#endWait()
    stopWaiting(this)
  }

  #sleep(ms) {
    this.#waitsSince ??= monotonicNow()
    goOnIn(ms, this)
  }

  #tellSoon() {
    this.#isTelling = true
    if (isSliceOver()) goOnNextTurn(this)
    else this.goOn()
  }

  /**
   * Runs the callbacks of all who were served, and of those who can be served after them, as long as the slice lasts: one
   * nextTick for many, a tenth of what one for each costs.
   */
  #tell = () => {
    let isOver = false
    let hasThrown = true
    try {
      while (!isOver && this.#hasServed()) {
        const waiter = this.#queue[this.#untold]
        this.#queue[this.#untold++] = undefined
        waiter.tell()
        isOver = isSliceOver()
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

  /** In pieces of half the queue, so that a long one is not moved for each slice. */
  #forgetTold() {
    if (this.#untold * 2 < this.#queue.length) return
    this.#queue.splice(0, this.#untold)
    this.#unserved -= this.#untold
    this.#untold = 0
  }
}

module.exports = { Waiters }
