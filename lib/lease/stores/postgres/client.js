'use strict'

// The two PostgreSQL clients of Node, pg and postgres.js, as one: `run(text, values)` returns the one answer of a
// statement, within a time limit. Clients are recognised by what they can do, since several versions may be installed.
// It must never connect, configure or end a client that the user made, nor use one inside the user's transaction: what a
// statement writes must be committed before its answer is used.

const { clientError, optionTypeError, storeError } = require('../../../base/errors')
const { inTime } = require('../../../base/in-time.js')
const { monotonicNow, sleep } = require('../../../base/timers.js')
const schema = require('./schema')
const { oldClientError, oldVersion } = require('../versions')

/**
 * How long an answer may take, with all attempts. A pool may wait forever for a connection, and a server for a lock.
 */
const ANSWER_MS = 10_000
const LONGEST_PAUSE_MS = 50

/** When pg gives up a query, and a pool its connection: later than we do, because our error says more. */
const QUERY_MS = ANSWER_MS + 1000

const WANTED = 'a Pool or Client of pg, or the sql function of postgres.js'
const IN_TRANSACTION = 'It is in a transaction. Use the pool, or another client outside of a transaction.'
const CHANGES_TEXTS = 'Its transform or type parser changes texts. Use a client that leaves them as they are.'

// Another transaction came first, and the server undid ours: a serialization failure, a deadlock, or a lock that a
// lock_timeout ended. READ COMMITTED, PostgreSQL's default, waits instead; a database may have other settings.
const CAME_SECOND = new Set(['40001', '40P01', '55P03'])
// Another session is making the same table at this moment, or just did.
const MADE_BY_ANOTHER = new Set([...CAME_SECOND, '23505', '42P07', '42710', 'XX000'])
const NO_TABLE = '42P01'
const TAKES_NO_WRITES = new Set(['25006', '55000'])
const IDENTITY = /pg_control_system|pg_walfile_name|pg_current_wal_lsn/

/** pg must not parse values: a client may have its own parsers. */
const AS_TEXT = { getTypeParser: () => (text) => text }

/** postgres.js: `unsafe` prepares no named statement, because a pooler could not keep it. */
const sqlCalls = (sql) => ({
  isBusy: () => false,
  send: async (text, values) => (await sql.unsafe(text, values).values())[0]?.[0],
  make: (text) => sql.unsafe(text),
})

const pgCalls = (client, isBusy = () => false) => ({
  isBusy,
  send: async (text, values) => {
    const query = { text, values, rowMode: 'array', types: AS_TEXT, query_timeout: QUERY_MS }
    return (await client.query(query)).rows[0][0]
  },
  make: (text) => client.query(text),
})

/** The last transaction status that the server sent to a pg Client; 'I' means none is open. Older versions hide it. */
function statusOf(client) {
  if (typeof client.getTransactionStatus === 'function') return () => client.getTransactionStatus()
  let status
  client.connection.on('readyForQuery', (message) => {
    status = message.status
  })
  return () => status
}

/** One pg Client: it knows whether it is in a transaction, and wants its queries one after the other. */
function pgClientCalls(client) {
  const status = statusOf(client)
  const calls = pgCalls(client, () => ['T', 'E'].includes(status()))
  let last
  const inTurn = (work) => {
    last = Promise.allSettled([last]).then(work)
    return last
  }
  const send = async (...args) => {
    // pg would keep the query until somebody connects.
    if (client._connected === false && client._connecting === false) {
      throw storeError('The PostgreSQL client was never connected. Await client.connect() first.')
    }
    return inTurn(() => calls.send(...args))
  }
  return { ...calls, send, make: (text) => inTurn(() => calls.make(text)) }
}

/** A statement's one answer, which is JSON. */
function parseAnswer(text, client) {
  try {
    return JSON.parse(text ?? '')
  } catch {
    throw clientError(client, CHANGES_TEXTS)
  }
}

/** What went wrong, and what to do about it. */
function failure(error) {
  if (error.code?.startsWith('ERR_FLAKE_')) return error
  const message = error.message || error.code // if several addresses all refuse, there is only a code
  if (TAKES_NO_WRITES.has(error.code)) {
    return storeError(`This PostgreSQL server takes no writes. Use the address of the primary. (${message})`, error)
  }
  if (IDENTITY.test(message)) {
    const why =
      'lost writes would not be noticed without pg_control_system(), pg_current_wal_lsn() and pg_walfile_name()'
    return storeError(`PostgreSQL: ${why}. GRANT EXECUTE on them, or use a server that has them. (${message})`, error)
  }
  return storeError(`PostgreSQL: ${message}`, error)
}

/** Runs statements on a client. If it is our own, `close` ends it, and `onFailure` may give up its connections. */
class StatementRunner {
  #client
  #calls
  #onFailure

  constructor(client, calls, { close = () => {}, onFailure = () => {} } = {}) {
    this.#client = client
    this.#calls = calls
    this.#onFailure = onFailure
    this.close = close
  }

  /** The answer of a statement that may be run again: if another transaction came first, it did nothing. */
  run(text, values) {
    return this.#inTime(() => this.#attempts(text, values))
  }

  /** The same for a statement that must not: undefined if it did nothing. */
  runOnce(text, values) {
    return this.#inTime(() => this.#attempt(text, values))
  }

  refuseTransaction() {
    throw clientError(this.#client, IN_TRANSACTION)
  }

  async #inTime(work) {
    try {
      return await inTime(work(), ANSWER_MS)
    } catch (error) {
      this.#onFailure(error)
      throw failure(error)
    }
  }

  /** A longer pause after each attempt that came second. */
  async #attempts(text, values) {
    const start = monotonicNow()
    for (let pause = 1; monotonicNow() - start < ANSWER_MS; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const answer = await this.#attempt(text, values)
      if (answer !== undefined) return answer
      await sleep(Math.random() * pause)
    }
    throw new Error(`others came first for ${ANSWER_MS} ms`)
  }

  /** The answer, or undefined if nothing was done: others came first, or the table was missing, and was made. */
  async #attempt(text, values) {
    this.#refuseBusy()
    try {
      const answer = parseAnswer(await this.#calls.send(text, values), this.#client)
      this.#refuseBusy() // a BEGIN may have been under way when we checked
      return answer
    } catch (error) {
      if (error.code === NO_TABLE) return this.#makeTable()
      if (!CAME_SECOND.has(error.code)) throw error
    }
  }

  async #makeTable() {
    try {
      await this.#calls.make(schema)
    } catch (error) {
      if (MADE_BY_ANOTHER.has(error.code)) return
      if (error.code !== '42501') throw error
      const why =
        'The table flakeforge_record is missing, and this role may not create it. Run the SQL that `npx flakeforge schema` prints.'
      throw storeError(`${why} (${error.message})`, error)
    }
  }

  #refuseBusy() {
    if (this.#calls.isBusy()) this.refuseTransaction()
  }
}

// postgres.js got this option together with the errors of a COMMIT.
const isOldPostgresJs = ({ options }) => typeof options === 'object' && !('sslnegotiation' in options)
// A Pool of pg 7 lacks this option, and its Client has its own writer. The first 8.x are like that too, but they work:
// so we also look at the installed version.
const looksOld = ({ options = {}, connection }) =>
  connection ? connection.writer !== undefined : !('maxUses' in options)
const isOldPg = (client) => looksOld(client) && oldVersion('pg') !== undefined

/** The user's client, ready to run statements. */
function postgresClient(client) {
  if (typeof client === 'function' && typeof client.unsafe === 'function') {
    // The sql of a transaction or of a reserved connection has no begin().
    if (typeof client.begin !== 'function') throw clientError(client, IN_TRANSACTION)
    if (isOldPostgresJs(client)) throw oldClientError(client, 'postgres')
    return new StatementRunner(client, sqlCalls(client))
  }
  const isPg = typeof client?.query === 'function' && typeof client.connect === 'function'
  if (isPg && isOldPg(client)) throw oldClientError(client, 'pg')
  if (isPg && typeof client.totalCount === 'number') return new StatementRunner(client, pgCalls(client))
  if (isPg && (typeof client.getTransactionStatus === 'function' || typeof client.connection?.on === 'function')) {
    return new StatementRunner(client, pgClientCalls(client))
  }
  throw optionTypeError('client', client, WANTED)
}

module.exports = { ANSWER_MS, StatementRunner, pgCalls, sqlCalls, postgresClient }
