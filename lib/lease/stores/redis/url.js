'use strict'
// @ts-check

// Makes our own Redis client for a URL, with the client package that the user's project has. It must never load a
// package before it is needed: flakeforge depends on neither.

const { addressError } = require('../address.js')
const { openWithPackage } = require('../client-packages.js')
const { ScriptRunner } = require('./client.js')
const { ANSWER_MS } = require('../limits.js')
const { isRefusedSelect } = require('./database.js')
const { isOfReplica, ofIoredis, ofNodeRedis } = require('./packages.js')

/**
 * @import { ClientError } from '../clients.js'
 * @import { Ioredis, NodeRedis, RunScript } from './packages.js'
 */

/**
 * What a client of our own can do beside that.
 * @typedef {object} OwnIoredis
 * @property {{ unref(): void }} stream
 * @property {{ unref(): void }} [reconnectTimeout]
 * @property {(reconnect?: boolean) => void} disconnect
 */

/**
 * The same for node-redis; only version 5 has `destroy`.
 * @typedef {object} OwnNodeRedis
 * @property {boolean} isOpen
 * @property {boolean} isReady
 * @property {() => Promise<unknown>} connect
 * @property {() => unknown} disconnect
 * @property {() => unknown} [destroy]
 * @property {() => void} unref
 */

const FORM = 'like redis://[user:password@]host[:6379][/N], where N is the number of the database'

/**
 * @param {{ Redis: new (url: string, options: object) => Ioredis & OwnIoredis }} exports of ioredis
 * @param {string} url
 */
function openIoredis({ Redis }, url) {
  // A step that finds no server fails after a second try: its caller knows better when to try again. If a step gets no
  // answer, the connection may have died silently: it is given up, because a new one may work.
  const options = { lazyConnect: true, maxRetriesPerRequest: 1, socketTimeout: ANSWER_MS }
  const client = new Redis(url, options)
  // A lease does not keep a process alive; a step does, until its time limit.
  client.on('connect', () => client.stream.unref())
  client.on('reconnecting', () => client.reconnectTimeout?.unref())
  // Only a new connection selects the database again, or finds the primary.
  const onFailure = (/** @type {unknown} */ error) => {
    if (isRefusedSelect(error) || isOfReplica(error)) client.disconnect(true)
  }
  return new ScriptRunner(client, ofIoredis(client), { close: () => client.disconnect(), onFailure })
}

/**
 * @param {{ createClient(options: object): NodeRedis & OwnNodeRedis }} exports of redis
 * @param {string} url
 */
function openNodeRedis({ createClient }, url) {
  // Who has no connection makes one, or fails at once: the caller of a step knows better when to try again. A client that
  // tries again by itself would keep the process alive.
  const reconnectStrategy = () => new Error('no connection')
  const client = createClient({ url, socket: { reconnectStrategy } })
  client.unref() // a lease does not keep a process alive; a step does, until its time limit
  const commands = ofNodeRedis(client)
  let isClosed = false
  /** @type {RunScript} */
  const evalSha = async (...args) => {
    if (!isClosed && !client.isOpen) await client.connect()
    return commands.evalSha(...args)
  }
  const end = () => (client.isOpen ? (client.destroy ?? client.disconnect).call(client) : undefined)
  // The connection may have died silently, or lead to a replica: the next step opens another. (socketTimeout would end an
  // idle one.)
  const onFailure = (/** @type {unknown} */ error) => {
    const isLate = /** @type {ClientError} */ (error).code === 'ETIMEDOUT'
    if (client.isReady && (isLate || isOfReplica(error))) Promise.resolve(end()).catch(() => {})
  }
  const close = () => {
    isClosed = true
    return end()
  }
  return new ScriptRunner(client, { ...commands, evalSha }, { close, onFailure })
}

/**
 * If this is not a number, each package would use another database, or crash. Only ioredis knows `?db=` and
 * `?keyPrefix=`.
 * @param {string} url
 */
function checkDatabase(url) {
  const { pathname, searchParams } = new URL(url)
  if (/^\/?\d*$/.test(pathname) && !searchParams.has('db') && !searchParams.has('keyPrefix')) return
  throw addressError(url, FORM)
}

const OPEN = { ioredis: openIoredis, redis: openNodeRedis }

/** @param {string} url */
function openClient(url) {
  checkDatabase(url)
  return openWithPackage('redis', OPEN, url)
}

module.exports = { openClient, openIoredis, openNodeRedis }
