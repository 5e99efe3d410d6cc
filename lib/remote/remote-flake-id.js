'use strict'
// @ts-check

// IDs that servers make, as users see it: the calls of FlakeId, without an addon and without a module of Node. It must never
// take an ID itself: the supply does.

const { abortable, signalOf, throwIfAborted } = require('../base/abort.js')
const { INSPECT, textOf } = require('../base/inspect.js')
const { newBytes } = require('../base/objects.js')
const { queueMicrotask } = require('../base/portable-timers.js')
const { errors, isAbsent, readBounded } = require('../base/values.js')
const { baseName, spell } = require('../codec/bases.js')
const { IdIterator } = require('../base/id-iterator.js')
const { readConnectOptions } = require('./options.js')
const { Supply } = require('./supply.js')

/**
 * @import { SignalOptions } from '../../types/options.d.ts'
 * @import { RemoteSettings } from './options.js'
 *
 * @typedef {(error: unknown, id?: Uint8Array) => unknown} Callback
 */

const MAKING = Symbol('made by connect()')
/** The most IDs of one call: 1000 requests. */
const MOST_OF_A_CALL = 10_000_000

class RemoteFlakeId {
  #name
  #supply
  #buffer

  /**
   * @param {unknown} urls
   * @param {unknown} options
   */
  static async connect(urls, options) {
    const { settings, signal } = readConnectOptions(urls, options)
    throwIfAborted(signal)
    const remote = new RemoteFlakeId(MAKING, settings)
    try {
      await remote.#supply.begin(signal)
      return remote
    } catch (error) {
      await remote.close()
      throw error
    }
  }

  /**
   * @param {unknown} key
   * @param {RemoteSettings} settings
   */
  constructor(key, settings) {
    if (key !== MAKING) {
      const message = 'RemoteFlakeId is made by await RemoteFlakeId.connect(urls, { name })'
      throw errors().optionError(TypeError, 'options', key, message)
    }
    this.#name = settings.name
    this.#supply = new Supply(settings)
    this.#buffer = this.#supply.buffer
  }

  /** @param {Callback | null} [callback] */
  next(callback) {
    if (isAbsent(callback)) return this.#one()
    if (typeof callback !== 'function') throw errors().optionTypeError('callback', callback, 'a function')
    const tell = (/** @type {[error: unknown, id?: Uint8Array]} */ ...result) => {
      try {
        callback(...result)
      } catch (error) {
        queueMicrotask(() => {
          throw error // as from any callback, and not as a rejected promise
        })
      }
    }
    this.nextAsync().then((id) => tell(null, id), tell)
  }

  /**
   * @param {SignalOptions | null} [options]
   * @returns {Promise<Uint8Array>}
   */
  nextAsync(options) {
    return this.#promised(1, options)
  }

  nextBigInt() {
    return this.#buffer.ready === 0 ? this.#supply.nextBigInt() : this.#buffer.nextBigInt()
  }

  /** @param {string} [base] */
  nextString(base) {
    const name = baseName(base) // before an ID is taken
    return spell(this.nextBigInt(), 8, name)
  }

  /** @param {number} n */
  take(n) {
    const ids = newBytes(readCount(n) * 8)
    this.#supply.fill(ids)
    return ids
  }

  /**
   * @param {number} n
   * @param {SignalOptions | null} [options]
   * @returns {Promise<Uint8Array>}
   */
  takeAsync(n, options) {
    return this.#promised(n, options)
  }

  /** @param {SignalOptions | null} [options] */
  ids(options) {
    return new IdIterator((callback) => this.#submit(callback), options === undefined ? undefined : signalOf(options))
  }

  [Symbol.asyncIterator]() {
    return this.ids()
  }

  get stats() {
    return this.#supply.stats
  }

  async close() {
    this.#supply.close()
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  /** @param {Parameters<typeof textOf>[2]} how */
  [INSPECT](...how) {
    return textOf(this, { name: this.#name, ...this.stats }, how)
  }

  #one() {
    const id = newBytes(8)
    if (this.#buffer.ready === 0) this.#supply.copyTo(id)
    else this.#buffer.copyTo(id)
    return id
  }

  /**
   * n IDs. The promise is settled in the very moment in which they are taken, so that calls are told in their order.
   * @param {number} n
   * @param {SignalOptions | null | undefined} options
   * @returns {Promise<Uint8Array>}
   */
  #promised(n, options) {
    try {
      const signal = options === undefined ? undefined : signalOf(options)
      throwIfAborted(signal)
      const ids = newBytes(readCount(n) * 8)
      if (this.#supply.claim(ids)) return Promise.resolve(ids)
      return abortable(signal, (callback) => this.#supply.submit(ids, callback))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * One ID for an iterator, later.
   * @param {Callback} callback
   */
  #submit(callback) {
    const id = newBytes(8)
    if (!this.#supply.claim(id)) return this.#supply.submit(id, callback)
    queueMicrotask(() => callback(null, id))
    return { cancel: () => false }
  }
}

/** @param {number} n */
function readCount(n) {
  if (typeof n !== 'number') throw errors().optionTypeError('n', n, 'the number of IDs to take')
  return readBounded('n', n, 0, MOST_OF_A_CALL)
}

exports.RemoteFlakeId = RemoteFlakeId
