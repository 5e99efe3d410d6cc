// The shared state of all checks of a run: the processes and clients, the names of the groups, all of which begin with its
// prefix, and what was written, so that it can be checked at the end.

import { randomBytes } from 'node:crypto'
import { type Client, type Identities, Process } from './process.ts'
import type { Size } from './size.ts'
import { monotonicNow } from './time.ts'

/** A check, as the files of checks/ export them. It returns a sentence about what is right, or throws a Finding. */
export interface Check {
  name: string
  run: (trial: Trial) => Promise<string>
  /** whether no other check can run without it */
  isNeeded?: boolean
  /** whether one client is enough, without other processes: the tests of flakeforge run it on each of their clients */
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
  /** as read by clients */
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

  /** Starts the processes of this run, with a client in each; `exports` are the module's exports. */
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
   * @param place whether the process simulates another machine
   */
  async newClient(place?: 'here' | 'elsewhere') {
    const process = this.#fork(place)
    await process.load()
    return process.open()
  }

  #fork(place: 'here' | 'elsewhere' = 'here') {
    const { callMs, checkMs } = this.size
    const process = new Process(this.file, { callMs, checkMs, identities: this.identities, place })
    this.#all.push(process)
    return process
  }

  /** How much time is left for all remaining checks. */
  leftMs() {
    return this.#endsAt - monotonicNow()
  }

  /** The full name of a group of this run. */
  group(name: string) {
    return `${this.prefix} ${name}`
  }

  /** A text that was never written before, with the given beginning. */
  text(beginning = 'text') {
    return `${beginning} ${randomBytes(8).toString('hex')}`
  }

  /** Changes a record as `client`, and remembers its new value. */
  async change(client: Client, group: string, name: string, from: string | null, to: string) {
    await client.change(group, name, from, to)
    this.note(group, name, to)
  }

  /** Creates absent records, with several calls at a time. */
  async make(client: Client, group: string, records: Record<string, string>) {
    const queue = Object.entries(records)
    const lane = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await this.change(client, group, next[0], null, next[1])
      }
    }
    await Promise.all(Array.from({ length: 4 }, lane))
  }

  /** Remembers the present value of a record. */
  note(group: string, name: string, text: string | null) {
    this.#since ??= monotonicNow()
    const records = this.#written.get(group) ?? new Map()
    this.#written.set(group, records.set(name, text))
  }

  /** The age of the first record. */
  get ageMs() {
    return this.#since === undefined ? 0 : monotonicNow() - this.#since
  }

  /** The names of all groups that have a record by now. */
  known() {
    return this.#written.keys()
  }

  /** What a client reads of all that was written. */
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
