// A database for the tests of check-store: records in the memory of one process, which others reach over TCP. Each
// request is one line of JSON and one atomic step, so the correct store is correct.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { once } from '../support/waits.mjs'

/** The operations of the server. `swapAny`, `put` and `drop` are for faulty stores. */
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
    // `started` is for stores with a wrong clock; a store may answer more than was asked for.
    return { values, identity: this.#identity, position: this.#position, started: this.#started, now: Date.now() }
  }

  swap(group, name, from, to, { history, process }) {
    const isSame = history === this.#identity.history && process === this.#identity.process
    if (!isSame || (this.#group(group).get(name) ?? null) !== from) return false
    this.put(group, name, to)
    return true
  }

  /** Compares the text instead of the identity. */
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

  /** Loses everything, like a restarted server without a disk. */
  wipe() {
    this.#groups.clear()
    this.renew()
  }

  renew() {
    this.#identity = { ...this.#identity, process: randomUUID() }
  }

  /** Loses some records, unnoticeably. */
  drop(name) {
    for (const records of this.#groups.values()) records.delete(name)
  }
}

/** A database in this process: its port, and a function that stops it. */
export async function startRecords() {
  const records = new Records()
  const sockets = new Set()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const lines = createInterface({ input: socket })
    for (const end of [socket, lines]) end.on('error', () => {}) // a killed client
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
