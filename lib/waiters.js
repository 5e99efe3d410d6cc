'use strict'

// Calls that wait for an ID without blocking the event loop: one queue for each generator, served in the order of the
// calls, and one alarm for all queues.
//
// It must never run a callback inside a call of ours or inside the alarm: callbacks run on process.nextTick, each in the
// async context of its call, so that one that throws loses none behind it and changes no order.

const { AsyncResource } = require('node:async_hooks')

/** No single wait is longer: a clock that was corrected meanwhile must be noticed, and setTimeout ends at 2^31 ms. */
const LONGEST_MS = 1000

/**
 * A loop that makes many calls keeps the event loop from turning. So one in so many looks itself whether the wait is
 * over; each would cost more than the ID.
 */
const LOOK_EVERY = 64

/**
 * What a call wants, shared by all calls of the same kind.
 * @typedef {object} Wish
 * @property {() => number} attempt tries once: 0 when it worked, or in how many ms to try again; throws when it never will
 * @property {() => unknown} result what the last attempt that worked gave
 */

/** A call; as a resource it keeps the async context that it was made in. */
class Waiter extends AsyncResource {
  error = null
  value = undefined

  constructor(callback, wish) {
    super('FLAKEFORGE')
    this.callback = callback
    this.wish = wish
  }

  /** Tries once and keeps the outcome. Returns 0, or in how many ms to try again. */
  serve() {
    try {
      const ms = this.wish.attempt()
      if (ms > 0) return ms
      this.value = this.wish.result()
    } catch (error) {
      this.error = error
    }
    return 0
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
  #isServing = false
  #isTelling = false
  #waitsSince
  #onWaited

  /** @param {(ms: number) => void} onWaited is told after each wait how long it was */
  constructor(onWaited) {
    this.#onWaited = onWaited
  }

  /** Calls `callback(null, wish.result())` once `wish.attempt()` has worked, or `callback(error)` when it has thrown. */
  submit(callback, wish) {
    const waiter = new Waiter(callback, wish)
    const isNext = this.#queue.push(waiter) === this.#unserved + 1
    if (isNext || ++this.#calls % LOOK_EVERY === 0) this.serve()
  }

  /** Serves who can be served, and sleeps if somebody cannot. */
  serve() {
    if (this.#isServing) return // a clock of the user's made this call: it is served when the clock has answered
    this.#isServing = true
    const first = this.#unserved
    let ms = 0
    while (this.#unserved < this.#queue.length) {
      ms = this.#queue[this.#unserved].serve()
      if (ms > 0) break
      this.#unserved++
    }
    this.#isServing = false
    if (this.#unserved > first) this.#served()
    if (ms > 0) this.#sleep(ms)
  }

  #served() {
    if (this.#waitsSince !== undefined) this.#onWaited(performance.now() - this.#waitsSince)
    this.#waitsSince = undefined
    this.#tellSoon()
  }

  #sleep(ms) {
    this.#waitsSince ??= performance.now()
    asleep.add(this)
    wakeIn(ms)
  }

  #tellSoon() {
    if (this.#isTelling) return
    this.#isTelling = true
    process.nextTick(this.#tell)
  }

  /** Runs the callbacks of all who were served: one nextTick for many, a tenth of what one for each costs. */
  #tell = () => {
    try {
      while (this.#untold < this.#unserved) {
        const waiter = this.#queue[this.#untold]
        this.#queue[this.#untold++] = undefined
        waiter.runInAsyncScope(waiter.callback, undefined, waiter.error, waiter.value)
      }
    } finally {
      this.#isTelling = false
      if (this.#untold < this.#unserved)
        this.#tellSoon() // the last callback has thrown
      else this.#forgetTold()
    }
  }

  #forgetTold() {
    this.#queue.splice(0, this.#untold)
    this.#unserved -= this.#untold
    this.#untold = 0
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
  // What is left of a millisecond is less than the shortest timer, which takes two under load: pass it turn by turn of
  // the event loop. It doubles the rate at which a queue is served.
  alarm = ms < 1 ? setImmediate(wake) : setTimeout(wake, Math.min(Math.floor(ms), LONGEST_MS))
}

function wake() {
  const awake = [...asleep]
  alarm = undefined
  asleep.clear()
  for (const waiters of awake) waiters.serve()
}

module.exports = { Waiters, LONGEST_MS }
