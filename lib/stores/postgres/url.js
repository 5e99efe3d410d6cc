'use strict'

// A PostgreSQL client of our own for a URL, by whichever client package the user's project has.
// It must never load one before it is asked for: flakeforge depends on neither.

const { storeError } = require('../../errors')
const { load } = require('../packages')
const { StatementRunner, pgCalls, sqlCalls } = require('./client')

const CONNECT_SECONDS = 5
/** A lease needs one connection at a time; a second one for a step that is stuck. */
const MOST_CONNECTIONS = 2

function openPg({ Pool }, url) {
  const pool = new Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_SECONDS * 1000,
    keepAlive: true,
    allowExitOnIdle: true, // a lease does not keep a process alive
  })
  // A server that goes away tells each idle connection; the next step says so to whoever waits for it.
  pool.on('error', () => {})
  return new StatementRunner(pool, pgCalls(pool), () => pool.end())
}

function openPostgresJs(postgres, url) {
  const sql = postgres(url, {
    max: MOST_CONNECTIONS,
    connect_timeout: CONNECT_SECONDS,
    backoff: 0.1, // seconds; it grows to 20 otherwise, and a step would not fail but wait
    idle_timeout: CONNECT_SECONDS, // an open connection keeps the process alive
    prepare: false,
    fetch_types: false,
    onnotice: () => {}, // tables that are there already
  })
  return new StatementRunner(sql, sqlCalls(sql), () => sql.end({ timeout: CONNECT_SECONDS }))
}

/** A client of our own for a URL, by the package that the project has. It connects at the first step. */
function openClient(url) {
  const pg = load('pg')
  if (pg !== undefined) return openPg(pg, url)
  const postgres = load('postgres')
  if (postgres !== undefined) return openPostgresJs(postgres, url)
  throw storeError('a postgres:// store needs a client package: `npm install pg` (or `postgres`)')
}

module.exports = { openClient, openPg, openPostgresJs }
