'use strict'
// @ts-check

// The two PostgreSQL clients of Node, pg and postgres.js, as one: `run(text, values)` returns the one answer of a
// statement, within a time limit. It must never connect, configure or end a client that the user made, nor use one inside
// the user's transaction: what a statement writes must be committed before its answer is used.

const { clientError, isFlakeError, optionTypeError, storeError } = require('../../../base/errors.js')
const { inTime } = require('../../../base/in-time.js')
const { monotonicNow, sleep } = require('../../../base/timers.js')
const { CALL_MS } = require('../limits.js')
const { IN_TRANSACTION, packageOf } = require('./packages.js')
const schema = require('./schema.js')

/**
 * @import { ClientError } from '../clients.js'
 * @import { Connection, Take, Values } from './packages.js'
 */

const LONGEST_PAUSE_MS = 50

const WANTED = 'a Pool or Client of pg, or the sql function of postgres.js'
const CHANGES_TEXTS = 'Its transform or type parser changes texts. Use a client that leaves them as they are.'

// Another transaction came first, and the server undid ours: a serialization failure, a deadlock, or a lock that a
// lock_timeout ended. READ COMMITTED, PostgreSQL's default, waits instead; a database may have other settings.
const CAME_SECOND = new Set(['40001', '40P01', '55P03'])
// Another session is making the same table at this moment, or just did.
const MADE_BY_ANOTHER = new Set([...CAME_SECOND, '23505', '42P07', '42710', 'XX000'])
const NO_TABLE = '42P01'
const NOT_ALLOWED = '42501'
const TAKES_NO_WRITES = new Set(['25006', '55000'])
const IDENTITY = /pg_control_system|pg_walfile_name|pg_current_wal_flush_lsn/

/**
 * A statement's one answer, which is JSON.
 * @param {string | undefined} text
 * @param {unknown} client
 */
function parseAnswer(text, client) {
  try {
    return JSON.parse(text ?? '')
  } catch {
    throw clientError(client, CHANGES_TEXTS)
  }
}

/**
 * What went wrong, and what to do about it.
 * @param {unknown} thrown
 */
function failure(thrown) {
  if (isFlakeError(thrown)) return thrown
  const error = /** @type {ClientError} */ (thrown)
  const { code = '' } = error
  const message = error.message || code // if several addresses all refuse, there is only a code
  if (TAKES_NO_WRITES.has(code)) {
    return storeError(`This PostgreSQL server takes no writes. Use the address of the primary. (${message})`, error)
  }
  if (IDENTITY.test(message)) {
    const why =
      'lost writes would not be noticed without pg_control_system(), pg_current_wal_flush_lsn() and pg_walfile_name()'
    return storeError(`PostgreSQL: ${why}. GRANT EXECUTE on them, or use a server that has them. (${message})`, error)
  }
  return storeError(`PostgreSQL: ${message}`, error)
}

/**
 * What a step has, as long as it is under way.
 * @typedef {{ isOver: boolean, connection?: Connection | undefined }} Step
 */

/** What tells that a statement did nothing. */
const [MISSING, SECOND] = [Symbol('the table is missing'), Symbol('others came first')]

/** Runs statements on a client. If it is our own, `close` ends it. */
class StatementRunner {
  #client
  #take

  /**
   * @param {unknown} client for messages
   * @param {Take} take
   * @param {() => unknown} [close]
   */
  constructor(client, take, close = () => {}) {
    this.#client = client
    this.#take = take
    this.close = close
  }

  /**
   * The answer of a statement that may be run again: if another transaction came first, it did nothing. Undefined if our
   * table is missing.
   * @param {string} text
   * @param {Values} values
   */
  async run(text, values) {
    const answer = await this.#onConnection((connection) => this.#attempts(connection, text, values))
    return answer === MISSING ? undefined : answer
  }

  /**
   * The same for a statement that must not be run again: undefined if it did nothing.
   * @param {string} text
   * @param {Values} values
   * @param {number} [ms] after which it is not sent any more
   */
  async runOnce(text, values, ms) {
    const answer = await this.#onConnection((connection) => this.#attempt(connection, text, values), ms)
    return answer === MISSING || answer === SECOND ? undefined : answer
  }

  makeTable() {
    return this.#onConnection((connection) => this.#makeTable(connection))
  }

  refuseTransaction() {
    throw clientError(this.#client, IN_TRANSACTION)
  }

  /**
   * @template Result
   * @param {(connection: Connection) => Promise<Result>} work
   * @param {number} [ms]
   */
  async #onConnection(work, ms = CALL_MS) {
    /** @type {Step} */
    const step = { isOver: false }
    try {
      return await inTime(this.#step(work, step), Math.min(ms, CALL_MS))
    } catch (error) {
      throw failure(error)
    } finally {
      step.isOver = true
      step.connection?.drop() // it did not answer: it may have died without a word
    }
  }

  /**
   * @template Result
   * @param {(connection: Connection) => Promise<Result>} work
   * @param {Step} step
   */
  async #step(work, step) {
    const connection = await this.#take()
    if (step.isOver) {
      connection.giveBack()
      throw new Error('the step was given up')
    }
    step.connection = connection
    let isFit = true
    try {
      return await work(connection)
    } catch (error) {
      isFit = isFlakeError(error) // otherwise the server failed, or takes no writes: perhaps it is no primary any more
      throw error
    } finally {
      if (!step.isOver) {
        step.connection = undefined
        if (isFit) connection.giveBack()
        else connection.drop()
      }
    }
  }

  /**
   * A longer pause after each attempt that came second.
   * @param {Connection} connection
   * @param {string} text
   * @param {Values} values
   */
  async #attempts(connection, text, values) {
    const start = monotonicNow()
    for (let pause = 1; monotonicNow() - start < CALL_MS; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const answer = await this.#attempt(connection, text, values)
      if (answer !== SECOND) return answer
      await sleep(Math.random() * pause)
    }
    throw new Error(`others came first for ${CALL_MS} ms`)
  }

  /**
   * The answer, or what tells that nothing was done.
   * @param {Connection} connection
   * @param {string} text
   * @param {Values} values
   */
  async #attempt(connection, text, values) {
    this.#refuseBusy(connection)
    try {
      const answer = parseAnswer(await connection.send(text, values), this.#client)
      this.#refuseBusy(connection) // a BEGIN may have been under way when we checked
      return answer
    } catch (error) {
      const { code = '' } = /** @type {ClientError} */ (error)
      if (code === NO_TABLE) return MISSING
      if (CAME_SECOND.has(code)) return SECOND
      throw error
    }
  }

  /** @param {Connection} connection */
  async #makeTable(connection) {
    try {
      await connection.make(schema)
    } catch (error) {
      const { code = '', message } = /** @type {ClientError} */ (error)
      if (MADE_BY_ANOTHER.has(code)) return
      if (code !== NOT_ALLOWED) throw error
      const why =
        'The table flakeforge_record is missing, and this role may not create it. Run the SQL that `npx flakeforge schema` prints.'
      throw storeError(`${why} (${message})`, error)
    }
  }

  /** @param {Connection} connection */
  #refuseBusy(connection) {
    if (connection.isBusy()) this.refuseTransaction()
  }
}

/**
 * The user's client, ready to run statements.
 * @param {unknown} client
 */
function postgresClient(client) {
  const take = packageOf(client)
  if (take === undefined) throw optionTypeError('client', client, WANTED)
  return new StatementRunner(client, take)
}

module.exports = { StatementRunner, postgresClient }
