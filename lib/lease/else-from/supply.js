'use strict'
// @ts-check

// IDs that servers made for this generator: what was fetched of them, and the calls that fetch more. It asks for more
// while half of them are left, so that few calls wait.
//
// It must never give IDs that were fetched before clear(): those made here meanwhile are newer. It must never keep asking
// servers while nobody asks it.

const { IdBuffer } = require('../../remote/buffer.js')
const { MOST } = require('../../remote/options.js')
const { Demand } = require('../segment/demand.js')
const { whenAborted } = require('../../base/abort.js')
const { monotonicNow } = require('../../base/timers.js')

/**
 * @import { RemoteSettings } from '../../remote/options.js'
 * @import { Servers } from '../../remote/servers.js'
 */

/** For how long after a failure nobody is asked again: all calls that waited for it hear of it meanwhile. */
const PAUSE_MS = 1000

class Supply {
  #servers
  #prefetch
  #onChange
  #ids
  #groups // of how many groups its IDs were so far
  #demand = new Demand()
  /** @type {AbortController | undefined} */
  #fetching // ends the call to the servers that is under way
  /** @type {Error | undefined} */
  #failure
  #failedAt = Number.NEGATIVE_INFINITY
  #lastMs = 1 // how long the last call took
  /** how many IDs it has given */
  given = 0

  /**
   * @param {InstanceType<typeof Servers>} servers
   * @param {Pick<RemoteSettings, 'prefetch' | 'validityMs'>} options
   * @param {() => void} onChange tries the calls again that wait
   */
  constructor(servers, { prefetch, validityMs }, onChange) {
    this.#servers = servers
    this.#groups = servers.groups
    this.#prefetch = prefetch
    this.#onChange = onChange
    this.#ids = new IdBuffer({ validityMs })
  }

  /** Whether IDs are on their way. */
  get isFetching() {
    return this.#fetching !== undefined
  }

  /** Why the last call brought none; undefined after one that brought some. */
  get failure() {
    return this.#failure
  }

  /** How many ms it may take until IDs are here. */
  get dueMs() {
    return this.#lastMs
  }

  /** How many IDs are here. */
  get left() {
    this.#ids.look() // drops those that are too old
    return this.#ids.count
  }

  /**
   * Fills `into` with IDs, 8 bytes each, and returns true. If there are not enough, it takes none and asks for more.
   * @param {Uint8Array} into
   */
  take(into) {
    if (!this.#ids.take(into)) {
      this.#ask(into.length / 8 - this.#ids.count)
      return false
    }
    this.given += into.length / 8
    if (this.#ids.count * 2 < this.#prefetch) this.#ask(0)
    return true
  }

  /**
   * Resolves when there are IDs, and rejects if no server gives any.
   * @param {AbortSignal} [signal]
   */
  async first(signal) {
    if (this.left > 0) return
    this.clear()
    await this.#bring(this.#prefetch, signal)
  }

  /** Forgets all IDs, also those that are on their way. */
  clear() {
    this.#ids.clear()
    this.#fetching?.abort()
    this.#fetching = undefined
    this.#failedAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Asks for at least so many IDs, unless that was done a moment ago.
   * @param {number} least
   */
  #ask(least) {
    const now = monotonicNow()
    if (this.#fetching !== undefined || now < this.#failedAt + PAUSE_MS) return
    const usual = Math.min(this.#prefetch * this.#demand.ask(now), MOST)
    this.#bring(Math.max(usual, least)).catch(() => {}) // the calls that wait hear of it
  }

  /**
   * @param {number} n
   * @param {AbortSignal} [signal]
   */
  async #bring(n, signal) {
    const own = new AbortController()
    const start = monotonicNow()
    this.#fetching = own
    const ignore = signal && whenAborted(signal, () => own.abort(signal.reason))
    try {
      const bytes = await this.#servers.take(n, { signal: own.signal })
      if (this.#fetching !== own) return
      if (this.#servers.groups !== this.#groups) this.#ids.clear() // the group was made again
      this.#groups = this.#servers.groups
      this.#ids.add(bytes)
      this.#demand.came(monotonicNow(), Math.ceil(n / this.#prefetch))
      this.#failure = undefined
    } catch (error) {
      if (this.#fetching === own) this.#fail(/** @type {Error} */ (error))
      throw error
    } finally {
      ignore?.()
      this.#lastMs = monotonicNow() - start
      if (this.#fetching === own) {
        this.#fetching = undefined
        this.#onChange()
      }
    }
  }

  /** @param {Error} error */
  #fail(error) {
    this.#failure = error
    this.#failedAt = monotonicNow()
  }
}

exports.Supply = Supply
