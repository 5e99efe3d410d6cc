'use strict'

// Opens the store that the user names: an adapter as it is, a URL, or nothing, which means the store that the
// environment names or the default folder. An adapter's file and the user's client package are loaded only when needed.

const { fileURLToPath } = require('node:url')
const { fileStore } = require('../../files/file-store.js')
const { isAbsent } = require('../../base/check.js')
const { withoutPassword } = require('./without-password.js')
const {
  optionError,
  optionRangeError,
  optionTypeError,
  optionsFirstError,
  storeError,
  variableError,
} = require('../../base/errors.js')

const WANTED = "a store, or an address such as 'file:DIR', 'redis://…', 'postgres://…', 'mysql://…' or 'etcd://…'"
const UNREADABLE = 'a valid address, in whose password @ is written as %40, / as %2F and % as %25'
const STEPS = ['create', 'acquire', 'renew', 'release', 'destroy', 'advance', 'list']

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

/**
 * Refuses anything that is not a store, before anything is opened. `call`: the function that got it, for the message.
 */
function checkStore(given, call) {
  if (isAbsent(given) || typeof given === 'string') return
  if (typeof given !== 'object') throw optionTypeError('store', given, WANTED)
  const missing = STEPS.filter((step) => typeof given[step] !== 'function')
  if (missing.length === STEPS.length && isPlain(given)) throw optionsFirstError(call, given)
  if (missing.length > 0) {
    throw optionError(TypeError, 'store', given, `store must be ${WANTED}, but has no ${missing[0]}()`)
  }
}

/**
 * A store, and a function that closes what was opened for it; that never closes the user's own client. `given` has been
 * checked.
 */
function openStore(given) {
  if (isAbsent(given)) return owned(openDefault())
  if (typeof given === 'string') return owned(openUrl(given))
  return { store: given, close: async () => {} }
}

/** Whether it looks like options, which should be the second argument. */
function isPlain(given) {
  const prototype = Object.getPrototypeOf(given)
  return (prototype === null || prototype === Object.prototype) && Object.keys(given).length > 0
}

/** Ends our own client once, however often its generator is closed. */
function owned(store) {
  let closing
  const end = async () => store.close?.()
  const close = () => {
    closing ??= end()
    return closing
  }
  return { store, close }
}

function openUrl(url) {
  const scheme = /^[a-z]+:/i.exec(url)?.[0].toLowerCase()
  const open = OPEN[scheme]
  if (open === undefined) throw addressError(url)
  try {
    return open(url)
  } catch (error) {
    if (error.code?.startsWith('ERR_FLAKE_')) throw error
    // Any other error may contain the address with its password, so we neither quote it nor keep it as the cause.
    const shown = withoutPassword(url)
    if (error.code !== 'ERR_INVALID_URL' && !(error instanceof URIError)) {
      throw storeError(`The client package for ${shown} failed with ${error.code ?? error.name}.`)
    }
    throw optionRangeError('store', shown, UNREADABLE)
  }
}

/** The error for a bad address. If it is a plain path, it may be meant as a folder. */
function addressError(url) {
  const error = optionRangeError('store', withoutPassword(url), WANTED)
  if (/^[./~]|^[a-z]:\\/i.test(url)) error.message += `. Did you mean 'file:${url}'?`
  return error
}

/** 'file:DIR' with a plain path, as on a command line, or a file URL. */
function openFile(url) {
  const folder = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length)
  if (folder === '') throw optionRangeError('store', url, "the address of a folder, such as 'file:/var/lib/app/ids'")
  return fileStore(folder)
}

/** The store that `FLAKEFORGE_STORE` names, or else the default folder. */
function openDefault() {
  const named = process.env.FLAKEFORGE_STORE
  if (!named) return fileStore()
  try {
    return openUrl(named)
  } catch (error) {
    throw variableError(error)
  }
}

module.exports = { checkStore, openStore }
