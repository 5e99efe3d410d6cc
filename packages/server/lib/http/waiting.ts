// Requests that wait for the next tick, a window or a block. Their number is limited: beyond it a client gets the answer at
// once that the server is busy, and can ask another one. A wait ends when its client goes away, or after a time.
//
// The requests of one connection form a separate queue, and only the first of them waits for IDs. So a client that sends
// hundreds at once takes turns with all others, uses up none of their places, and gets its IDs in the order of its requests.

import type { Socket } from 'node:net'
import { type Coded, GONE, Problem } from './problems.ts'

/** There are no IDs at present; a wait helps, unless it is known to be longer than requests wait. */
const WAITS = new Set(['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_CLOCK_BACKWARDS'])

export class Waiting {
  #most
  #waitMs
  #lines: Map<Socket, { length: number; end: Promise<void> }> = new Map()
  count = 0

  constructor({ maxWaiting, waitMs }: { maxWaiting: number; waitMs: number }) {
    this.#most = maxWaiting
    this.#waitMs = waitMs
  }

  /** Whether a wait may help after this error. */
  helps({ code, retryAfterMs }: Coded) {
    return WAITS.has(code as string) && (retryAfterMs as number) <= this.#waitMs
  }

  /** Whether a request of this connection waits. */
  isOn(socket: Socket) {
    return this.count > 0 && this.#lines.has(socket)
  }

  async run<T>(socket: Socket, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const line = this.#lineOf(socket)
    const done = this.#within(socket, line.end, work)
    line.end = done.then(nothing, nothing)
    line.length++
    this.count++
    try {
      return await done
    } finally {
      this.count--
      if (--line.length === 0) this.#lines.delete(socket)
    }
  }

  #lineOf(socket: Socket) {
    const known = this.#lines.get(socket)
    const [length, what] =
      known === undefined ? [this.#lines.size, 'clients'] : [known.length, 'requests of this client']
    if (length >= this.#most) throw busy(`${length} ${what}`)
    const line = known ?? { length: 0, end: Promise.resolve() }
    this.#lines.set(socket, line)
    return line
  }

  async #within<T>(socket: Socket, before: Promise<void>, work: (signal: AbortSignal) => Promise<T>) {
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(tooLong(this.#waitMs)), this.#waitMs)
    const gone = () => ending.abort(GONE)
    try {
      await before // it was there first, so its time is up first
      if (socket.destroyed) throw GONE
      ending.signal.throwIfAborted()
      socket.once('close', gone)
      return await work(ending.signal)
    } finally {
      clearTimeout(timer)
      socket.off('close', gone)
    }
  }
}

const nothing = () => {}

const busy = (who: string) =>
  new Problem(503, 'ERR_FLAKE_BUSY', `${who} wait for IDs already. Ask again later, or ask another server.`)

const tooLong = (ms: number) =>
  new Problem(
    503,
    'ERR_FLAKE_TIMEOUT',
    `The IDs could not be made within ${ms} ms. Ask for fewer, or ask another server.`,
  )
