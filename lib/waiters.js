'use strict'

// Calls that wait for an ID without blocking the event loop: one queue for each generator, served in the order of
// the calls, and one timer for all queues.
//
// It must never run a callback inside a call of ours or inside the timer: callbacks run on process.nextTick, each in
// the async context of its call, so that one that throws loses none behind it.

const { AsyncResource } = require('node:async_hooks')

/** No single wait is longer: a clock that was corrected meanwhile must be noticed, and setTimeout ends at 2^31 ms. */
const LONGEST_MS = 1000

/**
 * A loop that makes many calls keeps the event loop from turning. So one in so many looks itself whether the wait is
 * over; each would cost more than the ID.
 */
const LOOK_EVERY = 64

/**
 * What a call wants, shared by all waiting calls of the same kind.
 * @typedef {object} Wish
 * @property {() => number} attempt tries once: 0 when it worked, or in how many ms to try again; throws when it never will
 * @property {() => unknown} result what the last attempt that worked gave
 */

/** A call that waits. As a resource it keeps the async context of the call; as a link, its place in the queue. */
class Waiter extends AsyncResource {
  next = undefined
  error = null
  value = undefined

  constructor(callback, wish) {
    super('FLAKEFORGE')
    this.callback = callback
    this.wish = wish
  }
}

/** The queue of one generator. */
class Waiters {
  #first
  #last
  #onWaited
  #since = 0
  #calls = 0

  /** @param {(ms: number) => void} onWaited is told after each wait how long it was */
  constructor(onWaited) {
    this.#onWaited = onWaited
  }

  /** Calls `callback(null, wish.result())` once `wish.attempt()` has worked, or `callback(error)` when it has thrown. */
  submit(callback, wish) {
    if (this.#first !== undefined) {
      this.#last = this.#last.next = new Waiter(callback, wish)
      if (++this.#calls % LOOK_EVERY === 0) this.drain()
      return
    }
    let ms
    try {
      ms = wish.attempt()
    } catch (error) {
      process.nextTick(callback, error)
      return
    }
    if (ms === 0) {
      process.nextTick(callback, null, wish.result())
    } else {
      this.#first = this.#last = new Waiter(callback, wish)
      this.#since = performance.now()
      asleep.add(this)
      wakeIn(ms)
    }
  }

  /** Serves who can be served. Returns 0, or in how many ms to come again. */
  drain() {
    const first = this.#first
    let served
    let ms = 0
    while (this.#first !== undefined) {
      ms = serve(this.#first)
      if (ms > 0) break
      served = this.#first
      this.#first = served.next
    }
    if (served !== undefined) {
      served.next = undefined
      process.nextTick(deliver, first)
      const now = performance.now()
      this.#onWaited(now - this.#since)
      this.#since = now
    }
    return ms
  }
}

/** Tries once for a waiter, who keeps the outcome. Returns 0, or in how many ms to try again. */
function serve(waiter) {
  try {
    const ms = waiter.wish.attempt()
    if (ms > 0) return ms
    waiter.value = waiter.wish.result()
  } catch (error) {
    waiter.error = error
  }
  return 0
}

/** Runs the callbacks of a chain of served waiters: one nextTick for all, a tenth of what one for each costs. */
function deliver(first) {
  let waiter = first
  try {
    while (waiter !== undefined) {
      const { callback, error, value, next } = waiter
      const called = waiter
      waiter = next
      called.runInAsyncScope(callback, undefined, error, value)
    }
  } finally {
    if (waiter !== undefined) process.nextTick(deliver, waiter) // the last callback has thrown
  }
}

const asleep = new Set()
let alarm // a Timeout or an Immediate; undefined while nobody waits
let due = Number.POSITIVE_INFINITY

/** Arms the one alarm, unless it is armed for an earlier time. */
function wakeIn(ms) {
  const at = performance.now() + ms
  if (alarm !== undefined) {
    if (due <= at) return
    clearTimeout(alarm)
    clearImmediate(alarm)
  }
  due = at
  // What is left of a millisecond is less than the shortest timer, which takes two under load: pass it turn by turn
  // of the event loop. It doubles the rate at which a queue is served.
  alarm = ms < 1 ? setImmediate(wake) : setTimeout(wake, Math.min(Math.floor(ms), LONGEST_MS))
}

function wake() {
  alarm = undefined
  let soonest = Number.POSITIVE_INFINITY
  for (const waiters of asleep) {
    const ms = waiters.drain()
    if (ms === 0) asleep.delete(waiters)
    else soonest = Math.min(soonest, ms)
  }
  if (soonest !== Number.POSITIVE_INFINITY) wakeIn(soonest)
}

module.exports = { Waiters, LONGEST_MS }
