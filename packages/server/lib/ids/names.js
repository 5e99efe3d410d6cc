'use strict'
// @ts-check

// All that the server gives IDs of, by the names in its configuration.

const { Group } = require('./group.js')
const { Segment } = require('./segment.js')
const { Stores } = require('./stores.js')
const { Problem } = require('../http/problems.js')
const { nearest } = require('../nearest.js')

/** How often is looked whether IDs come. */
const LOOK_MS = 1000

/** @typedef {Group | Segment} Source */

class Names {
  /** @type {Map<string, Source>} */
  #sources = new Map()
  #stores = new Stores()
  /** @type {NodeJS.Timeout | undefined} */
  #looking

  /**
   * @param {import('../config/names.js').Entry[]} entries
   * @param {import('../http/waiting.js').Waiting} waiting
   * @param {(text: string) => void} warn
   */
  constructor(entries, waiting, warn) {
    for (const { name, kind, store, options } of entries) {
      const Kind = kind === 'group' ? Group : Segment
      this.#sources.set(name, new Kind({ name, options, store: this.#stores.of(store) }, waiting, warn))
    }
  }

  /** Opens the stores' clients, which connect later; throws where an address or a client package is wrong. */
  open() {
    this.#stores.open()
  }

  start() {
    for (const source of this.all) source.keeper.start()
    this.#looking = setInterval(() => {
      for (const source of this.all) source.look()
    }, LOOK_MS).unref()
  }

  /** Gives all slots back, then ends the stores' clients. */
  async close() {
    clearInterval(this.#looking)
    await Promise.allSettled(this.all.map((source) => source.keeper.close()))
    await this.#stores.close()
  }

  get all() {
    return [...this.#sources.values()]
  }

  /** Whether no store has answered yet, so that there is nothing to say. */
  get isStarting() {
    return this.all.some(({ keeper }) => keeper.isStarting)
  }

  /** @param {string} name */
  of(name) {
    const source = this.#sources.get(name)
    if (source === undefined) throw this.#unknown(name)
    return source
  }

  /** The layout where none is asked for: that of the first group. */
  get firstGroup() {
    return this.all.find(({ kind }) => kind === 'group')
  }

  /** Why not all of them give IDs now; undefined if they do. */
  async trouble() {
    const troubles = await Promise.all(this.all.map((source) => source.trouble()))
    return troubles.find((each) => each !== undefined)
  }

  /** @param {string} name */
  #unknown(name) {
    const known = [...this.#sources.keys()]
    const meant = nearest(name, known)
    const hint = meant === undefined ? `There are ${list(known)}.` : `Did you mean '${meant}'?`
    return new Problem(404, 'ERR_FLAKE_NAME', `This server has no name '${name.slice(0, 128)}'. ${hint}`)
  }
}

/** @param {string[]} names */
function list(names) {
  const some = names.slice(0, 10).map((name) => `'${name}'`)
  return names.length > some.length ? `${some.join(', ')} and ${names.length - some.length} more` : some.join(', ')
}

exports.Names = Names
