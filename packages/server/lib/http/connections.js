'use strict'
// @ts-check

// The connections of the server: cuts off those that do not read their answers, and what is left at the end. It knows those
// too that no HTTP server counts, because their TLS handshake is not over.

/** How often connections are looked at. */
const LOOK_MS = 1000

/** @typedef {import('node:net').Socket} Socket */

class Connections {
  #unreadMs
  /** @type {Set<Socket>} */
  #sockets = new Set()

  /** @param {number} unreadMs how long an answer may wait to be read */
  constructor(unreadMs) {
    this.#unreadMs = unreadMs
  }

  /**
   * Looks after the connections of a server.
   * @param {import('node:net').Server} server
   * @param {'connection' | 'secureConnection'} served the event of those that requests come by
   */
  watch(server, served) {
    server.on('connection', (/** @type {Socket} */ socket) => keep(this.#sockets, socket))
    /** @type {Set<Socket>} */
    const writable = new Set()
    server.on(served, (/** @type {Socket} */ socket) => keep(writable, socket))
    const timer = setInterval(() => this.#look(writable), Math.min(LOOK_MS, Math.ceil(this.#unreadMs / 4))).unref()
    server.once('close', () => clearInterval(timer))
  }

  /** Ends those that have not said a word, which nobody would miss. */
  cutOffSilent() {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  /** Ends them all. */
  cutOff() {
    for (const socket of this.#sockets) socket.destroy()
  }

  /**
   * Sets a timeout on connections on which an answer waits to be read, and on no others. Node closes them then, and takes
   * the timeout away once the answers are out.
   * @param {Set<Socket>} sockets
   */
  #look(sockets) {
    for (const socket of sockets) if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(this.#unreadMs)
  }
}

/**
 * Until it is closed.
 * @param {Set<Socket>} sockets
 * @param {Socket} socket
 */
function keep(sockets, socket) {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

exports.Connections = Connections
