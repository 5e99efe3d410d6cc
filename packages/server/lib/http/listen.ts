// Where the server listens: a host and port, or a unix socket. It removes only a socket without a listener.

import { lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config/read.ts'

/** Bytes of a unix socket's path. The system allows no more, and Node would cut off the rest. */
const LONGEST = process.platform === 'linux' ? 107 : 103

/** An unknown host, or not this machine's. */
const BAD_HOST = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EINVAL']

/** Listens, and returns the URL. */
export async function listen(app: FastifyInstance, { socket, port, host, givenAs }: Config) {
  if (socket === undefined) return listenAt(app, port, host, givenAs)
  await clear(socket, givenAs('socket'))
  await app.listen({ path: socket })
  return `unix:${socket}`
}

export async function listenAt(app: FastifyInstance, port: number, host: string, givenAs: (option: string) => string) {
  try {
    return await app.listen({ port, host })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!BAD_HOST.includes(code as string)) throw error
    throw new ConfigError(
      `${givenAs('host')} must be an address or a name of this machine, such as 127.0.0.1 or 0.0.0.0, not '${host}' (${code}).`,
    )
  }
}

/**
 * Makes room for a socket: removes that of a server that was killed. A socket with a listener is left alone.
 * @param given as the user wrote it
 */
async function clear(path: string, given: string) {
  const bytes = Buffer.byteLength(path)
  if (bytes > LONGEST) {
    throw new ConfigError(`${given} is a path of ${bytes} bytes, and the system allows up to ${LONGEST} for a socket.`)
  }
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) {
    const kind = found.isDirectory() ? 'a folder' : 'not a socket'
    throw new ConfigError(`${given}: ${path} already exists and is ${kind}. Use a path that does not exist.`)
  }
  if (!(await isInUse(path))) unlinkSync(path)
}

function isInUse(path: string) {
  return new Promise((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => resolve(true))
    probe.once('error', (error) => resolve((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED'))
    probe.once('close', () => probe.destroy())
  })
}
