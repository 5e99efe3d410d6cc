'use strict'

// MariaDB under faults: a server, and a replica that follows it through a line of its own and may lag. It must never be
// written to but by the members.

const { setTimeout: sleep } = require('node:timers/promises')
const { someLag, spread } = require('../faults.js')
const { Line } = require('../line.js')

const helpers = import('../../__test__/servers/mysql.mjs')

const DATABASE = 'chaos'

class MysqlUnderFaults {
  #primary
  #replica // a promise
  #link // from replica to primary
  #events
  #servers = 0

  /** Undefined where MariaDB is not installed. `events`: see leased.js. */
  static async start(events) {
    const { startMysql, wantMysql } = await helpers
    if (!wantMysql()) return
    const store = new MysqlUnderFaults()
    store.#events = events
    store.#primary = await startMysql(store.#settings())
    await store.#primary.query(`CREATE DATABASE ${DATABASE}`)
    store.#link = await Line.open(store.#primary.port)
    store.#replica = store.#follow()
    await store.#replica
    return store
  }

  /** Each server has another number, and may be followed. */
  #settings() {
    this.#servers += 1
    return { 'server-id': this.#servers, 'log-bin': 'log', 'log-slave-updates': 1 }
  }

  get port() {
    return this.#primary.port
  }

  urlAt(port) {
    return `mysql://root@127.0.0.1:${port}/${DATABASE}`
  }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart('SIGKILL') },
    { counts: ['restarts'], strike: () => this.#restart('SIGTERM') },
    { counts: ['failovers'], strike: () => this.#failOver() },
  ]

  async stop() {
    const replica = await this.#replica
    await replica.stop()
    await Promise.all([this.#primary.stop(), this.#link.close()])
  }

  async #restart(signal) {
    this.#events.down()
    await this.#primary.kill(signal)
    await sleep(spread(50, 1000))
    await this.#primary.start()
  }

  /** The replica takes over without what was acknowledged while it could not follow. */
  async #failOver() {
    const [old, replica] = [this.#primary, await this.#replica]
    this.#link.bar()
    await sleep(someLag())
    this.#events.down()
    await old.kill('SIGKILL')
    await replica.query('STOP SLAVE; RESET SLAVE ALL')
    this.#primary = replica
    this.#events.lead(replica.port)
    this.#link.pointTo(replica.port)
    this.#link.unbar()
    this.#replica = this.#follow()
    await old.stop()
  }

  async #follow() {
    const { startReplica } = await helpers
    return startReplica({ port: this.#link.port }, this.#settings())
  }
}

module.exports = { start: MysqlUnderFaults.start }
