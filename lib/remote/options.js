'use strict'
// @ts-check

// The options of RemoteFlakeId.connect(), checked. It must never show a token or a password in an error.

const { LONGEST_TIMER_MS } = require('../base/portable-timers.js')
const { checkKeys, errors, isAbsent, readBounded } = require('../base/values.js')
const { readSignal } = require('../base/abort.js')
const { secretOptionError } = require('../base/errors/remote.js')

/** The most IDs of one request. */
const MOST = 10_000

const DEFAULTS = { prefetch: 100, validityMs: 600_000, timeoutMs: 2_000, waitMs: 10_000 }

/** What `elseFrom` of join() may say besides `urls`, too. */
const KEYS = ['name', 'prefetch', 'validityMs', 'timeoutMs', 'waitMs', 'token', 'fetch']

/**
 * Where IDs come from, checked.
 * @typedef {object} RemoteSettings
 * @property {string[]} servers their URLs, each with a slash at its end
 * @property {string} name
 * @property {number} prefetch
 * @property {number} validityMs Infinity: for ever
 * @property {number} timeoutMs
 * @property {number} waitMs
 * @property {string} [token]
 * @property {typeof globalThis.fetch} fetch
 */

/**
 * The arguments of connect().
 * @param {unknown} urls
 * @param {unknown} given
 */
function readConnectOptions(urls, given) {
  const { signal, ...options } = checkKeys('options', given, [...KEYS, 'signal'])
  return { settings: readRemote(urls, options), signal: readSignal(signal) }
}

/**
 * The same without a signal; the keys are known to be right.
 * @param {unknown} urls
 * @param {Record<string, unknown>} options
 * @returns {RemoteSettings}
 */
function readRemote(urls, { name, prefetch, validityMs, timeoutMs, waitMs, token, fetch }) {
  return {
    servers: readUrls(urls),
    name: readName(name),
    prefetch: isAbsent(prefetch) ? DEFAULTS.prefetch : readBounded('prefetch', prefetch, 1, MOST),
    validityMs: isAbsent(validityMs) ? DEFAULTS.validityMs : readValidity(validityMs),
    timeoutMs: isAbsent(timeoutMs) ? DEFAULTS.timeoutMs : readBounded('timeoutMs', timeoutMs, 1, LONGEST_TIMER_MS),
    waitMs: isAbsent(waitMs) ? DEFAULTS.waitMs : readBounded('waitMs', waitMs, 0, Number.MAX_SAFE_INTEGER),
    token: readToken(token),
    fetch: readFetch(fetch),
  }
}

/** @param {unknown} given */
function readUrls(given) {
  const wanted = 'the URL of a server, or an array of URLs'
  const list = Array.isArray(given) ? given : [given]
  if (list.length === 0) throw errors().optionRangeError('urls', given, wanted)
  return [...new Set(list.map((url) => readUrl(url, wanted)))]
}

/**
 * @param {unknown} given
 * @param {string} wanted
 */
function readUrl(given, wanted) {
  if (typeof given !== 'string' && !(given instanceof URL)) throw errors().optionTypeError('urls', given, wanted)
  const url = parsed(String(given))
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw errors().optionRangeError('urls', withoutSecrets(String(given)), "a URL such as 'https://ids.example:8080'")
  }
  if (url.username !== '' || url.password !== '')
    throw secretOptionError(
      'urls',
      `must have no user and password in it (${url.host}). Give the server's token as token`,
    )
  if (url.search !== '' || url.hash !== '')
    throw secretOptionError('urls', `must have nothing after a ? or # (${url.origin}${url.pathname})`)
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

/** @param {string} text */
function parsed(text) {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/**
 * A text that is no URL, but may have a password in it.
 * @param {string} text
 */
const withoutSecrets = (text) => text.replace(/[?#].*$/s, '').replace(/^(.*\/\/)?.*@/s, '$1…@')

/** @param {unknown} name */
function readName(name) {
  const wanted = 'the name that the IDs have on the servers: 1 to 128 characters without braces and control characters'
  if (typeof name !== 'string') throw errors().optionTypeError('name', name, wanted)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: we look for them
  const isBad = name.length < 1 || name.length > 128 || /[\u0000-\u001f\u007f{}]/.test(name) || !isText(name)
  if (isBad || /^[.]{1,2}$/.test(name)) throw errors().optionRangeError('name', name, wanted)
  return name
}

/**
 * Whether no half of a surrogate pair stands alone. (isWellFormed() is too new for some browsers.)
 * @param {string} text
 */
function isText(text) {
  try {
    encodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** @param {unknown} given */
function readValidity(given) {
  const ms = given === Number.POSITIVE_INFINITY ? 0 : readBounded('validityMs', given, 0, Number.MAX_SAFE_INTEGER)
  return ms === 0 ? Number.POSITIVE_INFINITY : ms
}

/** @param {unknown} token */
function readToken(token) {
  if (isAbsent(token)) return undefined
  const wanted = 'must be a text of visible ASCII characters without spaces, as in the token file of the server'
  if (typeof token !== 'string' || !/^[!-~]+$/.test(token)) throw secretOptionError('token', wanted)
  return token
}

/** @param {unknown} given */
function readFetch(given) {
  const fetch = isAbsent(given) ? globalThis.fetch : given
  if (typeof fetch !== 'function') throw errors().optionTypeError('fetch', fetch, 'a function like the global fetch')
  return /** @type {typeof globalThis.fetch} */ (fetch)
}

module.exports = { DEFAULTS, KEYS, MOST, readConnectOptions, readRemote }
