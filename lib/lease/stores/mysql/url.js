'use strict'
// @ts-check

// Makes our own MySQL client for a URL, with the client package that the user's project has. It must never load a package
// before it is needed: flakeforge depends on neither.

const { connect } = require('node:net')
const { addressError } = require('../address.js')
const { openWithPackage } = require('../client-packages.js')
const { endInTime } = require('../clients.js')
const { SessionRunner } = require('./client.js')
const { fromMariadb, fromMysql2 } = require('./packages.js')

/**
 * @import { Mariadb, Mysql2 } from './packages.js'
 */

/**
 * What a pool of mysql2 of our own can do beside that.
 * @typedef {object} OwnMysql2
 * @property {(event: string, listener: (connection: { stream: { unref(): void } }) => void) => void} on
 * @property {(ended: (error?: Error) => void) => void} end
 */

/**
 * The same for mariadb.
 * @typedef {{ on(event: string, listener: () => void): void, end(): Promise<void> }} OwnMariadb
 */

/**
 * What we need of the package mariadb.
 * @typedef {object} MariadbExports
 * @property {(options: object) => Mariadb & OwnMariadb} createPool
 * @property {(url: string) => { port: number, host: string }} defaultOptions
 */

const CONNECT_MS = 5000
/** A lease needs one connection at a time; a second one for a step that is stuck. */
const LIMITS = { connectionLimit: 2, connectTimeout: CONNECT_MS }

/**
 * @param {{ createPool(options: object): Mysql2 & OwnMysql2 }} exports of mysql2
 * @param {string} url
 */
function openMysql2({ createPool }, url) {
  const pool = createPool({ ...LIMITS, uri: url })
  pool.on('connection', ({ stream }) => stream.unref()) // a lease does not keep a process alive
  const end = () => new Promise((resolve) => pool.end(resolve))
  return new SessionRunner(pool, fromMysql2(pool), () => endInTime(end))
}

/**
 * @param {MariadbExports} exports
 * @param {string} url
 */
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

/** @param {string} url */
function openClient(url) {
  if (new URL(url).pathname.length < 2) {
    throw addressError(url, 'an address with a database, as in mysql://HOST/DATABASE')
  }
  return openWithPackage('mysql', OPEN, url)
}

module.exports = { openClient, openMysql2, openMariadb }
