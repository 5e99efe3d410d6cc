// The options of a store on etcd, and their URL form. Messages show no password.

import { checkKeys, isAbsent, ownOf } from '../../base/check.ts'
import { keepSecret, optionTypeError } from '../../base/errors.ts'
import { checkParameters } from '../address.ts'
import { PORTS } from '../schemes.ts'

/** The options of a Gateway. */
export type EtcdOptions = { endpoints: string[]; username?: string; password?: string; fetch: typeof globalThis.fetch }

const FORM = 'etcd://[user:password@]host:2379[,host:2379][?tls=true]'
const PARTS = /^etcd(?<secure>s?):\/\/(?:(?<credentials>[^@/]*)@)?(?<hosts>[\w.:,%[\]-]+)\/?(?:\?(?<query>[^#]*))?$/

/** The endpoints without a slash at the end. */
function endpointsOf(endpoints: unknown) {
  const list = [endpoints].flat()
  const bad = list.findIndex((url) => !isEndpoint(url))
  if (list.length === 0 || bad >= 0) {
    const wanted =
      'one or more of http://host:2379 or https://host:2379, with username and password as separate options'
    throw optionTypeError('endpoints', list[bad], wanted)
  }
  return list.map((url) => String(url).replace(/\/$/, ''))
}

function isEndpoint(url: unknown) {
  if (typeof url !== 'string' || !/^https?:\/\/[^/]+\/?$/.test(url)) return false
  return URL.canParse(url) && new URL(url).username === ''
}

const KNOWN = ['endpoints', 'username', 'password', 'fetch']
const HIDDEN = '…'

/** Hides texts under unknown keys: one may be a password under a misspelt key. */
const hideUnknown = ([key, value]: [string, unknown]) => [
  key,
  KNOWN.includes(key) || typeof value !== 'string' ? value : HIDDEN,
]

/** Username and password: both or none. */
function readCredentials({ username, password }: { username: unknown; password: unknown }) {
  if (isAbsent(username) && isAbsent(password)) return { username: undefined, password: undefined }
  if (typeof username !== 'string') throw optionTypeError('username', username, 'a string, because there is a password')
  if (typeof password !== 'string') {
    throw optionTypeError('password', isAbsent(password) ? password : HIDDEN, 'a string, because there is a username')
  }
  keepSecret(password)
  return { username, password }
}

export function readOptions(given: unknown): EtcdOptions {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  checkKeys('options', isObject ? Object.fromEntries(Object.entries(given).map(hideUnknown)) : given, KNOWN)
  const { endpoints, username, password, fetch } = ownOf(given as object)
  if (!isAbsent(fetch) && typeof fetch !== 'function') throw optionTypeError('fetch', fetch, 'a function like fetch')
  return {
    endpoints: endpointsOf(endpoints),
    ...readCredentials({ username, password }),
    fetch: (fetch ?? globalThis.fetch) as typeof globalThis.fetch,
  }
}

/** `user:password`, percent-encoded if needed; undefined if the text has another form. */
function credentialsOf(text: string | undefined) {
  if (text === undefined) return {}
  const [username, ...password] = text.split(':')
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password.join(':')) }
  } catch {
    // a % that encodes nothing
  }
}

/** The options in a URL. */
export function parseUrl(url: string) {
  const parts = PARTS.exec(url)?.groups
  const query = new URLSearchParams(parts?.query)
  const tls = query.get('tls') ?? 'false'
  const waysOut = { ssl: '?tls=true says that there is TLS' }
  checkParameters(url, query, { known: ['tls'], waysOut, otherwise: `it is like ${FORM}` })
  const credentials = credentialsOf(parts?.credentials)
  if (!parts || !['true', 'false'].includes(tls) || !credentials) throw optionTypeError('store', url, `like ${FORM}`)
  const scheme = parts.secure || tls === 'true' ? 'https' : 'http'
  const hosts = parts.hosts.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:${PORTS.etcd}`))
  return { endpoints: hosts.map((host) => `${scheme}://${host}`), ...credentials }
}
