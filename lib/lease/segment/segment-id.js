'use strict'
// @ts-check

// Hazelcast's IdGenerator as users see it: small dense numbers, handed out from blocks that a counter on a store grows
// by. It turns numbers into Buffers and texts, and waits. It must never take a number itself: supply.js does.
//
// Only the class is loaded with the package, since an ES import of any export loads them all. open() loads what a
// member is made of.

const { abortable, abortableBy, signalOf } = require('../../base/abort.js')
const { errors, isAbsent } = require('../../base/check.js')
const { idAsBuffer, putBigInt } = require('../../native/hot.js')
const { baseCode, toTexts } = require('../../native/texts.js')
const { INSPECT, textOf } = require('../../base/inspect.js')
const { readCount } = require('../../generator/options.js')

/**
 * @import { Base } from '../../../types/ids.d.ts'
 * @import { SignalOptions } from '../../../types/options.d.ts'
 * @import { Wish } from '../../generator/waiters.js'
 * @import { SlotStore } from '../stores/database.js'
 */

/**
 * What open() makes a member of.
 * @typedef {object} Parts
 * @property {string} name
 * @property {number} block
 * @property {boolean} durable
 * @property {SlotStore} store
 * @property {() => Promise<void>} close ends the store's client, if it is ours
 */

/** How long close() waits for our own client to end. */
const CLIENT_MS = 900
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const MAKING = Symbol('made by open()')

class SegmentId {
  #name
  #block
  #onClose
  #supply
  #waiters
  /** @type {Promise<void> | undefined} */
  #closing

  /**
   * @param {unknown} given the store
   * @param {unknown} givenOptions
   */
  static async open(given, givenOptions) {
    const { checkStore, openStore } = require('../stores/open.js')
    const { readOptions } = require('./segment-options.js')
    checkStore(given, 'SegmentId.open')
    const { name, block, init, durable } = readOptions(givenOptions)
    const { store, close } = openStore(given)
    const segment = new SegmentId(MAKING, { name, block, durable, store, close })
    try {
      await segment.#supply.begin(init)
      require('../census.js').segments.add(segment.#supply)
      return segment
    } catch (error) {
      await close()
      throw error
    }
  }

  /**
   * @param {unknown} key
   * @param {Parts} parts
   */
  constructor(key, parts) {
    if (key !== MAKING) {
      throw errors().optionError(
        TypeError,
        'options',
        key,
        'SegmentId is made by await SegmentId.open(store, { name })',
      )
    }
    const { Supply } = require('./supply.js')
    const { Waiters } = require('../../generator/waiters.js')
    this.#name = parts.name
    this.#block = parts.block
    this.#waiters = new Waiters(() => {})
    this.#supply = new Supply(parts.store, parts, () => this.#waiters.serve())
    this.#onClose = parts.close
  }

  get lineage() {
    return this.#supply.lineage
  }

  /** @param {((error: Error | null, id: Buffer) => void) | null} [callback] */
  next(callback) {
    if (isAbsent(callback)) {
      putBigInt(this.nextBigInt())
      return idAsBuffer()
    }
    if (typeof callback !== 'function') throw errors().optionTypeError('callback', callback, 'a function')
    this.#waiters.submit(callback, this.#one)
  }

  /** @param {SignalOptions | null} [options] */
  nextAsync(options) {
    return this.#promised(options, () => this.#one)
  }

  nextBigInt() {
    return this.#supply.next()
  }

  /** @param {number} n */
  take(n) {
    return bigEndian(this.takeBigInts(n))
  }

  /** @param {number} n */
  takeBigInts(n) {
    return this.#supply.fill(memoryFor(n))
  }

  /**
   * @param {number} n
   * @param {Base} [base]
   */
  takeStrings(n, base) {
    const code = baseCode(base)
    return toTexts(this.take(n), n, code)
  }

  /**
   * @param {number} n
   * @param {SignalOptions | null} [options]
   */
  takeAsync(n, options) {
    return this.#promised(options, () => {
      const ids = memoryFor(n)
      return { attempt: () => this.#supply.attempt(n), result: () => bigEndian(this.#supply.fill(ids)) }
    })
  }

  /** @param {SignalOptions | null} [options] */
  ids(options) {
    const { IdIterator } = require('../../base/id-iterator.js')
    return new IdIterator((callback) => this.#waiters.submitLater(callback, this.#one), signalOf(options))
  }

  /** @param {bigint | number} given */
  async init(given) {
    const { readId } = require('./segment-options.js')
    return this.#supply.init(readId('value', given) + 1n)
  }

  /** @param {bigint | number} given */
  async skipTo(given) {
    const { readId } = require('./segment-options.js')
    await this.#supply.skipTo(readId('value', given))
  }

  close() {
    this.#closing ??= this.#end()
    return this.#closing
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  /** @param {Parameters<typeof textOf>[2]} how */
  [INSPECT](...how) {
    const { left, isClosed } = this.#supply
    return textOf(this, { name: this.#name, block: this.#block, left, isClosed }, how)
  }

  /** The wish of a call that waits for one ID. */
  #one = { attempt: () => this.#supply.attempt(1), result: () => this.next() }

  /**
   * @param {SignalOptions | null | undefined} options
   * @param {() => Wish} wish
   * @returns {Promise<Buffer>}
   */
  #promised(options, wish) {
    if (options !== undefined) return abortableBy(options, (callback) => this.#waiters.submitLater(callback, wish()))
    return abortable(undefined, (callback) => this.#waiters.submit(callback, wish()))
  }

  async #end() {
    const { within } = require('../../base/in-time.js')
    await this.#supply.end()
    await within(this.#onClose(), CLIENT_MS)
  }
}

/**
 * Memory for so many IDs. It is not zeroed; a new BigUint64Array would be.
 * @param {number} n
 */
function memoryFor(n) {
  const bytes = Buffer.allocUnsafeSlow(readCount(n) * 8)
  return new BigUint64Array(bytes.buffer, bytes.byteOffset, n)
}

/**
 * Turns these IDs, which are in this machine's byte order, into big-endian bytes, in place.
 * @param {BigUint64Array} ids
 */
function bigEndian(ids) {
  const bytes = Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
  return IS_LITTLE_ENDIAN ? bytes.swap64() : bytes
}

exports.SegmentId = SegmentId
