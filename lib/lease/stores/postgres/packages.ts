// How pg and postgres.ts are called: each sends a statement in its own way, and its one answer comes back as text. It must
// never connect, configure or end a client.

import { clientError, storeError } from '../../../base/errors.ts'
import { BUDGET } from '../../time-budget.ts'
import { oldClientError, oldVersion } from '../client-packages.ts'
import { hasMethods, type Lent } from '../clients.ts'

/** A text or NULL for each of a statement's $1, $2 and so on. */
export type Values = readonly (string | null)[]

/**
 * One connection, or all of a client. `isBusy()`: whether it is in a transaction, where that can be seen. `send()` sends a
 * statement. `make()` runs the statements that make tables.
 */
export interface Connection extends Lent {
  isBusy: () => boolean
  send: (text: string, values: Values) => Promise<Sent>
  make: (text: string) => PromiseLike<unknown>
}

/** What the server says beside its answers. */
export type Notice = { code?: string; message?: string }

/**
 * The one answer of a statement, and what the server said beside it until its commit had ended; undefined where the client
 * does not tell.
 */
export type Sent = { text: string | undefined; notices: Notice[] | undefined }

/** takes a connection from a pool, or the one that there is */
export type Take = () => Promise<Connection>

/** What we need of postgres.ts: its sql function. */
export interface Sql {
  unsafe: (text: string, values?: Values) => PromiseLike<unknown> & Query
  options?: { max?: number }
}

/** What it gives for a statement. `state` is there once the statement is on a connection. */
type Query = { values(): PromiseLike<string[][]>; cancel(): void; state?: unknown }

type Wire = { writer?: unknown; on(event: string, listener: (message: { status: string }) => void): void }

/**
 * What we need of a Client of pg. Older versions have no `getTransactionStatus`, and those of pg-native no `connection`. One
 * of a Pool has `release`, too.
 */
interface PgClient {
  query: (query: unknown) => Promise<{ rows: string[][] }>
  getTransactionStatus?: () => string | null | undefined
  connection?: Wire
  _connected?: boolean
  _connecting?: boolean
  on: (event: string, listener: (notice: Notice) => void) => void
  removeListener: (event: string, listener: (notice: Notice) => void) => void
  release: (isBroken?: boolean) => void
}

/** What we need of a Pool of pg. */
export interface PgPool {
  options?: object
  totalCount: number
  on: (event: string, listener: () => void) => void
  connect: (callback: (error: unknown, client?: PgClient) => void) => void
}

export const IN_TRANSACTION = 'It is in a transaction. Use the pool, or another client outside of a transaction.'

/** pg must not parse values: a client may have its own parsers. */
const AS_TEXT = { getTypeParser: () => (text: string) => text }

/** Two statements of one transaction tell the same time; two of their own never do. */
const BEGAN = 'SELECT now()::text'

/**
 * Whether the one connection of postgres.ts is in a transaction. It does not say so by itself. With more of them, it refuses
 * a BEGIN itself, except on a reserved one.
 */
async function isInTransaction(sql: Sql) {
  if (sql.options?.max !== 1) return false
  const [[[first]], [[second]]] = await Promise.all([BEGAN, BEGAN].map((text) => sql.unsafe(text).values()))
  return first === second
}

/**
 * The user's postgres.ts: `unsafe` prepares no named statement, because a pooler could not keep it. A reserved connection
 * cannot be used: if it dies, releasing it ends the process. It tells notices to the user only, and closes no single
 * connection.
 */
export const fromPostgresJs =
  (sql: Sql): Take =>
  async () => {
    const isBusy = await isInTransaction(sql)
    return { ...ofPostgresJs(sql, () => false), isBusy: () => isBusy }
  }

/** @param notices where a client of our own puts what the server says */
export function ofPostgresJs(sql: Sql, drop: () => boolean, notices?: Notice[]): Connection {
  let query: Query | undefined
  return {
    isBusy: () => false,
    send: async (text, values) => {
      notices?.splice(0)
      query = sql.unsafe(text, values)
      const rows = await query.values()
      return { text: rows[0]?.[0], notices: notices && [...notices] }
    },
    make: (text) => sql.unsafe(text),
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
    send: async (text, values) => {
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
    make: (text) => client.query(text),
    giveBack: () => {},
    drop: () => false,
  }
}

/** pg-native has no connection in JavaScript, and drops what the server says beside its answers. */
const isNative = ({ connection }: PgClient) => !hasMethods(connection, 'on')

const statuses: WeakMap<PgClient, () => string | null | undefined> = new WeakMap()

/**
 * The last transaction status that the server sent to a pg Client; 'I' means none is open. Older versions hide it, so we
 * listen; those of pg-native tell nothing.
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
 * A client of the pool that already listens: between a pool's callback and what awaits its promise, a server that dies in
 * the moment of its welcome would end the process.
 */
const connectTo = (pool: PgPool, listener: () => void): Promise<PgClient> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) return reject(error)
      client.on('error', listener)
      resolve(client)
    })
  })

/**
 * A server that restarts says goodbye to the idle connections of a pool. Without a listener, that would end the process.
 */
export const keepAlive = (client: unknown) => {
  if (isPg(client) && isPgPool(client)) client.on('error', () => {})
}

/** A Pool of pg. Whoever gave a connection back inside a transaction is found out before anything is sent in it. */
export const fromPgPool =
  (pool: PgPool): Take =>
  async () => {
    const ignore = () => {} // a server that goes away would end the process; the statement tells
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

/** One Client of pg: it wants its queries one after the other. */
function fromPgClient(client: PgClient): Take {
  const connection = ofPg(client)
  let last: PromiseLike<unknown> | undefined
  const inTurn = <Result>(work: () => PromiseLike<Result>) => {
    const result = Promise.allSettled([last]).then(work)
    last = result
    return result
  }
  const send: Connection['send'] = async (...args) => {
    // pg would keep the query until somebody connects.
    if (client._connected === false && client._connecting === false) {
      throw storeError('The PostgreSQL client was never connected. Await client.connect() first.')
    }
    return inTurn(() => connection.send(...args))
  }
  return async () => ({ ...connection, send, make: (text) => inTurn(() => connection.make(text)) })
}

/** postgres.ts got this option together with the errors of a COMMIT. */
const isOldPostgresJs = ({ options }: Sql) => typeof options === 'object' && !('sslnegotiation' in options)

/**
 * A Pool of pg 7 lacks this option, and its Client has its own writer. The first 8.x are like that too, but they work: so
 * we also look at the installed version.
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

/** How to take a connection of the user's client; undefined if it is neither package's. */
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
