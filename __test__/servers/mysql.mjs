// MariaDB for tests: a server with its own data, or a replica of one. A MariaDB that was running before is never touched.
// Writes need not survive the machine here, except where a test says otherwise.
//
// FLAKEFORGE_MYSQLD names the `mysqld` of a MySQL, which then takes its place: `npm run databases:stores -- mysql` runs the
// tests of the store with it. Tests use MariaDB's words for replication, and are translated.

import { execFile } from 'node:child_process'
import { cp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram, freePort, freshFolder, HERE, Server, until, wantProgram, withVariables } from './server.mjs'

const require = createRequire(import.meta.url)
const run = promisify(execFile)

// A client is loaded where it is used: many processes use one or none.
const mariadb = () => require('mariadb')
const mysql2 = () => require('mysql2/promise')
const mysql2Callback = () => require('mysql2')

// Debian keeps servers outside of PATH.
const PLACES = ['/usr/sbin', '/usr/local/sbin']

const MYSQLD = process.env.FLAKEFORGE_MYSQLD

/** Whether the server is MySQL. */
export const isMysql = Boolean(MYSQLD)

/** Whether these tests can run: the path of the server, or undefined with a loud message. */
export const wantMysql = () => MYSQLD || wantProgram('mariadbd', PLACES)

// It does not run as root unless it is told to.
const USER = process.getuid?.() === 0 ? ['--user=root'] : []

/** What MySQL 8.4 and newer call what MariaDB calls a slave and its master. */
const WORDS = [
  [/\bCHANGE MASTER\b/g, 'CHANGE REPLICATION SOURCE'],
  [/\bMASTER_(HOST|PORT|USER|CONNECT_RETRY)\b/g, 'SOURCE_$1'],
  [/\bMASTER_USE_GTID = slave_pos\b/g, 'SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1'],
  [/\bwait([-_])no([-_])slave\b/g, 'wait$1no$2replica'],
  [/\brpl([-_])semi([-_])sync([-_])master\b/gi, 'rpl$1semi$2sync$3source'],
  [/\brpl_semi_sync_master_/gi, 'rpl_semi_sync_source_'],
  [/\brpl-semi-sync-slave\b/g, 'rpl-semi-sync-replica'],
  [/\blog-slave-updates\b/g, 'log-replica-updates'],
  [/\bSLAVE\b/g, 'REPLICA'],
]

const inMysql = (text) => WORDS.reduce((said, [ofMariadb, ofMysql]) => said.replace(ofMariadb, ofMysql), text)
const translated = isMysql ? inMysql : (text) => text

class MysqlServer extends Server {
  #pool

  /** One or several statements by the superuser, in no database; returns the rows. */
  async query(text, values) {
    this.#pool ??= mysql2().createPool({ uri: this.url, multipleStatements: true })
    return (await this.#pool.query(translated(text), values))[0]
  }

  /** The address of a database. */
  urlOf(database, user = 'root') {
    return `${this.url.replace('root@', `${user}@`)}${database}`
  }

  /** The address of a new database. */
  async freshUrl(database) {
    await this.query(`CREATE DATABASE ${database}`)
    return this.urlOf(database)
  }

  /** Ends the process and restarts it on the same data. */
  async restart(signal = 'SIGTERM') {
    await this.kill(signal)
    return this.start()
  }

  async stop() {
    await this.#pool?.end()
    await super.stop()
  }
}

/** As small as a server allows, and not waited for: its folder is made, and removed, by many tests. */
const SMALL = {
  'innodb-buffer-pool-size': '16M',
  [isMysql ? 'innodb-redo-log-capacity' : 'innodb-log-file-size']: isMysql ? '8M' : '4M',
  'innodb-autoextend-increment': 1,
  'innodb-flush-method': 'nosync',
}

const asOptions = (settings) => Object.entries(settings).map(([name, value]) => translated(`--${name}=${value}`))

/** Other addresses than this one have no accounts yet: any client may do everything. */
const accessTo = (machine) => (machine === HERE ? {} : { 'skip-grant-tables': 1 })

async function installMariadb(folder, data) {
  await run(findProgram('mariadb-install-db'), [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    `--tmpdir=${folder}`, // or two that run at once would remove each other's tables
    ...asOptions(SMALL),
    ...USER,
  ])
}

/** Its root may log in from here by an address too, as MariaDB's may. */
async function initializeMysql(folder, data) {
  const file = join(folder, 'users.sql')
  await writeFile(file, `CREATE USER root@'127.0.0.1'; GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n`)
  const options = { datadir: data, 'init-file': file, ...SMALL }
  await run(MYSQLD, ['--no-defaults', '--initialize-insecure', ...asOptions(options), ...USER])
  await rm(join(data, 'auto.cnf')) // has the server's identity
}

let template // a promise of the data of a server that has never run. It has no identity yet, so every server may have a copy.

async function install() {
  const folder = await freshFolder('mysql-template')
  const data = join(folder, 'data')
  await (isMysql ? initializeMysql : installMariadb)(folder, data)
  return data
}

/** Like MariaDB: no binary log unless a test wants one, no second port, files from everywhere, and plans as rows. */
const mysqlSettings = (settings) => ({
  mysqlx: 0,
  'secure-file-priv': '',
  'explain-format': 'TRADITIONAL',
  'plugin-load-add': 'semisync_source.so;semisync_replica.so',
  ...('log-bin' in settings ? { 'gtid-mode': 'ON', 'enforce-gtid-consistency': 'ON' } : { 'skip-log-bin': 1 }),
})

/** A running server; `settings` are options of its command line, and `environment` its variables. */
export async function startMysql(settings = {}, environment = {}, machine = HERE) {
  const [port, folder] = [settings.port ?? (await freePort()), await freshFolder('mysql')]
  const data = join(folder, 'data')
  template ??= install()
  await cp(await template, data, { recursive: true })
  const all = {
    datadir: data,
    tmpdir: folder,
    port,
    'bind-address': machine.host,
    socket: join(folder, 'socket'),
    'pid-file': join(folder, 'pid'),
    'skip-name-resolve': 1,
    'max-connections': 1000,
    ...SMALL,
    ...accessTo(machine),
    ...(isMysql && mysqlSettings(settings)),
    ...settings,
  }
  const program = [MYSQLD || findProgram('mariadbd', PLACES), '--no-defaults', ...USER, ...asOptions(all)]
  const command = machine.inside(withVariables({ ...environment, ...machine.environment }, program))
  const server = new MysqlServer({ command, folder, isReady: () => server.query('SELECT 1') })
  Object.assign(server, { port, host: machine.host, url: `mysql://root@${machine.host}:${port}/` })
  return server.start()
}

/** A replica that follows `primary`, which has a binary log, from its first write on. */
export async function startReplica(primary, settings = {}, machine = HERE) {
  const replica = await startMysql({ 'server-id': 2, ...settings }, {}, machine)
  await replica.query(
    `CHANGE MASTER TO MASTER_HOST = '${primary.host ?? HERE.host}', MASTER_PORT = ${primary.port}, MASTER_USER = 'root',
      MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos; START SLAVE`,
  )
  return replica
}

/** SQL for the transactions in a server's binary log. */
export const WRITTEN = isMysql ? '@@gtid_executed' : '@@gtid_binlog_pos'
const WAIT_FOR = isMysql ? 'WAIT_FOR_EXECUTED_GTID_SET' : 'MASTER_GTID_WAIT'

/** Waits until `replica` has everything that `primary` has written. */
export async function untilCaughtUp(replica, primary) {
  const [{ written }] = await primary.query(`SELECT ${WRITTEN} AS written`)
  await until(async () => {
    const [{ reached }] = await replica.query(`SELECT ${WAIT_FOR}(?, 0.1) AS reached`, [written])
    return reached === 0
  })
}

const ofPool = (pool) => ({ client: pool, end: () => pool.end() })

/** A connection that handles the end of its server: otherwise the process would end with it. */
function listening(connected) {
  connected.client.on('error', () => {})
  return connected
}

/** A client of each package for an address, and how to end it. `options` are the client's. */
export const CLIENTS = {
  'a pool of mysql2': async (url, options) => ofPool(mysql2().createPool({ uri: url, ...options })),
  'a pool of mysql2 with callbacks': async (url, options) => {
    const pool = mysql2Callback().createPool({ uri: url, ...options })
    return { client: pool, end: () => pool.promise().end() }
  },
  'a connection of mysql2': async (url, options) =>
    listening(ofPool(await mysql2().createConnection({ uri: url, ...options }))),
  'a connection of mysql2 with callbacks': async (url, options) => {
    const connection = mysql2Callback().createConnection({ uri: url, ...options })
    return listening({ client: connection, end: () => connection.promise().end() })
  },
  'a pool of mariadb': async (url, options) => ofPool(mariadb().createPool({ ...mariadbOptions(url), ...options })),
  'a connection of mariadb': async (url, options) =>
    listening(ofPool(await mariadb().createConnection({ ...mariadbOptions(url), ...options }))),
}

function mariadbOptions(url) {
  const { hostname, port, username, pathname } = new URL(url)
  return { host: hostname, port: Number(port), user: username, database: pathname.slice(1), connectTimeout: 10_000 }
}

/** The server's clock in Unix ms. */
export async function serverNow(server) {
  const [{ now }] = await server.query('SELECT FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000) AS now')
  return Number(now)
}
