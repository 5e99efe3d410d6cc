'use strict'

// Makes our own PostgreSQL client for a URL, with the client package that the user's project has. It must never load a
// package before it is needed: flakeforge depends on neither.

const { loadClient } = require('../versions')
const { inTime } = require('../../../base/in-time.js')
const { StatementRunner, pgCalls, sqlCalls } = require('./client')

const CONNECT_SECONDS = 5
/** A lease needs one connection at a time; a second one for a step that is stuck. */
const MOST_CONNECTIONS = 2
/** How long it may take to end a client: all work is done by then, except for a step that is stuck. */
const END_MS = CONNECT_SECONDS * 1000

/** Ends a client. If a step is stuck, it leaves the client alone, which does not keep the process alive. */
const endInTime = (end) => inTime(end(), END_MS).catch(() => {})

function openPg({ Pool }, url) {
  const pool = new Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_SECONDS * 1000,
    keepAlive: true,
    allowExitOnIdle: true, // a lease does not keep a process alive
  })
  // A server that goes away tells each idle connection; the next step reports it.
  pool.on('error', () => {})
  return new StatementRunner(pool, pgCalls(pool), { close: () => endInTime(() => pool.end()) })
}

function openPostgresJs(postgres, url) {
  const connect = () =>
    postgres(url, {
      max: MOST_CONNECTIONS,
      connect_timeout: CONNECT_SECONDS,
      backoff: 0.1, // seconds; otherwise it grows to 20, and a step would wait instead of failing
      idle_timeout: CONNECT_SECONDS, // an open connection keeps the process alive
      prepare: false,
      fetch_types: false,
      onnotice: () => {}, // such as: this table exists already
    })
  let sql = connect()
  const calls = {
    isBusy: () => false,
    send: (...args) => sqlCalls(sql).send(...args),
    make: (text) => sqlCalls(sql).make(text),
  }
  let isClosed = false
  // Its connections may have died silently, and it has no time limit for a query: the next step opens new ones.
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

/** Our own client for a URL, made with the project's package. It connects at the first step. */
function openClient(url) {
  const { name, loaded } = loadClient('postgres', Object.keys(OPEN))
  return OPEN[name](loaded, url)
}

module.exports = { openClient, openPg, openPostgresJs }
