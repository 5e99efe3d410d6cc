'use strict'
// @ts-check

// Records in PostgreSQL's table flakeforge_record, over the user's own client: one statement reads, and one swaps. It
// must never decide what a record means. Values are text, so they cannot contain NUL: the server refuses it.

const { unusableOptionError } = require('../../../base/errors.js')
const READ = require('./read.js')
const SWAP = require('./swap.js')
const NAMES = require('./names.js')
const GROUPS = require('./groups.js')
const DURABLE = require('./durable.js')
const version01 = require('./version-0-1.js')

/**
 * @import { Records } from '../step.js'
 * @typedef {InstanceType<typeof import('./client.js').StatementRunner>} StatementRunner
 */

/** @typedef {'fsync' | 'full_page_writes' | 'isLogged'} Setting */

const IS_UNSAFE = {
  fsync: 'its fsync is off, so a crash of the machine may lose what was answered',
  full_page_writes: 'its full_page_writes is off, so a crash of the machine may leave pages half written',
  isLogged: 'its table flakeforge_record is unlogged, so a crash empties it',
}
const WAYS_OUT = {
  fsync: 'set fsync = on',
  full_page_writes: 'set full_page_writes = on',
  isLogged: 'run ALTER TABLE flakeforge_record SET LOGGED',
}

/** @implements {Records} */
class PostgresRecords {
  #client

  /** @param {StatementRunner} client */
  constructor(client) {
    this.#client = client
  }

  /** @type {Records['read']} */
  async read(group, names) {
    const { isInTransaction, ...answer } = await this.#client.run(READ, [group, JSON.stringify(names)])
    // A connection that was given back to its pool inside a transaction: what we wrote there may be undone.
    if (isInTransaction) this.#client.refuseTransaction()
    return answer
  }

  /** @type {Records['swap']} */
  async swap(group, name, from, to, { history, process }) {
    const answer = await this.#client.runOnce(SWAP, [group, name, from, to, history, process])
    return answer?.isWritten === true
  }

  /** @param {string} group */
  names(group) {
    return this.#client.run(NAMES, [group])
  }

  groups() {
    return this.#client.run(GROUPS, [])
  }

  async close() {
    await this.#client.close()
  }

  /** Refuses a server that may lose what it answered although its identity stays: then `durable` would be untrue. */
  async checkDurable() {
    const found = await this.#client.run(DURABLE, [])
    const settings = /** @type {Setting[]} */ (Object.keys(IS_UNSAFE))
    const unsafe = settings.filter((name) => found[name] === 'off' || found[name] === false)
    if (unsafe.length === 0) return
    const [why, wayOut] = [IS_UNSAFE, WAYS_OUT].map((texts) => unsafe.map((name) => texts[name]))
    const text = `on this PostgreSQL server: ${why.join(', and ')}. Leave durable out, or ${wayOut.join(' and ')}.`
    throw unusableOptionError('durable', true, text)
  }

  /**
   * What version 0.1 left under this name: whether there is a live group, and the value of a counter.
   * @param {string} name
   */
  async older(name) {
    const here = await this.#client.run(version01.tables, [])
    const ask = (/** @type {'group' | 'counter'} */ table) =>
      here[table] ? this.#client.run(version01[table], [name]) : undefined
    return { group: (await ask('group')) ?? false, counter: (await ask('counter')) ?? undefined }
  }

  /**
   * Ends the group that version 0.1 left, if there is one.
   * @param {string} name
   */
  async endOlder(name) {
    const here = await this.#client.run(version01.tables, [])
    if (here.group) await this.#client.run(version01.end, [name])
  }
}

module.exports = { PostgresRecords }
