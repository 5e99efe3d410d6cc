'use strict'
// @ts-check

// Requests that wait for the next tick, a window or a block. Only so many may: beyond that a client hears at once that
// the server is busy, and can ask another one. A wait ends when its client goes away, or after a time.

const { Problem } = require('./problems.js')

class Waiting {
  #most
  #waitMs
  count = 0

  /** @param {{ maxWaiting: number, waitMs: number }} limits */
  constructor({ maxWaiting, waitMs }) {
    this.#most = maxWaiting
    this.#waitMs = waitMs
  }

  /**
   * @template T
   * @param {import('fastify').FastifyReply} reply
   * @param {(signal: AbortSignal) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async run(reply, work) {
    if (this.count >= this.#most) throw busy(this.#most)
    this.count++
    const ending = new AbortController()
    const gone = () => ending.abort(GONE)
    const timer = setTimeout(() => ending.abort(tooLong(this.#waitMs)), this.#waitMs)
    reply.raw.once('close', gone)
    try {
      return await work(ending.signal)
    } finally {
      this.count--
      clearTimeout(timer)
      reply.raw.off('close', gone)
    }
  }
}

/** Nobody reads it. */
const GONE = new Problem(499, 'ERR_FLAKE_REQUEST', 'The client went away.')

/** @param {number} most */
const busy = (most) =>
  new Problem(503, 'ERR_FLAKE_BUSY', `${most} requests wait for IDs already. Ask again later, or ask another server.`)

/** @param {number} ms */
const tooLong = (ms) =>
  new Problem(
    503,
    'ERR_FLAKE_TIMEOUT',
    `The IDs could not be made within ${ms} ms. Ask for fewer, or ask another server.`,
  )

exports.Waiting = Waiting
