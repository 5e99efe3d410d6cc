// Acquires something from a store and keeps it: retries until it has it, and again when it is lost, with longer and longer
// waits. It reports when IDs stop, and when they are back. It does not give up before it is closed; a failure is its
// `trouble`.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Coded } from '../http/problems.ts'

/** The wait after the first failed attempt, and the longest. */
const [FIRST_MS, LONGEST_MS] = [250, 5_000]

/** `take` resolves once it is held, `untilGone` with the reason once it is not, `end` releases it. */
export interface Work {
  take: (signal: AbortSignal) => Promise<void>
  untilGone: () => Promise<Error | undefined>
  end: () => Promise<void> | undefined
}

export class Supervisor {
  #what
  #warn
  #work
  #ending = new AbortController()
  /** the code of the last reported reason */
  #told: string | undefined
  #done: Promise<void> | undefined
  /** why it is not held */
  trouble: Error | undefined
  isStarting = true // no attempt has ended yet

  /** @param what for messages */
  constructor(what: string, warn: (text: string) => void, work: Work) {
    this.#what = what
    this.#warn = warn
    this.#work = work
    this.trouble = notYet(what)
  }

  start() {
    this.#done = this.#keep(this.#ending.signal)
  }

  /** Whether it was reported that there are no IDs. */
  get isOut() {
    return this.#told !== undefined
  }

  /** It is held, but supplies no IDs. A tick that is used up is not an outage. */
  fails(error: Coded) {
    if (this.trouble === undefined && error.code !== 'ERR_FLAKE_OVERFLOW') this.#tell(error)
  }

  /** It supplies IDs. */
  works() {
    if (this.#told === undefined) return
    this.#told = undefined
    this.#warn(`${this.#what}: generates IDs again.`)
  }

  /** Releases it. A pending attempt ends at once. */
  async close() {
    this.#ending.abort()
    await this.#done
    try {
      await this.#work.end()
    } catch (error) {
      this.#warn(`${this.#what}: ${(error as Error).message}`)
    }
  }

  async #keep(signal: AbortSignal) {
    while (!signal.aborted) {
      await this.#take(signal)
      if (signal.aborted) return
      const cause = await unlessAborted(this.#work.untilGone(), signal)
      if (signal.aborted) return
      this.#complain(cause ?? notYet(this.#what))
    }
  }

  /** Tries until it is held, or until the end. */
  async #take(signal: AbortSignal) {
    for (let ms = FIRST_MS; !signal.aborted; ms = Math.min(ms * 2, LONGEST_MS)) {
      try {
        await this.#work.take(signal)
        this.trouble = undefined
        this.isStarting = false
        this.works()
        return
      } catch (error) {
        if (signal.aborted) return
        this.#complain(error as Error)
        await sleep(ms, undefined, { signal }).catch(() => {})
      }
    }
  }

  #complain(error: Error) {
    this.trouble = error
    this.isStarting = false
    this.#tell(error)
  }

  /** Each reason is reported once: a store that is unreachable for an hour must not fill the log. */
  #tell(error: Coded) {
    const code = String(error.code)
    // flakeforge's own warning covers a quiet period, with the command that avoids it.
    if (code !== this.#told && code !== 'ERR_FLAKE_QUIET')
      this.#warn(`${this.#what}: ${reasonOf(error)} The server retries.`)
    this.#told = code
  }
}

/** Resolves with a promise's result, or with undefined at the abort. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve) => {
    const stop = () => resolve(undefined)
    signal.addEventListener('abort', stop, { once: true })
    promise.then((value) => {
      signal.removeEventListener('abort', stop)
      resolve(value)
    })
  })
}

function reasonOf({ message, cause }: Error) {
  return cause instanceof Error ? `${sentence(message)} Because: ${sentence(cause.message)}` : sentence(message)
}

/** With a full stop, which messages of clients lack. */
const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)

const notYet = (what: string) =>
  Object.assign(new Error(`${what} waits for its store's first answer.`), {
    code: 'ERR_FLAKE_DETACHED',
    retryAfterMs: 1000,
  })
