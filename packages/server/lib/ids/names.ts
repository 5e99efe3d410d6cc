// All sources of IDs of the server, by the names in its configuration.

import { nearest } from '../../../../lib/base/nearest.ts'
import type { Entry } from '../config/names.ts'
import { Problem, shown } from '../http/problems.ts'
import type { Waiting } from '../http/waiting.ts'
import { Group } from './group.ts'
import { Segment } from './segment.ts'
import { Stores } from './stores.ts'

/** How often the server checks whether IDs are available. */
const LOOK_MS = 1000

/** The source of a name's IDs. */
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

  /** Opens the stores' clients, which connect later; throws if an address or a client package is invalid. */
  open() {
    this.#stores.open()
  }

  start() {
    for (const served of this.all) served.supervisor.start()
    this.#looking = setInterval(() => {
      for (const served of this.all) served.look()
    }, LOOK_MS).unref()
  }

  /** Releases all slots, then ends the stores' clients. */
  async close() {
    clearInterval(this.#looking)
    await Promise.allSettled(this.all.map((served) => served.supervisor.close()))
    await this.#stores.close()
  }

  get all() {
    return [...this.#served.values()]
  }

  /** Whether no store has answered yet, so that there is nothing to report. */
  get isStarting() {
    return this.all.some(({ supervisor }) => supervisor.isStarting)
  }

  of(name: string) {
    const served = this.#served.get(name)
    if (served === undefined) throw this.#unknown(name)
    return served
  }

  /** The first group, whose layout is the default. */
  get firstGroup() {
    return this.all.find(({ kind }) => kind === 'group')
  }

  /** Why some names supply no IDs now; undefined if all do. */
  async trouble() {
    const troubles = await Promise.all(this.all.map((served) => served.trouble()))
    return troubles.find((each) => each !== undefined)
  }

  #unknown(name: string) {
    const known = [...this.#served.keys()]
    const meant = nearest(name, known)
    const hint = meant === undefined ? `Its names are ${list(known)}.` : `Did you mean '${meant}'?`
    return new Problem(404, 'ERR_FLAKE_NAME', `This server has no name ${shown(name)}. ${hint}`)
  }
}

function list(names: string[]) {
  const some = names.slice(0, 10).map((name) => `'${name}'`)
  return names.length > some.length ? `${some.join(', ')} and ${names.length - some.length} more` : some.join(', ')
}
