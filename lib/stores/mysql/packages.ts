// How mysql2 and mariadb are called: each provides connections with `ask(text)`, whose answer is rows of texts or the header
// of a write. The conversions of values, rows and numbers in the user's client have no effect here.

import { clientError } from '../../base/errors.ts'
import { hasMethods, type Lent, serverIn } from '../clients.ts'
import { BUDGET } from '../time-budget.ts'

/** The answer of a write. Only mysql2's has the flags. `warningStatus`: the server's number of warnings about it. */
export type Header = { affectedRows: number | bigint; warningStatus: number; serverStatus?: number }

/** A row: its values as texts. */
export type Row = (string | null)[]

/**
 * One connection, of either package. `key`: the same object whenever it is taken. `flagsOf(header)`: the flags of the server
 * after an answer, undefined if they are unknown.
 */
export interface Connection extends Lent {
  key: object
  ask: (sql: string) => PromiseLike<Row[] | Header>
  flagsOf: (header: Header) => number | undefined
}

/** takes a connection from a pool, or the only one */
export type Take = () => Promise<Connection>

type Answered = (error: unknown, answer: Row[] | Header) => void

/**
 * The part of a mysql2 connection that we use: that with callbacks, which mysql2/promise wraps. A pool's connection has the
 * rest too.
 */
export interface Mysql2 {
  query: (options: object, answered: Answered) => void
  release: () => void
  destroy: () => void
  stream?: { destroyed?: boolean }
  /** of a pool */
  getConnection?: (taken: (error: unknown, connection: Mysql2) => void) => void
}

/** The part of a mariadb connection that we use. A pool's connection has the rest too. */
export interface Mariadb {
  query: (options: object) => Promise<Row[] | Header>
  info: { status: number }
  ping: (timeoutMs: number) => Promise<void>
  isValid?: () => boolean
  release: () => void
  destroy: () => void
  /** of a pool */
  getConnection?: () => Promise<Mariadb>
}

const CALLBACKS = "mariadb's callback interface is not supported. Use the one of require('mariadb')."

/** Set for each statement, because a client may have other settings. Values are bytes, so their text is UTF-8. */
const AS_TEXTS = {
  rowsAsArray: true,
  nestTables: false,
  metaAsArray: false,
  typeCast: (field: { buffer(): Buffer | null }) => field.buffer()?.toString() ?? null,
}

/** The user's own connection, which is not changed. */
const ofMysql2 = (connection: Mysql2): Connection => ({
  key: connection,
  ask: (sql) =>
    new Promise((resolve, reject) => {
      connection.query({ ...AS_TEXTS, sql }, (error, answer) => (error ? reject(error) : resolve(answer)))
    }),
  flagsOf: ({ serverStatus }) => serverStatus,
  giveBack: () => {},
  drop: () => false,
})

/** The same for mariadb, which has only the flags of its last answer, perhaps to the user's next statement. */
const ofMariadb = (connection: Mariadb): Connection => ({
  key: connection.info, // its pool makes a new wrapper each time
  ask: (sql) => connection.query({ ...AS_TEXTS, sql }),
  flagsOf: () => undefined,
  giveBack: () => {},
  drop: () => false,
})

export const fromMysql2 =
  (core: Mysql2): Take =>
  async () => {
    if (typeof core.getConnection !== 'function') {
      return { ...ofMysql2(core), hasEnded: () => core.stream?.destroyed === true }
    }
    const connection: Mysql2 = await new Promise((resolve, reject) => {
      core.getConnection?.((error, taken) => (error ? reject(error) : resolve(taken)))
    })
    const drop = () => {
      connection.destroy()
      return true
    }
    return { ...ofMysql2(connection), giveBack: () => connection.release(), drop }
  }

/**
 * While a statement runs, destroy() would send KILL over another connection. If that fails, its error cannot be caught and
 * ends the process; after a restart it may end another client's session. A ping without an answer closes the connection
 * first.
 */
function dropMariadb(connection: Mariadb) {
  connection
    .ping(BUDGET.PING_MS)
    .catch(() => {})
    .then(() => connection.destroy())
  return true
}

export const fromMariadb =
  (client: Mariadb): Take =>
  async () => {
    if (typeof client.getConnection !== 'function') {
      return { ...ofMariadb(client), hasEnded: () => client.isValid?.() === false }
    }
    const connection = await client.getConnection()
    return {
      ...ofMariadb(connection),
      flagsOf: () => connection.info.status,
      giveBack: () => connection.release(),
      drop: () => dropMariadb(connection),
    }
  }

const isClient = (client: unknown) => hasMethods(client, 'query', 'execute')

/** Wrappers of mysql2/promise lack `promise()`, which the wrapped object has to make them. */
const coreOf = (client: { pool?: unknown; connection?: unknown }) =>
  [client, client.pool, client.connection].find((core) => hasMethods(core, 'promise') && isClient(core))

/** Where a client leads, by its settings; those of mariadb are hidden. */
export function serverOf(client: unknown) {
  const { config } = Object(coreOf(Object(client)))
  const settings = config?.connectionConfig ?? config
  return serverIn({ ...settings, path: settings?.socketPath })
}

/** How to take a connection of this client; undefined if it is not a client. */
export function packageOf(client: unknown) {
  if (client === null || typeof client !== 'object') return undefined
  const core = coreOf(client)
  if (core !== undefined) return fromMysql2(core as Mysql2)
  if (!isClient(client) || !hasMethods(client, 'batch')) return undefined
  const own = client as Mariadb
  if (own.query.length > 2) throw clientError(client, CALLBACKS) // the third is the callback
  return fromMariadb(own)
}
