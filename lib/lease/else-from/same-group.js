'use strict'
// @ts-check

// Whether a server makes IDs for this generator's group: with the same layout, and with slots of the same store. Otherwise
// its IDs could be equal to those of our members: it may be the URL of another environment.
//
// It must never let an ID through whose layout differs. It must never say that a server is of another store because one of
// them has not answered, or has changed meanwhile: then it says nothing, and looks again later.

const { createHash } = require('node:crypto')
const { within } = require('../../base/in-time.js')
const { monotonicNow } = require('../../base/timers.js')
const { otherLayoutError, otherStoreError } = require('../../base/errors/else-from.js')

/**
 * @import { SlotStore } from '../stores/database.js'
 *
 * A slot as a server tells of it.
 * @typedef {{ slot: number, mine?: boolean, held?: boolean, mark?: string }} TheirSlot
 */

/** How long the store may take to list the slots. One that is away would delay every ID. */
const LIST_MS = 1_000
/** After a look that said nothing, or that a server is of another store. */
const LOOK_AGAIN_MS = 10_000
/** A server may get another slot between our look at it and the one at the store. */
const LOOKS = 3

/**
 * What a server shows of an owner: enough to compare, and nobody can act for the owner with it.
 * @param {string} owner
 */
const markOf = (owner) => createHash('sha256').update(owner).digest('hex').slice(0, 16)

class SameGroup {
  #store
  #group
  #fingerprint
  #name
  #get
  /** @type {Set<string>} */
  #same = new Set() // servers of our store
  /** @type {Map<string, { until: number, error?: Error }>} */
  #others = new Map() // servers that are not looked at again before `until`
  /** @type {Set<string>} */
  #unknown = new Set() // servers that gave IDs which nobody has used yet

  /**
   * @param {{ store: SlotStore, group: string, fingerprint: string, name: string }} ours `name`: of the group, there
   * @param {(server: string, path: string, options: { signal?: AbortSignal }) => Promise<unknown>} get
   */
  constructor({ store, group, fingerprint, name }, get) {
    this.#store = store
    this.#group = group
    this.#fingerprint = fingerprint
    this.#name = name
    this.#get = get
  }

  /**
   * Looks at an answer with IDs. Throws if they have another layout.
   * @param {Response} response
   * @param {string} server
   */
  accept({ headers }, server) {
    const theirs = headers.get('flakeforge-layout')
    if (theirs !== this.#fingerprint) throw otherLayoutError(server, this.#name, theirs, this.#fingerprint)
    if (!this.#same.has(server)) this.#unknown.add(server)
  }

  /**
   * Before IDs are used: looks at the servers that gave them, as far as that is possible. Throws if one is of another
   * store.
   * @param {AbortSignal} [signal]
   */
  async assert(signal) {
    const servers = [...this.#unknown]
    this.#unknown.clear()
    await Promise.all(servers.map((server) => this.look(server, signal)))
  }

  /**
   * Throws if this server is of another store.
   * @param {string} server
   * @param {AbortSignal} [signal]
   */
  async look(server, signal) {
    const other = this.#others.get(server)
    if (this.#same.has(server) || (other !== undefined && monotonicNow() < other.until)) return rethrow(other?.error)
    for (let looks = 1; ; looks++) {
      const isSame = await this.#isSame(server, signal)
      if (isSame) return void this.#same.add(server)
      if (isSame === false && looks < LOOKS) continue
      const error = isSame === false ? otherStoreError(server, this.#name, this.#group) : undefined
      this.#others.set(server, { until: monotonicNow() + LOOK_AGAIN_MS, error })
      return rethrow(error)
    }
  }

  /**
   * Whether our store has one of the server's slots under the same owner; undefined if that cannot be seen now.
   * @param {string} server
   * @param {AbortSignal} [signal]
   */
  async #isSame(server, signal) {
    const path = `v1/slots/${encodeURIComponent(this.#name)}`
    const theirs = await this.#get(server, path, { signal }).then(slotsOf, () => [])
    const own = theirs.filter(({ mine, mark }) => mine && typeof mark === 'string')
    if (own.length === 0 || signal?.aborted) return undefined // after close() the store's client has ended
    const ours = await within(
      this.#store.list(this.#group).catch(() => undefined),
      LIST_MS,
    )
    if (ours === undefined) return undefined
    const marks = new Map(ours.map(({ slot, owner }) => [slot, owner === undefined ? undefined : markOf(owner)]))
    return own.some(({ slot, mark }) => marks.get(slot) === mark)
  }
}

/**
 * The slots in a server's answer, which may be anything.
 * @param {any} json
 * @returns {TheirSlot[]}
 */
function slotsOf(json) {
  const slots = json?.slots
  return Array.isArray(slots) ? slots.filter((slot) => typeof slot === 'object' && slot !== null) : []
}

/** @param {Error | undefined} error */
function rethrow(error) {
  if (error !== undefined) throw error
}

exports.SameGroup = SameGroup
