'use strict'
// @ts-check

// Where the server listens: a host and port, or a unix socket. It must never remove anything but a socket on which nobody
// listens.

const { lstatSync, unlinkSync } = require('node:fs')
const { connect } = require('node:net')
const { ConfigError } = require('../config/config-error.js')

/** Bytes of the path of a unix socket. The system takes no more, and Node would cut off the rest. */
const LONGEST = process.platform === 'linux' ? 107 : 103

/** A host that is none, or not this machine's. */
const BAD_HOST = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EINVAL']

/**
 * Listens, and returns the URL.
 * @param {import('fastify').FastifyInstance} app
 * @param {import('../config/read.js').Config} config
 */
async function listen(app, { socket, port, host, givenAs }) {
  if (socket === undefined) return listenAt(app, port, host, givenAs)
  await clear(socket, givenAs('socket'))
  await app.listen({ path: socket })
  return `unix:${socket}`
}

/**
 * @param {import('fastify').FastifyInstance} app
 * @param {number} port
 * @param {string} host
 * @param {(option: string) => string} givenAs
 */
async function listenAt(app, port, host, givenAs) {
  try {
    return await app.listen({ port, host })
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    if (!BAD_HOST.includes(/** @type {string} */ (code))) throw error
    throw new ConfigError(
      `${givenAs('host')} must be an address or a name of this machine, such as 127.0.0.1 or 0.0.0.0, not '${host}' (${code}).`,
    )
  }
}

/**
 * Makes room for a socket: removes that of a server that was killed. One that somebody listens on is left to them.
 * @param {string} path
 * @param {string} given how the user gave it
 */
async function clear(path, given) {
  const bytes = Buffer.byteLength(path)
  if (bytes > LONGEST) {
    throw new ConfigError(`${given} is a path of ${bytes} bytes, and the system takes up to ${LONGEST} for a socket.`)
  }
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) {
    const kind = found.isDirectory() ? 'a folder' : 'no socket'
    throw new ConfigError(`${given}: ${path} is there already and is ${kind}. Give a path where nothing is.`)
  }
  if (!(await isInUse(path))) unlinkSync(path)
}

/** @param {string} path */
function isInUse(path) {
  return new Promise((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => resolve(true))
    probe.once('error', (error) => resolve(/** @type {NodeJS.ErrnoException} */ (error).code !== 'ECONNREFUSED'))
    probe.once('close', () => probe.destroy())
  })
}

module.exports = { listen, listenAt }
