'use strict'

// A layout as users see it: what the bits of an ID mean. The bits themselves are cut in the core.

const native = require('./native.js')
const { toBigInt } = require('./ids.js')

class Layout {
  #native
  #nodeNames

  /** @param {string} name a dialect @param {number} [epoch] Unix ms; the dialect's own when absent */
  constructor(name, epoch) {
    this.#native = new native.Layout(name, epoch)
    const fields = this.#native.fields
    this.#nodeNames = fields.filter((field) => field.isNode).map((field) => field.name)
    this.name = this.#native.name
    this.epoch = this.#native.epoch
    this.fields = Object.freeze(fields.map(({ name, width }) => Object.freeze([name, width])))
    Object.freeze(this)
  }

  /** The addon's own object, for lib/ only. */
  static native(layout) {
    return layout.#native
  }

  /** Names of the fields that make up the node number, the most significant first; for lib/ only. */
  static nodeNames(layout) {
    return layout.#nodeNames
  }

  get end() {
    return new Date(this.#native.end)
  }

  get signedEnd() {
    return new Date(this.#native.signedEnd)
  }

  decode(id) {
    const { timestamp, tick, counter, id: node, nodes } = this.#native.unpack(toBigInt(id))
    const parts = { timestamp, date: new Date(timestamp), tick, counter, id: node }
    this.#nodeNames.forEach((name, i) => {
      parts[name] = nodes[i]
    })
    return parts
  }
}

module.exports = { Layout }
