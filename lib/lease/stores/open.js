'use strict'
// @ts-check

// Opens stores: on a client that the user gives (the exports fileStore, redisStore and so on), or as the user names one,
// by an address or by nothing at all, which means the store that the environment names or the default folder.
//
// An ES import of flakeforge loads this file. It must never load more before that is needed: most programs need one
// store, or none.

const { errors, isAbsent } = require('../../base/check.js')

/**
 * @import { RecordStore } from '../../../types/stores.d.ts'
 * @import { SlotStore } from './database.js'
 */

const address = () => require('./address.js')
const path = () => require('node:path')

/** @param {string | null} [directory] */
const fileStore = (directory) => require('../../files/file-store.js').fileStore(directory)
/** @param {unknown} client */
const redisStore = (client) => require('./redis.js').redisStore(client)
/** @param {unknown} pool */
const postgresStore = (pool) => require('./postgres.js').postgresStore(pool)
/** @param {unknown} client */
const mysqlStore = (client) => require('./mysql.js').mysqlStore(client)
/** @param {unknown} options */
const etcdStore = (options) => require('./etcd.js').etcdStore(options)
/** @param {RecordStore} store */
const recordStore = (store) => require('./record-store.js').recordStore(store)

/**
 * How the address of each scheme is opened.
 * @type {Record<string, (url: string) => SlotStore>}
 */
const OPEN = {
  'file:': openFile,
  'redis:': (url) => require('./redis.js').openRedis(url),
  'rediss:': (url) => require('./redis.js').openRedis(url),
  'postgres:': (url) => require('./postgres.js').openPostgres(url),
  'postgresql:': (url) => require('./postgres.js').openPostgres(url),
  'mysql:': (url) => require('./mysql.js').openMysql(url),
  'mariadb:': (url) => require('./mysql.js').openMysql(url),
  'etcd:': (url) => require('./etcd.js').openEtcd(url),
  'etcds:': (url) => require('./etcd.js').openEtcd(url),
}

const WANTED_ADDRESS = "an address such as 'file:DIR', 'redis://…', 'postgres://…', 'mysql://…' or 'etcd://…'"
const WANTED = `a store, or ${WANTED_ADDRESS}`
const UNREADABLE = 'a valid address, in whose password @ is written as %40, / as %2F and % as %25'
const STEPS = ['create', 'acquire', 'renew', 'release', 'destroy', 'advance', 'list']

/**
 * Refuses anything that is not a store, before anything is opened.
 * @param {unknown} given
 * @param {string} call the function that got it, for the message
 */
function checkStore(given, call) {
  if (isAbsent(given) || typeof given === 'string') return
  if (typeof given !== 'object') throw errors().optionTypeError('store', given, WANTED)
  const store = /** @type {Record<string, unknown>} */ (given)
  const missing = STEPS.filter((step) => typeof store[step] !== 'function')
  if (missing.length === STEPS.length && isPlain(store)) throw errors().optionsFirstError(call, store)
  if (missing.length > 0) {
    const message = `store must be ${WANTED}, but has no ${missing[0]}()`
    throw errors().optionError(TypeError, 'store', store, message)
  }
}

/**
 * A store, and a function that closes what was opened for it; that never closes the user's own client.
 * @param {unknown} given what checkStore() let pass
 */
function openStore(given) {
  if (isAbsent(given)) return owned(openDefault())
  if (typeof given === 'string') return owned(openUrl(given))
  return { store: /** @type {SlotStore} */ (given), close: async () => {} }
}

/**
 * Whether it looks like options, which should be the second argument.
 * @param {object} given
 */
function isPlain(given) {
  const prototype = Object.getPrototypeOf(given)
  return (prototype === null || prototype === Object.prototype) && Object.keys(given).length > 0
}

/**
 * Ends our own client once, however often its generator is closed.
 * @param {SlotStore} store
 */
function owned(store) {
  /** @type {Promise<void> | undefined} */
  let closing
  const end = async () => store.close?.()
  const close = () => {
    closing ??= end()
    return closing
  }
  return { store, close }
}

/**
 * The store that an address names, for those who use one store for several groups.
 * @param {unknown} [address]
 */
function openAddress(address) {
  if (!isAbsent(address) && typeof address !== 'string')
    throw errors().optionTypeError('address', address, WANTED_ADDRESS)
  return openStore(address).store
}

/** @param {string} url */
function openUrl(url) {
  const scheme = /^[a-z]+:/i.exec(url)?.[0].toLowerCase() ?? ''
  const open = OPEN[scheme]
  if (open === undefined) throw unknownAddressError(url)
  try {
    return open(url)
  } catch (error) {
    throw unopenedError(url, error)
  }
}

/**
 * Why an address could not be opened. An error that is not ours may contain the address with its password, so we neither
 * quote it nor keep it as the cause.
 * @param {string} url
 * @param {unknown} error
 */
function unopenedError(url, error) {
  if (errors().isFlakeError(error)) return error
  const { code, name } = /** @type {NodeJS.ErrnoException} */ (error)
  if (code === 'ERR_INVALID_URL' || error instanceof URIError) return address().addressError(url, UNREADABLE)
  const { withoutPassword } = address()
  return errors().storeError(`The client package for ${withoutPassword(url)} failed with ${code ?? name}.`)
}

/**
 * The error for an address of no store. If it is a plain path, it may be meant as a folder.
 * @param {string} url
 */
function unknownAddressError(url) {
  const error = address().addressError(url, WANTED)
  const { isAbsolute } = path().win32 // it knows the paths of both kinds of systems
  if (/^[./~]|^[a-z]:[\\/]/i.test(url))
    error.message += `. Did you mean 'file:${isAbsolute(url) ? url : errors().meantPath(url)}'?`
  return error
}

/**
 * Opens 'file:DIR', where DIR is an absolute path, or a file URL.
 * @param {string} url
 */
function openFile(url) {
  const folder = url.startsWith('file://') ? require('node:url').fileURLToPath(url) : url.slice('file:'.length)
  if (folder === '') {
    throw errors().optionRangeError('store', url, "the address of a folder, such as 'file:/var/lib/app/ids'")
  }
  if (!path().isAbsolute(folder)) throw errors().relativePathError('store', url, folder)
  return fileStore(folder)
}

/** The store that `FLAKEFORGE_STORE` names, or else the default folder. */
function openDefault() {
  const named = process.env.FLAKEFORGE_STORE
  if (!named) return fileStore()
  try {
    return openUrl(named)
  } catch (error) {
    throw errors().variableError(error)
  }
}

module.exports = {
  checkStore,
  openAddress,
  openStore,
  fileStore,
  redisStore,
  postgresStore,
  mysqlStore,
  etcdStore,
  recordStore,
}
