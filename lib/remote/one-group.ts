// Ensures that all IDs of a client are of one group and one layout: IDs of two groups could be equal. Servers name theirs
// with each answer, and it is compared here before an ID of the answer is used. IDs of a second group are refused while the
// first may still exist: a server that cannot be asked may have it.

import { type Failure, type Origin, otherGroupError, unknownGroupReason } from '../base/errors/remote.ts'

/** The origin of IDs that a caller generates itself. Its group is undefined until its store was reached. */
export type Own = { name: string; layout: string; group?: string }

export class OneGroup {
  /** how many groups there were, one after the other */
  count = 1
  #name
  #own
  #known: Origin | undefined // of the last answer
  #left: Set<string | null> = new Set() // groups that another one replaced

  constructor(name: string, own?: () => Own) {
    this.#name = name
    this.#own = own
  }

  /**
   * Checks an answer. Returns undefined if its IDs may be used, and the reason if they may not be used now; throws if waiting
   * does not help.
   *
   * A group that was recreated on an emptied store is a different one. It is accepted if every server that answers shows it,
   * including the one that supplied the last IDs.
   */
  async compare(theirs: Origin, askAll: () => Promise<Origin[]>): Promise<Failure | undefined> {
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

  /** The error for an answer that is not of the caller's own group. */
  refusal(theirs: Origin) {
    const own = this.#own?.()
    if (own === undefined) return undefined
    const isSameGroup = own.group === undefined || own.group === theirs.group
    if (isSameGroup && own.layout === theirs.layout) return undefined
    return otherGroupError(this.#name, theirs, { ...own, group: own.group ?? null })
  }

  #take(theirs: Origin): undefined {
    if (this.#known !== undefined && !isSame(theirs, this.#known)) {
      this.#left.add(this.#known.group)
      this.count++
    }
    this.#known = theirs
  }
}

const isSame = (one: Origin, other: Origin) => one.layout === other.layout && one.group === other.group
