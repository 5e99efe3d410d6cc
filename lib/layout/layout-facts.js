'use strict'

// A layout as lib/ needs it: what it is made of, the addon's object for it, and that object's answers, asked once. The
// same request always gets the same object.
//
// It must never reach users: they see lib/layout/layout.js.

const hot = require('../generator/hot.js')
const native = require('../native/index.js')
const { FARTHEST_MS, isAbsent, readInstant } = require('../base/check.js')
const { Interned } = require('./interned.js')

const errors = () => require('../base/errors.js') // loaded when the first one is made

class LayoutFacts {
  #spec // a dialect's name, or a user's own fields
  #choices
  #key // of the choices
  #variants = new Interned() // with other choices
  /** the addon's generators with this layout, by what they were opened with: for lib/generator/opened-generator.js */
  generators = new Interned()
  #layout // what users see of it

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

  /** what it was made of: `{ name }` for a dialect, `{ name, spec }` for a user's own fields */
  get spec() {
    return this.#spec
  }

  /** the epoch and the other choices; undefined if none was made */
  get choices() {
    return this.#choices
  }

  /** What users see of it. */
  get layout() {
    this.#layout ??= new Layout(this)
    return this.#layout
  }

  /** The same layout with other choices; those that are left out stay. */
  with({ epoch, nodes, mode, idOffset }) {
    const present = this.#choices
    const choices = {
      epoch: isAbsent(epoch) ? present.epoch : readInstant('epoch', epoch),
      nodes: isAbsent(nodes) ? present.nodes : spec().readNodes(nodes, this),
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

  #variant(choices) {
    const key = keyOf(choices)
    if (key === this.#key) return this
    return this.#variants.get(key, () => new LayoutFacts(this.#spec, choices))
  }
}

/** Just the epoch if nothing else is chosen: a Map finds a number faster than text. */
function keyOf({ epoch, nodes, mode, idOffset }) {
  const isPlain = nodes === undefined && mode === undefined && idOffset === undefined
  return isPlain ? epoch : `${epoch} ${nodes} ${mode} ${idOffset}`
}

const bases = new Interned() // layouts without a choice made, by their spec

const baseOf = ({ epoch, ...parts }) =>
  bases.get(JSON.stringify([parts, epoch]), () => new LayoutFacts(parts, { epoch }))

/** The layout of a Layout, of a dialect's name, or of a user's own fields. */
function factsOf(given) {
  if (typeof given === 'object' && given instanceof Layout) return Layout.facts(given)
  return baseOf(spec().readSpec(given))
}

let usual // kept, because finding it by its name takes longer than making a generator

/** The layout where none is named. */
function usualFacts() {
  usual ??= baseOf({ name: 'flake' })
  return usual
}

// Only layouts and choices that somebody names need this. It is kept here because calling require() each time is slow.
let specs

function spec() {
  specs ??= require('./layout-spec.js')
  return specs
}

let Layout

/**
 * lib/layout/layout.js gives its class here when it is loaded. It is loaded with this file, not when first used: test runners
 * clear Node's cache, and require() would then give the class of another copy of the package.
 */
function setLayoutClass(given) {
  Layout = given
}

module.exports = { LayoutFacts, factsOf, setLayoutClass, usualFacts }
