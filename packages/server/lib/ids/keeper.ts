// Takes something of a store and keeps it: tries until it has it, and begins again when it is gone. Between two tries it
// waits, longer each time. It tells when no IDs come any more, and when they do again. It must never give up before it is
// closed, and never fail: what is wrong is its `trouble`.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Coded } from '../http/problems.ts'

/** The wait after the first try that failed, and the longest. */
const [FIRST_MS, LONGEST_MS] = [250, 5_000]

/** `take` resolves once it is held, `untilGone` resolves with the reason once it is not, `end` gives it back. */
export interface Work {
  take: (signal: AbortSignal) => Promise<void>
  untilGone: () => Promise<Error | undefined>
  end: () => Promise<void> | undefined
}

export class Keeper {
  #what
  #warn
  #work
  #ending = new AbortController()
  /** the code of the reason that was told last */
  #told: string | undefined
  #done: Promise<void> | undefined
  /** why it is not held */
  trouble: Error | undefined
  isStarting = true // no try has ended yet

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

  /** Whether it was told that there are no IDs. */
  get isOut() {
    return this.#told !== undefined
  }

  /** It is held, and yet gives no IDs. A tick that is used up is no outage. */
  fails(error: Coded) {
    if (this.trouble === undefined && error.code !== 'ERR_FLAKE_OVERFLOW') this.#tell(error)
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

  /** Each reason is told once: a store that is away for an hour must not fill the log. */
  #tell(error: Coded) {
    const code = String(error.code)
    // flakeforge's own warning tells of a quiet period, with the command that avoids it.
    if (code !== this.#told && code !== 'ERR_FLAKE_QUIET')
      this.#warn(`${this.#what}: ${reasonOf(error)} The server tries again.`)
    this.#told = code
  }
}

/** Resolves with what a promise does, or with nothing at the abort. */
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
