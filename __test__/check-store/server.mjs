// A database for the tests of check-store: records in the memory of one process, which others reach by TCP. Each request
// is one line of JSON and one atomic step, so what the right store does with it is right.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

/** What the server can do. `swapAny`, `put` and `drop` are for stores that are wrong. */
class Records {
  #groups = new Map()
  #identity = { history: randomUUID(), process: randomUUID() }
  #position = 0
  #started = Date.now()

  #group(group) {
    return this.#groups.get(group) ?? new Map()
  }

  read(group, names) {
    const records = this.#group(group)
    const values = names.map((name) => records.get(name) ?? null)
    // `started` is for stores whose clock is wrong; a store may answer more than what is asked for.
    return { values, identity: this.#identity, position: this.#position, started: this.#started, now: Date.now() }
  }

  swap(group, name, from, to, { history, process }) {
    const isSame = history === this.#identity.history && process === this.#identity.process
    if (!isSame || (this.#group(group).get(name) ?? null) !== from) return false
    this.put(group, name, to)
    return true
  }

  /** Compares the text and not the identity. */
  swapAny(group, name, from, to) {
    return this.swap(group, name, from, to, this.#identity)
  }

  put(group, name, to) {
    if (!this.#groups.has(group)) this.#groups.set(group, new Map())
    this.#groups.get(group).set(name, to)
    this.#position++
  }

  names(group) {
    return [...this.#group(group).keys()]
  }

  groups() {
    return [...this.#groups.keys()]
  }

  /** Loses everything, as a server without a disk does when it restarts. */
  wipe() {
    this.#groups.clear()
    this.renew()
  }

  renew() {
    this.#identity = { ...this.#identity, process: randomUUID() }
  }

  /** Loses some records; nothing shows it. */
  drop(name) {
    for (const records of this.#groups.values()) records.delete(name)
  }
}

/** A database that runs in this process: its port, and how to end it. */
export async function startRecords() {
  const records = new Records()
  const sockets = new Set()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const lines = createInterface({ input: socket })
    for (const end of [socket, lines]) end.on('error', () => {}) // a client that was killed
    lines.on('line', (line) => {
      const { id, operation, args } = JSON.parse(line)
      socket.write(`${JSON.stringify({ id, value: records[operation](...args) ?? null })}\n`)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    return new Promise((resolve) => server.close(resolve))
  }
  return { port: server.address().port, stop }
}
