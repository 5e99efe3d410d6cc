'use strict'

// The MySQL clients of Node, mysql2 and mariadb, as one: `run(work)` gives `work` a session on one connection, within a
// time limit. Clients are recognised by what they can do, since several versions may be installed. It must never configure
// or end a client that the user made, nor read or write inside the user's transaction: a read would be old, and a write
// might be undone.

const { clientError, optionTypeError, storeError } = require('../../../base/errors.js')
const { inTime } = require('../../../base/in-time.js')
const { packageOf } = require('./packages.js')
const { SCHEMA } = require('./schema.js')

/** How long a step may take, with all its statements. A pool may wait forever for a connection, and a server for a lock. */
const ANSWER_MS = 10_000

const WANTED = 'a pool or connection of mysql2 or mariadb'
const IN_TRANSACTION = 'It is in a transaction. Use the pool, or another connection outside of a transaction.'
const NO_AUTOCOMMIT = 'Its autocommit is off. Use a client that leaves it on.'
const SHARED = 'On MySQL, a single connection of mariadb does not tell whether it is in a transaction. Use its pool.'

const NO_DATABASE = 1046
const NO_TABLE = 1146
const NOT_ALLOWED = new Set([1044, 1142])
const NO_ENGINE = new Set([1286, 3161])
const TAKES_NO_WRITES = new Set([1290, 1792, 1836])

/** MariaDB answers by a row. MySQL has no such variable, but the flags of its answer tell the same. */
const STATUS = '/*M!100100 SELECT @@in_transaction, @@autocommit *//*!80000 DO 0 */'
const FLAG_IN_TRANSACTION = 1
const FLAG_AUTOCOMMIT = 2

const TABLES = SCHEMA.split(/;\n/).filter((text) => text.includes('CREATE'))

/** If several addresses all refuse, there is only a code. What kept a pool from connecting may be the cause. */
function messageOf({ sqlMessage, message, code, cause }) {
  const [first] = (sqlMessage || message || code || '').split('\n')
  return cause === undefined ? first : `${first}: ${messageOf(cause)}`
}

/** What went wrong, and what to do about it. */
function failure(error) {
  if (error.code?.startsWith('ERR_FLAKE_')) return error
  const message = messageOf(error)
  if (TAKES_NO_WRITES.has(error.errno)) {
    return storeError(`This MySQL server takes no writes. Use the address of the primary. (${message})`, error)
  }
  if (error.errno === NO_DATABASE) {
    return storeError(`The MySQL client has no database. Name one, as in mysql://HOST/DATABASE. (${message})`, error)
  }
  if (NOT_ALLOWED.has(error.errno)) {
    const why = 'The tables are missing, or this user may not use or create them.'
    return storeError(`${why} Run the SQL that \`npx flakeforge schema mysql\` prints. (${message})`, error)
  }
  return storeError(`MySQL: ${message}`, error)
}

/** Statements on one connection, outside of a transaction. After `end()` it sends nothing. */
class Session {
  #client
  #connection
  #isOver = false

  constructor(client, connection) {
    this.#client = client
    this.#connection = connection
  }

  end() {
    this.#isOver = true
  }

  /** Their rows. They are sent at once, so that nothing of the user's comes between them on the user's connection. */
  async read(...texts) {
    const answers = await Promise.allSettled([...texts, STATUS].map((text) => this.#ask(text)))
    const failed = answers.find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const [status, ...rows] = answers.map(({ value }) => value).reverse()
    this.#check(status)
    return rows.reverse()
  }

  /** How many rows it changed. */
  async write(text) {
    this.#check(await this.#ask(STATUS))
    const answer = await this.#ask(text)
    this.#checkFlags(this.#connection.flagsOf(answer)) // a BEGIN may have been under way when we checked
    return Number(answer.affectedRows)
  }

  async makeTables() {
    try {
      for (const table of TABLES) await this.write(table)
    } catch (error) {
      if (NO_ENGINE.has(error.errno)) {
        throw storeError(
          `This MySQL server has no tables in memory, which show its restarts. (${error.sqlMessage})`,
          error,
        )
      }
      throw error
    }
  }

  async #ask(text) {
    if (this.#isOver) throw new Error('the step was given up')
    return this.#connection.ask(text)
  }

  #check(status) {
    if (!Array.isArray(status)) {
      const flags = this.#connection.flagsOf(status)
      if (flags === undefined) throw clientError(this.#client, SHARED)
      return this.#checkFlags(flags)
    }
    const [[inTransaction, autocommit]] = status
    if (autocommit !== '1') throw clientError(this.#client, NO_AUTOCOMMIT)
    if (inTransaction !== '0') throw clientError(this.#client, IN_TRANSACTION)
  }

  #checkFlags(flags) {
    if (flags === undefined) return
    if (!(flags & FLAG_AUTOCOMMIT)) throw clientError(this.#client, NO_AUTOCOMMIT)
    if (flags & FLAG_IN_TRANSACTION) throw clientError(this.#client, IN_TRANSACTION)
  }
}

/** Runs steps on a client. If it is our own, `close` ends it. */
class SessionRunner {
  #client
  #take

  constructor(client, take, close = () => {}) {
    this.#client = client
    this.#take = take
    this.close = close
  }

  async run(work) {
    const step = { isOver: false }
    try {
      return await inTime(this.#step(work, step), ANSWER_MS)
    } catch (error) {
      throw failure(error)
    } finally {
      step.isOver = true
      step.session?.end()
      // A connection of a pool that did not answer may have died without a word.
      if (step.connection !== undefined) step.connection.drop()
    }
  }

  async #step(work, step) {
    const connection = await this.#take()
    if (step.isOver) return connection.giveBack()
    step.connection = connection
    step.session = new Session(this.#client, connection)
    try {
      return await this.#withTables(work, step.session)
    } finally {
      if (!step.isOver) {
        step.connection = undefined
        connection.giveBack()
      }
    }
  }

  async #withTables(work, session) {
    for (;;) {
      try {
        return await work(session)
      } catch (error) {
        if (error.errno !== NO_TABLE) throw error
      }
      await session.makeTables()
    }
  }
}

/** The user's client, ready to run steps. */
function mysqlClient(client) {
  const take = packageOf(client)
  if (take === undefined) throw optionTypeError('client', client, WANTED)
  return new SessionRunner(client, take)
}

module.exports = { ANSWER_MS, SessionRunner, mysqlClient }
