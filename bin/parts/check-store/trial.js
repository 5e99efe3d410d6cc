'use strict'

// What all checks of one run share: the processes and clients, the names of the groups, and what was written, so that it
// can be looked for at the end. It must never use a group whose name does not begin with its prefix.

const { randomBytes } = require('node:crypto')
const { monotonicNow } = require('../../../lib/base/timers.js')
const { Process } = require('./process.js')

class Trial {
  #all = []
  #written = new Map()
  #since

  /** @param {string} file the path of the user's module */
  constructor(file, size) {
    this.file = file
    this.size = size
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

  /** A new process that has imported the module. */
  async newProcess() {
    const process = this.#fork()
    await process.load()
    return process
  }

  /** A client in a new process. */
  async newClient() {
    return (await this.newProcess()).open()
  }

  #fork() {
    const process = new Process(this.file, this.size.callMs)
    this.#all.push(process)
    return process
  }

  /** The full name of a group of this run. */
  group(name) {
    return `${this.prefix} ${name}`
  }

  /** A text that was never written before, with a certain beginning. */
  text(beginning = 'text') {
    return `${beginning} ${randomBytes(8).toString('hex')}`
  }

  /** Changes a record as `client`, and keeps in mind what it is now. */
  async change(client, group, name, from, to) {
    await client.change(group, name, from, to)
    this.note(group, name, to)
  }

  /** Makes records that are absent, with several calls at a time. */
  async make(client, group, records) {
    const queue = Object.entries(records)
    const lane = async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await this.change(client, group, next[0], null, next[1])
      }
    }
    await Promise.all(Array.from({ length: 4 }, lane))
  }

  note(group, name, text) {
    this.#since ??= monotonicNow()
    if (!this.#written.has(group)) this.#written.set(group, new Map())
    this.#written.get(group).set(name, text)
  }

  /** For how long the first record has been there. */
  get ageMs() {
    return this.#since === undefined ? 0 : monotonicNow() - this.#since
  }

  /** The names of all groups that have a record by now. */
  known() {
    return this.#written.keys()
  }

  /** What a client finds of all that was written: [group, name, wanted, found]. */
  async find(client) {
    const found = []
    for (const [group, records] of this.#written) {
      const names = [...records.keys()]
      const values = await client.values(group, names)
      found.push(...names.map((name, i) => [group, name, records.get(name), values[i]]))
    }
    return found
  }

  /** Ends all processes. */
  async end() {
    await Promise.all(this.#all.map((process) => process.kill()))
  }
}

module.exports = { Trial }
