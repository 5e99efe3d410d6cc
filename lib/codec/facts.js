'use strict'
// @ts-check

// A layout as our own code needs it: what it is made of, and what follows from that. The same request always gets the same
// object. Generators also need the addon's object for it, which lib/native/hot.js keeps here.
//
// It must never reach users: they see lib/codec/layout.js.

const dialects = require('./dialects.js')
const { FARTHEST_MS, errors, isAbsent, readBounded, readInstant } = require('../base/values.js')
const { MODES, Packing } = require('./packing.js')

/**
 * What a layout is made of: a dialect's name, or the name and the bits of a user's own.
 * @typedef {{ name: string, tickNs?: number, fields?: [string, number][] }} Parts
 *
 * What can be chosen of a layout.
 * @typedef {{ epoch?: number, nodes?: number, mode?: string, idOffset?: bigint }} Choices
 *
 * The same as users give it.
 * @typedef {{ epoch?: unknown, nodes?: unknown, mode?: unknown, idOffset?: unknown }} GivenChoices
 *
 * @import { Options } from '../base/values.js'
 */

// Objects that are made once and shared by all code that asks for the same, as long as any of it holds them: layouts
// and generators. Each has a native object with a finalizer, and these pile up in a loop that never lets the event loop
// turn. It must never keep anything alive by itself, and never hold more than MOST keys: beyond that it forgets the
// oldest, and the next request for that one gets a new object.

const MOST = 10_000 // more than the node numbers of most layouts

/** @template {object} T */
class Interned {
  /** @type {Map<string | number | undefined, WeakRef<T>>} */
  #known = new Map()

  /**
   * The object for this key; a new one if nothing holds the last one.
   * @param {string | number | undefined} key
   * @param {() => T} make
   */
  get(key, make) {
    const known = this.#known.get(key)?.deref()
    if (known !== undefined) return known
    const made = make()
    this.#known.delete(key) // or it would keep its old place in the order
    this.#known.set(key, new WeakRef(made))
    if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value)
    return made
  }
}

/** @param {string} name */
const sameName = (name) => name

class LayoutFacts {
  #key // of the choices
  /** @type {Interned<LayoutFacts>} */
  #variants = new Interned() // with other choices
  /**
   * the addon's generators with this layout, by what they were opened with: for lib/generator/opened-generator.js
   * @type {Interned<import('../../target/native.d.ts').Generator>}
   */
  generators = new Interned()
  /**
   * the addon's layout, once a generator has needed it: nativeLayout() of lib/native/hot.js gives it
   * @type {import('../../target/native.d.ts').Layout | undefined}
   */
  native
  /**
   * the environment variables of its node fields, once lib/layout/node-number.js has asked: making these texts takes longer
   * than all else that it does
   * @type {string[] | undefined}
   */
  variables
  /**
   * Unix ms from which on lookAhead() of lib/generator/options.js has something to do, once it has asked
   * @type {number | undefined}
   */
  horizon
  /**
   * the last 58 bits of its UUIDs, once uuid.js has needed them
   * @type {bigint | undefined}
   */
  mark
  /**
   * what users see of it, once somebody has asked for it: layoutOf() of lib/codec/layout.js gives it
   * @type {import('./layout.js').Layout | undefined}
   */
  layoutMade

  /**
   * @param {Parts} spec
   * @param {Choices} choices
   */
  constructor(spec, choices) {
    /** @type {import('./dialects.js').Dialect} */
    const row = spec.fields === undefined ? dialectOf(spec.name) : { ...spec, name: spec.name }

    this.#key = keyOf(choices)
    this.spec = spec
    /** the epoch and the other choices; undefined if none was made */
    this.choices = choices
    this.name = spec.name
    this.epoch = choices.epoch ?? row.epoch ?? 0
    this.tickNs = row.tickNs ?? 1_000_000
    this.tickMs = this.tickNs / 1e6
    this.fields = Object.freeze(withNodes(row.fields ?? [], choices.nodes).map((field) => Object.freeze(field)))
    this.mode = choices.mode ?? (this.fields.some(([name]) => name === 'mode') ? MODES[0] : undefined)
    this.host = row.host
    this.idOffset = choices.idOffset
    this.maxAheadMs = row.maxAheadMs ?? 0
    this.maxWaitMs = row.maxWaitMs ?? 0
    this.hasNodes = row.hasNodes ?? false
    this.packing = new Packing(this)
    this.nodeFields = this.packing.nodeFields
    this.nodeMax = this.packing.nodeMax
    this.counterMax = this.packing.counterMax
    this.nodeNames = this.nodeFields.map(({ name }) => name)
    this.partNames = ['timestamp', 'date', 'tick', 'counter', 'id', 'mode', ...this.nodeNames]
    if (this.idOffset !== undefined && !this.packing.isTimeOrdered)
      throw errors().unusableOptionError('idOffset', this.idOffset, "with layout '$'", this.name, 'idOffset')
    if (this.idOffset !== undefined && !this.packing.hasTicks)
      throw errors().optionRangeError('idOffset', this.idOffset, 'one with which IDs fit into 64 bits')
    if (choices.epoch !== undefined && this.packing.end() > FARTHEST_MS)
      throw errors().optionRangeError('epoch', this.epoch, 'early enough for a tick to end before $', FARTHEST_MS)
  }

  /**
   * The same layout with other choices; those that are left out stay.
   * @param {GivenChoices} given
   * @returns {LayoutFacts}
   */
  with({ epoch, nodes, mode, idOffset }) {
    const present = this.choices
    const choices = {
      epoch: isAbsent(epoch) ? present.epoch : readInstant('epoch', epoch),
      nodes: isAbsent(nodes) ? present.nodes : spec().readNodeCount(nodes, this),
      mode: isAbsent(mode) ? present.mode : readMode(mode, this),
      idOffset: isAbsent(idOffset) ? present.idOffset : spec().readIdOffset(idOffset),
    }
    const key = keyOf(choices)
    if (key === this.#key) return this
    return this.#variants.get(key, () => new LayoutFacts(this.spec, choices))
  }

  /**
   * The node number: `id`, or the node fields by name, or 0; if both are given they must agree.
   * @param {Options} given
   * @param {(name: string) => string} [label] what to call a field in an error
   */
  readNode(given, label = sameName) {
    const { nodeFields } = this
    let joined = 0
    let other
    for (let i = 0; i < nodeFields.length; i++) {
      const { name, max, unit } = nodeFields[i]
      const value = given[name]
      if (isAbsent(value)) continue
      joined += readBounded(label(name), value, 0, max) * unit
      other ??= name
    }
    const { id } = given
    if (isAbsent(id)) return joined
    const node = readBounded(label('id'), id, 0, this.nodeMax)
    if (other !== undefined && node !== joined) {
      throw errors().optionRangeError(other, given[other], `left out or the same as in id, which is ${id}`)
    }
    return node
  }
}

/**
 * uniqueid's mode.
 * @param {unknown} mode
 * @param {LayoutFacts} facts
 */
function readMode(mode, { name, mode: present }) {
  if (isAbsent(present)) throw errors().unusableOptionError('mode', mode, "with layout '$'", name, 'mode')
  const known = MODES.find((name) => name === mode)
  if (known === undefined) throw errors().optionRangeError('mode', mode, `one of '${MODES.join("', '")}'`)
  return known
}

/** @param {string} name */
const dialectOf = (name) =>
  /** @type {import('./dialects.js').Dialect} */ (dialects.find((dialect) => dialect.name === name))

/**
 * The fields, of which the second and third, node and counter, share their bits so that there are as many nodes as that.
 * @param {[string, number][]} fields
 * @param {number} [nodes]
 * @returns {[string, number][]}
 */
function withNodes(fields, nodes) {
  if (nodes === undefined) return fields
  const [time, [node, nodeBits], [counter, counterBits]] = fields
  const bits = Math.ceil(Math.log2(nodes))
  return [time, [node, bits], [counter, nodeBits + counterBits - bits]]
}

/**
 * Just the epoch if nothing else is chosen: a Map finds a number faster than text.
 * @param {Choices} choices
 */
function keyOf({ epoch, nodes, mode, idOffset }) {
  const isPlain = nodes === undefined && mode === undefined && idOffset === undefined
  return isPlain ? epoch : `${epoch} ${nodes} ${mode} ${idOffset}`
}

/** @type {Interned<LayoutFacts>} */
const bases = new Interned() // layouts without a choice made, by their spec

/** @param {Parts & { epoch?: number }} spec */
const baseOf = ({ epoch, ...parts }) =>
  bases.get(JSON.stringify([parts, epoch]), () => new LayoutFacts(parts, { epoch }))

/**
 * The layout of a dialect's name, or of a user's own fields.
 * @param {unknown} given
 */
const factsOfSpec = (given) => baseOf(spec().readSpec(given))

/** @type {LayoutFacts | undefined} */
let usual // kept, because finding it by its name takes longer than making a generator

/** The layout where none is named. */
function usualFacts() {
  usual ??= baseOf({ name: dialects[0].name })
  return usual
}

// Only layouts and choices that somebody names need this. It is kept here because calling require() each time is slow.
/** @type {typeof import('./spec.js') | undefined} */
let specs

function spec() {
  specs ??= require('./spec.js')
  return specs
}

exports.Interned = Interned
exports.LayoutFacts = LayoutFacts
exports.factsOfSpec = factsOfSpec
exports.readMode = readMode
exports.usualFacts = usualFacts
