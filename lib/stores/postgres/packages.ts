// How pg and postgres.js are called: each sends a statement in its own way, and its one answer comes back as text. Clients
// are not connected, configured or ended here.

import { clientError, storeError } from '../../base/errors.ts'
import { oldClientError, oldVersion } from '../client-packages.ts'
import { hasMethods, type Lent, serverIn } from '../clients.ts'
import { BUDGET } from '../time-budget.ts'
import type { Sql as Statement } from './statement.ts'
import { BEGAN } from './statements.ts'

/** A text or NULL for each of a statement's $1, $2 and so on. */
export type Values = readonly (string | null)[]

/**
 * One connection, or all of a client. `isBusy()`: whether it is in a transaction, if that can be detected. `send()` sends a
 * statement. `make()` runs the statements that create tables.
 */
export interface Connection extends Lent {
  isBusy: () => boolean
  send: (statement: Statement, values: Values) => Promise<Sent>
  make: (statement: Statement) => PromiseLike<unknown>
}

/** The server's notices besides its answers. */
export type Notice = { code?: string; message?: string }

/**
 * The one answer of a statement, and the server's notices until its commit had ended; undefined if the client does not pass
 * them on.
 */
export type Sent = { text: string | undefined; notices: Notice[] | undefined }

/** takes a connection from a pool, or the only one */
export type Take = () => Promise<Connection>

/** The part of postgres.js that we use: its sql function. */
export interface Sql {
  unsafe: (text: string, values?: Values) => PromiseLike<unknown> & Query
  options?: { max?: number }
}

/** Its object for a statement. `state` is set once the statement is on a connection. */
type Query = { values(): PromiseLike<string[][]>; cancel(): void; state?: unknown }

type Wire = { writer?: unknown; on(event: string, listener: (message: { status: string }) => void): void }

/**
 * The part of a pg Client that we use. Older versions have no `getTransactionStatus`, and those of pg-native no `connection`.
 * A Pool's Client has `release`, too.
 */
interface PgClient {
  query: (query: unknown) => Promise<{ rows: string[][] }>
  getTransactionStatus?: () => string | null | undefined
  connection?: Wire
  _connected?: boolean
  _connecting?: boolean
  _queryable?: boolean
  _ended?: boolean
  on: (event: string, listener: (notice: Notice) => void) => void
  removeListener: (event: string, listener: (notice: Notice) => void) => void
  release: (isBroken?: boolean) => void
}

/** The part of a pg Pool that we use. */
export interface PgPool {
  options?: object
  totalCount: number
  on: (event: string, listener: () => void) => void
  connect: (callback: (error: unknown, client?: PgClient) => void) => void
}

export const IN_TRANSACTION = 'It is in a transaction. Use the pool, or another client outside of a transaction.'

/** pg must not parse values: a client may have its own parsers. */
const AS_TEXT = { getTypeParser: () => (text: string) => text }

/**
 * Whether the only connection of postgres.js is in a transaction, which it does not expose. With several, it refuses a BEGIN
 * itself, except on a reserved one.
 */
async function isInTransaction(sql: Sql) {
  if (sql.options?.max !== 1) return false
  const [[[first]], [[second]]] = await Promise.all([BEGAN, BEGAN].map(({ text }) => sql.unsafe(text).values()))
  return first === second
}

/**
 * The user's postgres.js. `unsafe` prepares no named statement, because a pooler could not keep it. A reserved connection is
 * unusable: if it dies, releasing it ends the process. It passes notices only to the user, and cannot close a single
 * connection.
 */
export const fromPostgresJs =
  (sql: Sql): Take =>
  async () => {
    const isBusy = await isInTransaction(sql)
    return { ...ofPostgresJs(sql, () => false), isBusy: () => isBusy }
  }

/** @param notices where our own client puts the server's notices */
export function ofPostgresJs(sql: Sql, drop: () => boolean, notices?: Notice[]): Connection {
  let query: Query | undefined
  return {
    isBusy: () => false,
    send: async ({ text }, values) => {
      notices?.splice(0)
      query = sql.unsafe(text, values)
      const rows = await query.values()
      return { text: rows[0]?.[0], notices: notices && [...notices] }
    },
    make: ({ text }) => sql.unsafe(text),
    giveBack: () => {},
    drop: () => {
      if (!query?.state) query?.cancel() // it is still waiting for a connection
      return drop()
    },
  }
}

/** A Client of pg. */
const ofPg = (client: PgClient): Connection => {
  const status = statusOf(client)
  return {
    isBusy: () => ['T', 'E'].includes(status() ?? ''),
    send: async ({ text }, values) => {
      const query = { text, values, rowMode: 'array', types: AS_TEXT, query_timeout: BUDGET.QUERY_MS }
      const notices: Notice[] = []
      const hear = (notice: Notice) => notices.push(notice)
      client.on('notice', hear)
      try {
        const { rows } = await client.query(query)
        return { text: rows[0][0], notices: isNative(client) ? undefined : notices }
      } finally {
        client.removeListener('notice', hear)
      }
    },
    make: ({ text }) => client.query({ text, query_timeout: BUDGET.QUERY_MS }),
    giveBack: () => {},
    drop: () => false,
  }
}

/** pg-native has no connection in JavaScript, and drops the server's notices. */
const isNative = ({ connection }: PgClient) => !hasMethods(connection, 'on')

const statuses: WeakMap<PgClient, () => string | null | undefined> = new WeakMap()

/**
 * The last transaction status that the server sent to a pg Client; 'I' means none is open. Older versions hide it, so we
 * listen; those of pg-native do not have it.
 */
function statusOf(client: PgClient) {
  const known = statuses.get(client)
  if (known !== undefined) return known
  let heard: string | undefined
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
 * A client of the pool that already has a listener: between a pool's callback and the continuation of its promise, a server
 * that dies during its welcome would end the process.
 */
const connectTo = (pool: PgPool, listener: () => void): Promise<PgClient> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) return reject(error)
      client.on('error', listener)
      resolve(client)
    })
  })

/** A server that restarts sends a message to the idle connections of a pool. Without a listener, that would end the process. */
export const keepAlive = (client: unknown) => {
  if (isPg(client) && isPgPool(client)) client.on('error', () => {})
}

/** A Pool of pg. A connection that was returned inside a transaction is detected before anything is sent in it. */
export const fromPgPool =
  (pool: PgPool): Take =>
  async () => {
    const ignore = () => {} // the end of a connection would end the process; the statement reports it
    const client = await connectTo(pool, ignore)
    const leave = (isBroken: boolean) => {
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
    const drop = () => {
      leave(true)
      return true
    }
    return { ...connection, giveBack: () => leave(false), drop }
  }

/** A single Client of pg, which takes its queries one after the other. */
function fromPgClient(client: PgClient): Take {
  const connection = ofPg(client)
  let last: PromiseLike<unknown> | undefined
  const inTurn = <Result>(work: () => PromiseLike<Result>) => {
    const result = Promise.allSettled([last]).then(work)
    last = result
    return result
  }
  const send: Connection['send'] = async (...args) => {
    // pg would keep the query until the user connects.
    if (client._connected === false && client._connecting === false) {
      throw storeError('The PostgreSQL client was never connected. Await client.connect() first.')
    }
    return inTurn(() => connection.send(...args))
  }
  const hasEnded = () => client._queryable === false || client._ended === true
  return async () => ({ ...connection, send, make: (statement) => inTurn(() => connection.make(statement)), hasEnded })
}

/** postgres.js got this option together with the errors of a COMMIT. */
const isOldPostgresJs = ({ options }: Sql) => typeof options === 'object' && !('sslnegotiation' in options)

/**
 * A Pool of pg 7 lacks this option, and its Client has its own writer. The first 8.x are like that too, but they work: so the
 * installed version counts as well.
 */
const isOldPg = (client: PgPool | PgClient) => looksOld(client) && oldVersion('pg') !== undefined

const looksOld = (client: PgPool | PgClient) =>
  'connection' in client && client.connection
    ? client.connection.writer !== undefined
    : !('maxUses' in ((client as Partial<PgPool>).options ?? ({} as PgPool)))

const isPostgresJs = (client: unknown): client is Sql => typeof client === 'function' && hasMethods(client, 'unsafe')

const isPg = (client: unknown): client is PgPool | PgClient => hasMethods(client, 'query', 'connect')

const isPgPool = (client: PgPool | PgClient): client is PgPool =>
  'totalCount' in client && typeof client.totalCount === 'number'

const isPgClient = (client: PgPool | PgClient): client is PgClient =>
  hasMethods(client, 'getTransactionStatus') || ('connection' in client && hasMethods(client.connection, 'on'))

/** Where the user's client leads, by its settings. */
export function serverOf(client: unknown) {
  if (isPostgresJs(client)) return serverIn(client.options)
  return isPg(client) ? serverIn(isPgPool(client) ? client.options : client) : undefined
}

/** How to take a connection of the user's client; undefined if it is of neither package. */
export function packageOf(client: unknown) {
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
