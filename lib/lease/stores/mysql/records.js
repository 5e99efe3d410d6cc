'use strict'
// @ts-check

// The records of groups in MySQL or MariaDB: they are read and swapped, nothing else. It must never draw a conclusion from
// what it reads, and never say that a swap was made where it may not have been.

const { randomUUID } = require('node:crypto')
const { optionError, storeError } = require('../../../base/errors.js')
const { CLOCK, GROUPS, readNames, readRecords } = require('./read.js')
const { MOST_BYTES } = require('./schema.js')
const { VARIABLES, checkState, checkTables, checkVariables, lossOf } = require('./server.js')
const { insert, nameProcess, update } = require('./swap.js')

/**
 * @import { StoreIdentity } from '../../../../types/stores.d.ts'
 * @import { Records } from '../step.js'
 * @import { ClientError } from '../clients.js'
 * @import { Row } from './packages.js'
 * @typedef {InstanceType<typeof import('./client.js').SessionRunner>} SessionRunner
 * @typedef {Parameters<import('./client.js').Work<unknown>>[0]} Session
 */

/** The record is there already; a deadlock, or a lock that came too late: nothing was written. */
const NOT_WRITTEN = new Set([1062, 1205, 1213])

/** @implements {Records} */
class MysqlRecords {
  #client
  /** @type {string | undefined} */
  #checked // the server whose variables were checked

  /** @param {SessionRunner} client */
  constructor(client) {
    this.#client = client
  }

  /** @type {Records['read']} */
  read(group, names) {
    return this.#client.run(async (session) => {
      for (;;) {
        const [rows, [[now]]] = await session.read(readRecords(group, names), CLOCK)
        const [, history, process, state] = serverOf(rows)
        if (process !== null) {
          const identity = { history, process }
          await this.#check(session, identity, state)
          return { now: Number(now), identity, values: valuesOf(rows, names) }
        }
        await session.write(nameProcess(randomUUID()))
      }
    })
  }

  /** @type {Records['swap']} */
  async swap(group, name, from, to, identity) {
    const size = Buffer.byteLength(to)
    if (size > MOST_BYTES) {
      throw storeError(`The record '${name}' would have ${size} bytes, and a record has at most ${MOST_BYTES}.`)
    }
    const text = from === null ? insert(group, name, to, identity) : update(group, name, from, to, identity)
    return this.#client.run(async (session) => {
      try {
        return (await session.write(text)) === 1
      } catch (error) {
        const { errno = 0 } = /** @type {ClientError} */ (error)
        if (NOT_WRITTEN.has(errno)) return false
        throw error
      }
    })
  }

  /** @param {string} group */
  names(group) {
    return this.#list(readNames(group))
  }

  groups() {
    return this.#list(GROUPS)
  }

  async checkDurable() {
    const loss = lossOf(await this.#client.run(variablesOf))
    if (loss !== undefined)
      throw optionError(RangeError, 'durable', true, `durable is not for this MySQL server: ${loss}.`)
  }

  /** Version 0.1 had no MySQL store. */
  async older() {
    return { group: false, counter: undefined }
  }

  async endOlder() {}

  async close() {
    await this.#client.close()
  }

  /** @param {string} text */
  async #list(text) {
    const [rows] = await this.#client.run((session) => session.read(text))
    return rows.map(([name]) => String(name))
  }

  /**
   * Throws if a store must not use this server, which is asked for its variables once.
   * @param {Session} session
   * @param {StoreIdentity} identity
   * @param {string} state
   */
  async #check(session, identity, state) {
    checkState(state)
    const server = JSON.stringify(identity)
    if (server === this.#checked) return
    checkTables(identity)
    checkVariables(await variablesOf(session))
    this.#checked = server
  }
}

/**
 * Which server answered, in the row before its records: `process` is null until this run of it has a name.
 * @param {Row[]} rows
 */
const serverOf = (rows) =>
  /** @type {[what: string, history: string, process: string | null, state: string]} */ (
    rows.find(([what]) => what === 'server')
  )

/**
 * In the order of `names`; null for an absent record.
 * @param {Row[]} rows
 * @param {readonly string[]} names
 */
function valuesOf(rows, names) {
  const found = new Map(rows.map(([what, name, value]) => [what === 'record' && name, value]))
  return names.map((name) => found.get(name) ?? null)
}

/** @param {Session} session */
async function variablesOf(session) {
  const [rows] = await session.read(VARIABLES)
  return Object.fromEntries(rows)
}

module.exports = { MysqlRecords }
