// Parses the address of a Redis store: a single server, the servers behind Sentinels (in Lettuce's form), or a cluster.

import { addressError, checkParameters, hostOf } from '../address.ts'
import { PORTS, REDIS_SCHEMES, type RedisScheme } from '../schemes.ts'
import { CHECKED, type Tls } from '../tls.ts'

export interface Host {
  host: string
  port: number
}

export interface RedisAddress extends Pick<RedisScheme, 'kind'> {
  /** the address of a single server, for the client packages */
  url: string
  /** of the server, the Sentinels, or nodes of the cluster */
  hosts: Host[]
  username?: string
  password?: string
  database: number
  /** undefined for a connection without TLS */
  tls: Tls | undefined
  /** the name of the primary, which Sentinels know */
  primary: string
}

const FORMS = {
  server: '//[user:password@]host[:6379][/N], where N is the number of the database',
  sentinel: '//[user:password@]host[:26379],host,host[/N]#NAME, where NAME is the primary that the Sentinels watch',
  cluster: '//[user:password@]host[:6379],host,host. A cluster has one database',
}
const USUAL_PORTS = { server: PORTS.redis, sentinel: 26379, cluster: PORTS.redis }

const IN_PATH = 'the number of the database is the path, as in /2'

/** What is written instead of a parameter. */
function waysOut(scheme: string, isTls: boolean) {
  const withTls = isTls ? scheme : scheme.replace(/^(?:redis|valkey)/, '$&s')
  const byScheme = `with ${withTls}// there is TLS`
  return { db: IN_PATH, database: IN_PATH, tls: byScheme, ssl: byScheme }
}

const MANY = /^\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/(\d*))?(?:#([^#]*))?$/

/** `valkey:` is another name for `redis:`, which only iovalkey knows. */
const asRedis = (url: string) => url.replace(/^valkey/i, 'redis')

/** Parses an address; throws if one of the packages would interpret it differently, or crash. */
export function readAddress(url: string): RedisAddress {
  const scheme = url.slice(0, url.indexOf(':') + 1).toLowerCase()
  const { kind, isTls } = REDIS_SCHEMES[scheme]
  const wrong = () => addressError(url, `like ${scheme}${FORMS[kind]}`)
  const tls = isTls ? CHECKED : undefined
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1])
  const otherwise = `it is like ${scheme}${FORMS[kind]}`
  checkParameters(url, parameters, { known: [], waysOut: waysOut(scheme, isTls), otherwise })
  if (kind === 'server') return readServer(url, tls, wrong)
  const [, user = '', hosts, path = '', name = ''] = MANY.exec(url.slice(scheme.length)) ?? []
  if (hosts === undefined || (kind === 'sentinel') !== (name !== '')) throw wrong()
  if (kind === 'cluster' && Number(path) !== 0) throw wrong()
  return {
    kind,
    url: '',
    hosts: hosts.split(',').map((host) => readHost(host, USUAL_PORTS[kind], wrong)),
    tls,
    ...credentials(user),
    database: Number(path),
    primary: decodeURIComponent(name),
  }
}

/** The packages differ in parameters: ioredis would take any option from there, also about TLS. */
function readServer(url: string, tls: Tls | undefined, wrong: () => Error): RedisAddress {
  const parsed = new URL(url)
  const { hostname, port, pathname, search } = parsed
  if (hostname.includes(',') || !/^\/?\d*$/.test(pathname) || search !== '') throw wrong()
  const hosts = [{ host: hostOf(parsed), port: Number(port || USUAL_PORTS.server) }]
  return { kind: 'server', url: asRedis(url), hosts, tls, database: Number(pathname.slice(1)), primary: '' }
}

function readHost(text: string, usualPort: number, wrong: () => Error): Host {
  if (!/^(?:[^:[\]]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(text)) throw wrong()
  const parsed = new URL(`redis://${text}`)
  return { host: hostOf(parsed), port: Number(parsed.port || usualPort) }
}

function credentials(user: string) {
  const [username, ...password] = user.split(':').map(decodeURIComponent)
  return {
    ...(username !== '' && { username }),
    ...(password.length > 0 && { password: password.join(':') }),
  }
}

const hostText = ({ host, port }: Host) => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** The address of a server without its credentials, for the client packages. */
export const urlOf = ({ tls, database }: RedisAddress, host: Host) =>
  `${tls ? 'rediss' : 'redis'}://${hostText(host)}/${database}`

/** A node as the client packages name it: an IPv6 address has no brackets. */
export function nodeOf(text: string): Host {
  const end = text.lastIndexOf(':')
  return { host: text.slice(0, end), port: Number(text.slice(end + 1)) }
}

/** The hosts in readable form. */
export const hostsOf = ({ hosts }: RedisAddress) => hosts.map(hostText).join(',')
