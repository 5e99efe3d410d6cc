// Requests that wait for the next tick, a window or a block. Their number is limited: beyond it a client gets the answer at
// once that the server is busy, and can ask another one. A wait ends when its client goes away, or after a time. Each connection
// has one request in progress (turns.ts), so no client takes more than one place with a connection.

import type { Socket } from 'node:net'
import { type Coded, GONE, Problem } from './problems.ts'

/** There are no IDs at present; a wait helps, unless it is known to be longer than requests wait. */
const WAITS = new Set(['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_CLOCK_BACKWARDS'])

export class Waiting {
  #most
  #waitMs
  count = 0

  constructor({ maxWaiting, waitMs }: { maxWaiting: number; waitMs: number }) {
    this.#most = maxWaiting
    this.#waitMs = waitMs
  }

  /** Whether a wait may help after this error. */
  helps({ code, retryAfterMs }: Coded) {
    return WAITS.has(code as string) && (retryAfterMs as number) <= this.#waitMs
  }

  async run<T>(socket: Socket, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.count >= this.#most) throw busy(this.count)
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(tooLong(this.#waitMs)), this.#waitMs)
    const gone = () => ending.abort(GONE)
    socket.once('close', gone)
    this.count++
    try {
      return await work(ending.signal)
    } finally {
      this.count--
      clearTimeout(timer)
      socket.off('close', gone)
    }
  }
}

const busy = (count: number) =>
  new Problem(503, 'ERR_FLAKE_BUSY', `${count} clients wait for IDs already. Ask again later, or ask another server.`)

const tooLong = (ms: number) =>
  new Problem(
    503,
    'ERR_FLAKE_TIMEOUT',
    `The IDs could not be generated within ${ms} ms. Ask for fewer, or ask another server.`,
  )
