'use strict'
// @ts-check

// How mysql2 and mariadb are called: each gives connections with `ask(text)`, whose answer is rows of texts or the header
// of a write. What the user's client does to values, rows and numbers must never matter here.

const { clientError } = require('../../../base/errors.js')
const { hasMethods } = require('../clients.js')

/**
 * The answer of a write. Only mysql2 has the flags in it.
 * @typedef {{ affectedRows: number | bigint, serverStatus?: number }} Header
 */

/**
 * A row: its values as texts.
 * @typedef {(string | null)[]} Row
 */

/**
 * One connection, of either package. `key`: the same object whenever it is taken. `flagsOf(header)`: the flags of the server after an answer, undefined if they cannot
 * be known. `giveBack()` gives it back to its pool, and `drop()` closes it; neither does anything to the user's own.
 * @typedef {object} Connection
 * @property {object} key
 * @property {(sql: string) => PromiseLike<Row[] | Header>} ask
 * @property {(header: Header) => number | undefined} flagsOf
 * @property {() => void} giveBack
 * @property {() => void} drop
 */

/** @typedef {() => Promise<Connection>} Take takes a connection from a pool, or the one that there is */

/** @typedef {(error: unknown, answer: Row[] | Header) => void} Answered */

/**
 * What we need of a connection of mysql2: that of callbacks, which mysql2/promise wraps. One of a pool has the rest too.
 * @typedef {object} Mysql2
 * @property {(options: object, answered: Answered) => void} query
 * @property {() => void} release
 * @property {() => void} destroy
 * @property {(taken: (error: unknown, connection: Mysql2) => void) => void} [getConnection] of a pool
 */

/**
 * What we need of a connection of mariadb. One of a pool has the rest too.
 * @typedef {object} Mariadb
 * @property {(options: object) => Promise<Row[] | Header>} query
 * @property {{ status: number }} info
 * @property {(timeoutMs: number) => Promise<void>} ping
 * @property {() => void} release
 * @property {() => void} destroy
 * @property {() => Promise<Mariadb>} [getConnection] of a pool
 */

const CALLBACKS = "mariadb's callback interface has no store. Use the one of require('mariadb')."

const PING_MS = 1

/** For each statement, because a client may have its own ways. Values are bytes, so their text is UTF-8. */
const AS_TEXTS = {
  rowsAsArray: true,
  nestTables: false,
  metaAsArray: false,
  typeCast: (/** @type {{ buffer(): Buffer | null }} */ field) => field.buffer()?.toString() ?? null,
}

/**
 * A connection of the user's own: it stays as it is.
 * @param {Mysql2} connection
 * @returns {Connection}
 */
const ofMysql2 = (connection) => ({
  key: connection,
  ask: (sql) =>
    new Promise((resolve, reject) => {
      connection.query({ ...AS_TEXTS, sql }, (error, answer) => (error ? reject(error) : resolve(answer)))
    }),
  flagsOf: ({ serverStatus }) => serverStatus,
  giveBack: () => {},
  drop: () => {},
})

/**
 * The same of mariadb, which has only the flags of its last answer, and that may be of the user's next statement.
 * @param {Mariadb} connection
 * @returns {Connection}
 */
const ofMariadb = (connection) => ({
  key: connection.info, // its pool wraps it anew each time
  ask: (sql) => connection.query({ ...AS_TEXTS, sql }),
  flagsOf: () => undefined,
  giveBack: () => {},
  drop: () => {},
})

/**
 * @param {Mysql2} core
 * @returns {Take}
 */
const fromMysql2 = (core) => async () => {
  if (typeof core.getConnection !== 'function') return ofMysql2(core)
  /** @type {Mysql2} */
  const connection = await new Promise((resolve, reject) => {
    core.getConnection?.((error, taken) => (error ? reject(error) : resolve(taken)))
  })
  return { ...ofMysql2(connection), giveBack: () => connection.release(), drop: () => connection.destroy() }
}

/**
 * While a statement is under way, destroy() would send KILL over another connection. If that fails, nobody can catch the
 * error, and it ends the process; after a restart it may end a session of somebody else. A ping that is not answered
 * closes the connection first.
 * @param {Mariadb} connection
 */
async function dropMariadb(connection) {
  await connection.ping(PING_MS).catch(() => {})
  connection.destroy()
}

/**
 * @param {Mariadb} client
 * @returns {Take}
 */
const fromMariadb = (client) => async () => {
  if (typeof client.getConnection !== 'function') return ofMariadb(client)
  const connection = await client.getConnection()
  return {
    ...ofMariadb(connection),
    flagsOf: () => connection.info.status,
    giveBack: () => connection.release(),
    drop: () => dropMariadb(connection),
  }
}

/** @param {unknown} client */
const isClient = (client) => hasMethods(client, 'query', 'execute')

/**
 * What mysql2/promise wraps has `promise()`, which makes such a wrapper.
 * @param {{ pool?: unknown, connection?: unknown }} client
 */
const coreOf = (client) =>
  [client, client.pool, client.connection].find((core) => hasMethods(core, 'promise') && isClient(core))

/**
 * How to take a connection of this client; undefined if it is none.
 * @param {unknown} client
 */
function packageOf(client) {
  if (client === null || typeof client !== 'object') return undefined
  const core = coreOf(client)
  if (core !== undefined) return fromMysql2(/** @type {Mysql2} */ (core))
  if (!isClient(client) || !hasMethods(client, 'batch')) return undefined
  const own = /** @type {Mariadb} */ (client)
  if (own.query.length > 2) throw clientError(client, CALLBACKS) // the third is the callback
  return fromMariadb(own)
}

module.exports = { packageOf, fromMysql2, fromMariadb }
