// PostgreSQL for tests: a server with its own data, a standby of one, or PgBouncer before one. A PostgreSQL that was
// running before is never touched. Writes need not survive the machine here (fsync is off), except where a test says
// otherwise.

import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { appendFile, chown, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findProgram, freePort, freshFolder, HERE, Server, wantProgram, withVariables } from './server.mjs'

const require = createRequire(import.meta.url) // a client is loaded where it is used: many processes use one or none
const run = promisify(execFile)

// Debian keeps the servers of each version apart, and outside of PATH.
const VERSIONS = '/usr/lib/postgresql'
const PLACES = existsSync(VERSIONS)
  ? readdirSync(VERSIONS)
      .sort((a, b) => b - a)
      .map((version) => join(VERSIONS, version, 'bin'))
  : []

const program = (name) => findProgram(name, PLACES)

/** Whether these tests can run: the path of the server, or undefined with a loud message. */
export const wantPostgres = () => wantProgram('postgres', PLACES)

export const wantPgbouncer = () => wantProgram('pgbouncer', ['/usr/sbin'])

// None of these programs runs as root. setpriv becomes the program, so that signals reach it; a process that changes
// its user is no longer tied to its parent, so it requests that once more.
const isRoot = process.getuid?.() === 0
const USER = isRoot ? 'postgres' : process.env.USER
const unprivileged = (command) =>
  isRoot
    ? ['setpriv', '--pdeathsig=KILL', `--reuid=${USER}`, `--regid=${USER}`, '--init-groups', '--', ...command]
    : command

async function ownFolder(name) {
  const folder = await freshFolder(name)
  if (isRoot) {
    const ids = await Promise.all(['-u', '-g'].map(async (which) => (await run('id', [which, USER])).stdout))
    await chown(folder, ...ids.map(Number))
  }
  return folder
}

async function runUnprivileged(...command) {
  await runOn(HERE, command)
}

async function runOn(machine, command) {
  const [first, ...args] = machine.inside(unprivileged(command))
  await run(first, args)
}

class PostgresServer extends Server {
  #pool

  /** Opens a new pool: the old one may still have a connection to a process of the killed server, which would answer. */
  async start() {
    await this.#pool?.end()
    this.#pool = undefined
    return super.start()
  }

  /** One statement by the superuser, or several without values; returns the rows. */
  async query(text, values) {
    this.#pool ??= CLIENTS.pg(this.url)
    return (await this.#pool.client.query(text, values)).rows
  }

  /** The address for another role. */
  urlOf(role) {
    return this.url.replace('tester@', `${role}@`)
  }

  async stop() {
    await this.#pool?.end()
    await this.kill('SIGQUIT') // ends the processes of its sessions too
    await super.stop()
  }
}

const urlAt = ({ host, port }) => `postgres://tester@${host}:${port}/postgres`

/** Starts a server on existing data. */
async function startOn(folder, { port, ...settings }, machine = HERE) {
  port ??= await freePort()
  const all = { port, listen_addresses: machine.host, unix_socket_directories: '', fsync: 'off', ...settings }
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const postgres = [program('postgres'), '-D', join(folder, 'data'), ...options]
  const command = machine.inside(unprivileged(withVariables(machine.environment, postgres)))
  const server = new PostgresServer({ command, folder, isReady: () => server.query('SELECT 1') })
  Object.assign(server, { port, host: machine.host, url: urlAt({ host: machine.host, port }) })
  return server.start()
}

/** A running server; `settings` as in postgresql.conf. */
export async function startPostgres(settings = {}, machine = HERE) {
  const [folder, options] = [
    await ownFolder('postgres'),
    ['--username=tester', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
  ]
  const data = join(folder, 'data')
  await runUnprivileged(program('initdb'), '-D', data, ...options)
  const neighbours = ['all', 'replication'].map((what) => `host ${what} all samenet trust\n`)
  await appendFile(join(data, 'pg_hba.conf'), neighbours.join(''))
  return startOn(folder, settings, machine)
}

/** A base backup of a running server. Returns a function that restores it over the server's data, after a crash. */
export async function takeBackup(server) {
  const [data, backup] = ['data', 'backup'].map((name) => join(server.folder, name))
  await runUnprivileged(program('pg_basebackup'), '-D', backup, '-d', server.url, '--checkpoint=fast', '--no-sync')
  return async () => {
    await server.kill('SIGQUIT')
    await rm(data, { recursive: true })
    await rename(backup, data)
    await server.start()
  }
}

/** A standby that follows the server at a URL; `settings` as in postgresql.conf. */
export async function startStandby({ url }, settings = {}, machine = HERE) {
  const folder = await ownFolder('standby')
  const options = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  await runOn(machine, [program('pg_basebackup'), '-D', join(folder, 'data'), '-d', url, ...options])
  return startOn(folder, settings, machine)
}

/**
 * PgBouncer before a server. By its mode a client has a connection of the server for a session, a transaction or a
 * statement; in the last two there are fewer of them than clients.
 */
export async function startPgbouncer(server, mode = 'transaction') {
  const [port, folder] = [await freePort(), await ownFolder('pgbouncer')]
  const lines = [
    '[databases]',
    `* = host=${server.host} port=${server.port} user=tester`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${mode === 'session' ? 100 : 3}`,
    'server_login_retry = 1', // seconds in which it does not retry a server that was down
  ]
  await writeFile(join(folder, 'pgbouncer.ini'), `${lines.join('\n')}\n`)
  const command = unprivileged([wantPgbouncer(), join(folder, 'pgbouncer.ini')])
  const bouncer = new PostgresServer({ command, folder, isReady: () => bouncer.query('SELECT 1') })
  Object.assign(bouncer, { port, url: urlAt({ host: HERE.host, port }) })
  return bouncer.start()
}

/** A client of each package for an address, and how to end it. */
export const CLIENTS = {
  pg: (url, options) => {
    const { Pool } = require('pg')
    const client = new Pool({ connectionString: url, ...options })
    client.on('error', () => {}) // a server that is stopped says goodbye to idle connections
    return { client, end: () => client.end() }
  },
  'postgres.js': (url, options) => {
    const client = require('postgres')(url, { onnotice: () => {}, backoff: 0.1, ...options })
    return { client, end: () => client.end({ timeout: 5 }) }
  },
}

/** The server's clock in Unix ms, as the statements read it. */
export async function serverNow(server) {
  const [{ now }] = await server.query('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS now')
  return Number(now)
}

/**
 * Stops the process that writes the log for others, and returns its process ID. It must be asleep by then: otherwise it
 * may hold a lock that every commit needs.
 */
export async function stopWalWriter(server) {
  const find = async () => {
    const [row] = await server.query(
      "SELECT pid, wait_event = 'WalWriterMain' AS sleeps FROM pg_stat_activity WHERE backend_type = 'walwriter'",
    )
    return row
  }
  for (;;) {
    const { pid } = await find()
    process.kill(pid, 'SIGSTOP')
    if ((await find()).sleeps) return pid
    process.kill(pid, 'SIGCONT')
    await sleep(5)
  }
}
