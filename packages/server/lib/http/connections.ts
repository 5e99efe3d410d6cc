// The connections of the server: cuts off those that do not read their answers, and what is left at the end. It knows those
// too that no HTTP server counts, because their TLS handshake is not over.

import type { Server, Socket } from 'node:net'

/** How often connections are looked at. */
const LOOK_MS = 1000

export class Connections {
  #unreadMs
  #sockets: Set<Socket> = new Set()

  /** @param unreadMs how long an answer may wait to be read */
  constructor(unreadMs: number) {
    this.#unreadMs = unreadMs
  }

  /**
   * Looks after the connections of a server.
   * @param served the event of those that requests come by
   */
  watch(server: Server, served: 'connection' | 'secureConnection') {
    server.on('connection', (socket: Socket) => keep(this.#sockets, socket))
    const writable: Set<Socket> = new Set()
    server.on(served, (socket: Socket) => keep(writable, socket))
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
   */
  #look(sockets: Set<Socket>) {
    for (const socket of sockets) if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(this.#unreadMs)
  }
}

/** Until it is closed. */
function keep(sockets: Set<Socket>, socket: Socket) {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}
