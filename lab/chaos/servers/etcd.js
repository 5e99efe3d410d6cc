'use strict'

// etcd under faults: one member, which is killed, stopped and wiped. Only the members and the faults write to it.

const { setTimeout: sleep } = require('node:timers/promises')
const { spread } = require('../faults/fault.js')

const helpers = import('../../../__test__/servers/etcd.mjs')

class EtcdUnderFaults {
  #server
  #events

  /** Undefined where etcd is not installed. `events`: see scenarios/server.js. */
  static async start(events) {
    const { startEtcd, wantEtcd } = await helpers
    if (!wantEtcd()) return
    const etcd = new EtcdUnderFaults()
    etcd.#events = events
    etcd.#server = await startEtcd()
    return etcd
  }

  get port() {
    return this.#server.port
  }

  urlAt(port) {
    return `etcd://127.0.0.1:${port}`
  }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart('SIGKILL') },
    { counts: ['restarts'], strike: () => this.#restart('SIGTERM') },
    { counts: ['wiped'], isLoss: true, strike: () => this.#wipeMember() },
  ]

  async stop() {
    await this.#server.stop()
  }

  async #restart(signal) {
    this.#events.down()
    await this.#server.kill(signal)
    await sleep(spread(50, 1000))
    await this.#server.start()
  }

  async #wipeMember() {
    this.#events.down()
    await this.#server.wipe()
    await sleep(spread(50, 1000))
    await this.#server.start()
  }
}

module.exports = { start: EtcdUnderFaults.start }
