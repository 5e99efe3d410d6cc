'use strict'

// A TCP proxy on loopback between one member, or a replica, and the server. It can cut, stall and refuse connections,
// and lead to another server. It never reads the data, nor loses a part of it while a connection lasts.

const net = require('node:net')

const HOST = '127.0.0.1'

class TcpProxy {
  #server
  #target // { port, host }
  #pairs = new Set()
  #stalls = 0 // several faults may stall or refuse at the same time: this ends with the last of them
  #refusals = 0

  /** A proxy to a port, of this machine if no other is named. */
  static async open(port, host = HOST) {
    const proxy = new TcpProxy()
    proxy.#target = { port, host }
    proxy.#server = net.createServer((near) => proxy.#connect(near))
    await new Promise((resolve, reject) => proxy.#server.once('error', reject).listen(0, HOST, resolve))
    return proxy
  }

  /** The port for the member. */
  get port() {
    return this.#server.address().port
  }

  /** From now on leads to another server. Connected clients have to connect again. */
  pointTo(port, host = HOST) {
    this.#target = { port, host }
    this.cut()
  }

  /** Ends all connections at once, including data in transit. */
  cut() {
    for (const pair of this.#pairs) for (const socket of pair) reset(socket)
  }

  /** Forwards nothing until `flow()`, and then everything that arrived meanwhile. */
  stall() {
    this.#stalls++
    for (const pair of this.#pairs) for (const socket of pair) socket.pause()
  }

  flow() {
    this.#stalls--
    if (this.#stalls > 0) return
    for (const pair of this.#pairs) for (const socket of pair) socket.resume()
  }

  /** Ends all connections, and each new one as soon as it is opened, until `accept()`. */
  refuse() {
    this.#refusals++
    this.cut()
  }

  accept() {
    this.#refusals--
  }

  /** Whether nothing comes through. */
  get isShut() {
    return this.#stalls > 0 || this.#refusals > 0
  }

  close() {
    this.cut()
    return new Promise((resolve) => this.#server.close(resolve))
  }

  #connect(near) {
    if (this.#refusals > 0) {
      near.once('error', () => {})
      near.resetAndDestroy()
      return
    }
    const far = net.connect(this.#target)
    const pair = [near, far]
    this.#pairs.add(pair)
    this.#carry(near, far, pair)
    this.#carry(far, near, pair)
  }

  #carry(from, to, pair) {
    from.setNoDelay(true)
    from.on('data', (bytes) => to.write(bytes))
    from.on('end', () => to.end())
    from.on('error', () => {}) // `close` reports this too
    from.on('close', () => {
      this.#pairs.delete(pair)
      to.destroy()
    })
    if (this.#stalls > 0) from.pause()
  }
}

/** A connection that is already being ended cannot be reset: Node.js would wait for its end forever. */
function reset(socket) {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

const DEEDS = ['cut', 'stall', 'flow', 'refuse', 'accept', 'close']

/** The links of one member to several servers, which fail together. */
const together = (proxies) =>
  Object.fromEntries(DEEDS.map((deed) => [deed, () => Promise.all(proxies.map((proxy) => proxy[deed]()))]))

/** How many of the links fail, if not all of them do. */
const ONE = 0.8

/** The same, of which mostly one fails. What ends a fault ends that of the same link. */
function apart(proxies) {
  const some = () => (Math.random() < ONE ? [proxies[Math.floor(Math.random() * proxies.length)]] : proxies)
  const begun = { flow: [], accept: [] }
  const begin = (deed, end) => () => {
    const chosen = some()
    begun[end].push(chosen)
    for (const proxy of chosen) proxy[deed]()
  }
  const end = (deed) => () => {
    for (const proxy of begun[deed].shift()) proxy[deed]()
  }
  return {
    cut: () => some().map((proxy) => proxy.cut()),
    stall: begin('stall', 'flow'),
    flow: end('flow'),
    refuse: begin('refuse', 'accept'),
    accept: end('accept'),
    close: () => Promise.all(proxies.map((proxy) => proxy.close())),
  }
}

module.exports = { apart, TcpProxy, together }
