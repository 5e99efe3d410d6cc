'use strict'
// @ts-check

// Takes something of a store and keeps it: tries until it has it, and begins again when it is gone. Between two tries it
// waits, longer each time. It tells when no IDs come any more, and when they do again. It must never give up before it is
// closed, and never fail: what is wrong is its `trouble`.

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
  /** @type {string | undefined} the code of the reason that was told last */
  #told
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

  /** Whether it was told that there are no IDs. */
  get isOut() {
    return this.#told !== undefined
  }

  /**
   * It is held, and yet gives no IDs. A tick that is used up is no outage.
   * @param {Error} error
   */
  fails(error) {
    if (this.trouble === undefined && /** @type {any} */ (error).code !== 'ERR_FLAKE_OVERFLOW') this.#tell(error)
  }

  /** It gives IDs. */
  works() {
    if (this.#told === undefined) return
    this.#told = undefined
    this.#warn(`${this.#what}: makes IDs again.`)
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
        this.trouble = undefined
        this.isStarting = false
        this.works()
        return
      } catch (error) {
        if (signal.aborted) return
        this.#complain(/** @type {Error} */ (error))
        await sleep(ms, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** @param {Error} error */
  #complain(error) {
    this.trouble = error
    this.isStarting = false
    this.#tell(error)
  }

  /**
   * Each reason is told once: a store that is away for an hour must not fill the log.
   * @param {Error} error
   */
  #tell(error) {
    const code = String(/** @type {any} */ (error).code)
    if (code !== this.#told) this.#warn(`${this.#what}: ${reasonOf(error)} The server tries again.`)
    this.#told = code
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

/** @param {Error} error */
function reasonOf({ message, cause }) {
  return cause instanceof Error ? `${sentence(message)} Because: ${sentence(cause.message)}` : sentence(message)
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
