'use strict'

// Makes our own MySQL client for a URL, with the client package that the user's project has. It must never load a package
// before it is needed: flakeforge depends on neither.

const { connect } = require('node:net')
const { loadClient } = require('../versions.js')
const { withoutPassword } = require('../without-password.js')
const { optionRangeError } = require('../../../base/errors.js')
const { inTime } = require('../../../base/in-time.js')
const { SessionRunner } = require('./client.js')
const { fromMariadb, fromMysql2 } = require('./packages.js')

const CONNECT_MS = 5000
/** A lease needs one connection at a time; a second one for a step that is stuck. */
const LIMITS = { connectionLimit: 2, connectTimeout: CONNECT_MS }
/** How long it may take to end a client: all work is done by then, except for a step that is stuck. */
const END_MS = CONNECT_MS

/** Ends a client. If a step is stuck, it leaves the client alone, which does not keep the process alive. */
const endInTime = (end) => inTime(end(), END_MS).catch(() => {})

function openMysql2({ createPool }, url) {
  const pool = createPool({ ...LIMITS, uri: url })
  pool.on('connection', ({ stream }) => stream.unref()) // a lease does not keep a process alive
  const end = () => new Promise((resolve) => pool.end(resolve))
  return new SessionRunner(pool, fromMysql2(pool), () => endInTime(end))
}

function openMariadb({ createPool, defaultOptions }, url) {
  const options = defaultOptions(url.replace(/^[a-z]+/i, 'mariadb')) // it knows no other scheme
  const pool = createPool({
    ...options,
    ...LIMITS,
    minimumIdle: 1, // with 0, some versions never connect
    idleTimeout: 0, // its timer would keep the process alive, and so would a socket
    acquireTimeout: CONNECT_MS,
    stream: () => connect(options.port, options.host).setNoDelay().unref(),
  })
  pool.on('error', () => {}) // the step reports it
  return new SessionRunner(pool, fromMariadb(pool), () => endInTime(() => pool.end()))
}

const OPEN = { mysql2: openMysql2, mariadb: openMariadb }

/** Our own client for a URL, made with the project's package. It connects at the first step. */
function openClient(url) {
  if (new URL(url).pathname.length < 2) {
    throw optionRangeError('store', withoutPassword(url), 'an address with a database, as in mysql://HOST/DATABASE')
  }
  const { name, loaded } = loadClient('mysql', Object.keys(OPEN))
  return OPEN[name](loaded, url)
}

module.exports = { openClient, openMysql2, openMariadb }
