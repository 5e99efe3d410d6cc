'use strict'
// @ts-check

// A lease's calls to its store, with the lease's group and options. It gives every error a code, and failureOf() names
// it as the holder's state machine does. Subscribers of diagnostics channels see each call, and metrics count renewals.
// It must never limit a wait (lease.js does) or decide what follows from a
// failure (core/src/lease.rs does).

const { storeFailure } = require('../base/errors.js')
const { traced } = require('../base/channels.js')
const { monotonicNow } = require('../base/timers.js')
const { renewalEnded } = require('./census.js')

/**
 * @import { Grant, SlotStore, StoreError } from './stores/database.js'
 * @import { JoinOptions } from './join-options.js'
 * @import { LeaseFailure } from '../../target/native.d.ts'
 * @import { Result } from './census.js'
 */

/**
 * What the store's refusals are to the machine. Any other error means that the store failed.
 * @type {Record<string, LeaseFailure['why']>}
 */
const FAILURES = {
  ERR_FLAKE_QUIET: 'quiet',
  ERR_FLAKE_EXHAUSTED: 'exhausted',
  ERR_FLAKE_CLOCK_SKEW: 'skew',
  ERR_FLAKE_CONFIG_MISMATCH: 'fatal',
  ERR_FLAKE_OPTION: 'fatal',
  ERR_FLAKE_FILE: 'fatal',
  ERR_FLAKE_RECORD: 'fatal',
}

/**
 * A failure as the machine takes it. `retryAt`: when a quiet period ends or a slot may be free, by the store's clock.
 * @param {StoreError} error
 * @returns {LeaseFailure}
 */
function failureOf({ code, retryAt, storeNow }) {
  const why = FAILURES[code] ?? 'store'
  if (why !== 'quiet' && why !== 'exhausted') return { why }
  if (retryAt === undefined || storeNow === undefined) return { why: 'store' }
  return { why, retryAt: retryAt.getTime(), storeNow }
}

/** @param {Grant | string} answer */
const resultOf = (answer) => /** @type {Result} */ (typeof answer === 'string' ? answer : 'renewed')

class StoreCalls {
  #store
  #group
  #config
  #host
  #joins = true // until the first slot: only who joins may make the group

  /**
   * @param {SlotStore} store
   * @param {Pick<JoinOptions, 'group' | 'config' | 'host'>} options
   */
  constructor(store, { group, config, host }) {
    this.#store = store
    this.#group = group
    this.#config = config
    this.#host = host
  }

  /**
   * A slot and its window.
   * @param {string} owner
   */
  async acquire(owner) {
    const request = { config: this.#config, owner, host: this.#host, joins: this.#joins }
    const call = () => this.#coded(() => this.#store.acquire(this.#group, request))
    const grant = await traced('lease.acquire', this.#context(), call, ({ slot }, context) => {
      context.slot = slot
      return 'granted'
    })
    this.#joins = false
    return grant
  }

  /**
   * The next window of a slot, 'lost' or 'destroyed'.
   * @param {string} owner
   * @param {number} slot
   * @param {number} hi the last ms that was answered before
   */
  async renew(owner, slot, hi) {
    const since = monotonicNow()
    const ended = (/** @type {Result} */ result) => renewalEnded(this.#group, result, (monotonicNow() - since) / 1000)
    const call = () => this.#coded(() => this.#store.renew(this.#group, { config: this.#config, slot, owner, hi }))
    try {
      const answer = await traced('lease.renew', this.#context(slot), call, resultOf)
      ended(resultOf(answer))
      return answer
    } catch (error) {
      ended('failed')
      throw error
    }
  }

  /**
   * Whether the store knows that the slot is no longer used. If the call fails, the slot becomes free after the ttl.
   * @param {string} owner
   * @param {number} slot
   * @param {number} last Unix ms of the slot's last ID, or −1
   */
  async isReleased(owner, slot, last) {
    const call = () => this.#coded(() => this.#store.release(this.#group, { config: this.#config, slot, owner, last }))
    try {
      await traced('lease.release', this.#context(slot), call, () => 'released')
      return true
    } catch {
      return false
    }
  }

  destroy() {
    return this.#coded(() => this.#store.destroy(this.#group))
  }

  /**
   * What subscribers of a channel see; not the owner, which is a secret.
   * @param {number} [slot]
   * @returns {{ group: string, slot?: number | undefined }}
   */
  #context(slot) {
    return { group: this.#group, slot }
  }

  /**
   * @template T
   * @param {() => Promise<T>} call
   * @throws {StoreError}
   */
  async #coded(call) {
    try {
      return await call()
    } catch (error) {
      throw storeFailure(this.#group, error)
    }
  }
}

exports.StoreCalls = StoreCalls
exports.failureOf = failureOf
