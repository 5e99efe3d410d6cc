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
const version01 = require('./version-0-1.js')

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
const LOOK = script(version01.look)
const END = script(version01.end)

/**
 * The braces keep all keys of a name on one node of a cluster.
 * @param {string} name
 * @param {string[]} kinds
 */
const keysOf = (name, ...kinds) => kinds.map((kind) => `flakeforge:{${name}}:${kind}`)
/** @param {string} group */
const recordsOf = (group) => keysOf(group, 'records')

/** @implements {Records} */
class RedisRecords {
  #client

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
  async swap(group, name, from, to, { history, process }) {
    const args = [process, history, name, to]
    if (from !== null) args.push(from)
    const [answer] = await this.#client.run(SWAP, recordsOf(group), args)
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
    await durable.checkDurable(sections, (name) => this.#client.setting(name))
  }

  /**
   * What version 0.1 left under this name: a live group, and a counter's value.
   * @param {string} name
   */
  async older(name) {
    const [group, counter] = await this.#client.run(LOOK, keysOf(name, 'group', 'counter'), [])
    return { group: group === 'live', counter: counter ?? undefined }
  }

  /**
   * Ends the group that version 0.1 left under this name: its members see it at their next renewal.
   * @param {string} name
   */
  async endOlder(name) {
    await this.#client.run(END, keysOf(name, 'group', 'slots', 'ends', 'hosts', 'owners'), [])
  }
}

module.exports = { RedisRecords }
