// PostgreSQL and its clients, for tests that run on all databases: how to start a server, changes behind the store's
// back, how to break it, and a row for each client. Sites are a server, and PgBouncer before one in each of its modes.

import { createRequire } from 'node:module'
import pg from 'pg'
import postgresJs from 'postgres'
import * as postgres from '../../servers/postgres.mjs'
import { until } from '../../servers/server.mjs'

const require = createRequire(import.meta.url)
const { postgresClient } = require('../../../target/rooms/lib/stores/postgres/client.js')
const { PostgresRecords } = require('../../../target/rooms/lib/stores/postgres/records.js')
const { schemaFor } = require('../../../target/rooms/lib/stores/postgres/schema.js')
const { openPg, openPostgresJs } = require('../../../target/rooms/lib/stores/postgres/url.js')
const { openPostgres, postgresStore } = require('../../../target/rooms/lib/stores/postgres.js')

/** Server settings that keep acknowledged writes. */
const KEEPS = { fsync: 'on' }

/** The database of a site that was just started. */
const FIRST = 'postgres'

async function startServer(settings = {}) {
  const server = await postgres.startPostgres(settings)
  return { server, url: server.url, database: FIRST, stop: () => server.stop() }
}

async function startReplicated() {
  const site = await startServer()
  const replica = await postgres.startStandby(site.server)
  const stop = async () => {
    await replica.stop()
    await site.stop()
  }
  return { ...site, replica, stop }
}

const MODES = ['session', 'transaction', 'statement']

/** PgBouncer in each of its modes, before one server. */
const BOUNCERS = {
  isInstalled: () => postgres.wantPgbouncer() !== undefined,
  async start(settings) {
    const site = await startServer(settings)
    const bouncers = await Promise.all(MODES.map((mode) => postgres.startPgbouncer(site.server, mode)))
    const stop = async () => {
      await Promise.all(bouncers.map((bouncer) => bouncer.stop()))
      await site.stop()
    }
    return { ...site, bouncers, stop }
  },
}

/** The address of the PgBouncer in this mode. */
const addressOf = ({ bouncers, database }, mode) => bouncers[MODES.indexOf(mode)].url.replace(/postgres$/, database)

const { pg: poolOf, 'postgres.js': sqlOf } = postgres.CLIENTS

/** The one connection that a user has opened. */
async function connectionOf({ url }, change = () => {}) {
  const client = new pg.Client(url)
  client.on('error', () => {}) // a server that is stopped says goodbye
  await client.connect()
  change(client)
  return { client, end: () => client.end() }
}

/** Like clients of pg before it reported the state of a transaction. */
const olderConnectionOf = (site) =>
  connectionOf(site, (client) => {
    client.getTransactionStatus = undefined
  })

const query = (client, text) => (client.query ? client.query(text) : client.unsafe(text))

const transaction = {
  begin: (client) => query(client, 'BEGIN'),
  end: (client) => query(client, 'ROLLBACK'),
  refused: { message: /outside of a transaction/ },
}

/** A session that finds another table of the same name first. */
async function moveElsewhere(client) {
  await query(client, `CREATE SCHEMA IF NOT EXISTS elsewhere`)
  await query(client, String(schemaFor('elsewhere')))
  await query(client, 'SET search_path TO elsewhere')
}

const ofPg = {
  connect: async ({ url }, options) => poolOf(url, options),
  options: [{ types: { getTypeParser: () => (text) => `${text}!` } }, { query_timeout: 20_000 }],
}
const ofPostgresJs = {
  connect: async ({ url }, options) => sqlOf(url, options),
  options: [{ transform: postgresJs.toPascal }, { types: { bigint: postgresJs.BigInt } }, { prepare: false }],
}

/** postgres.js leaves the failure of its own query for types to the process, as an unhandled rejection. */
const WITHOUT_TYPES = { fetch_types: false }

const own = (open) => ({
  isOurs: true,
  connect: async ({ url }) => {
    const client = open(url)
    return { client, end: () => client.close() }
  },
  recordsOf: (client) => new PostgresRecords(client),
})

const POOLED = { options: { max: 1 } }

const ROWS = {
  pg: {
    isFull: true,
    drops: true,
    ...ofPg,
    pool: {
      ...POOLED,
      async take(pool) {
        const client = await pool.connect()
        return () => client.release()
      },
    },
    transaction: { ...transaction, options: { max: 1 } },
    move: moveElsewhere,
    moveOptions: { max: 1 },
  },
  'postgres.js': {
    isFull: true,
    ...ofPostgresJs,
    pool: {
      ...POOLED,
      async take(sql) {
        const reserved = await sql.reserve()
        return () => reserved.release()
      },
    },
    transaction: { ...transaction, options: { max: 1 } },
    move: moveElsewhere,
    moveOptions: { max: 1 },
    tellsNoWarnings: true,
  },
  'a Client of pg': {
    connect: (site) => connectionOf(site),
    isOneConnection: true,
    transaction,
    move: moveElsewhere,
  },
  'a Client of an older pg': { connect: olderConnectionOf, isOneConnection: true, transaction },
  'a URL, by pg': own((url) => openPg(pg, url)),
  'a URL, by postgres.js': own((url) => openPostgresJs(postgresJs, url)),
}

for (const mode of MODES) {
  ROWS[`pg behind PgBouncer, mode ${mode}`] = {
    site: 'bouncers',
    connect: async (site, options) => poolOf(addressOf(site, mode), options),
  }
  ROWS[`postgres.js behind PgBouncer, mode ${mode}`] = {
    site: 'bouncers',
    connect: async (site, options) => sqlOf(addressOf(site, mode), { ...WITHOUT_TYPES, ...options }),
    tellsNoWarnings: true,
  }
}

/** A trigger that rejects each write of the table. */
const refusing = (name, what) => ({
  break: ({ server }) =>
    server.query(`
      CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE ${what}; END $$;
      CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE ON flakeforge_record EXECUTE FUNCTION ${name}()`),
  mend: ({ server }) => server.query(`DROP FUNCTION ${name}() CASCADE`),
})

/** A setting of the server, once all sessions have it. */
async function configure(server, name, value) {
  await server.query(`ALTER SYSTEM SET ${name} = '${value}'`)
  await server.query('SELECT pg_reload_conf()')
  await until(async () => (await server.query(`SHOW ${name}`))[0][name] === value)
}

const isReadOnly =
  (value) =>
  ({ server }) =>
    configure(server, 'default_transaction_read_only', value)

export const POSTGRES = {
  /** The calls of a client run one after the other. */
  takesTurns: true,
  isInstalled: () => postgres.wantPostgres() !== undefined,
  /** A server that keeps acknowledged writes. */
  start: () => postgres.startPostgres(KEEPS),
  keeps: KEEPS,
  urlOf: ({ url }) => url,
  sites: {
    server: startServer,
    replicated: startReplicated,
    bouncers: BOUNCERS,
  },
  rows: ROWS,
  recordsOf: (client) => new PostgresRecords(postgresClient(client)),
  storeOf: postgresStore,
  openUrl: openPostgres,
  get: async (server, ...key) => {
    const [row] = await server.query('SELECT value FROM flakeforge_record WHERE group_name = $1 AND name = $2', key)
    return row?.value ?? null
  },
  put: (server, ...record) =>
    server.query(
      `INSERT INTO flakeforge_record (group_name, name, value) VALUES ($1, $2, $3)
        ON CONFLICT (group_name, name) DO UPDATE SET value = EXCLUDED.value`,
      record,
    ),
  remove: (server, ...key) => server.query('DELETE FROM flakeforge_record WHERE group_name = $1 AND name = $2', key),
  /** A new database of a site. */
  async freshPlace(site, name) {
    await site.server.query(`CREATE DATABASE ${name}`)
    return { ...site, database: name, url: site.url.replace(/postgres$/, name) }
  },
  /** The places of this database that contain our tables. */
  async tablesIn({ server, database }) {
    const { client, end } = poolOf(server.url.replace(/postgres$/, database))
    const { rows } = await client.query("SELECT schemaname FROM pg_tables WHERE tablename = 'flakeforge_record'")
    await end()
    return rows.map(({ schemaname }) => schemaname)
  },
  /** A session that locks the table of a place, and whether another one waits for it. */
  async lockerOf({ server, database }) {
    const client = new pg.Client(server.url.replace(/postgres$/, database))
    await client.connect()
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active' AND datname = $1`
    return {
      lock: () => client.query('BEGIN; LOCK TABLE flakeforge_record'),
      change: (text) => client.query(text),
      unlock: () => client.query('COMMIT'),
      isWaiting: async () => (await server.query(waiting, [database])).length > 0,
      now: () => postgres.serverNow(server),
      end: () => client.end(),
    }
  },
  crash: (server) => server.kill('SIGQUIT'), // ends the processes of its sessions too
  identity: ['process', 'history'],
  signals: ['SIGINT', 'SIGQUIT'],
  /** Texts that it cannot store. */
  refusedTexts: ['\0'],
  durableNeeds: [
    {
      what: 'fsync off',
      settings: {},
      message: /fsync is off.*Leave durable out, or set fsync = on\.$/,
    },
    {
      what: 'an unlogged table',
      settings: KEEPS,
      break: ({ server }) => server.query('ALTER TABLE flakeforge_record SET UNLOGGED'),
      mend: ({ server }) => server.query('ALTER TABLE flakeforge_record SET LOGGED'),
      message: /flakeforge_record is unlogged.*SET LOGGED\.$/,
    },
    {
      what: 'full_page_writes off',
      break: ({ server }) => configure(server, 'full_page_writes', 'off'),
      mend: ({ server }) => configure(server, 'full_page_writes', 'on'),
      message: /full_page_writes is off.*set full_page_writes = on\.$/,
    },
  ],
  /** A site for a role with the rights that the docs name. */
  async asMember(site) {
    await site.server.query('CREATE ROLE reader LOGIN; GRANT SELECT, INSERT, UPDATE ON flakeforge_record TO reader')
    return { ...site, url: site.server.urlOf('reader') }
  },
  refusals: [
    {
      what: 'a role that may only read',
      break: ({ server }) => server.query('REVOKE INSERT, UPDATE ON flakeforge_record FROM reader'),
      mend: ({ server }) => server.query('GRANT INSERT, UPDATE ON flakeforge_record TO reader'),
      message: /GRANT SELECT, INSERT, UPDATE/,
    },
    {
      what: 'a server that takes no writes',
      break: isReadOnly('on'),
      mend: isReadOnly('off'),
      message: /takes no writes.*primary.*default_transaction_read_only/,
    },
    { what: 'a trigger', ...refusing('refuse', `'no'`), message: /PostgreSQL: no/ },
    {
      what: 'a disk that is full',
      ...refusing('fill', `'could not extend file' USING ERRCODE = 'disk_full'`),
      message: /disk of the server is full/,
    },
  ],
  demote: isReadOnly('on'),
  startOther: () => postgres.startPostgres(),
  replicaRefuses: /takes no writes.*primary/,
  async promote({ server, replica }) {
    const [{ written }] = await server.query('SELECT pg_current_wal_lsn()::text AS written')
    await until(async () => {
      const [row] = await replica.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS yes', [written])
      return row.yes
    })
    await replica.query('SELECT pg_promote(true)')
  },
  strangers: {
    values: [null, 'postgres://', () => {}, pg, { query: () => {} }],
    message: /Pool or Client of pg, or the sql function/,
  },
  async connectionsOf({ server, database }) {
    const text = 'SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = $1'
    return (await server.query(text, [database]))[0].count
  },
  packages: ['pg', 'postgres'],
  program: { file: 'postgres', open: 'openPostgres', schemes: ['postgres', 'postgresql'], path: 'postgres' },
  acknowledgement: {
    sites: ['replicated'],
    async break({ server, replica }) {
      await configure(server, 'synchronous_standby_names', '*')
      await replica.kill('SIGQUIT')
    },
    mend: ({ replica }) => replica.start(),
    message: /no answer within/,
  },
}
