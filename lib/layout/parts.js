'use strict'
// @ts-check

// The parts of an ID: what decode() returns and what encode() takes. It must never load lib/native/hot.js itself: its
// caller's may be that of another copy of the package, with indexes of its own.

const { isAbsent, isDate, readBounded, readNanoseconds } = require('../base/check.js')
const { optionRangeError, optionTypeError, timeRangeError, unknownOptionError } = require('../base/errors.js')
const { MODES, readMode } = require('./layout-spec.js')
const { readNode } = require('./node-number.js')

/**
 * @import { Options } from '../base/check.js'
 * @import { LayoutFacts } from './layout-facts.js'
 * @import { Layout } from './layout.js'
 */

/** The parts of an ID. The caller adds the mode and the node fields, because not all layouts have them. */
class Parts {
  /**
   * @param {number} timestamp
   * @param {bigint} tick
   * @param {number} counter
   * @param {number} id
   */
  constructor(timestamp, tick, counter, id) {
    this.timestamp = timestamp
    this.date = new Date(timestamp)
    this.tick = tick
    this.counter = counter
    this.id = id
  }

  /** The same with the tick as text: JSON has no bigints. */
  toJSON() {
    return { ...this, tick: String(this.tick) }
  }
}

// So console.log shows a plain object, and most libraries compare one. A non-enumerable toJSON on each object would
// suit assert.deepStrictEqual too, but would cost more than all of decode().
Object.defineProperty(Parts.prototype, 'constructor', { value: Object })

/**
 * The ID with these parts. It makes no object on the way: that would cost more than the ID. It reads all parts before
 * it touches the scratch array, because a getter may make IDs itself.
 * @param {Options} parts
 * @param {Layout} layout
 * @param {LayoutFacts} facts
 * @param {typeof import('../native/hot.js')} hot
 */
function encode(parts, layout, facts, hot) {
  for (const name in parts) {
    if (!facts.partNames.has(name)) throw unknownOptionError(name, parts[name], [...facts.partNames], 'part')
  }
  const { counter, mode, tick, timestamp, date } = parts
  const count = isAbsent(counter) ? 0 : readBounded('counter', counter, 0, facts.counterMax)
  const modeBit = isAbsent(mode) ? Number.NaN : MODES.indexOf(readMode(mode, facts))
  const node = readNode(parts, facts)
  const hasTick = !isAbsent(tick)
  const time = hasTick ? readTick(tick, facts.tickMax) : readTime(isAbsent(timestamp) ? date : timestamp)

  const { STATUS, parts: scratch } = hot
  if (hasTick) hot.id[0] = /** @type {bigint} */ (time)
  else hot.putTime(time)
  scratch[0] = hasTick ? Number.NaN : 0
  scratch[1] = count
  scratch[2] = node
  scratch[3] = modeBit
  hot.index[0] = facts.index
  const status = hot.pack()
  if (status === STATUS.TIME_RANGE) throw timeRangeError(toMs(time), layout)
  if (status !== undefined) {
    throw optionRangeError('idOffset', facts.idOffset, 'one with which the ID of these parts fits into 64 bits')
  }
  return hot.idAsBuffer()
}

/**
 * @param {unknown} tick
 * @param {bigint} max
 */
function readTick(tick, max) {
  const wanted = () => `a bigint from 0 to ${max}`
  if (typeof tick !== 'bigint') throw optionTypeError('tick', tick, wanted())
  if (tick < 0n || tick > max) throw optionRangeError('tick', tick, wanted())
  return tick
}

/**
 * Unix ms, or Unix ns as a bigint.
 * @param {unknown} time
 */
function readTime(time) {
  const ms = isDate(time) ? time.getTime() : time
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : readNanoseconds('timestamp', time)
}

/**
 * The same as Unix ms, for a message.
 * @param {unknown} time
 */
const toMs = (time) => Number(readNanoseconds('timestamp', time)) / 1e6

/**
 * The mode for the mode bit.
 * @param {number} bit
 */
const modeOf = (bit) => MODES[bit]

module.exports = { Parts, encode, modeOf, toMs }
