// Where the server listens, and who is served there. A listener is a port of a host, or a unix socket, with its own tokens,
// certificate and names. What one of them requires is decided here, and nowhere else.

import { lstatSync, statSync, unlinkSync } from 'node:fs'
import { connect, isIP } from 'node:net'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { ConfigError } from '../config/config-error.ts'
import type { TlsFiles } from '../config/secrets.ts'
import type { Values } from '../config/sources.ts'
import { isLoopback, listensOnLoopback } from './loopback.ts'
import { Tokens } from './tokens.ts'

/** Where metrics are by default. */
const LOOPBACK = '127.0.0.1'

export interface Listener {
  /** the options that say where, for messages */
  at: { socket: string } | { port: number; host: string; option: string }
  /** whether only this machine reaches it: on loopback, or as a socket */
  isLocal: boolean
  /** undefined if none is required */
  tokens: Tokens | undefined
  tls: TlsFiles | undefined
  /**
   * Whether a name in the header Host is one of the server's; undefined if any may be. A page whose own name leads here (DNS
   * rebinding) has neither a token, nor a certificate for that name.
   */
  isName: ((name: string) => boolean) | undefined
}

/** The listeners of a configuration. */
export async function listenersOf(config: Values): Promise<{ main: Listener; metrics: Listener | undefined }> {
  const { socket, 'metrics-port': metricsPort } = config
  const main = {
    at: socket === undefined ? { port: config.port, host: config.host, option: 'host' } : { socket },
    tokens: config.tokens && new Tokens(config.tokens),
    tls: config.tls,
  }
  const metrics = {
    at: { port: metricsPort, host: config['metrics-host'] ?? LOOPBACK, option: 'metrics-host' },
    tokens: config.metricsTokens && new Tokens(config.metricsTokens),
    tls: config.tls,
  }
  const allowed = config['allow-host']
  return {
    main: await withNames(main, allowed),
    metrics: metricsPort === undefined ? undefined : await withNames(metrics, allowed),
  }
}

async function withNames(listener: Pick<Listener, 'at' | 'tokens' | 'tls'>, allowed: string[] | undefined) {
  const { at, tokens, tls } = listener
  const host = 'host' in at ? at.host : undefined
  const isOnLoopback = host !== undefined && (await listensOnLoopback(host))
  const isOpen = host !== undefined && !isOnLoopback && tokens === undefined && tls === undefined
  const isChecked = isOnLoopback || isOpen || allowed !== undefined
  const isAny = allowed?.includes('*')
  return {
    ...listener,
    isLocal: host === undefined || isOnLoopback,
    isName:
      isChecked && !isAny
        ? isNameOf([...(host === undefined ? [] : [host]), ...(allowed ?? [])], isOnLoopback)
        : undefined,
  }
}

/** Zones that are never delegated to anybody: of Kubernetes, of home networks, of one machine. */
const RESERVED = /\.(?:svc|cluster\.local|local|internal|home\.arpa|localhost)$/

function isNameOf(given: string[], isOnLoopback: boolean) {
  const names = new Set(given.map((name) => name.toLowerCase()))
  /** Nobody on the internet has such a name: an address, a name without a dot, one of a reserved zone. */
  const isOfNobody = (name: string) => name !== '' && (isIP(name) !== 0 || !name.includes('.') || RESERVED.test(name))
  return (text: string) => {
    const name = text.replace(/\.$/, '')
    return names.has(name) || isLoopback(name) || (!isOnLoopback && isOfNobody(name))
  }
}

/** Bytes of a unix socket's path. The system allows no more, and Node would cut off the rest. */
const LONGEST = process.platform === 'linux' ? 107 : 103

/** An unknown host, or not this machine's. */
const BAD_HOST = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EINVAL']

/**
 * Listens, and returns the URL.
 * @param givenAs how an option was given, for messages
 */
export async function listen(app: FastifyInstance, { at }: Listener, givenAs: (option: string) => string) {
  if ('socket' in at) {
    await clear(at.socket, givenAs('socket'))
    await app.listen({ path: at.socket })
    return `unix:${at.socket}`
  }
  const { port, host, option } = at
  try {
    return await app.listen({ port, host })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!BAD_HOST.includes(code as string)) throw error
    throw new ConfigError(
      `${givenAs(option)} must be an address or a name of this machine, such as 127.0.0.1 or 0.0.0.0, not '${host}' (${code}).`,
    )
  }
}

/**
 * Makes room for a socket: removes that of a server that was killed. A socket with a listener, or of another user, is left
 * alone. Node has no unlink() by descriptor, so whoever can rename files in the folder could swap the socket between the last
 * look and its removal: its owner, and a group that may write there.
 * @param given as the user wrote it
 */
async function clear(socket: string, given: string) {
  const bytes = Buffer.byteLength(socket)
  if (bytes > LONGEST) {
    throw new ConfigError(`${given} is a path of ${bytes} bytes, and the system allows up to ${LONGEST} for a socket.`)
  }
  refuseOpenFolder(path.dirname(path.resolve(socket)), given)
  const found = lstatSync(socket, { throwIfNoEntry: false, bigint: true })
  if (found === undefined) return
  if (!found.isSocket()) {
    const kind = found.isDirectory() ? 'a folder' : 'not a socket'
    throw new ConfigError(`${given}: ${socket} already exists and is ${kind}. Use a path that does not exist.`)
  }
  if (process.geteuid !== undefined && Number(found.uid) !== process.geteuid()) {
    throw new ConfigError(
      `${given}: ${socket} is a socket of another user (uid ${found.uid}). Use a path that does not exist.`,
    )
  }
  if (await isInUse(socket)) return
  const now = lstatSync(socket, { throwIfNoEntry: false, bigint: true })
  if (now?.ino === found.ino && now.dev === found.dev && now.ctimeNs === found.ctimeNs) unlinkSync(socket)
}

/** In a folder in which every user may rename files, clients could be given another socket, to which they send their tokens. */
function refuseOpenFolder(folder: string, given: string) {
  const { mode } = statSync(folder, { throwIfNoEntry: false }) ?? { mode: 0 }
  const isSticky = (mode & 0o1000) !== 0
  if (process.platform === 'win32' || (mode & 0o002) === 0 || isSticky) return
  throw new ConfigError(`${given}: every user of this machine can replace files in ${folder}. Use: chmod o-w ${folder}`)
}

function isInUse(socket: string) {
  return new Promise((resolve) => {
    const probe = connect(socket)
    probe.once('connect', () => resolve(true))
    probe.once('error', (error) => resolve((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED'))
    probe.once('close', () => probe.destroy())
  })
}
