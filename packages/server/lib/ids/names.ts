// All that the server gives IDs of, by the names in its configuration.

import { nearest } from '../../../../lib/base/nearest.ts'
import type { Entry } from '../config/names.ts'
import { Problem } from '../http/problems.ts'
import type { Waiting } from '../http/waiting.ts'
import { Group } from './group.ts'
import { Segment } from './segment.ts'
import { Stores } from './stores.ts'

/** How often is looked whether IDs come. */
const LOOK_MS = 1000

/** What gives the IDs of a name. */
export type Served = Group | Segment

export class Names {
  #served: Map<string, Served> = new Map()
  #stores = new Stores()
  #looking: NodeJS.Timeout | undefined

  constructor(entries: Entry[], waiting: Waiting, warn: (text: string) => void) {
    for (const { name, kind, store, options } of entries) {
      const Kind = kind === 'group' ? Group : Segment
      this.#served.set(name, new Kind({ name, options, store: this.#stores.of(store) }, waiting, warn))
    }
  }

  /** Opens the stores' clients, which connect later; throws where an address or a client package is wrong. */
  open() {
    this.#stores.open()
  }

  start() {
    for (const served of this.all) served.keeper.start()
    this.#looking = setInterval(() => {
      for (const served of this.all) served.look()
    }, LOOK_MS).unref()
  }

  /** Gives all slots back, then ends the stores' clients. */
  async close() {
    clearInterval(this.#looking)
    await Promise.allSettled(this.all.map((served) => served.keeper.close()))
    await this.#stores.close()
  }

  get all() {
    return [...this.#served.values()]
  }

  /** Whether no store has answered yet, so that there is nothing to say. */
  get isStarting() {
    return this.all.some(({ keeper }) => keeper.isStarting)
  }

  of(name: string) {
    const served = this.#served.get(name)
    if (served === undefined) throw this.#unknown(name)
    return served
  }

  /** The layout where none is asked for: that of the first group. */
  get firstGroup() {
    return this.all.find(({ kind }) => kind === 'group')
  }

  /** Why not all of them give IDs now; undefined if they do. */
  async trouble() {
    const troubles = await Promise.all(this.all.map((served) => served.trouble()))
    return troubles.find((each) => each !== undefined)
  }

  #unknown(name: string) {
    const known = [...this.#served.keys()]
    const meant = nearest(name, known)
    const hint = meant === undefined ? `There are ${list(known)}.` : `Did you mean '${meant}'?`
    return new Problem(404, 'ERR_FLAKE_NAME', `This server has no name '${name.slice(0, 128)}'. ${hint}`)
  }
}

function list(names: string[]) {
  const some = names.slice(0, 10).map((name) => `'${name}'`)
  return names.length > some.length ? `${some.join(', ')} and ${names.length - some.length} more` : some.join(', ')
}
