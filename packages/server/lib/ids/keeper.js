'use strict'
// @ts-check

// Takes something of a store and keeps it: tries until it has it, and begins again when it is gone. Between two tries it
// waits, longer each time. It must never give up before it is closed, and never fail: what is wrong is its `trouble`.

const { setTimeout: sleep } = require('node:timers/promises')

/** The wait after the first try that failed, and the longest. */
const [FIRST_MS, LONGEST_MS] = [250, 5_000]

/**
 * `take` resolves once it is held, `untilGone` resolves with the reason once it is not, `end` gives it back.
 * @typedef {object} Work
 * @property {(signal: AbortSignal) => Promise<void>} take
 * @property {() => Promise<Error | undefined>} untilGone
 * @property {() => Promise<void> | undefined} end
 */

class Keeper {
  #what
  #warn
  #work
  #ending = new AbortController()
  #hasComplained = false
  /** @type {Promise<void> | undefined} */
  #done
  /** @type {Error | undefined} why it is not held */
  trouble
  isStarting = true // no try has ended yet

  /**
   * @param {string} what for messages
   * @param {(text: string) => void} warn
   * @param {Work} work
   */
  constructor(what, warn, work) {
    this.#what = what
    this.#warn = warn
    this.#work = work
    this.trouble = notYet(what)
  }

  start() {
    this.#done = this.#keep(this.#ending.signal)
  }

  /** Gives it back. A try that is under way ends at once. */
  async close() {
    this.#ending.abort()
    await this.#done
    try {
      await this.#work.end()
    } catch (error) {
      this.#warn(`${this.#what}: ${/** @type {Error} */ (error).message}`)
    }
  }

  /** @param {AbortSignal} signal */
  async #keep(signal) {
    while (!signal.aborted) {
      await this.#take(signal)
      if (signal.aborted) return
      const cause = await unlessAborted(this.#work.untilGone(), signal)
      if (signal.aborted) return
      this.#complain(cause ?? notYet(this.#what))
    }
  }

  /**
   * Tries until it is held, or until the end.
   * @param {AbortSignal} signal
   */
  async #take(signal) {
    for (let ms = FIRST_MS; !signal.aborted; ms = Math.min(ms * 2, LONGEST_MS)) {
      try {
        await this.#work.take(signal)
        if (this.#hasComplained) this.#warn(`${this.#what}: makes IDs again.`)
        this.#hasComplained = false
        this.trouble = undefined
        this.isStarting = false
        return
      } catch (error) {
        if (signal.aborted) return
        this.#complain(/** @type {Error} */ (error))
        await sleep(ms, undefined, { signal }).catch(() => {})
      }
    }
  }

  /**
   * Each reason is told once: a store that is away for an hour must not fill the log.
   * @param {Error} error
   */
  #complain(error) {
    const isNews = !this.#hasComplained || /** @type {any} */ (error).code !== /** @type {any} */ (this.trouble)?.code
    this.trouble = error
    this.isStarting = false
    this.#hasComplained = true
    if (isNews) this.#warn(`${this.#what}: ${sentence(error.message)} The server tries again.`)
  }
}

/**
 * Resolves with what a promise does, or with nothing at the abort.
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal} signal
 * @returns {Promise<T | undefined>}
 */
function unlessAborted(promise, signal) {
  return new Promise((resolve) => {
    const stop = () => resolve(undefined)
    signal.addEventListener('abort', stop, { once: true })
    promise.then((value) => {
      signal.removeEventListener('abort', stop)
      resolve(value)
    })
  })
}

/**
 * With a full stop, which messages of clients lack.
 * @param {string} text
 */
const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`)

/** @param {string} what */
const notYet = (what) =>
  Object.assign(new Error(`${what} waits for its store's first answer.`), {
    code: 'ERR_FLAKE_DETACHED',
    retryAfterMs: 1000,
  })

exports.Keeper = Keeper
