'use strict'
// @ts-check

// The servers of a client: which one is asked, and what happens when it fails. It begins with a random one and stays with
// it, so that all clients together use all servers. After a failure it goes on with the next.
//
// It must never ask two servers at once. It must never ask them in a tight loop: after a round in which all have failed it
// says how long to wait.

const { sleepUnlessAborted } = require('../base/abortable-sleep.js')
const { monotonicNow } = require('../base/portable-timers.js')
const { noServerError, refusedError } = require('../base/errors/remote.js')
const { MOST } = require('./options.js')
const { requestIds, requestJson } = require('./request.js')

/**
 * @import { Failure } from '../base/errors/remote.js'
 * @import { RequestSettings } from './request.js'
 *
 * @typedef {{ url: string, failure?: Failure, notBefore: number }} Server `notBefore`: by Retry-After
 */

/** After the first round in which all servers have failed, and the longest after many. */
const FIRST_REST_MS = 50
const LONGEST_REST_MS = 1000

/** What a round ends with if all servers have failed. */
class RoundFailure {
  /**
   * @param {Error} error
   * @param {number} restMs when to try again
   */
  constructor(error, restMs) {
    this.error = error
    this.restMs = restMs
  }
}

class Servers {
  requests = 0
  /** requests that were made because one before them had failed */
  retries = 0
  #settings
  /** @type {Server[]} */
  #servers
  #at
  #most = MOST // to ask for at once: a layout with few IDs a tick takes long for many
  #hasFailed = false // the last request
  #failedRounds = 0 // since the last success
  /** @type {number | undefined} */
  #failingSince // undefined: the last request was a success

  /** @param {RequestSettings} settings */
  constructor(settings) {
    this.#settings = settings
    this.#servers = settings.servers.map((url) => ({ url, notBefore: Number.NEGATIVE_INFINITY }))
    this.#at = Math.floor(Math.random() * this.#servers.length)
  }

  /** The URL of the server that is asked next. */
  get current() {
    return this.#servers[this.#at].url
  }

  /** How long a round takes at most, in ms. */
  get longestRoundMs() {
    return this.#settings.timeoutMs * this.#servers.length
  }

  /**
   * n IDs, 8 bytes each, by as many requests as that needs. Where all servers fail it tries again within `waitMs` of the
   * last answer. Throws what a server refused, or one error that says what each server did.
   * @param {number} n
   * @param {{ signal?: AbortSignal }} [options]
   */
  async take(n, { signal } = {}) {
    const ids = new Uint8Array(n * 8)
    let since = monotonicNow()
    for (let made = 0; made < n; ) {
      const bytes = await this.round(Math.min(n - made, MOST), signal)
      if (bytes instanceof RoundFailure) {
        if (monotonicNow() + bytes.restMs > since + this.#settings.waitMs) throw bytes.error
        await sleepUnlessAborted(signal, bytes.restMs)
        continue
      }
      ids.set(bytes, made * 8)
      made += bytes.length / 8
      since = monotonicNow()
    }
    return ids
  }

  /**
   * IDs from the first server that gives them; each is asked once. They are n, at most 10 000, or fewer where so many take
   * too long. Throws what a server refused, or the signal's reason.
   * @param {number} n
   * @param {AbortSignal} [signal]
   * @returns {Promise<Uint8Array | RoundFailure>}
   */
  async round(n, signal) {
    const start = monotonicNow()
    this.#failingSince ??= start
    for (const server of this.#inTurn(start)) {
      this.#at = this.#servers.indexOf(server)
      this.requests++
      if (this.#hasFailed) this.retries++
      const count = Math.min(n, this.#most)
      const askedAt = monotonicNow()
      const answer = await requestIds(server.url, count, this.#settings, signal)
      if (answer instanceof Uint8Array) {
        this.#succeeded(server, count, monotonicNow() - askedAt)
        return answer
      }
      if (answer.isFinal) throw refusedError(answer)
      this.#failed(server, answer, count)
    }
    this.#failedRounds++
    return this.#roundFailure()
  }

  /**
   * What one server answers to a GET, from its JSON. Throws what went wrong.
   * @param {string} server
   * @param {string} path without a slash at its beginning
   * @param {{ signal?: AbortSignal }} [options]
   */
  async get(server, path, { signal } = {}) {
    const answer = await requestJson(server, path, this.#settings, signal)
    if ('json' in answer) return answer.json
    throw refusedError(answer)
  }

  /**
   * The servers of a round, the present one first. Those that asked for time are left out, unless all did.
   * @param {number} now
   */
  #inTurn(now) {
    const all = [...this.#servers.slice(this.#at), ...this.#servers.slice(0, this.#at)]
    const ready = all.filter(({ notBefore }) => notBefore <= now)
    return ready.length > 0 ? ready : all
  }

  /**
   * @param {Server} server
   * @param {number} count
   * @param {number} tookMs
   */
  #succeeded(server, count, tookMs) {
    if (count === this.#most && tookMs * 2 < this.#settings.timeoutMs) this.#most = Math.min(count * 2, MOST)
    server.notBefore = Number.NEGATIVE_INFINITY
    this.#hasFailed = false
    this.#failedRounds = 0
    this.#failingSince = undefined
  }

  /**
   * @param {Server} server
   * @param {Failure} answer
   * @param {number} count
   */
  #failed(server, { isLate, ...failure }, count) {
    const { retryAfterMs } = failure
    if (isLate) this.#most = Math.max(1, count >> 2)
    server.failure = failure
    server.notBefore = monotonicNow() + (retryAfterMs ?? 0)
    this.#hasFailed = true
  }

  #roundFailure() {
    const now = monotonicNow()
    const failures = this.#servers.flatMap(({ failure }) => failure ?? [])
    const asked = Math.min(...this.#servers.map(({ notBefore }) => notBefore)) - now
    const most = Math.min(FIRST_REST_MS * 2 ** (this.#failedRounds - 1), LONGEST_REST_MS)
    // Half of it by chance, so that not all clients come back at once.
    const rest = most * (0.5 + Math.random() / 2)
    const error = noServerError(this.#settings.name, failures, now - (this.#failingSince ?? now))
    return new RoundFailure(error, Math.max(asked, rest))
  }
}

module.exports = { LONGEST_REST_MS, RoundFailure, Servers }
