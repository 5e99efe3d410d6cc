'use strict'

// A PostgreSQL client of our own for a URL, by whichever client package the user's project has.
// It must never load one before it is asked for: flakeforge depends on neither.

const { loadClient } = require('../versions')
const { inTime } = require('../../in-time.js')
const { StatementRunner, pgCalls, sqlCalls } = require('./client')

const CONNECT_SECONDS = 5
/** A lease needs one connection at a time; a second one for a step that is stuck. */
const MOST_CONNECTIONS = 2
/** How long an end may take: whoever closes has done what there was to do, and a step may be stuck. */
const END_MS = CONNECT_SECONDS * 1000

/** Ends a client, or leaves it to its step that is stuck, and to the process, which it does not keep alive. */
const endInTime = (end) => inTime(end(), END_MS).catch(() => {})

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
  return new StatementRunner(pool, pgCalls(pool), { close: () => endInTime(() => pool.end()) })
}

function openPostgresJs(postgres, url) {
  const connect = () =>
    postgres(url, {
      max: MOST_CONNECTIONS,
      connect_timeout: CONNECT_SECONDS,
      backoff: 0.1, // seconds; it grows to 20 otherwise, and a step would not fail but wait
      idle_timeout: CONNECT_SECONDS, // an open connection keeps the process alive
      prepare: false,
      fetch_types: false,
      onnotice: () => {}, // tables that are there already
    })
  let sql = connect()
  const calls = {
    isBusy: () => false,
    send: (...args) => sqlCalls(sql).send(...args),
    make: (text) => sqlCalls(sql).make(text),
  }
  let isClosed = false
  // Its connections may have died without a word, and it has no bound for a query: the next step makes others.
  const onFailure = (error) => {
    if (error.code !== 'ETIMEDOUT' || isClosed) return
    const stuck = sql
    sql = connect()
    stuck.end({ timeout: 0 }).catch(() => {})
  }
  const close = () => {
    isClosed = true
    return endInTime(() => sql.end({ timeout: CONNECT_SECONDS }))
  }
  return new StatementRunner(sql, calls, { close, onFailure })
}

const OPEN = { pg: openPg, postgres: openPostgresJs }

/** A client of our own for a URL, by the package that the project has. It connects at the first step. */
function openClient(url) {
  const { name, loaded } = loadClient('postgres', Object.keys(OPEN))
  return OPEN[name](loaded, url)
}

module.exports = { openClient, openPg, openPostgresJs }
