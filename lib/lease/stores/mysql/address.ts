// Parses the address of a MySQL store. The two packages read URLs differently: one honours a parameter that the other
// ignores. So they get options instead.

import { BUDGET, secondsOf } from '../../time-budget.ts'
import { addressError, hostOf } from '../address.ts'
import { readDatabase } from './place.ts'

/** The server and the database. */
export interface MysqlAddress {
  host: string
  port: number
  user?: string
  password?: string
  database: string
  ssl?: boolean | object
}

const PORT = 3306
const SSL = '\'true\', \'false\' or JSON for the options of tls.connect(), such as {"ca":"…"}'
const WAYS_OUT: Record<string, string> = {
  database: 'name the database in the path',
  connectionLimit: 'a store has two connections at most',
  connectTimeout: `a store waits ${secondsOf(BUDGET.CONNECT_MS)} s for a connection`,
  autocommit: 'a store sets it for its connections',
  sslmode: 'use ?ssl=true',
}

/** Parses an address; throws if one of the packages would interpret it differently. */
export function readAddress(url: string): MysqlAddress {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  for (const name of searchParams.keys()) {
    if (name === 'ssl') continue
    const wayOut = WAYS_OUT[name] ?? 'pass a pool with this option to mysqlStore()'
    throw addressError(
      url,
      `an address without ?${name}=, because only one of the two packages may support it: ${wayOut}`,
    )
  }
  if (pathname.length < 2) throw addressError(url, 'an address with a database, as in mysql://HOST/DATABASE')
  return {
    host: hostOf({ hostname }) || 'localhost',
    port: Number(port || PORT),
    ...(username !== '' && { user: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    database: readDatabase(decodeURIComponent(pathname.slice(1))) as string,
    ...sslOf(url, searchParams.get('ssl')),
  }
}

function sslOf(url: string, text: string | null) {
  const wanted = `an address whose ?ssl= is ${SSL}`
  try {
    const ssl = JSON.parse(text ?? 'false')
    if (typeof ssl === 'boolean') return ssl ? { ssl: {} } : {} // without options, a certificate must be valid
    if (ssl !== null && typeof ssl === 'object' && !Array.isArray(ssl)) return { ssl }
  } catch {
    // the error below lists the accepted values
  }
  throw addressError(url, wanted)
}
