// Makes our own PostgreSQL client for a URL, with the client package that the user's project has. flakeforge depends on
// neither package, so it is loaded on first use.

import { openWithPackage } from '../client-packages.ts'
import { endInTime } from '../clients.ts'
import { BUDGET, secondsOf } from '../time-budget.ts'
import { forPostgres } from '../tls.ts'
import { type PostgresAddress, readAddress } from './address.ts'
import { StatementRunner } from './client.ts'
import { fromPgPool, type Notice, ofPostgresJs, type PgPool, type Sql } from './packages.ts'

/** The further methods of our own Pool. */
type OwnPool = { on(event: string, listener: () => void): void; end(): Promise<void> }

/** The same for postgres.js. */
type OwnSql = { end(options: { timeout: number }): Promise<void> }

const CONNECT_SECONDS = secondsOf(BUDGET.CONNECT_MS)
/** One to work on, and one to ask whether a statement that was given up on the other still runs. */
const MOST_CONNECTIONS = 2

/** @param exports of pg */
export function openPg({ Pool }: { Pool: new (options: object) => PgPool & OwnPool }, url: string) {
  const { schema: _, owner: __, tls, ...address } = readAddress(url)
  const pool = new Pool({
    ...address,
    ...forPostgres(tls, address.host),
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: BUDGET.CONNECT_MS,
    keepAlive: true,
    allowExitOnIdle: true, // a lease does not keep a process alive
  })
  // A server that shuts down notifies each idle connection; the next step reports it.
  pool.on('error', () => {})
  return new StatementRunner(pool, fromPgPool(pool), {
    end: () => endInTime(() => pool.end()),
    address: serverOf(address),
  })
}

export function openPostgresJs(postgres: (options: object) => Sql & OwnSql, url: string) {
  const address = readAddress(url)
  const options = optionsOf(address)
  const connect = () => {
    const notices: Notice[] = []
    const sql = postgres({
      ...options,
      max: MOST_CONNECTIONS,
      connect_timeout: CONNECT_SECONDS,
      backoff: secondsOf(BUDGET.RECONNECT_MS), // otherwise it grows to 20 s, and a step would wait instead of failing
      idle_timeout: CONNECT_SECONDS, // an open connection keeps the process alive
      prepare: false,
      fetch_types: false,
      onnotice: (notice: Notice) => notices.push(notice),
    })
    return { sql, notices }
  }
  let { sql, notices } = connect()
  let isClosed = false
  // Its connections may have died silently, or lead to a server that is no longer the primary, and it closes none of them:
  // the next step opens new ones.
  const drop = () => {
    const old = sql
    if (!isClosed) ({ sql, notices } = connect())
    old.end({ timeout: 0 }).catch(() => {})
    return true
  }
  const end = () => {
    isClosed = true
    return endInTime(() => sql.end({ timeout: CONNECT_SECONDS }))
  }
  return new StatementRunner(sql, async () => ofPostgresJs(sql, drop, notices), { end, address: serverOf(address) })
}

/** The server, and the user whose sessions it shows. */
const serverOf = ({ host, port, user }: Pick<PostgresAddress, 'host' | 'port' | 'user'>) =>
  `postgres ${JSON.stringify([host, port, user])}`

/** An address in the form of postgres.js: absent options must be missing, not undefined, and session settings are separate. */
function optionsOf({ schema: _, owner: __, tls, application_name, options, ...address }: PostgresAddress) {
  const given = (entries: object) =>
    Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined))
  return { ...given(address), ...forPostgres(tls, address.host), connection: given({ application_name, options }) }
}

const OPEN = { pg: openPg, postgres: openPostgresJs }

export const openClient = (url: string) => openWithPackage('postgres', OPEN, url)
