'use strict'
// @ts-check

// Requests that wait for the next tick, a window or a block. Only so many may: beyond that a client hears at once that
// the server is busy, and can ask another one. A wait ends when its client goes away, or after a time.
//
// Of one connection one request waits at a time, and those behind it until it is done. So a client that sends hundreds at
// once takes its turns like all others, and its IDs come in the order of its requests.

const { Problem } = require('./problems.js')

/** @typedef {import('node:net').Socket} Socket */

class Waiting {
  #most
  #waitMs
  /** @type {Map<Socket, Promise<void>>} the end of the last request that waits on each connection */
  #last = new Map()
  count = 0

  /** @param {{ maxWaiting: number, waitMs: number }} limits */
  constructor({ maxWaiting, waitMs }) {
    this.#most = maxWaiting
    this.#waitMs = waitMs
  }

  /**
   * Whether a request of this connection waits.
   * @param {Socket} socket
   */
  isOn(socket) {
    return this.count > 0 && this.#last.has(socket)
  }

  /**
   * @template T
   * @param {Socket} socket
   * @param {(signal: AbortSignal) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async run(socket, work) {
    if (this.count >= this.#most) throw busy(this.#most)
    this.count++
    const before = this.#last.get(socket)
    const done = this.#within(socket, before, work)
    const end = done.then(nothing, nothing)
    this.#last.set(socket, end)
    try {
      return await done
    } finally {
      this.count--
      if (this.#last.get(socket) === end) this.#last.delete(socket)
    }
  }

  /**
   * @template T
   * @param {Socket} socket
   * @param {Promise<void> | undefined} before
   * @param {(signal: AbortSignal) => Promise<T>} work
   */
  async #within(socket, before, work) {
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(tooLong(this.#waitMs)), this.#waitMs)
    const gone = () => ending.abort(GONE)
    try {
      await before // which was there first, so its time is up first
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
