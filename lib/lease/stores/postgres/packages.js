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
 * One connection, or all of a client. `isBusy()`: whether it is in a transaction, where that can be seen. `send()`: the one
 * answer of a statement. `make()` runs the statements that make tables. `giveBack()` gives it back to its pool, and `drop()`
 * closes it; neither does anything to one that the user made.
 * @typedef {object} Connection
 * @property {() => boolean} isBusy
 * @property {(text: string, values: Values) => Promise<string | undefined>} send
 * @property {(text: string) => PromiseLike<unknown>} make
 * @property {() => void} giveBack
 * @property {() => void} drop
 */

/** @typedef {() => Promise<Connection>} Take takes a connection from a pool, or the one that there is */

/**
 * What we need of postgres.js: its sql function.
 * @typedef {object} Sql
 * @property {(text: string, values?: Values) => PromiseLike<unknown> & Sent} unsafe
 * @property {{ max?: number }} [options]
 */

/**
 * What it gives for a statement. `state` is there once the statement is on a connection.
 * @typedef {{ values(): PromiseLike<string[][]>, cancel(): void, state?: unknown }} Sent
 */

/** @typedef {{ writer?: unknown, on(event: string, listener: (message: { status: string }) => void): void }} Wire */

/**
 * What we need of a Client of pg. Older versions have no `getTransactionStatus`, and those of pg-native no `connection`. One
 * of a Pool has `release`, too.
 * @typedef {object} PgClient
 * @property {(query: unknown) => Promise<{ rows: string[][] }>} query
 * @property {() => string | null | undefined} [getTransactionStatus]
 * @property {Wire} [connection]
 * @property {boolean} [_connected]
 * @property {boolean} [_connecting]
 * @property {(event: string, listener: () => void) => void} on
 * @property {(event: string, listener: () => void) => void} removeListener
 * @property {(isBroken?: boolean) => void} release
 */

/**
 * What we need of a Pool of pg.
 * @typedef {object} PgPool
 * @property {object} [options]
 * @property {number} totalCount
 * @property {() => Promise<PgClient>} connect
 */

const IN_TRANSACTION = 'It is in a transaction. Use the pool, or another client outside of a transaction.'

/** When pg gives up a query, and a pool its connection: later than we do, because our error says more. */
const QUERY_MS = CALL_MS + 1000

/** pg must not parse values: a client may have its own parsers. */
const AS_TEXT = { getTypeParser: () => (/** @type {string} */ text) => text }

/** Two statements of one transaction tell the same time; two of their own never do. */
const BEGAN = 'SELECT now()::text'

/**
 * Whether the one connection of postgres.js is in a transaction. It does not say so by itself. With more of them, it refuses
 * a BEGIN itself, except on a reserved one.
 * @param {Sql} sql
 */
async function isInTransaction(sql) {
  if (sql.options?.max !== 1) return false
  const [[[first]], [[second]]] = await Promise.all([BEGAN, BEGAN].map((text) => sql.unsafe(text).values()))
  return first === second
}

/**
 * postgres.js: `unsafe` prepares no named statement, because a pooler could not keep it. A reserved connection cannot be
 * used: if it dies, releasing it ends the process.
 * @param {Sql} sql
 * @param {() => void} [drop]
 * @returns {Take}
 */
const fromPostgresJs =
  (sql, drop = () => {}) =>
  async () => {
    const isBusy = await isInTransaction(sql)
    /** @type {Sent | undefined} */
    let sent
    return {
      isBusy: () => isBusy,
      send: async (text, values) => {
        sent = sql.unsafe(text, values)
        return (await sent.values())[0]?.[0]
      },
      make: (text) => sql.unsafe(text),
      giveBack: () => {},
      drop: () => {
        if (!sent?.state) sent?.cancel() // it is still waiting for a connection
        drop()
      },
    }
  }

/**
 * A Client of pg.
 * @param {PgClient} client
 * @returns {Connection}
 */
const ofPg = (client) => {
  const status = statusOf(client)
  return {
    isBusy: () => ['T', 'E'].includes(status() ?? ''),
    send: async (text, values) => {
      const query = { text, values, rowMode: 'array', types: AS_TEXT, query_timeout: QUERY_MS }
      return (await client.query(query)).rows[0][0]
    },
    make: (text) => client.query(text),
    giveBack: () => {},
    drop: () => {},
  }
}

/** @type {WeakMap<PgClient, () => string | null | undefined>} */
const statuses = new WeakMap()

/**
 * The last transaction status that the server sent to a pg Client; 'I' means none is open. Older versions hide it, so we
 * listen; those of pg-native tell nothing.
 * @param {PgClient} client
 */
function statusOf(client) {
  const known = statuses.get(client)
  if (known !== undefined) return known
  /** @type {string | undefined} */
  let heard
  const isTold = typeof client.getTransactionStatus === 'function'
  if (!isTold) {
    client.connection?.on('readyForQuery', (message) => {
      heard = message.status
    })
  }
  const status = isTold ? () => client.getTransactionStatus?.() : () => heard
  statuses.set(client, status)
  return status
}

/**
 * A Pool of pg. Whoever gave a connection back inside a transaction is found out before anything is sent in it.
 * @param {PgPool} pool
 * @returns {Take}
 */
const fromPgPool = (pool) => async () => {
  const client = await pool.connect()
  const ignore = () => {} // a server that goes away would end the process; the statement tells
  client.on('error', ignore)
  const leave = (/** @type {boolean} */ isBroken) => {
    client.removeListener('error', ignore)
    client.release(isBroken)
  }
  const connection = ofPg(client)
  try {
    if (statusOf(client)() === undefined) await client.query('') // we have just begun to listen
  } catch (error) {
    leave(true)
    throw error
  }
  return { ...connection, giveBack: () => leave(false), drop: () => leave(true) }
}

/**
 * One Client of pg: it wants its queries one after the other.
 * @param {PgClient} client
 * @returns {Take}
 */
function fromPgClient(client) {
  const connection = ofPg(client)
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
  /** @type {Connection['send']} */
  const send = async (...args) => {
    // pg would keep the query until somebody connects.
    if (client._connected === false && client._connecting === false) {
      throw storeError('The PostgreSQL client was never connected. Await client.connect() first.')
    }
    return inTurn(() => connection.send(...args))
  }
  return async () => ({ ...connection, send, make: (text) => inTurn(() => connection.make(text)) })
}

/**
 * postgres.js got this option together with the errors of a COMMIT.
 * @param {Sql} sql
 */
const isOldPostgresJs = ({ options }) => typeof options === 'object' && !('sslnegotiation' in options)

/**
 * A Pool of pg 7 lacks this option, and its Client has its own writer. The first 8.x are like that too, but they work: so
 * we also look at the installed version.
 * @param {PgPool | PgClient} client
 */
const isOldPg = (client) => looksOld(client) && oldVersion('pg') !== undefined

/** @param {PgPool | PgClient} client */
const looksOld = (client) =>
  'connection' in client && client.connection
    ? client.connection.writer !== undefined
    : !('maxUses' in /** @type {PgPool} */ (/** @type {Partial<PgPool>} */ (client).options ?? {}))

/**
 * @param {unknown} client
 * @returns {client is Sql}
 */
const isPostgresJs = (client) => typeof client === 'function' && hasMethods(client, 'unsafe')

/**
 * @param {unknown} client
 * @returns {client is PgPool | PgClient}
 */
const isPg = (client) => hasMethods(client, 'query', 'connect')

/**
 * @param {PgPool | PgClient} client
 * @returns {client is PgPool}
 */
const isPgPool = (client) => 'totalCount' in client && typeof client.totalCount === 'number'

/**
 * @param {PgPool | PgClient} client
 * @returns {client is PgClient}
 */
const isPgClient = (client) =>
  hasMethods(client, 'getTransactionStatus') || ('connection' in client && hasMethods(client.connection, 'on'))

/**
 * How to take a connection of the user's client; undefined if it is neither package's.
 * @param {unknown} client
 */
function packageOf(client) {
  if (isPostgresJs(client)) {
    // The sql of a transaction or of a reserved connection has no begin().
    if (!hasMethods(client, 'begin')) throw clientError(client, IN_TRANSACTION)
    if (isOldPostgresJs(client)) throw oldClientError(client, 'postgres')
    return fromPostgresJs(client)
  }
  if (!isPg(client)) return undefined
  if (isOldPg(client)) throw oldClientError(client, 'pg')
  if (isPgPool(client)) return fromPgPool(client)
  if (isPgClient(client)) return fromPgClient(client)
}

module.exports = { IN_TRANSACTION, fromPgPool, fromPostgresJs, packageOf }
