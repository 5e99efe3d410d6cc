// The records of groups and counters on Redis or Valkey: reads them, and swaps them if they are unchanged. One Lua script is
// one atomic step; core/src/lease/grants.rs interprets the records.
//
// Always EVAL, on keys of one hash tag: clients may send reading commands to a replica, but never a script. A group is one
// hash, so that an eviction takes all of it or nothing. No key expires.

import type { Records, StoreIdentity } from '../records.ts'
import { Acknowledgements } from './acknowledgements.ts'
import type { ScriptRunner } from './client.ts'
import * as durable from './durable.ts'
import SERVER from './identity.ts'
import * as scripts from './scripts.ts'

const { createHash } = process.getBuiltinModule('node:crypto')

function script(text: string) {
  const source = SERVER + text
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

const READ = script(scripts.READ)
const SWAP = script(scripts.SWAP)
const NAMES = script(scripts.NAMES)
const OFFSETS = script(scripts.OFFSETS)
const DURABLE = script(durable.SCRIPT)

/** The key of a group's or counter's hash. The braces are for clusters, which place a key by the text in them. */
const recordsOf = (name: string) => [`flakeforge:{${name}}:records`]

/** For calls about the server, not about a group. It is never written. */
const PLACE_KEY = 'flakeforge:durable'

export class RedisRecords implements Records {
  #client
  #durability = new durable.Durability()
  #acknowledgements

  constructor(client: ScriptRunner) {
    this.#client = client
    this.#acknowledgements = new Acknowledgements(client, OFFSETS)
  }

  get server() {
    return this.#client.server
  }

  get failure() {
    return this.#client.failure
  }

  /** Where the records are, in readable form. */
  async place() {
    return `Redis at ${await this.#client.place(PLACE_KEY)}, keys 'flakeforge:{…}:records'`
  }

  async read(group: string, names: readonly string[], signal?: AbortSignal) {
    const reply = await this.#client.run(READ, recordsOf(group), names, signal)
    const [now, process, history, ...values] = reply as [string, string, string, ...(string | null)[]]
    return { now: Number(now), identity: { history, process }, values }
  }

  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    { history, process }: StoreIdentity,
    signal?: AbortSignal,
  ) {
    const args = [process, history, name, to]
    if (from !== null) args.push(from)
    const keys = recordsOf(group)
    const [answer, replicas, need] = await this.#client.run(SWAP, keys, args, signal)
    if (answer !== 'swapped') return false
    const write = { keys, history, process, replicas: Number(replicas), isNeeded: need === 'needed' }
    await this.#acknowledgements.until(write, signal)
    return true
  }

  names(group: string, signal?: AbortSignal) {
    return this.#client.run(NAMES, recordsOf(group), [], signal) as Promise<string[]>
  }

  async close() {
    await this.#client.close()
  }

  async checkDurable() {
    const sections = await this.#client.run(DURABLE, [PLACE_KEY], [])
    await this.#durability.check(sections, (name) => this.#client.setting(name, PLACE_KEY))
  }
}
