// The connections of the server: cuts off those that do not read their answers, and ends them without a reset. It also tracks
// those that no HTTP server counts, because their TLS handshake is not over.

import type { Server as HttpServer } from 'node:http'
import { Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'

/** How often connections are checked. */
const LOOK_MS = 1000

/**
 * How long a keep-alive connection waits for one more request at the end. A busy client sends its next one within this time
 * and reads `Connection: close`; if we closed before, its request would be answered with a reset.
 */
const LINGER_MS = 1000

/**
 * Closing a listener resets the connections that the system has accepted and we have not. So it is closed once no connection
 * has arrived for QUIET_MS. Answers are held back meanwhile: clients that wait for one open no connection. If others keep
 * doing so, it is closed after LONGEST_QUIET_MS.
 */
const [QUIET_MS, LONGEST_QUIET_MS] = [20, 1000]

export class Connections {
  #unreadMs
  #sockets: Set<Socket> = new Set()
  #served: Set<Socket> = new Set() // those that carry requests
  #unused: Set<Socket> = new Set() // of these, those without a request so far
  #begun: Set<Socket> = new Set() // those whose TLS handshake is not over
  #servers: Set<HttpServer> = new Set()
  #last: WeakSet<Socket> = new WeakSet() // those whose next answer is their last
  #isEnding = false
  #cameAt = 0 // the last connection, by performance.now()
  #stop = () => {}
  /** resolves when no more connections are accepted */
  stopped: Promise<void> = new Promise((resolve) => {
    this.#stop = resolve
  })

  /** @param unreadMs how long an answer may wait to be read */
  constructor(unreadMs: number) {
    this.#unreadMs = unreadMs
  }

  /**
   * Tracks the connections of a server.
   * @param served the event of those that carry requests
   */
  watch(server: HttpServer, served: 'connection' | 'secureConnection') {
    server.on('connection', (socket: Socket) => {
      this.#cameAt = performance.now()
      keep(this.#sockets, socket)
      if (served === 'secureConnection') keep(this.#begun, socket)
    })
    server.on(served, (socket: Socket) => {
      keep(this.#served, socket)
      keep(this.#unused, socket)
      for (const each of this.#begun) if (isBelow(each, socket)) this.#begun.delete(each)
    })
    const timer = setInterval(() => this.#look(), Math.min(LOOK_MS, Math.ceil(this.#unreadMs / 4))).unref()
    this.#servers.add(server)
    server.once('close', () => {
      clearInterval(timer)
      this.#servers.delete(server)
    })
  }

  /** Called for each request. */
  used(socket: Socket) {
    this.#unused.delete(socket)
  }

  /** Whether the next answer of a connection is its last one. */
  isLast(socket: Socket | null) {
    return this.#isEnding || (socket !== null && this.#last.has(socket))
  }

  /** From here on each answer is the last one of its connection. */
  beginEnd() {
    this.#isEnding = true
  }

  /** Accepts no more connections. Resolves when the present ones have ended. */
  async end(mostMs: number) {
    await this.#quiet()
    const closed = [...this.#servers].map((server) => stopListening(server))
    this.#stop()
    const timer = setTimeout(() => this.#endIdle(), Math.min(LINGER_MS, mostMs))
    await Promise.all(closed)
    clearTimeout(timer)
  }

  /** Ends all present connections: at once, or with the answer to their request. */
  replaceAll() {
    for (const socket of this.#served) this.#last.add(socket)
    this.#endIdle()
  }

  async #quiet() {
    const begin = performance.now()
    for (let before = begin; before < begin + LONGEST_QUIET_MS; before = performance.now()) {
      await sleep(QUIET_MS / 2)
      await new Promise(setImmediate) // right after it was polled, the system's queue is empty
      const now = performance.now()
      const isHeldUp = now > before + QUIET_MS // by a busy machine: connections that arrived meanwhile may not be here yet
      if (!isHeldUp && now > Math.max(this.#cameAt, begin) + QUIET_MS) return
    }
  }

  /** Ends those without a request. Node counts only those as idle that have had one. */
  #endIdle() {
    for (const server of this.#servers) server.closeIdleConnections()
    for (const socket of this.#unused) if (socket.bytesRead === 0 || socket instanceof TLSSocket) socket.destroy()
    for (const socket of this.#begun) socket.destroy()
  }

  /** Ends them all. */
  cutOff() {
    for (const socket of this.#sockets) socket.destroy()
  }

  /**
   * Sets a timeout on connections on which an answer waits to be read, and on no others. Node then closes them, and removes
   * the timeout once the answers are sent.
   */
  #look() {
    for (const socket of this.#served)
      if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(this.#unreadMs)
  }
}

/** Whether a TLS socket is on this one: both have one peer. Peers on a unix socket have no port, so there it is unknown. */
const isBelow = ({ remotePort, remoteAddress }: Socket, above: Socket) =>
  remotePort !== undefined && remotePort === above.remotePort && remoteAddress === above.remoteAddress

/** Skips the first action of an HTTP server's own method: it resets keep-alive connections. */
const stopListening = (server: HttpServer) =>
  new Promise<void>((resolve) => Reflect.apply(Server.prototype.close, server, [() => resolve()]))

/** Keeps a socket in the set until it is closed. */
function keep(sockets: Set<Socket>, socket: Socket) {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}
