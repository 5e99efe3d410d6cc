// The options of RemoteFlakeId.connect(), checked. Errors show no token and no password.

import { readSignal } from '../base/abort.ts'
import { keepSecret } from '../base/errors/foreign.ts'
import { secretOptionError } from '../base/errors/remote.ts'
import * as errors from '../base/errors/values.ts'
import { LONGEST_TIMER_MS } from '../base/portable-timers.ts'
import { withoutSecrets } from '../base/printable.ts'
import { checkKeys, isAbsent, readBounded } from '../base/values.ts'

/** The options of `RemoteFlakeId.connect`. Integers may also be given as decimal text (`'7'`). */
export interface RemoteOptions {
  /** The name that the IDs have on the servers: a group or a segment of their configuration. 1 to 128 characters. */
  name: string
  /**
   * How many IDs to keep in memory, 1…10,000. Default 100. When half of them are used up, a request fetches more. Under load,
   * the client keeps as many as are used up within about 20 ms, up to 10,000, and returns to `prefetch` afterwards.
   */
  prefetch?: number | string | null | undefined
  /**
   * How long fetched IDs are used before they are dropped, in ms. Default 600,000; 0 means forever. This limits the age of
   * the time in an ID.
   */
  validityMs?: number | string | null | undefined
  /**
   * How long a server may take to answer, in ms, 1…2,147,483,647. Default 2,000. Then another server is asked. A server that
   * hangs delays calls by this time once, and again when the client next chooses that server, minutes later.
   */
  timeoutMs?: number | string | null | undefined
  /**
   * How long a call keeps waiting while all servers fail, in ms. Default 10,000. Each call asks every server at least once, so
   * it may take longer by one `timeoutMs` per server. 0 means that each server is asked exactly once.
   */
  waitMs?: number | string | null | undefined
  /** The bearer token of the servers. It is sent in a header, to these servers only, and appears in no error. */
  token?: string | null | undefined
  /** Cancels `connect()`: the promise rejects with `signal.reason`. Later, the signal has no effect. */
  signal?: AbortSignal | null | undefined
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch | null | undefined
}

/** The most IDs of one request. */
export const MOST = 10_000

export const DEFAULTS = { prefetch: 100, validityMs: 600_000, timeoutMs: 2_000, waitMs: 10_000 }

/** The keys that `elseFrom` of join() allows besides `urls`. */
export const KEYS = ['name', 'prefetch', 'validityMs', 'timeoutMs', 'waitMs', 'token', 'fetch']

/** The source of IDs, checked. */
export interface RemoteSettings {
  /** their URLs, each with a slash at its end */
  servers: string[]
  name: string
  prefetch: number
  /** Infinity: forever */
  validityMs: number
  timeoutMs: number
  waitMs: number
  token?: string
  fetch: typeof globalThis.fetch
}

/** The arguments of connect(). */
export function readConnectOptions(urls: unknown, given: unknown) {
  const options = checkKeys('options', given, [...KEYS, 'signal'])
  return { settings: readRemote(urls, options), signal: readSignal(options.signal) }
}

/** The same without a signal; the keys are known to be valid. */
export function readRemote(
  urls: unknown,
  { name, prefetch, validityMs, timeoutMs, waitMs, token, fetch }: Record<string, unknown>,
): RemoteSettings {
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

function readUrls(given: unknown) {
  const wanted = 'the URL of a server, or an array of URLs'
  const list = Array.isArray(given) ? given : [given]
  if (list.length === 0) throw errors.optionRangeError('urls', given, wanted)
  return [...new Set(list.map((url) => readUrl(url, wanted)))]
}

function readUrl(given: unknown, wanted: string) {
  if (typeof given !== 'string' && !(given instanceof URL)) throw errors.optionTypeError('urls', given, wanted)
  const url = parsed(String(given))
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw errors.optionRangeError('urls', withoutSecrets(String(given)), "a URL such as 'https://ids.example:8080'")
  }
  if (url.username !== '' || url.password !== '')
    throw secretOptionError(
      'urls',
      `must not contain a user and password (${url.host}). Pass the server's token in the option token`,
    )
  if (url.search !== '' || url.hash !== '' || url.pathname.includes('@'))
    throw secretOptionError('urls', `must not contain an @, a query or a fragment (${withoutSecrets(url.href)})`)
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

function parsed(text: string) {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

function readName(name: unknown) {
  const wanted = 'the name that the IDs have on the servers: 1 to 128 characters without braces or control characters'
  if (typeof name !== 'string') throw errors.optionTypeError('name', name, wanted)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: we look for them
  const isBad = name.length < 1 || name.length > 128 || /[\u0000-\u001f\u007f{}]/.test(name) || !isText(name)
  if (isBad || /^[.]{1,2}$/.test(name)) throw errors.optionRangeError('name', name, wanted)
  return name
}

/** Whether the text has no lone surrogate. (isWellFormed() is too new for some browsers.) */
function isText(text: string) {
  try {
    return encodeURIComponent(text) !== '' // bundlers drop a call whose result is unused
  } catch {
    return false
  }
}

function readValidity(given: unknown) {
  const ms = given === Number.POSITIVE_INFINITY ? 0 : readBounded('validityMs', given, 0, Number.MAX_SAFE_INTEGER)
  return ms === 0 ? Number.POSITIVE_INFINITY : ms
}

function readToken(token: unknown) {
  if (isAbsent(token)) return undefined
  const wanted = 'must be a text of visible ASCII characters without spaces, as in the token file of the server'
  if (typeof token !== 'string' || !/^[!-~]+$/.test(token)) throw secretOptionError('token', wanted)
  keepSecret(token)
  return token
}

function readFetch(given: unknown) {
  const fetch = isAbsent(given) ? globalThis.fetch : given
  if (typeof fetch !== 'function') throw errors.optionTypeError('fetch', fetch, 'a function like the global fetch')
  return fetch as typeof globalThis.fetch
}
