'use strict'
// @ts-check

// How pg and postgres.js are called: each sends a statement in its own way, and its one answer comes back as text. It must
// never connect, configure or end a client.

const { clientError, storeError } = require('../../../base/errors.js')
const { oldClientError, oldVersion } = require('../client-packages.js')
const { hasMethods } = require('../clients.js')
const { CALL_MS } = require('../limits.js')

/**
 * A text or NULL for each of a statement's $1, $2 and so on.
 * @typedef {readonly (string | null)[]} Values
 */

/**
 * The commands of a client. `isBusy()`: whether it is in a transaction, where that can be seen. `send()`: the one answer
 * of a statement. `make()` runs the statements that make tables.
 * @typedef {object} Commands
 * @property {() => boolean} isBusy
 * @property {(text: string, values: Values) => Promise<string | undefined>} send
 * @property {(text: string) => PromiseLike<unknown>} make
 */

/**
 * What we need of postgres.js: its sql function.
 * @typedef {object} Sql
 * @property {(text: string, values?: Values) => PromiseLike<unknown> & { values(): PromiseLike<string[][]> }} unsafe
 * @property {object} [options]
 */

/**
 * What we need of pg: a Pool or Client.
 * @typedef {object} Pg
 * @property {(query: unknown) => Promise<{ rows: string[][] }>} query
 * @property {object} [options] of a Pool
 * @property {number} [totalCount] of a Pool
 * @property {Connection} [connection] of a Client
 */

/** @typedef {{ writer?: unknown, on(event: string, listener: (message: { status: string }) => void): void }} Connection */

/**
 * What we need of a Client of pg beside that. Older versions have no `getTransactionStatus`.
 * @typedef {object} PgClient
 * @property {() => string | undefined} [getTransactionStatus]
 * @property {Connection} connection
 * @property {boolean} [_connected]
 * @property {boolean} [_connecting]
 */

const IN_TRANSACTION = 'It is in a transaction. Use the pool, or another client outside of a transaction.'

/** When pg gives up a query, and a pool its connection: later than we do, because our error says more. */
const QUERY_MS = CALL_MS + 1000

/** pg must not parse values: a client may have its own parsers. */
const AS_TEXT = { getTypeParser: () => (/** @type {string} */ text) => text }

/**
 * postgres.js: `unsafe` prepares no named statement, because a pooler could not keep it.
 * @param {Sql} sql
 * @returns {Commands}
 */
const ofPostgresJs = (sql) => ({
  isBusy: () => false,
  send: async (text, values) => (await sql.unsafe(text, values).values())[0]?.[0],
  make: (text) => sql.unsafe(text),
})

/**
 * A Pool of pg.
 * @param {Pg} client
 * @param {() => boolean} [isBusy]
 * @returns {Commands}
 */
const ofPg = (client, isBusy = () => false) => ({
  isBusy,
  send: async (text, values) => {
    const query = { text, values, rowMode: 'array', types: AS_TEXT, query_timeout: QUERY_MS }
    return (await client.query(query)).rows[0][0]
  },
  make: (text) => client.query(text),
})

/**
 * The last transaction status that the server sent to a pg Client; 'I' means none is open. Older versions hide it.
 * @param {PgClient} client
 */
function statusOf(client) {
  if (typeof client.getTransactionStatus === 'function') return () => client.getTransactionStatus?.()
  /** @type {string | undefined} */
  let status
  client.connection.on('readyForQuery', (message) => {
    status = message.status
  })
  return () => status
}

/**
 * One Client of pg: it knows whether it is in a transaction, and wants its queries one after the other.
 * @param {Pg & PgClient} client
 * @returns {Commands}
 */
function ofPgClient(client) {
  const status = statusOf(client)
  const { isBusy, ...commands } = ofPg(client, () => ['T', 'E'].includes(status() ?? ''))
  /** @type {PromiseLike<unknown> | undefined} */
  let last
  /**
   * @template Result
   * @param {() => PromiseLike<Result>} work
   */
  const inTurn = (work) => {
    const result = Promise.allSettled([last]).then(work)
    last = result
    return result
  }
  /** @type {Commands['send']} */
  const send = async (...args) => {
    // pg would keep the query until somebody connects.
    if (client._connected === false && client._connecting === false) {
      throw storeError('The PostgreSQL client was never connected. Await client.connect() first.')
    }
    return inTurn(() => commands.send(...args))
  }
  return { isBusy, send, make: (text) => inTurn(() => commands.make(text)) }
}

/**
 * postgres.js got this option together with the errors of a COMMIT.
 * @param {Sql} sql
 */
const isOldPostgresJs = ({ options }) => typeof options === 'object' && !('sslnegotiation' in options)

/**
 * A Pool of pg 7 lacks this option, and its Client has its own writer. The first 8.x are like that too, but they work: so
 * we also look at the installed version.
 * @param {Pg} client
 */
const isOldPg = (client) => looksOld(client) && oldVersion('pg') !== undefined

/** @param {Pg} client */
const looksOld = ({ options = {}, connection }) =>
  connection ? connection.writer !== undefined : !('maxUses' in options)

/**
 * @param {unknown} client
 * @returns {client is Sql}
 */
const isPostgresJs = (client) => typeof client === 'function' && hasMethods(client, 'unsafe')

/**
 * @param {unknown} client
 * @returns {client is Pg}
 */
const isPg = (client) => hasMethods(client, 'query', 'connect')

/**
 * @param {Pg} client
 * @returns {client is Pg & PgClient}
 */
const isPgClient = (client) => hasMethods(client, 'getTransactionStatus') || hasMethods(client.connection, 'on')

/**
 * The commands of the user's client; undefined if it is neither package's.
 * @param {unknown} client
 */
function packageOf(client) {
  if (isPostgresJs(client)) {
    // The sql of a transaction or of a reserved connection has no begin().
    if (!hasMethods(client, 'begin')) throw clientError(client, IN_TRANSACTION)
    if (isOldPostgresJs(client)) throw oldClientError(client, 'postgres')
    return ofPostgresJs(client)
  }
  if (!isPg(client)) return undefined
  if (isOldPg(client)) throw oldClientError(client, 'pg')
  if (typeof client.totalCount === 'number') return ofPg(client)
  if (isPgClient(client)) return ofPgClient(client)
}

module.exports = { IN_TRANSACTION, ofPg, ofPostgresJs, packageOf }
