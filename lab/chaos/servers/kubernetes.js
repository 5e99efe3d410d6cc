'use strict'

// The Leases of Kubernetes under faults: two API servers on one etcd, which are killed, frozen and wiped. Half of the members use
// each server, and their store is that of examples/kubernetes.

const { setTimeout: sleep } = require('node:timers/promises')
const path = require('node:path')
const { recordStore } = require('flakeforge/lease')
const { spread } = require('../faults/fault.js')
const { TcpProxy } = require('../faults/tcp-proxy.js')

const folder = path.join(__dirname, '..', '..', 'databases', 'kubernetes')
const helpers = import('../../databases/kubernetes/cluster.js')
const stores = import('../../databases/kubernetes/store.js')
const programs = import('../../../__test__/servers/server.mjs')

/** The clock of an API server is in whole seconds. */
const LEASE = { slots: 12, ttlMs: 6000, skewMs: 2500 }
const someAbsence = () => spread(500, 8000)

class LeasesUnderFaults {
  #events
  #cluster
  #store

  /** Undefined where Go is not installed, which builds the API server. `events`: see scenarios/server.js. */
  static async start(events) {
    if (!(await programs).wantProgram('go')) return
    const leases = new LeasesUnderFaults()
    leases.#events = events
    leases.#cluster = await (await helpers).startCluster()
    const { storeAt } = await stores
    leases.#store = recordStore(await storeAt(leases.#placeAt(leases.port)))
    return leases
  }

  lease = LEASE

  get port() {
    return this.#cluster.apis[0].port
  }

  urlAt() {
    return this.#store
  }

  #placeAt(port) {
    const { namespace, tokenFile } = this.#cluster
    return { server: `https://127.0.0.1:${port}`, namespace, tokenFile }
  }

  /** Each member has one of the servers. */
  async doorOf(i) {
    const { apis } = this.#cluster
    const proxy = await TcpProxy.open(apis[i % apis.length].port)
    const join = { module: path.join(folder, 'store.js'), place: this.#placeAt(proxy.port) }
    return { task: { join, policy: 'records' }, proxy }
  }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart([this.#someApi()]) },
    { counts: ['etcd restarts'], strike: () => this.#restart([this.#cluster.etcd]) },
    { counts: ['frozen'], strike: () => this.#freeze(this.#someApi()) },
    { counts: ['etcd frozen'], strike: () => this.#freeze(this.#cluster.etcd) },
    { counts: ['wiped'], isLoss: true, strike: () => this.#wipe() },
  ]

  async stop() {
    await this.#store.close()
    await this.#cluster.stop()
  }

  #someApi() {
    const { apis } = this.#cluster
    return apis[Math.floor(Math.random() * apis.length)]
  }

  async #restart(servers) {
    this.#events.down()
    for (const server of servers) await server.kill(Math.random() < 0.5 ? 'SIGKILL' : 'SIGTERM')
    await sleep(someAbsence())
    for (const server of servers) await server.start()
    await this.#cluster.isWhole()
  }

  async #freeze({ pid }) {
    this.#events.down()
    process.kill(pid, 'SIGSTOP')
    await sleep(someAbsence())
    process.kill(pid, 'SIGCONT')
    await this.#cluster.isWhole()
  }

  async #wipe() {
    this.#events.down()
    await this.#cluster.wipe()
  }
}

module.exports = { start: LeasesUnderFaults.start }
