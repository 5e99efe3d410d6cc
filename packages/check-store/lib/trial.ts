// What all checks of one run share: the processes and clients, the names of the groups, and what was written, so that it
// can be looked for at the end. It must never use a group whose name does not begin with its prefix.

import { randomBytes } from 'node:crypto'
import { type Client, type Identities, Process } from './process.ts'
import type { Size } from './size.ts'
import { monotonicNow } from './time.ts'

/** A check, as the files of checks/ export them. It gives a sentence about what is right, or throws a Finding. */
export interface Check {
  name: string
  run: (trial: Trial) => Promise<string>
  /** whether nothing else can be checked without it */
  isNeeded?: boolean
  /** whether one client can show it, without other processes: the tests of flakeforge run it on each of their clients */
  isOfOneClient?: boolean
}

/** A record that was written, and what a client reads now. */
export type Found = { group: string; name: string; wanted: string | null | undefined; seen: string | null }

export class Trial {
  file
  size
  prefix

  #all: Process[] = []
  /** the records of each group */
  #written: Map<string, Map<string, string | null>> = new Map()
  /** when the first record was written */
  #since: number | undefined
  #endsAt
  processes: Process[] = []
  /** one in each process */
  clients: Client[] = []
  /** that clients have read */
  identities: Identities = new Map()
  /** Whether the module exports a wipe(). */
  wipes = false
  /** groups with special names, and the names of their records */
  named: { group: string; names: string[] }[] = []

  /** @param file the path of the user's module */
  constructor(file: string, size: Size) {
    this.file = file
    this.size = size
    this.#endsAt = monotonicNow() + size.allMs
    this.prefix = `flakeforge-check-${randomBytes(4).toString('hex')}`
  }

  /** The processes of this run, with a client in each; `exports` says what the module exports. */
  async start() {
    this.processes = Array.from({ length: this.size.processes }, () => this.#fork())
    const [exports] = await Promise.all(this.processes.map((process) => process.load()))
    return exports
  }

  async open() {
    this.clients = await Promise.all(this.processes.map((process) => process.open()))
  }

  /**
   * A client in a new process that has imported the module.
   * @param place whether that believes it is on another machine
   */
  async newClient(place?: 'here' | 'elsewhere') {
    const process = this.#fork(place)
    await process.load()
    return process.open()
  }

  #fork(place: 'here' | 'elsewhere' = 'here') {
    const process = new Process(this.file, { callMs: this.size.callMs, identities: this.identities, place })
    this.#all.push(process)
    return process
  }

  /** How much time there is for all checks that are left. */
  leftMs() {
    return this.#endsAt - monotonicNow()
  }

  /** The full name of a group of this run. */
  group(name: string) {
    return `${this.prefix} ${name}`
  }

  /** A text that was never written before, with a certain beginning. */
  text(beginning = 'text') {
    return `${beginning} ${randomBytes(8).toString('hex')}`
  }

  /** Changes a record as `client`, and keeps in mind what it is now. */
  async change(client: Client, group: string, name: string, from: string | null, to: string) {
    await client.change(group, name, from, to)
    this.note(group, name, to)
  }

  /** Makes records that are absent, with several calls at a time. */
  async make(client: Client, group: string, records: Record<string, string>) {
    const queue = Object.entries(records)
    const lane = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await this.change(client, group, next[0], null, next[1])
      }
    }
    await Promise.all(Array.from({ length: 4 }, lane))
  }

  /** Keeps in mind what a record is now. */
  note(group: string, name: string, text: string | null) {
    this.#since ??= monotonicNow()
    const records = this.#written.get(group) ?? new Map()
    this.#written.set(group, records.set(name, text))
  }

  /** For how long the first record has been there. */
  get ageMs() {
    return this.#since === undefined ? 0 : monotonicNow() - this.#since
  }

  /** The names of all groups that have a record by now. */
  known() {
    return this.#written.keys()
  }

  /** What a client finds of all that was written. */
  async find(client: Client) {
    const found: Found[] = []
    for (const [group, records] of this.#written) {
      const names = [...records.keys()]
      const values = await client.values(group, names)
      found.push(...names.map((name, i) => ({ group, name, wanted: records.get(name), seen: values[i] })))
    }
    return found
  }

  /** Ends all processes. */
  async end() {
    await Promise.all(this.#all.map((process) => process.kill()))
  }
}
