'use strict'
// @ts-check

// The records of groups in MySQL or MariaDB: they are read and swapped, nothing else. It must never draw a conclusion from
// what it reads, and never say that a swap was made where it may not have been.

const { randomUUID } = require('node:crypto')
const { optionError, storeError } = require('../../../base/errors.js')
const { CLOCK, GROUPS, readNames, readRecords } = require('./read.js')
const { MOST_BYTES } = require('./schema.js')
const { VARIABLES, checkTables, checkVariables, lossOf } = require('./server.js')
const { insert, nameProcess, nameTable, update } = require('./swap.js')

/**
 * @import { StoreIdentity } from '../../../../types/stores.d.ts'
 * @import { Records } from '../step.js'
 * @import { ClientError } from '../clients.js'
 * @import { Row } from './packages.js'
 * @typedef {InstanceType<typeof import('./client.js').SessionRunner>} SessionRunner
 * @typedef {Parameters<import('./client.js').Work<unknown>>[0]} Session
 */

const NO_TABLE = 1146
/** The record or the table is not as it was read; a deadlock, or a lock that came too late: nothing was written. */
const NOT_WRITTEN = new Set([1062, NO_TABLE, 1205, 1213])

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
        const { answer, isNamed, hasTables } = await this.#look(session, group, names)
        if (isNamed) return answer
        checkVariables(await variablesOf(session)) // before anything is written
        if (!hasTables) await session.makeTables()
        await session.write(nameTable(randomUUID()))
        await session.write(nameProcess(randomUUID()))
      }
    })
  }

  /** @type {Records['read']} */
  look(group, names) {
    return this.#client.run(async (session) => (await this.#look(session, group, names)).answer)
  }

  /** @type {Records['swap']} */
  async swap(group, name, from, to, identity, ms) {
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
    }, ms)
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

  async close() {
    await this.#client.close()
  }

  /** @param {string} text */
  async #list(text) {
    const [rows] = (await this.#client.run((session) => ifTables(session.read(text)))) ?? [[]]
    return rows.map(([name]) => String(name))
  }

  /**
   * What is there. The server may not have its names yet, or no tables.
   * @param {Session} session
   * @param {string} group
   * @param {readonly string[]} names
   */
  async #look(session, group, names) {
    const found = await ifTables(session.read(readRecords(group, names), CLOCK))
    const [rows, [[now]]] = found ?? [[], ...(await session.read(CLOCK))]
    const [, history, process, state] = rows.find(([what]) => what === 'server') ?? []
    const identity = { history: history ?? '', process: process ?? '' }
    const isNamed = history != null && process != null
    if (state != null) session.checkState(state)
    // A server that follows another has no history, either.
    await (isNamed ? this.#check(session, identity) : session.check())
    const answer = { now: Number(now), identity, values: valuesOf(rows, names) }
    return { answer, isNamed, hasTables: found !== undefined }
  }

  /**
   * Throws if a store must not use this server, which is asked for its variables once.
   * @param {Session} session
   * @param {StoreIdentity} identity
   */
  async #check(session, identity) {
    const server = JSON.stringify(identity)
    if (server === this.#checked) return
    checkTables(identity)
    checkVariables(await variablesOf(session))
    this.#checked = server
  }
}

/**
 * What was read, or undefined if a table is missing.
 * @param {Promise<Row[][]>} reading
 */
const ifTables = (reading) =>
  reading.catch((error) => {
    if (/** @type {ClientError} */ (error).errno !== NO_TABLE) throw error
  })

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
