'use strict'
// @ts-check

// A layout as users see it: what the bits of an ID mean, encoding and decoding. The same file works in Node and in
// browsers; packing.js knows the bits. It must never mask a part or leave one out.

const { MAX_U64, checkKeys, errors, isAbsent, readBounded, readNanoseconds } = require('../base/values.js')
const dialects = require('./dialects.js')
const { LayoutFacts, factsOfSpec, readMode } = require('./facts.js')
const { HIGH, LOW, OF_LAYOUT, half, put, toBytes, word, wordToBytes } = require('./ids.js')

/**
 * @typedef {Parts & Record<string, unknown>} Decoded
 *
 * @import { Options } from '../base/values.js'
 * @import { Packing } from './packing.js'
 */

const NS_PER_S = 1_000_000_000n

/** Seconds as a Date writes them, whose years before 0 or after 9999 have a sign and six digits, and then nanoseconds. */
const TIME = /^((?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})$/

const CHOICES = ['epoch', 'nodes', 'mode', 'idOffset']

/** The parts of an ID. The caller adds the mode and the node fields, because not all layouts have them. */
class Parts {
  /**
   * @param {number} timestamp
   * @param {Date} date
   * @param {bigint} tick
   * @param {number} counter
   * @param {number} id
   */
  constructor(timestamp, date, tick, counter, id) {
    this.timestamp = timestamp
    this.date = date
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

// Objects of the usual engine, V8, keep a number in a box of its own where a property was never anything else. Where it once
// was, the box that `new Date` needs is enough. This makes decode() 7% faster.
// @ts-expect-error: no parts of an ID
void new Parts('', undefined, 0, '', '')

/**
 * What lib/ knows of a layout. Users cannot reach it: only the class can read it.
 * @type {(layout: Layout) => LayoutFacts}
 */
let factsOfLayout

/** Of a property that only symbols find: the compiler knows its value, and that of a private one it does not. */
const PACKING = Symbol('flakeforge.packing')

class Layout {
  #facts

  static {
    factsOfLayout = (layout) => layout.#facts
  }

  /**
   * @param {unknown} spec
   * @param {unknown} [options]
   */
  constructor(spec, options) {
    const facts = spec instanceof LayoutFacts ? spec : factsOf(spec).with(checkKeys('options', options, CHOICES))
    this.#facts = facts
    Object.defineProperty(this, PACKING, { value: facts.packing })
    this.name = facts.name
    this.epoch = facts.epoch
    this.fields = facts.fields
    Object.freeze(this)
  }

  get tickMs() {
    return this.#facts.tickMs
  }

  get end() {
    return new Date(this.#facts.packing.end())
  }

  get signedEnd() {
    return new Date(this.#facts.packing.signedEnd())
  }

  /** @param {unknown} id */
  decode(id) {
    if (typeof id !== 'bigint') put(id)
    else {
      word[0] = id
      if (word[0] !== id) put(id) // throws
    }
    const packing = /** @type {{ [PACKING]: Packing }} */ (/** @type {unknown} */ (this))[PACKING]
    if (!packing.isPlain) return this.#decodeOther(id)
    const high = half[HIGH]
    const low = half[LOW]
    if (packing.zero.isSet(high, low)) throw this.#notOne(id)
    const { first, second } = packing
    const tick = packing.time.read(high, low)
    const timestamp = packing.epoch + tick * packing.tickMs
    const date = new Date(timestamp) // before the other objects: half of the work, and V8 makes those at once
    const counter = (low & packing.counter.low) >>> packing.counter.shift
    const a = (low & first.low) >>> first.shift
    const b = (low & second.low) >>> second.shift
    half[LOW] = tick
    half[HIGH] = tick * 2 ** -32
    const made = new Parts(timestamp, date, word[0], counter, a * first.unit + b)
    const decoded = /** @type {Decoded} */ (made)
    if (first.name) decoded[first.name] = a
    if (second.name) decoded[second.name] = b
    return decoded
  }

  /**
   * The parts of the ID in `word`, whatever the layout.
   * @param {unknown} id
   */
  #decodeOther(id) {
    const { packing } = this.#facts
    const found = packing.unpack(word[0])
    if (!found) throw this.#notOne(id)
    const { tick, counter, node, mode } = found
    const timestamp = packing.startMs(tick)
    const decoded = /** @type {Decoded} */ (new Parts(timestamp, new Date(timestamp), tick, counter, node))
    if (mode) decoded.mode = mode
    // Two names in one place, as in a loop, would make V8 look each of them up: that is slower than all the rest.
    const { nodeFields } = packing
    if (nodeFields.length > 0) decoded[nodeFields[0].name] = partOf(nodeFields[0], node)
    if (nodeFields.length > 1) decoded[nodeFields[1].name] = partOf(nodeFields[1], node)
    for (let i = 2; i < nodeFields.length; i++) decoded[nodeFields[i].name] = partOf(nodeFields[i], node)
    return decoded
  }

  /** @param {unknown} id */
  #notOne(id) {
    return errors().idError(id, OF_LAYOUT, this.name)
  }

  /** @param {unknown} given */
  encode(given) {
    if (typeof given !== 'object' || given === null) throw errors().optionTypeError('parts', given, 'an object')
    return encode(/** @type {Record<string, unknown>} */ (given), this, this.#facts)
  }

  /**
   * @param {number | Date} from
   * @param {number | Date} [to]
   */
  range(from, to) {
    const { packing } = this.#facts
    if (!packing.isTimeOrdered) {
      throw errors().optionRangeError('layout', this.name, 'one whose IDs are in the order of time')
    }
    const [first, last] = [from, to ?? from].map((time) => tickOf(time, this, packing))
    if (first > last) throw errors().optionRangeError('to', to, `the same as from or later (from is ${show(from)})`)
    return packing.range(first, last)
  }

  /** @param {unknown} id */
  toUuid(id) {
    return uuids().toUuid(id, this.#facts)
  }

  /** @param {unknown} text */
  fromUuid(text) {
    return uuids().fromUuid(text, this.#facts)
  }

  /** @param {unknown} id */
  toText(id) {
    const unit = this.#unitNs('toText')
    const { tick, id: host } = this.decode(id)
    const ns = (tick * 100n + BigInt(host)) * unit + this.#facts.packing.epochNs
    const fraction = ((ns % NS_PER_S) + NS_PER_S) % NS_PER_S // counts upwards before 1970, too
    const date = new Date(Number((ns - fraction) / NS_PER_S) * 1000)
    if (Number.isNaN(date.getTime())) throw errors().idError(id, 'an ID whose time a Date can show')
    return `${date.toISOString().slice(0, -5)}.${String(fraction).padStart(9, '0')}`
  }

  /** @param {string} text */
  fromText(text) {
    const unit = this.#unitNs('fromText')
    const [, seconds, fraction] = (typeof text === 'string' && TIME.exec(text)) || []
    const ms = Date.parse(`${seconds}Z`)
    if (Number.isNaN(ms)) throw errors().idError(text, 'a time with nine digits')
    const ns = BigInt(ms) * 1_000_000n + BigInt(fraction) - this.#facts.packing.epochNs
    const count = ns / unit
    if (ns < 0n || ns % unit !== 0n || count / 100n > this.#facts.packing.tickMax) {
      throw errors().idError(text, 'a time in units of $ ns', unit)
    }
    const id = this.encode({ tick: count / 100n, id: Number(count % 100n) })
    if (this.toText(id) !== text) throw errors().idError(text, 'on a day that exists')
    return id
  }

  /**
   * Decimal IDs count ns or µs; a tick has a hundred of them.
   * @param {string} call
   */
  #unitNs(call) {
    if (this.fields.length)
      throw errors().optionRangeError('layout', this.name, "'chronicle' or 'chronicle-micros'", call)
    return BigInt(this.#facts.tickNs) / 100n
  }
}

// Only some methods need it. It is kept here because calling require() each time is slow. It may not keep a state: test
// runners clear Node's cache, and then it comes from another copy of the package.
/** @type {typeof import('./uuid.js') | undefined} */
let uuidFile

function uuids() {
  uuidFile ??= require('./uuid.js')
  return uuidFile
}

/**
 * @param {import('./packing.js').NodeField} field
 * @param {number} node
 */
const partOf = ({ max, unit }, node) => Math.floor(node / unit) % (max + 1)

/**
 * The ID with these parts.
 * @param {Options} parts
 * @param {Layout} layout
 * @param {LayoutFacts} facts
 */
function encode(parts, layout, facts) {
  for (const name in parts) {
    if (!facts.partNames.includes(name)) throw errors().unknownOptionError(name, parts[name], facts.partNames, 'part')
  }
  const { counter, mode, tick, timestamp, date } = parts
  const { packing } = facts
  const count = isAbsent(counter) ? 0 : readBounded('counter', counter, 0, facts.packing.counterMax)
  const chosen = isAbsent(mode) ? undefined : readMode(mode, facts)
  const node = facts.readNode(parts)
  const time = isAbsent(timestamp) ? date : timestamp
  const number = packing.isPlain ? tickNumber(tick, time, packing) : undefined
  if (number !== undefined) {
    packing.putPlain(number, count, node)
    return wordToBytes()
  }
  const ticks = isAbsent(tick) ? tickOf(time, layout, packing) : readTick(tick, packing.tickMax)
  const id = packing.pack(ticks, count, node, chosen)
  if (id < 0n || id > MAX_U64) {
    throw errors().optionRangeError(
      'idOffset',
      facts.idOffset,
      'one with which the ID of these parts fits into 64 bits',
    )
  }
  return toBytes(id)
}

/**
 * The tick as a number, of a plain layout; undefined where it needs a closer look.
 * @param {unknown} tick
 * @param {unknown} time
 * @param {Packing} packing
 */
function tickNumber(tick, time, packing) {
  let number
  let most = packing.lastNumber
  if (typeof tick === 'bigint') {
    word[0] = tick
    if (word[0] !== tick) return
    number = half[HIGH] * 2 ** 32 + half[LOW]
    most = packing.mostNumber
  } else if (isAbsent(tick) && typeof time === 'number') {
    number = Math.floor((Math.floor(time) - packing.epoch) / packing.tickMs)
  } else return
  if (number >= 0 && number <= most) return number
}

/**
 * The tick of a time: Unix ms, a Date, or Unix ns as a bigint.
 * @param {unknown} time
 * @param {Layout} layout
 * @param {Packing} packing
 */
function tickOf(time, layout, packing) {
  const tick = packing.tickOf(readNanoseconds('timestamp', time))
  if (tick === undefined) throw errors().timeRangeError(toMs(time), layout)
  return tick
}

/**
 * @param {unknown} tick
 * @param {bigint} max
 */
function readTick(tick, max) {
  const wanted = `a bigint from 0 to ${max}`
  if (typeof tick !== 'bigint') throw errors().optionTypeError('tick', tick, wanted)
  if (tick < 0n || tick > max) throw errors().optionRangeError('tick', tick, wanted)
  return tick
}

/**
 * A time as Unix ms, for a message.
 * @param {unknown} time
 */
const toMs = (time) => Number(readNanoseconds('timestamp', time)) / 1e6

/** @param {number | Date} time */
const show = (time) => (typeof time === 'object' ? time.toISOString() : String(time))

/**
 * The layout of a Layout, of a dialect's name, or of a user's own fields.
 * @param {unknown} given
 */
function factsOf(given) {
  return typeof given === 'object' && given instanceof Layout ? factsOfLayout(given) : factsOfSpec(given)
}

/**
 * What users see of a layout: one object, which all generators share.
 * @param {LayoutFacts} facts
 */
function layoutOf(facts) {
  facts.layoutMade ??= new Layout(facts)
  return facts.layoutMade
}

/**
 * The same for a dialect's name.
 * @param {string} name
 */
const sharedLayout = (name) => layoutOf(factsOf(name))

/** Every dialect with its own epoch and choices, by name. */
const makeLayouts = () => Object.freeze(Object.fromEntries(dialects.map(({ name }) => [name, sharedLayout(name)])))

exports.Layout = Layout
exports.factsOf = factsOf
exports.layoutOf = layoutOf
exports.makeLayouts = makeLayouts
