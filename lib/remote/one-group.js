'use strict'
// @ts-check

// All IDs of a client are of one group and one layout: those of two could be equal. Servers say with each answer of which
// they are; here it is compared, before an ID of the answer is used.
//
// It must never take IDs of a second group while the first may still be there: a server that cannot be asked may have it.

const { otherGroupError, unknownGroupReason } = require('../base/errors/remote.js')

/**
 * @import { Failure } from '../base/errors/remote.js'
 *
 * Of what the IDs of an answer are. `layout`: with its fixed fields; null for a segment. `group`: random digits that were
 * drawn when the group was made.
 * @typedef {{ server: string, layout: string | null, group: string | null }} Origin
 *
 * Of what the IDs are that a caller makes itself. Its group is undefined until its store was reached.
 * @typedef {{ name: string, layout: string, group?: string }} Own
 */

class OneGroup {
  /** how many there were, one after the other */
  count = 1
  #name
  #own
  /** @type {Origin | undefined} */
  #known // of the last answer
  /** @type {Set<string | null>} */
  #left = new Set() // groups that were followed by another

  /**
   * @param {string} name
   * @param {() => Own} [own]
   */
  constructor(name, own) {
    this.#name = name
    this.#own = own
  }

  /**
   * Looks at an answer. Returns nothing if its IDs may be used. If they may not be used now, it says why, and throws if
   * waiting does not help.
   *
   * A group that was made again on an emptied store is another one. It is taken if every server that answers shows it, and
   * among these is the one that gave the last IDs.
   * @param {Origin} theirs
   * @param {() => Promise<Origin[]>} askAll
   * @returns {Promise<Failure | undefined>}
   */
  async compare(theirs, askAll) {
    const refusal = this.refusal(theirs)
    if (refusal !== undefined) throw refusal
    const known = this.#known
    if (known === undefined || isSame(theirs, known) || this.#own?.().group !== undefined) return this.#take(theirs)
    const isPossible = theirs.layout === known.layout && theirs.group !== null && !this.#left.has(theirs.group)
    const all = isPossible ? await askAll() : []
    if (!isPossible || all.some((each) => !isSame(each, theirs))) throw otherGroupError(this.#name, theirs, known)
    if (all.some(({ server }) => server === known.server)) return this.#take(theirs)
    return { server: theirs.server, reason: unknownGroupReason(known), code: 'ERR_FLAKE_CONFIG_MISMATCH' }
  }

  /**
   * The error of an answer that is not of the caller's own group.
   * @param {Origin} theirs
   */
  refusal(theirs) {
    const own = this.#own?.()
    if (own === undefined) return undefined
    const isSameGroup = own.group === undefined || own.group === theirs.group
    if (isSameGroup && own.layout === theirs.layout) return undefined
    return otherGroupError(this.#name, theirs, { ...own, group: own.group ?? null })
  }

  /**
   * @param {Origin} theirs
   * @returns {undefined}
   */
  #take(theirs) {
    if (this.#known !== undefined && !isSame(theirs, this.#known)) {
      this.#left.add(this.#known.group)
      this.count++
    }
    this.#known = theirs
  }
}

/**
 * @param {Origin} one
 * @param {Origin} other
 */
const isSame = (one, other) => one.layout === other.layout && one.group === other.group

module.exports = { OneGroup }
