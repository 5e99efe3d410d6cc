'use strict'

// A server under faults, with a replica that follows it through a separate proxy, and may lag. The file with the name
// of a database has its specifics. This file never writes to the server, and works for any database.

const { setTimeout: sleep } = require('node:timers/promises')
const { spread } = require('../faults/fault.js')
const { TcpProxy } = require('../faults/tcp-proxy.js')

/**
 * The specifics of a database, in a file of this folder.
 * @typedef {object} Database
 * @property {(port: number) => string} urlAt the members' URL, through the proxy at this port
 * @property {() => Promise<object>} startPrimary
 * @property {(port: number) => Promise<object>} startReplica of the server at this port
 * @property {(server: object) => Promise<void>} startAgain after a restart
 * @property {(replica: object) => Promise<void>} promote lets it lead
 * @property {string[]} restartSignals end it before a restart, each in a separate fault
 * @property {string} crashSignal ends it before a failover
 * @property {Loss[]} [losses] make it lose all its data
 */

/** @typedef {{ count: string, lose: (server: object) => Promise<void> }} Loss */

/**
 * How long a copy has not followed when it takes over: long enough for a slot that was free in the copy, or another
 * member's, to have been granted again.
 */
const someLag = () => 500 + Math.random() * 4500

class ReplicatedServer {
  #database
  #primary
  #replica // a promise
  #link // the proxy from replica to primary
  #events

  /**
   * @param {Database} database
   * @param {object} events see scenarios/server.js
   */
  static async start(database, events) {
    const server = new ReplicatedServer()
    server.#database = database
    server.#events = events
    server.#primary = await database.startPrimary()
    server.#link = await TcpProxy.open(server.#primary.port)
    server.#replica = server.#follow()
    await server.#replica
    return server
  }

  get port() {
    return this.#primary.port
  }

  urlAt(port) {
    return this.#database.urlAt(port)
  }

  get faults() {
    const { restartSignals, losses = [] } = this.#database
    return [
      ...restartSignals.map((signal) => ({ counts: ['restarts'], strike: () => this.#restart(signal) })),
      { counts: ['failovers'], strike: () => this.#failOver() },
      ...losses.map(({ count, lose }) => ({ counts: [count], isLoss: true, strike: () => this.#lose(lose) })),
    ]
  }

  async stop() {
    const replica = await this.#replica
    await replica.stop()
    await Promise.all([this.#primary.stop(), this.#link.close()])
  }

  async #restart(signal) {
    this.#events.down()
    await this.#primary.kill(signal)
    await sleep(spread(50, 1000))
    await this.#database.startAgain(this.#primary)
  }

  async #lose(lose) {
    this.#events.down()
    await lose(this.#primary)
  }

  /** The replica takes over without the writes that were acknowledged while it could not follow. */
  async #failOver() {
    const [old, replica] = [this.#primary, await this.#replica]
    this.#link.refuse()
    await sleep(someLag())
    this.#events.down()
    await old.kill(this.#database.crashSignal)
    await this.#database.promote(replica)
    this.#primary = replica
    this.#events.lead(replica.port)
    this.#link.pointTo(replica.port)
    this.#link.accept()
    this.#replica = this.#follow()
    await old.stop()
  }

  #follow() {
    return this.#database.startReplica(this.#link.port)
  }
}

module.exports = { ReplicatedServer }
