'use strict'

// The endpoints of an etcd cluster, as options or as a URL.
// It must never put a password into a message.

const { optionTypeError } = require('../../errors')

const FORM = 'etcd://[user:password@]host:2379[,host:2379][?tls=true]'
const PARTS = /^etcd(?<secure>s?):\/\/(?:(?<credentials>[^@/]*)@)?(?<hosts>[^@/?#]+)\/?(?:\?(?<query>[^#]*))?$/
const DEFAULT_PORT = 2379

/** A URL as it may be shown. */
const masked = (url) => (typeof url === 'string' ? url.replace(/\/\/.*@/, '//…@') : url)

/** The endpoints without a slash at the end. */
function endpointsOf(endpoints) {
  const list = [endpoints].flat()
  const isUrl = (url) => typeof url === 'string' && /^https?:\/\/[^/]+\/?$/.test(url) && URL.canParse(url)
  const bad = list.findIndex((url) => !isUrl(url) || new URL(url).username !== '')
  if (list.length === 0 || bad >= 0) {
    const wanted = 'one or more of http://host:2379 or https://host:2379, with username and password beside them'
    throw optionTypeError('endpoints', masked(list[bad]), wanted)
  }
  return list.map((url) => url.replace(/\/$/, ''))
}

/** `user:password`, percent-encoded where need be. */
function credentialsOf(text) {
  if (text === undefined) return {}
  const [username, ...password] = text.split(':')
  return { username: decodeURIComponent(username), password: decodeURIComponent(password.join(':')) }
}

/** The options that a URL stands for. */
function parseUrl(url) {
  const parts = PARTS.exec(url)?.groups
  const query = new URLSearchParams(parts?.query)
  const tls = query.get('tls') ?? 'false'
  const isKnown = [...query.keys()].every((key) => key === 'tls') && ['true', 'false'].includes(tls)
  if (!parts || !isKnown) throw optionTypeError('store', masked(url), FORM)
  const scheme = parts.secure || tls === 'true' ? 'https' : 'http'
  const hosts = parts.hosts.split(',').map((host) => (/:\d+$/.test(host) ? host : `${host}:${DEFAULT_PORT}`))
  return { endpoints: hosts.map((host) => `${scheme}://${host}`), ...credentialsOf(parts.credentials) }
}

module.exports = { endpointsOf, parseUrl }
