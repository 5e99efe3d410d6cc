'use strict'
// @ts-check

// The records of groups and counters on Redis or Valkey: read, and swapped if they are unchanged. One Lua script is one
// atomic step. It must never decide what a record says: core/src/lease/grants.rs does.
//
// Always EVAL, on keys of one hash tag: clients may send reading commands to a replica, but never a script. A group is
// one hash, so that an eviction takes all of it or nothing. No key expires.

const { createHash } = require('node:crypto')
const durable = require('./durable.js')
const SERVER = require('./server.js')

/**
 * @import { Records } from '../step.js'
 * @typedef {InstanceType<typeof import('./client.js').ScriptRunner>} ScriptRunner
 */

/** @param {string} text */
function script(text) {
  const source = SERVER + text
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

const READ = script(require('./read.js'))
const SWAP = script(require('./swap.js'))
const NAMES = script(require('./names.js'))
const DURABLE = script(durable.SCRIPT)

/**
 * The key of a group's or counter's hash. The braces are for clusters, which place a key by what is in them.
 * @param {string} name
 */
const recordsOf = (name) => [`flakeforge:{${name}}:records`]

/** @implements {Records} */
class RedisRecords {
  #client
  #durability = new durable.Durability()

  /** @param {ScriptRunner} client */
  constructor(client) {
    this.#client = client
  }

  /** @type {Records['read']} */
  async read(group, names) {
    const reply = await this.#client.run(READ, recordsOf(group), names)
    const [now, process, history, ...values] = /** @type {[string, string, string, ...(string | null)[]]} */ (reply)
    return { now: Number(now), identity: { history, process }, values }
  }

  /** @type {Records['swap']} */
  async swap(group, name, from, to, { history, process }, ms) {
    const args = [process, history, name, to]
    if (from !== null) args.push(from)
    const [answer] = await this.#client.run(SWAP, recordsOf(group), args, ms)
    return answer === 'swapped'
  }

  /** @param {string} group */
  names(group) {
    return /** @type {Promise<string[]>} */ (this.#client.run(NAMES, recordsOf(group), []))
  }

  async close() {
    await this.#client.close()
  }

  async checkDurable() {
    const sections = await this.#client.run(DURABLE, ['flakeforge:durable'], [])
    await this.#durability.check(sections, (name) => this.#client.setting(name))
  }
}

module.exports = { RedisRecords }
