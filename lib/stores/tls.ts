// What the address of a store says about TLS, and how each client package is told. Unless the address says `no-verify`, the
// certificate must be valid and issued for the host of the address, or nothing is sent. The packages do not all check that by
// themselves: mysql2 checks no name, most check `localhost` if the address is an IP, and some do not tell the server which
// name is wanted.

import { addressError, parameterError } from './address.ts'

const { closeSync, constants, fstatSync, openSync, readFileSync } = process.getBuiltinModule('node:fs')
const { isIP } = process.getBuiltinModule('node:net')
const { checkServerIdentity, createSecureContext } = process.getBuiltinModule('node:tls')

type Certificate = Parameters<typeof checkServerIdentity>[1]

/** A connection with TLS: whether the certificate is checked, and the contents of the files that the address names. */
export interface Tls {
  isChecked: boolean
  files: { ca?: string; cert?: string; key?: string }
}

/** Which certificates each mode accepts; undefined for no TLS. The modes that are missing differ by package. */
const MODES: Record<string, Pick<Tls, 'isChecked'> | undefined> = {
  disable: undefined,
  require: { isChecked: true },
  'verify-full': { isChecked: true },
  'no-verify': { isChecked: false },
}

const FILES = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' }

/** The parameters of an address that are about TLS. */
export const TLS_PARAMETERS: readonly string[] = ['ssl', 'sslmode', ...Object.values(FILES)]

/** TLS as Redis and etcd have it, by the scheme of the address. */
export const CHECKED: Tls = { isChecked: true, files: {} }

/**
 * What the parameters say: undefined without any of them, null if they switch TLS off. The files are read now, so that a
 * missing one is reported at once.
 */
export function readTls(url: string, parameters: URLSearchParams): Tls | null | undefined {
  const given = TLS_PARAMETERS.filter((name) => parameters.has(name))
  if (given.length === 0) return undefined
  const refuse = (name: string, wanted: string) => parameterError(url, name, wanted)
  const ssl = parameters.get('ssl')
  if (ssl !== null && !['true', 'false'].includes(ssl)) {
    throw refuse('ssl', "it is 'true' or 'false'; ?sslmode= and ?sslrootcert= say more")
  }
  const mode = parameters.get('sslmode') ?? (ssl === 'false' ? 'disable' : 'require')
  if (!Object.hasOwn(MODES, mode)) {
    throw refuse('sslmode', `it is one of ${Object.keys(MODES).join(', ')}; packages differ in others`)
  }
  const found = MODES[mode]
  const named = Object.entries(FILES).filter(([, name]) => parameters.has(name))
  const contradicting = found === undefined ? (named[0]?.[1] ?? (ssl === 'true' && 'ssl')) : ssl === 'false' && 'ssl'
  if (contradicting) throw refuse(contradicting, `it contradicts the rest, which is ${mode}`)
  if (found === undefined) return null
  const files = named.map(([key, name]) => {
    const path = String(parameters.get(name))
    return [
      key,
      readFile(path, (fault) =>
        addressError(url, `an address whose ?${name}= names a readable file: ${path} ${fault}`),
      ),
    ]
  })
  return { ...found, files: Object.fromEntries(files) }
}

const MOST_BYTES = 1_048_576

/** The text of a file that an address names. */
function readFile(path: string, refuse: (fault: string) => Error) {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) // a FIFO would block
    const found = fstatSync(file)
    if (!found.isFile()) throw refuse('is not a regular file')
    if (found.size > MOST_BYTES) throw refuse(`has ${found.size} bytes, and at most ${MOST_BYTES} are read`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    throw syscall === undefined ? error : refuse(`cannot be read (${code})`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** A certificate names the host, whatever the client takes for it. */
const checks = (host: string) => ({
  checkServerIdentity: (_: string, certificate: Certificate) => checkServerIdentity(host, certificate),
})

/** The name for the server (SNI), which must not be an IP address. */
const nameFor = (host: string) => (isIP(host) > 0 || host.startsWith('/') ? {} : { servername: host })

/** For clients that pass their options to tls.connect(). */
const connectOptions = ({ isChecked, files }: Tls, host: string) => ({
  ...files,
  ...nameFor(host),
  ...checks(host),
  rejectUnauthorized: isChecked,
})

/**
 * The option `ssl` of pg and postgres.js.
 * @param host undefined if a variable such as PGHOST names it
 */
export const forPostgres = (tls: Tls | null | undefined, host = process.env.PGHOST ?? 'localhost') =>
  tls === undefined ? {} : { ssl: tls === null ? false : connectOptions(tls, host) }

/** The option `ssl` of mysql2, which takes no checkServerIdentity and checks an IP address against `localhost`. */
export function forMysql2(tls: Tls | null | undefined, { url, host }: { url: string; host: string }) {
  if (!tls) return {}
  const { isChecked, files } = tls
  if (isChecked && isIP(host) > 0) {
    const wanted = "an address with the name of the host: mysql2 can't check the certificate of an IP address"
    throw addressError(url, `${wanted}, and the package mariadb can`)
  }
  return { ssl: { ...files, rejectUnauthorized: isChecked, verifyIdentity: isChecked } }
}

/**
 * The option `ssl` of mariadb. Without a `ca` it accepts a self-signed certificate, and later asks the server to prove that it
 * knows the password. An empty one turns that off, and the context has the usual authorities.
 */
export const forMariadb = (tls: Tls | null | undefined, host: string) =>
  tls ? { ssl: { ca: [], ...connectOptions(tls, host), secureContext: createSecureContext(tls.files) } } : {}

/** Also where NODE_TLS_REJECT_UNAUTHORIZED, or a property of Object.prototype, says otherwise. */
const ALWAYS = { rejectUnauthorized: true }

/** The option `tls` of ioredis and iovalkey, which check the host that they connect to. */
export const forIoredis = (tls: Tls | undefined, host?: string) =>
  tls && { tls: { ...(host === undefined ? {} : nameFor(host)), ...ALWAYS } }

/** A node of a cluster for ioredis and iovalkey, also as what `natMap` returns, which they take further options from. */
export const nodeForIoredis = <Node extends { host: string }>(tls: Tls | undefined, node: Node) => ({
  ...node,
  ...forIoredis(tls, node.host),
})

/** The same for the Sentinels. */
export const forIoredisSentinels = (tls: Tls | undefined) =>
  tls && { tls: ALWAYS, sentinelTLS: ALWAYS, enableTLSForSentinelMode: true }

/** The options of node-redis's socket; likewise. */
export const forNodeRedis = (tls: Tls | undefined, host?: string) =>
  tls && { tls: true, ...(host === undefined ? {} : nameFor(host)), ...ALWAYS }
