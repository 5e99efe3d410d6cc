'use strict'
// @ts-check

// A layout as users see it: what the bits of an ID mean, encoding and decoding. The core reads and writes the bits;
// this file checks the parts first.

const hot = require('../native/hot.js')
const { checkKeys, errors, readNanoseconds } = require('../base/check.js')
const { LayoutFacts, factsOfSpec } = require('./layout-facts.js')

const CHOICES = ['epoch', 'nodes', 'mode', 'idOffset']

/**
 * What lib/ knows of a layout. Users cannot reach it: only the class can read it.
 * @type {(layout: Layout) => LayoutFacts}
 */
let factsOfLayout

class Layout {
  #facts
  #index // also in #facts, but these two make decode() faster
  #nodeNames

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
    this.#index = facts.index
    this.#nodeNames = facts.nodeNames
    this.name = facts.name
    this.epoch = facts.epoch
    this.fields = facts.fields
    Object.freeze(this)
  }

  get end() {
    return new Date(this.#facts.end)
  }

  get signedEnd() {
    return new Date(this.#facts.signedEnd)
  }

  /** @param {unknown} id */
  decode(id) {
    const { Parts, modeOf } = codec()
    const { isUint8Array, toBigInt } = ids()
    if (isUint8Array(id) && id.length === 8) hot.putBytes(id)
    else hot.putBigInt(toBigInt(id))
    hot.index[0] = this.#index
    if (hot.unpack() !== undefined) {
      throw errors().idError(id, uuids().ofLayout(this.name))
    }
    const parts = hot.parts
    const made = new Parts(parts[0], hot.id[0], parts[1], parts[2])
    const decoded = /** @type {typeof made & Record<string, unknown>} */ (made)
    if (!Number.isNaN(parts[3])) decoded.mode = modeOf(parts[3])
    const names = this.#nodeNames
    for (let i = 0; i < names.length; i++) decoded[names[i]] = parts[4 + i]
    return decoded
  }

  /** @param {unknown} given */
  encode(given) {
    if (typeof given !== 'object' || given === null) throw errors().optionTypeError('parts', given, 'an object')
    return codec().encode(/** @type {Record<string, unknown>} */ (given), this, this.#facts, hot)
  }

  /** @param {unknown} time */
  #tickOf(time) {
    const ns = readNanoseconds('timestamp', time)
    const tick = this.#facts.native.tickOf(ns)
    if (tick === null) throw errors().timeRangeError(codec().toMs(time), this)
    return tick
  }

  /**
   * @param {number | Date} from
   * @param {number | Date} [to]
   */
  range(from, to) {
    if (!this.#facts.isTimeOrdered) {
      throw errors().optionRangeError('layout', this.name, 'one whose IDs are in the order of time')
    }
    const [first, last] = [this.#tickOf(from), this.#tickOf(to ?? from)]
    if (first > last) throw errors().optionRangeError('to', to, `the same as from or later (from is ${show(from)})`)
    const [min, max] = this.#facts.native.range(first, last)
    const { toBuffer } = ids()
    return { min: toBuffer(min), max: toBuffer(max) }
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
    const ns = (tick * 100n + BigInt(host)) * unit + this.#epochNs()
    const date = new Date(Number(ns / 1_000_000_000n) * 1000)
    if (Number.isNaN(date.getTime())) throw errors().idError(id, 'an ID whose time a Date can show')
    return `${date.toISOString().slice(0, -5)}.${String(ns % 1_000_000_000n).padStart(9, '0')}`
  }

  /** @param {string} text */
  fromText(text) {
    const unit = this.#unitNs('fromText')
    const [, seconds, fraction] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})$/.exec(text) ?? []
    const ms = Date.parse(`${seconds}Z`)
    const wanted = "a time with nine digits of seconds, as '2021-12-28T14:07:02.954100128'"
    if (typeof text !== 'string' || Number.isNaN(ms)) throw errors().idError(text, wanted)
    const ns = BigInt(ms) * 1_000_000n + BigInt(fraction) - this.#epochNs()
    const count = ns / unit
    if (ns < 0n || ns % unit !== 0n || count / 100n > this.#facts.tickMax) {
      throw errors().idError(text, `${wanted}, not before the epoch, in units of ${unit} ns, in 64 bits`)
    }
    const id = this.encode({ tick: count / 100n, id: Number(count % 100n) })
    if (this.toText(id) !== text) throw errors().idError(text, `${wanted}, on a day that exists`)
    return id
  }

  /**
   * Decimal IDs count ns or µs; a tick has a hundred of them.
   * @param {string} call
   */
  #unitNs(call) {
    if (!this.#facts.isDecimal)
      throw errors().optionRangeError('layout', this.name, `'chronicle' or 'chronicle-micros' for ${call}()`)
    return BigInt(Math.round(this.#facts.tickMs * 1e6)) / 100n
  }

  #epochNs() {
    return BigInt(this.epoch) * 1_000_000n
  }
}

// Only decode() and similar methods need these. They are kept here because require() takes longer than decode(). Neither
// may keep a state: test runners clear Node's cache, and then they come from another copy of the package.
/** @type {typeof import('./parts.js') | undefined} */
let partsFile
/** @type {typeof import('./ids.js') | undefined} */
let idsFile
/** @type {typeof import('./uuid.js') | undefined} */
let uuidFile

function codec() {
  partsFile ??= require('./parts.js')
  return partsFile
}

function ids() {
  idsFile ??= require('./ids.js')
  return idsFile
}

function uuids() {
  uuidFile ??= require('./uuid.js')
  return uuidFile
}

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

exports.Layout = Layout
exports.factsOf = factsOf
exports.layoutOf = layoutOf
exports.sharedLayout = sharedLayout
