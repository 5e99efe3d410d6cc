'use strict'
// @ts-check

// A layout as lib/ needs it: what it is made of, the addon's object for it, and that object's answers, asked once. The
// same request always gets the same object.
//
// It must never reach users: they see lib/layout/layout.js.

const hot = require('../native/hot.js')
const native = require('../native/index.js')
const { FARTHEST_MS, errors, isAbsent, readInstant } = require('../base/check.js')
const { Interned } = require('./interned.js')

/**
 * What a layout is made of: a dialect's name, or the name and the bits of a user's own.
 * @typedef {{ name: string, spec?: import('../../target/native.d.ts').LayoutSpec }} Parts
 *
 * What can be chosen of a layout.
 * @typedef {{ epoch?: number, nodes?: number, mode?: string, idOffset?: bigint }} Choices
 *
 * The same as users give it.
 * @typedef {{ epoch?: unknown, nodes?: unknown, mode?: unknown, idOffset?: unknown }} GivenChoices
 */

class LayoutFacts {
  /** @type {Parts} */
  #spec
  /** @type {Choices} */
  #choices
  #key // of the choices
  /** @type {Interned<LayoutFacts>} */
  #variants = new Interned() // with other choices
  /**
   * the addon's generators with this layout, by what they were opened with: for lib/generator/opened-generator.js
   * @type {Interned<import('../../target/native.d.ts').Generator>}
   */
  generators = new Interned()
  /**
   * what users see of it, once somebody has asked for it: layoutOf() of lib/layout/layout.js gives it
   * @type {import('./layout.js').Layout | undefined}
   */
  layoutMade

  /**
   * @param {Parts} spec
   * @param {Choices} choices
   */
  constructor(spec, choices) {
    const own = new native.Layout(hot.generators, { ...spec, ...choices })
    if (own.end > FARTHEST_MS) {
      throw errors().optionRangeError(
        'epoch',
        own.epoch,
        `early enough for a tick to end before the last Date, ${FARTHEST_MS}`,
      )
    }
    this.#spec = spec
    this.#choices = choices
    this.#key = keyOf(choices)
    this.native = own
    this.index = own.index // how the raw functions know it
    this.name = own.name
    this.epoch = own.epoch
    this.fields = Object.freeze(own.names.map((name, i) => Object.freeze([name, own.widths[i]])))
    this.nodeFields = own.nodeFields.map((field) => ({ ...field, variable: `FLAKEFORGE_${field.name.toUpperCase()}` }))
    this.nodeNames = this.nodeFields.map(({ name }) => name)
    this.partNames = new Set(['timestamp', 'date', 'tick', 'counter', 'id', 'mode', ...this.nodeNames])
    this.nodeMax = own.nodeMax
    this.counterMax = own.counterMax
    this.tickMax = own.tickMax
    this.tickMs = own.tickMs
    this.maxAheadMs = own.maxAheadMs
    this.maxWaitMs = own.maxWaitMs
    this.hasNodes = own.hasNodes
    this.mode = own.mode
    this.isTimeOrdered = own.isTimeOrdered
    this.isDecimal = own.isDecimal
    this.end = own.end
    this.signedEnd = own.signedEnd
  }

  get idOffset() {
    return this.#choices.idOffset
  }

  get spec() {
    return this.#spec
  }

  /** the epoch and the other choices; undefined if none was made */
  get choices() {
    return this.#choices
  }

  /**
   * The same layout with other choices; those that are left out stay.
   * @param {GivenChoices} given
   * @returns {LayoutFacts}
   */
  with({ epoch, nodes, mode, idOffset }) {
    const present = this.#choices
    const choices = {
      epoch: isAbsent(epoch) ? present.epoch : readInstant('epoch', epoch),
      nodes: isAbsent(nodes) ? present.nodes : spec().readNodeCount(nodes, this),
      mode: isAbsent(mode) ? present.mode : spec().readMode(mode, this),
      idOffset: undefined,
    }
    const plain = this.#variant(choices)
    const offset = isAbsent(idOffset) ? present.idOffset : spec().readIdOffset(idOffset)
    if (offset === undefined) return plain
    if (!plain.isTimeOrdered) {
      throw errors().unusableOptionError(
        'idOffset',
        offset,
        `with layout '${this.name}': its IDs are not in the order of time`,
      )
    }
    return this.#variant({ ...choices, idOffset: offset })
  }

  /** @param {Choices} choices */
  #variant(choices) {
    const key = keyOf(choices)
    if (key === this.#key) return this
    return this.#variants.get(key, () => new LayoutFacts(this.#spec, choices))
  }
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
  usual ??= baseOf({ name: 'flake' })
  return usual
}

// Only layouts and choices that somebody names need this. It is kept here because calling require() each time is slow.
/** @type {typeof import('./layout-spec.js') | undefined} */
let specs

function spec() {
  specs ??= require('./layout-spec.js')
  return specs
}

exports.LayoutFacts = LayoutFacts
exports.factsOfSpec = factsOfSpec
exports.usualFacts = usualFacts
