'use strict'

// How mysql2 and mariadb are called: each gives connections with `ask(text)`, whose answer is rows of texts or the header
// of a write. What the user's client does to values, rows and numbers must never matter here.

const { clientError } = require('../../../base/errors.js')

const CALLBACKS = "mariadb's callback interface has no store. Use the one of require('mariadb')."

/** For each statement, because a client may have its own ways. Values are bytes, so their text is UTF-8. */
const AS_TEXTS = {
  rowsAsArray: true,
  nestTables: false,
  metaAsArray: false,
  typeCast: (field) => field.buffer()?.toString() ?? null,
}

/** `release` and `destroy` are missing if the connection is the user's: it stays as it is. */
const ofMysql2 = (connection, { isOurs }) => ({
  ask: (sql) =>
    new Promise((resolve, reject) => {
      connection.query({ ...AS_TEXTS, sql }, (error, answer) => (error ? reject(error) : resolve(answer)))
    }),
  flagsOf: ({ serverStatus }) => serverStatus,
  giveBack: () => isOurs && connection.release(),
  drop: () => isOurs && connection.destroy(),
})

/** mariadb has the flags of its last answer, which may be that of the user's next statement. */
const ofMariadb = (connection, { isOurs }) => ({
  ask: (sql) => connection.query({ ...AS_TEXTS, sql }),
  flagsOf: () => (isOurs ? connection.info.status : undefined),
  giveBack: () => isOurs && connection.release(),
  drop: () => isOurs && connection.destroy(),
})

/** A function that takes a connection from the pool, or the one that there is. */
const fromMysql2 = (core) => async () => {
  if (typeof core.getConnection !== 'function') return ofMysql2(core, { isOurs: false })
  const connection = await new Promise((resolve, reject) => {
    core.getConnection((error, taken) => (error ? reject(error) : resolve(taken)))
  })
  return ofMysql2(connection, { isOurs: true })
}

const fromMariadb = (client) => async () => {
  if (typeof client.getConnection !== 'function') return ofMariadb(client, { isOurs: false })
  return ofMariadb(await client.getConnection(), { isOurs: true })
}

/** What mysql2/promise wraps has `promise()`, which makes such a wrapper. */
const coreOf = (client) =>
  [client, client.pool, client.connection].find((core) => typeof core?.promise === 'function' && isClient(core))

const isClient = ({ query, execute }) => typeof query === 'function' && typeof execute === 'function'

/** How to take a connection of this client; undefined if it is none. */
function packageOf(client) {
  if (client === null || typeof client !== 'object') return undefined
  const core = coreOf(client)
  if (core !== undefined) return fromMysql2(core)
  if (!isClient(client) || typeof client.batch !== 'function') return undefined
  if (client.query.length > 2) throw clientError(client, CALLBACKS) // the third is the callback
  return fromMariadb(client)
}

module.exports = { packageOf, fromMysql2, fromMariadb }
