'use strict'
// @ts-check

// What all checks of one run share: the processes and clients, the names of the groups, and what was written, so that it
// can be looked for at the end. It must never use a group whose name does not begin with its prefix.

/** @import { Client, Identities } from './process.js' */
/** @import { Size } from './size.js' */

/**
 * A check, as the files of checks/ export them. It gives a sentence about what is right, or throws a Finding.
 * @typedef {object} Check
 * @property {string} name
 * @property {(trial: Trial) => Promise<string>} run
 * @property {boolean} [isNeeded] whether nothing else can be checked without it
 */

/**
 * A record that was written, and what a client reads now.
 * @typedef {{ group: string, name: string, wanted: string | null | undefined, seen: string | null }} Found
 */

const { randomBytes } = require('node:crypto')
const { monotonicNow } = require('./time.js')
const { Process } = require('./process.js')

class Trial {
  /** @type {Process[]} */
  #all = []
  /** @type {Map<string, Map<string, string | null>>} the records of each group */
  #written = new Map()
  /** @type {number | undefined} when the first record was written */
  #since
  #endsAt
  /** @type {Process[]} */
  processes = []
  /** @type {Client[]} one in each process */
  clients = []
  /** @type {Identities} that clients have read */
  identities = new Map()
  /** Whether the module exports a wipe(). */
  wipes = false
  /** @type {{ group: string, names: string[] }[]} groups with special names, and the names of their records */
  named = []

  /**
   * @param {string} file the path of the user's module
   * @param {Size} size
   */
  constructor(file, size) {
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
   * @param {'here' | 'elsewhere'} [place] whether that believes it is on another machine
   */
  async newClient(place) {
    const process = this.#fork(place)
    await process.load()
    return process.open()
  }

  /** @param {'here' | 'elsewhere'} [place] */
  #fork(place = 'here') {
    const process = new Process(this.file, { callMs: this.size.callMs, identities: this.identities, place })
    this.#all.push(process)
    return process
  }

  /** How much time there is for all checks that are left. */
  leftMs() {
    return this.#endsAt - monotonicNow()
  }

  /**
   * The full name of a group of this run.
   * @param {string} name
   */
  group(name) {
    return `${this.prefix} ${name}`
  }

  /** A text that was never written before, with a certain beginning. */
  text(beginning = 'text') {
    return `${beginning} ${randomBytes(8).toString('hex')}`
  }

  /**
   * Changes a record as `client`, and keeps in mind what it is now.
   * @param {Client} client
   * @param {string} group
   * @param {string} name
   * @param {string | null} from
   * @param {string} to
   */
  async change(client, group, name, from, to) {
    await client.change(group, name, from, to)
    this.note(group, name, to)
  }

  /**
   * Makes records that are absent, with several calls at a time.
   * @param {Client} client
   * @param {string} group
   * @param {Record<string, string>} records
   */
  async make(client, group, records) {
    const queue = Object.entries(records)
    const lane = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await this.change(client, group, next[0], null, next[1])
      }
    }
    await Promise.all(Array.from({ length: 4 }, lane))
  }

  /**
   * Keeps in mind what a record is now.
   * @param {string} group
   * @param {string} name
   * @param {string | null} text
   */
  note(group, name, text) {
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

  /**
   * What a client finds of all that was written.
   * @param {Client} client
   */
  async find(client) {
    /** @type {Found[]} */
    const found = []
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

exports.Trial = Trial
