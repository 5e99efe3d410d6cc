'use strict'

// Redis under faults: a server that saves its data every few seconds, so that a kill loses what it acknowledged since, and
// a replica that follows it through a line of its own. It must never be written to but by the members and the faults.

const { setTimeout: sleep } = require('node:timers/promises')
const { someLag, spread } = require('../faults.js')
const { Line } = require('../line.js')

const helpers = import('../../__test__/servers/redis.mjs')

const SAVES = '3 1' // after so many seconds with a change

class RedisUnderFaults {
  #primary
  #replica // a promise
  #link // from replica to primary
  #events

  /** Undefined where Redis is not installed. `events`: see leased.js. */
  static async start(events) {
    const { startRedis, wantRedis } = await helpers
    if (!wantRedis()) return
    const store = new RedisUnderFaults()
    store.#events = events
    store.#primary = await startRedis()
    store.#link = await Line.open(store.#primary.port)
    await saveOften(store.#primary)
    store.#replica = store.#follow()
    await store.#replica
    return store
  }

  get port() {
    return this.#primary.port
  }

  urlAt(port) {
    return `redis://127.0.0.1:${port}`
  }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart('SIGKILL') },
    { counts: ['restarts'], strike: () => this.#restart('SIGTERM') },
    { counts: ['failovers'], strike: () => this.#failOver() },
    { counts: ['FLUSHALL'], isLoss: true, strike: () => this.#flush() },
  ]

  async stop() {
    const replica = await this.#replica
    await Promise.all([this.#primary.stop(), replica.stop(), this.#link.close()])
  }

  async #flush() {
    this.#events.down()
    await this.#primary.cli('FLUSHALL')
  }

  async #restart(signal) {
    this.#events.down()
    await this.#primary.kill(signal)
    await sleep(spread(50, 1000))
    await this.#primary.start()
    await saveOften(this.#primary)
  }

  /** The replica takes over without what was acknowledged while it could not follow. */
  async #failOver() {
    const [old, replica] = [this.#primary, await this.#replica]
    this.#link.bar()
    await sleep(someLag())
    this.#events.down()
    await old.kill()
    await replica.cli('REPLICAOF', 'NO', 'ONE')
    leadItself(replica)
    await saveOften(replica)
    this.#primary = replica
    this.#events.lead(replica.port)
    this.#link.pointTo(replica.port)
    this.#link.unbar()
    this.#replica = this.#follow()
    await old.stop()
  }

  async #follow() {
    const { startReplica } = await helpers
    return startReplica({ port: this.#link.port })
  }
}

const saveOften = (server) => server.cli('CONFIG', 'SET', 'save', SAVES)

/** After a restart, too, a server that was promoted is no replica any more. */
function leadItself(server) {
  const at = server.command.indexOf('--replicaof')
  server.command.splice(at, 2)
}

module.exports = { start: RedisUnderFaults.start }
