// Calls that wait for an ID without blocking the event loop: one queue for each generator, served in the order of the
// calls.
//
// It must never run a callback inside a call of ours or inside a timer: callbacks run on process.nextTick, each in the
// async context of its call. So one that throws neither loses those behind it nor changes their order. Even if each
// callback calls again, the event loop must keep turning, and the queue must forget the calls that ran.

import { monotonicNow, nextTick } from '../base/timers.ts'
import { goOnIn, goOnNextTurn, isSliceOver, stopWaiting } from './event-loop.ts'

const { AsyncResource } = process.getBuiltinModule('node:async_hooks')

/**
 * A loop that makes many calls keeps the event loop from turning. So one call in so many looks whether the wait is
 * over. If each did, it would cost more than the ID.
 */
const LOOK_EVERY = 64

/** How many are served at a time. More than LOOK_EVERY, so that a loop of calls can use up what a tick allows. */
const BATCH = 256

/** What a call wants, shared by all calls of the same kind. */
export interface Wish {
  /** tries once: 0 if it worked, or else in how many ms to try again; throws if it never will */
  attempt: () => number
  /** the result of the last attempt that worked */
  result: () => unknown
}

export type Callback = (error: Error | null, result: any) => unknown

/** A call. As an AsyncResource it keeps the async context in which it was made. */
class Waiter extends AsyncResource {
  #queue
  #callback: Callback | undefined // undefined: cancelled
  #wish: Wish | undefined // undefined: served or cancelled
  #error: unknown = null
  #value: unknown

  constructor(queue: Waiters, callback: Callback, wish: Wish) {
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

  /**
   * Cancels the call: its callback is not called and no number is taken. False if one was taken already: then the
   * callback still runs.
   */
  cancel() {
    if (!this.isWaiting) return false
    this.#callback = undefined
    this.#wish = undefined
    this.#queue.cancelled()
    return true
  }
}

/**
 * The queue of one generator: calls that were served and are still to be told, then calls that wait. It is an array,
 * because a linked list costs the garbage collector twice as much.
 */
export class Waiters {
  #queue: (Waiter | undefined)[] = [] // undefined: told
  #untold = 0 // index of the first call whose callback has still to run; those before it are gone
  #unserved = 0 // index of the first call that waits
  #calls = 0
  #cancelled = 0 // at least how many waiting calls were cancelled since they were last removed
  #isServing = false
  #isTelling = false
  #waitsSince: number | undefined
  #onWaited

  /** @param onWaited is called after each wait with its length */
  constructor(onWaited: (ms: number) => void) {
    this.#onWaited = onWaited
  }

  /**
   * Calls `callback(null, wish.result())` once `wish.attempt()` has worked, or `callback(error)` when it has thrown.
   * Returns the call, which can be cancelled.
   */
  submit(callback: Callback, wish: Wish) {
    const waiter = new Waiter(this, callback, wish)
    const isNext = this.#queue.push(waiter) === this.#unserved + 1
    if (isNext || ++this.#calls % LOOK_EVERY === 0) this.serve()
    return waiter
  }

  /**
   * The same, but nothing is tried before the callback can run: until then the call can be cancelled without using up a
   * number.
   */
  submitLater(callback: Callback, wish: Wish) {
    const waiter = new Waiter(this, callback, wish)
    const isNext = this.#queue.push(waiter) === this.#unserved + 1
    if (isNext && !this.#isTelling) this.#tellSoon()
    return waiter
  }

  /** A waiting call was cancelled. They are removed many at a time, because each removal looks at the whole queue. */
  cancelled() {
    this.#cancelled++
    if (this.#cancelled * 2 > this.#queue.length - this.#unserved && !this.#isServing) this.#forgetCancelled()
  }

  /**
   * Serves the first calls that wait; sleeps if one cannot be served. The rest are served after these callbacks have
   * run.
   */
  serve() {
    if (this.#isServing) return // the user's clock made this call: it is served when the clock has answered
    this.#isServing = true
    const first = this.#unserved
    const end = Math.min(this.#queue.length, first + BATCH)
    let ms = 0
    while (this.#unserved < end) {
      ms = this.#at(this.#unserved).serve()
      if (ms > 0) break
      this.#unserved++
    }
    this.#isServing = false
    if (this.#unserved > first) this.#served()
    if (ms > 0) this.#sleep(ms)
  }

  /** A call that is still to be served or told. */
  #at(index: number) {
    return this.#queue[index] as Waiter
  }

  /** Serves calls and runs their callbacks, on process.nextTick. */
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

  /** Removes cancelled calls. If no call waits any more, no timer keeps the process alive. */
  #forgetCancelled() {
    const waiting = this.#queue.slice(this.#unserved).filter((waiter) => waiter?.isWaiting)
    this.#queue.length = this.#unserved
    for (const waiter of waiting) this.#queue.push(waiter)
    this.#cancelled = 0
    if (waiting.length > 0) return
    this.#endWait()
    stopWaiting(this)
  }

  #sleep(ms: number) {
    this.#waitsSince ??= monotonicNow()
    goOnIn(ms, this)
  }

  #tellSoon() {
    this.#isTelling = true
    if (isSliceOver()) goOnNextTurn(this)
    else this.goOn()
  }

  /**
   * Runs the callbacks of all calls that were served, and of those that can be served after them, as long as the slice
   * lasts. One nextTick for many costs a tenth of one for each.
   */
  #tell = () => {
    let isOver = false
    let hasThrown = true
    try {
      while (!isOver && this.#hasServed()) {
        const waiter = this.#at(this.#untold)
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

  /** Drops what was told half a queue at a time, so that a long queue is not moved for each slice. */
  #forgetTold() {
    if (this.#untold * 2 < this.#queue.length) return
    this.#queue.splice(0, this.#untold)
    this.#unserved -= this.#untold
    this.#untold = 0
  }
}

/** The promise of a call that takes a callback. */
export const promised = (call: (callback: Callback) => unknown): Promise<any> =>
  new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)))
  })
