'use strict'
// @ts-check

// The stores of the server: one client for each address, however many names use it. It must never show an address, which
// may have a password in it.

const { openStore } = require('flakeforge')
const { ConfigError } = require('../config/config-error.js')

/** A store that is opened when it is first used. */
class SharedStore {
  #address
  /** @type {any} */
  #store

  /** @param {string | undefined} address */
  constructor(address) {
    this.#address = address
    this.isFolder = isFolder(address)
  }

  open() {
    this.#store ??= opened(this.#address)
    return this.#store
  }

  /** @param {string} group */
  async list(group) {
    return this.open().list(group)
  }

  async close() {
    await this.#store?.close?.()
  }
}

class Stores {
  /** @type {Map<string | undefined, SharedStore>} */
  #stores = new Map()

  /** @param {string | undefined} address */
  of(address) {
    const known = this.#stores.get(address) ?? new SharedStore(address)
    this.#stores.set(address, known)
    return known
  }

  open() {
    for (const store of this.#stores.values()) store.open()
  }

  async close() {
    await Promise.allSettled([...this.#stores.values()].map((store) => store.close()))
  }
}

/**
 * Whether an address is that of a folder on this machine, as the default is.
 * @param {string | undefined} address
 */
const isFolder = (address) => address === undefined || address.startsWith('file:')

/**
 * An address that cannot be opened is a mistake of the configuration; a store that is away is none, and shows only later.
 * @param {string | undefined} address
 */
function opened(address) {
  try {
    return openStore(address)
  } catch (error) {
    throw new ConfigError(/** @type {Error} */ (error).message)
  }
}

module.exports = { SharedStore, Stores, isFolder }
