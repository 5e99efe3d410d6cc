'use strict'

// A layout as users see it: what the bits of an ID mean, and the way there and back. The bits themselves are cut in the
// core; here parts are checked before they go there.

const { isUint8Array } = require('node:util').types
const hot = require('./hot.js')
const native = require('./native.js')
const { FARTHEST_MS, isAbsent, readBounded, readNanoseconds } = require('./check.js')
const {
  STATUS,
  idError,
  optionRangeError,
  optionTypeError,
  timeRangeError,
  unknownOptionError,
} = require('./errors.js')
const { toBigInt, toBuffer } = require('./ids.js')
const { MODES, readChoices, readMode, readSpec } = require('./layout-spec.js')

class Layout {
  #native
  #index // what the raw functions know this layout by
  #nodeFields
  #nodeNames
  #partNames
  #counterMax
  #made // what it is made of, from which one with other choices can be made

  constructor(spec, options) {
    const base = spec instanceof Layout ? spec.#made : readSpec(spec)
    this.#made = readChoices(options, base)
    this.#native = new native.Layout(hot.generators, this.#made)
    if (this.#native.end > FARTHEST_MS) {
      throw optionRangeError(
        'epoch',
        this.#native.epoch,
        `so early that a tick ends before ${FARTHEST_MS}, the last Date`,
      )
    }
    this.#index = this.#native.index
    this.#nodeFields = this.#native.nodeFields
    this.#nodeNames = this.#nodeFields.map((field) => field.name)
    this.#partNames = new Set(['timestamp', 'date', 'tick', 'counter', 'id', 'mode', ...this.#nodeNames])
    this.#counterMax = this.#native.counterMax
    this.name = this.#native.name
    this.epoch = this.#native.epoch
    const widths = this.#native.widths
    this.fields = Object.freeze(this.#native.names.map((name, i) => Object.freeze([name, widths[i]])))
    Object.freeze(this)
  }

  /** The addon's own object, for lib/ only. */
  static native(layout) {
    return layout.#native
  }

  /** The fields that make up the node number, the most significant first: name and largest value; for lib/ only. */
  static nodeFields(layout) {
    return layout.#nodeFields
  }

  get end() {
    return new Date(this.#native.end)
  }

  get signedEnd() {
    return new Date(this.#native.signedEnd)
  }

  decode(id) {
    if (isUint8Array(id) && id.length === 8) hot.fromBytes(id)
    else hot.fromBigInt(toBigInt(id))
    hot.index[0] = this.#index
    if (hot.unpack() !== undefined) {
      throw idError(id, `an ID of layout '${this.name}': a bit that must be 0 is set, or idOffset differs`)
    }
    const parts = hot.parts
    const timestamp = parts[0]
    const decoded = { timestamp, date: new Date(timestamp), tick: hot.id[0], counter: parts[1], id: parts[2] }
    if (!Number.isNaN(parts[3])) decoded.mode = MODES[parts[3]]
    const names = this.#nodeNames
    for (let i = 0; i < names.length; i++) decoded[names[i]] = parts[4 + i]
    return decoded
  }

  encode(given) {
    if (typeof given !== 'object' || given === null) throw optionTypeError('parts', given, 'an object')
    const parts = { ...given } // getters run here, before the scratch array is touched
    for (const key of Object.keys(parts)) {
      if (!this.#partNames.has(key)) throw unknownOptionError(key, parts[key], [...this.#partNames])
    }
    const counter = isAbsent(parts.counter) ? 0 : readBounded('counter', parts.counter, 0, this.#counterMax)
    const mode = isAbsent(parts.mode) ? Number.NaN : MODES.indexOf(readMode(parts.mode, this.#native))
    this.#putNode(parts)
    hot.parts[1] = counter
    hot.parts[3] = mode
    this.#putTime(parts)
    hot.index[0] = this.#index
    const status = hot.pack()
    if (status === STATUS.TIME_RANGE) throw timeRangeError(toMs(parts), this)
    if (status !== undefined) {
      throw optionRangeError('idOffset', this.#made.idOffset, 'such that the ID of these parts fits 64 bits')
    }
    return hot.toBuffer()
  }

  /** The node into the scratch array: its number, which must agree with the fields, or the fields. */
  #putNode(parts) {
    if (isAbsent(parts.id)) {
      this.#nodeFields.forEach(({ name, max }, i) => {
        hot.parts[4 + i] = isAbsent(parts[name]) ? 0 : readBounded(name, parts[name], 0, max)
      })
      hot.parts[2] = Number.NaN
    } else {
      hot.parts[2] = Layout.readNode(parts, this).node
    }
  }

  /** The tick, or else the time, into the scratch array. */
  #putTime({ tick, timestamp, date }) {
    if (!isAbsent(tick)) {
      const max = this.#native.tickMax
      const wanted = `a bigint from 0 to ${max}`
      if (typeof tick !== 'bigint') throw optionTypeError('tick', tick, wanted)
      if (tick < 0n || tick > max) throw optionRangeError('tick', tick, wanted)
      hot.parts[0] = Number.NaN
      hot.id[0] = tick
      return
    }
    const time = isAbsent(timestamp) ? date : timestamp
    hot.putTime(Number.isFinite(time) ? time : readNanoseconds('timestamp', time))
    hot.parts[0] = 0
  }

  /**
   * The node number of parts or options: `id`, or the node fields by name, or 0; where both are there they must agree.
   * For lib/ only; `label` says what to call a field in an error.
   */
  static readNode(given, layout, label = (name) => name) {
    const fields = layout.#nodeFields
    const read = ({ name, max }) => (isAbsent(given[name]) ? 0 : readBounded(label(name), given[name], 0, max))
    const values = fields.map(read)
    const joined = layout.#native.joinNode(values)
    if (isAbsent(given.id)) {
      return { node: joined, nodes: Object.fromEntries(fields.map(({ name }, i) => [name, values[i]])) }
    }
    const node = readBounded(label('id'), given.id, 0, layout.#native.nodeMax)
    const other = fields.find(({ name }) => !isAbsent(given[name]))?.name
    if (other !== undefined && node !== joined) {
      throw optionRangeError(other, given[other], `left out, or in agreement with id, which is ${given.id}`)
    }
    return { node, nodes: {} }
  }

  #tickOf(time) {
    const ns = readNanoseconds('timestamp', time)
    const tick = this.#native.tickOf(ns)
    if (tick === null) throw timeRangeError(toMs({ timestamp: time }), this)
    return tick
  }

  range(from, to) {
    if (!this.#native.isTimeOrdered) {
      throw optionRangeError('layout', this.name, 'one whose IDs are in the order of time, for a range of times')
    }
    const [first, last] = [this.#tickOf(from), this.#tickOf(to ?? from)]
    if (first > last) throw optionRangeError('to', to, `not before from, which is ${show(from)}`)
    const [min, max] = this.#native.range(first, last)
    return { min: toBuffer(min), max: toBuffer(max) }
  }

  toText(id) {
    const unit = this.#unitNs('toText')
    const { tick, id: host } = this.decode(id)
    const ns = (tick * 100n + BigInt(host)) * unit + this.#epochNs()
    const date = new Date(Number(ns / 1_000_000_000n) * 1000)
    if (Number.isNaN(date.getTime())) throw idError(id, 'an ID whose time a Date can show')
    return `${date.toISOString().slice(0, -5)}.${String(ns % 1_000_000_000n).padStart(9, '0')}`
  }

  fromText(text) {
    const unit = this.#unitNs('fromText')
    const [, seconds, fraction] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{9})$/.exec(text) ?? []
    const ms = Date.parse(`${seconds}Z`)
    const wanted = "a time with nine digits of seconds, as '2021-12-28T14:07:02.954100128'"
    if (typeof text !== 'string' || Number.isNaN(ms)) throw idError(text, wanted)
    const ns = BigInt(ms) * 1_000_000n + BigInt(fraction) - this.#epochNs()
    const count = ns / unit
    if (ns < 0n || ns % unit !== 0n || count / 100n > this.#native.tickMax) {
      throw idError(text, `${wanted}, not before the epoch, in units of ${unit} ns, in 64 bits`)
    }
    const id = this.encode({ tick: count / 100n, id: Number(count % 100n) })
    if (this.toText(id) !== text) throw idError(text, `${wanted}, on a day that exists`)
    return id
  }

  /** Decimal IDs count ns, or µs: a tick is a hundred of them. */
  #unitNs(call) {
    if (!this.#native.isDecimal) throw optionRangeError('layout', this.name, `a chronicle layout, for ${call}()`)
    return BigInt(Math.round(this.#native.tickMs * 1e6)) / 100n
  }

  #epochNs() {
    return BigInt(this.epoch) * 1_000_000n
  }
}

/** The time of parts as Unix ms, for a message. */
const toMs = ({ timestamp, date }) => Number(readNanoseconds('timestamp', timestamp ?? date)) / 1e6

const show = (time) => (typeof time === 'object' ? time.toISOString() : String(time))

/** Every dialect with its own epoch and choices, by name. */
const layouts = Object.freeze(Object.fromEntries(native.dialects().map((name) => [name, new Layout(name)])))

module.exports = { Layout, layouts }
