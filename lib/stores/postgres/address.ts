// Parses the address of a PostgreSQL store. The two packages read URLs differently: one ignores a parameter that the other
// sends to the server, so two processes with one URL could use two tables. So they get options instead.

import { checkParameters, hostOf, manyHostsError, parameterError } from '../address.ts'
import { BUDGET, secondsOf } from '../time-budget.ts'
import { readTls, TLS_PARAMETERS, type Tls } from '../tls.ts'
import { readOwner, readSchema } from './schema.ts'

/** The server and its database. Undefined fields come from variables such as PGHOST, as in the packages. */
export interface PostgresAddress {
  host?: string | undefined
  port?: number | undefined
  user?: string | undefined
  password?: string | undefined
  database?: string | undefined
  tls: Tls | null | undefined
  application_name?: string
  options?: string
  schema: string
  owner?: string | undefined
}

/** The parameters that a store accepts; others are refused, some with an alternative. */
const TAKEN = ['schema', 'owner', 'host', 'port', 'user', 'password', 'application_name', 'options', 'pgbouncer']
const WAYS_OUT: Record<string, string> = {
  search_path: 'name the schema of the table with ?schema=',
  currentSchema: 'name the schema of the table with ?schema=',
  dbname: 'name the database in the path',
  database: 'name the database in the path',
  channel_binding: 'no client can require it',
  connection_limit: 'a store has two connections at most',
  target_session_attrs: 'a store always refuses a standby',
  connect_timeout: `a store waits ${secondsOf(BUDGET.CONNECT_MS)} s for a connection`,
}

const decoded = (text: string) => (text === '' ? undefined : decodeURIComponent(text))

const NO_HOST = 'no-host'

/** With a user, a host may be left out, as in postgres://user@/database?host=/var/run/postgresql; a URL has no such form. */
const parse = (url: string) => new URL(url.replace(/^([a-z]+:\/\/[^/]*@)(?=\/)/i, `$1${NO_HOST}`))

/** Parses an address; throws if one of the packages would interpret it differently. */
export function readAddress(url: string): PostgresAddress {
  const { hostname, port, username, password, pathname, searchParams } = parse(url)
  const known = [...TAKEN, ...TLS_PARAMETERS]
  const otherwise = 'leave it out, because not every client supports it'
  checkParameters(url, searchParams, { known, waysOut: WAYS_OUT, otherwise })
  const of = (name: string) => searchParams.get(name) ?? undefined
  const host = of('host') ?? decoded(hostOf({ hostname }))
  if (host?.includes(',')) throw manyHostsError(url)
  const address: PostgresAddress = {
    host: host === NO_HOST ? undefined : host,
    port: portOf(url, of('port') ?? port),
    user: of('user') ?? decoded(username),
    password: of('password') ?? decoded(password),
    database: decoded(pathname.slice(1)),
    schema: readSchema(of('schema')),
    owner: readOwner(of('owner')),
    tls: readTls(url, searchParams),
  }
  for (const name of ['application_name', 'options'] as const)
    if (searchParams.has(name)) address[name] = of(name) as string
  return address
}

function portOf(url: string, text: string) {
  if (text === '') return undefined
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 2 ** 16) return port
  throw parameterError(url, 'port', 'the port is a number from 1 to 65535')
}
