// Parses the address of a MySQL store. The two packages read URLs differently: one honours a parameter that the other
// ignores. So they get options instead.

import { addressError, checkParameters, hostOf, manyHostsError } from '../address.ts'
import { PORTS } from '../schemes.ts'
import { BUDGET, secondsOf } from '../time-budget.ts'
import { readTls, TLS_PARAMETERS, type Tls } from '../tls.ts'
import { readDatabase } from './place.ts'

/** The server and the database. */
export interface MysqlAddress {
  host: string
  port: number
  user?: string
  password?: string
  database: string
  tls: Tls | null | undefined
}

const WAYS_OUT: Record<string, string> = {
  schema: 'name the database in the path',
  database: 'name the database in the path',
  connectionLimit: 'a store has two connections at most',
  connectTimeout: `a store waits ${secondsOf(BUDGET.CONNECT_MS)} s for a connection`,
  autocommit: 'a store sets it for its connections',
}

/** Parses an address; throws if one of the packages would interpret it differently. */
export function readAddress(url: string): MysqlAddress {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const otherwise = 'only one of the two packages may support it, so pass a pool with this option to mysqlStore()'
  checkParameters(url, searchParams, { known: TLS_PARAMETERS, waysOut: WAYS_OUT, otherwise })
  if (hostname.includes(',')) throw manyHostsError(url)
  if (pathname.length < 2) throw addressError(url, 'an address with a database, as in mysql://HOST/DATABASE')
  return {
    host: hostOf({ hostname }) || 'localhost',
    port: Number(port || PORTS.mysql),
    ...(username !== '' && { user: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    database: readDatabase(decodeURIComponent(pathname.slice(1))) as string,
    tls: readTls(url, searchParams),
  }
}
