'use strict'

// From what the user names a store by, to the store: an adapter as it is, a URL, or nothing for what the environment names
// or the default folder.
// An adapter's file is loaded when it is needed, and with it the user's client package.

const { fileURLToPath } = require('node:url')
const { fileStore } = require('./file.js')
const { isAbsent } = require('../check.js')
const { withoutPassword } = require('./without-password.js')
const {
  optionError,
  optionRangeError,
  optionTypeError,
  optionsFirstError,
  storeError,
  variableError,
} = require('../errors.js')

const WANTED = "a store, or an address such as 'file:DIR', 'redis://…', 'postgres://…' or 'etcd://…'"
const UNREADABLE = 'a valid address, in whose password @ is written as %40, / as %2F and % as %25'
const STEPS = ['open', 'acquire', 'renew', 'release', 'destroy', 'advance', 'list']

const OPEN = {
  'file:': openFile,
  'redis:': (url) => require('./redis.js').openRedis(url),
  'rediss:': (url) => require('./redis.js').openRedis(url),
  'postgres:': (url) => require('./postgres.js').openPostgres(url),
  'postgresql:': (url) => require('./postgres.js').openPostgres(url),
  'etcd:': (url) => require('./etcd.js').openEtcd(url),
  'etcds:': (url) => require('./etcd.js').openEtcd(url),
}

/** Refuses what is no store, before anything is opened. `call`: what it was given to, for the message. */
function checkStore(given, call) {
  if (isAbsent(given) || typeof given === 'string') return
  if (typeof given !== 'object') throw optionTypeError('store', given, WANTED)
  const missing = STEPS.filter((step) => typeof given[step] !== 'function')
  if (missing.length === STEPS.length && isPlain(given)) throw optionsFirstError(call, given)
  if (missing.length > 0) {
    throw optionError(TypeError, 'store', given, `store must be ${WANTED}, but has no ${missing[0]}()`)
  }
}

/** A store, and how to close what was opened for it; the user's own client is never closed. `given` has been checked. */
function openStore(given) {
  if (isAbsent(given)) return owned(openDefault())
  if (typeof given === 'string') return owned(openUrl(given))
  return { store: given, close: async () => {} }
}

/** Whether it looks like options, which come second. */
function isPlain(given) {
  const prototype = Object.getPrototypeOf(given)
  return (prototype === null || prototype === Object.prototype) && Object.keys(given).length > 0
}

/** A client of ours ends once, however often its generator is closed. */
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
    // What else is thrown may hold the address as it is, with its password: it is neither quoted nor kept as the cause.
    const shown = withoutPassword(url)
    if (error.code !== 'ERR_INVALID_URL' && !(error instanceof URIError)) {
      throw storeError(`The client package for ${shown} failed with ${error.code ?? error.name}.`)
    }
    throw optionRangeError('store', shown, UNREADABLE)
  }
}

/** An address that is none; a plain path may be meant as a folder. */
function addressError(url) {
  const error = optionRangeError('store', withoutPassword(url), WANTED)
  if (/^[./~]|^[a-z]:\\/i.test(url)) error.message += `. Did you mean 'file:${url}'?`
  return error
}

/** 'file:DIR' with a plain path, as a command line has it, or a file URL. */
function openFile(url) {
  const folder = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length)
  if (folder === '') throw optionRangeError('store', url, "the address of a folder, such as 'file:/var/lib/app/ids'")
  return fileStore(folder)
}

/** What `FLAKEFORGE_STORE` names, else the default folder. */
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
