// Makes our own MySQL client for a URL, with the client package that the user's project has. flakeforge depends on neither
// package, so it is loaded on first use.

import { openWithPackage } from '../client-packages.ts'
import { endInTime } from '../clients.ts'
import { BUDGET } from '../time-budget.ts'
import { forMariadb, forMysql2 } from '../tls.ts'
import { type MysqlAddress, readAddress } from './address.ts'
import { SessionRunner } from './client.ts'
import { fromMariadb, fromMysql2, type Mariadb, type Mysql2 } from './packages.ts'

const { connect } = process.getBuiltinModule('node:net')

/** The further methods of our own mysql2 pool. */
interface OwnMysql2 {
  on: (event: string, listener: (connection: { stream: { unref(): void } }) => void) => void
  end: (ended: (error?: Error) => void) => void
}

/** The same for mariadb. */
type OwnMariadb = { on(event: string, listener: () => void): void; end(): Promise<void> }

/** The part of the package mariadb that we use. */
interface MariadbExports {
  createPool: (options: object) => Mariadb & OwnMariadb
}

/** A lease needs one connection at a time, and a second one if a step is stuck. */
const LIMITS = { connectionLimit: 2, connectTimeout: BUDGET.CONNECT_MS }

/** The server, and the user whose sessions it shows. */
const serverOf = ({ host, port, user }: Omit<MysqlAddress, 'tls'>) => `mysql ${JSON.stringify([host, port, user])}`

/** @param exports of mysql2 */
export function openMysql2({ createPool }: { createPool(options: object): Mysql2 & OwnMysql2 }, url: string) {
  const { tls, ...address } = readAddress(url)
  const pool = createPool({ ...address, ...forMysql2(tls, { url, host: address.host }), ...LIMITS })
  pool.on('connection', ({ stream }) => stream.unref()) // a lease does not keep a process alive
  const end = () => new Promise((resolve) => pool.end(resolve))
  return new SessionRunner(pool, fromMysql2(pool), { end: () => endInTime(end), address: serverOf(address) })
}

export function openMariadb({ createPool }: MariadbExports, url: string) {
  const { tls, ...options } = readAddress(url)
  const pool = createPool({
    ...options,
    ...forMariadb(tls, options.host),
    ...LIMITS,
    minimumIdle: 1, // with 0, some versions never connect
    idleTimeout: 0, // its timer would keep the process alive, and so would a socket
    acquireTimeout: BUDGET.CONNECT_MS,
    stream: () => connect(options.port, options.host).setNoDelay().unref(),
  })
  pool.on('error', () => {}) // the step reports it
  return new SessionRunner(pool, fromMariadb(pool), {
    end: () => endInTime(() => pool.end()),
    address: serverOf(options),
  })
}

const OPEN = { mysql2: openMysql2, mariadb: openMariadb }

export const openClient = (url: string) => openWithPackage('mysql', OPEN, url)
