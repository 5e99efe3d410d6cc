'use strict'

// Three members of one etcd cluster under faults, each on its machine. They write by majority: whatever fails,
// acknowledged writes must still be there. Only the members write to it.

const { setTimeout: sleep } = require('node:timers/promises')
const { spread } = require('../faults/fault.js')
const { openNetwork } = require('../faults/network.js')
const { slowDisk } = require('../faults/slow-disk.js')
const { TcpProxy, together } = require('../faults/tcp-proxy.js')
const { within } = require('../faults/within.js')

const helpers = import('../../../__test__/servers/etcd.mjs')
const programs = import('../../../__test__/servers/server.mjs')

const MACHINES = 3
/** For clocks that are up to 4 s apart, and report whole seconds. */
const LEASE = { ttlMs: 9000, skewMs: 5000 }
const LONGEST_REPAIR_MS = 60_000
/** Longer than an election, which takes one to two seconds. */
const someAbsence = () => spread(500, 8000)

class EtcdClusterUnderFaults {
  #events
  #network
  #members

  /** Undefined where etcd is not installed. `events`: see scenarios/server.js. */
  static async start(events) {
    const { startCluster, wantEtcd } = await helpers
    if (!wantEtcd()) return
    const { wantProgram } = await programs
    const cluster = new EtcdClusterUnderFaults()
    if (wantProgram('strace')) cluster.faults.push({ counts: ['slow disks'], strike: () => cluster.#slowDisk() })
    cluster.#events = events
    cluster.#network = await openNetwork(MACHINES)
    cluster.#members = await startCluster(cluster.#network.machines)
    return cluster
  }

  lease = LEASE
  /** None of these faults can lose a window. */
  losesNothing = true

  get network() {
    return this.#network
  }

  get port() {
    return this.#members[0].port
  }

  urlAt() {
    return `etcd://${this.#members.map(({ url }) => url.slice('http://'.length)).join()}`
  }

  /** Each member begins with a different server: one that is cut off answers, but must not grant anything. */
  async doorOf(i) {
    const proxies = await Promise.all(this.#members.map(({ port }, n) => TcpProxy.open(port, this.#machine(n).host)))
    const places = proxies.map(({ port }) => `127.0.0.1:${port}`)
    const turned = [...places.slice(i % MACHINES), ...places.slice(0, i % MACHINES)]
    return { task: { join: `etcd://${turned.join()}`, policy: 'window' }, proxy: together(proxies) }
  }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart(1) },
    { counts: ['two lost'], strike: () => this.#restart(2) },
    { counts: ['cut off'], strike: () => this.#cutOff() },
    { counts: ['frozen'], strike: () => this.#freeze() },
    { counts: ['slow links'], strike: () => this.#slowLinks() },
    { counts: ['compactions'], strike: () => this.#compact() },
  ]

  async stop() {
    await Promise.all(this.#members.map((member) => member.stop()))
    await this.#network.close()
  }

  #machine(n) {
    return this.#network.machines[n]
  }

  /** Which one leads, or any while none does. */
  async #leader() {
    const statuses = await Promise.all(this.#members.map((member) => this.#statusOf(member)))
    const found = statuses.findIndex((status) => status?.leader === status?.header.member_id)
    return Math.max(found, 0)
  }

  async #statusOf(member) {
    const [{ Status }] = JSON.parse(await member.ctl('endpoint', 'status', '--write-out=json'))
    return Status
  }

  /** This many at once, including the leader. */
  async #restart(count) {
    const leader = await this.#leader()
    const lost = Array.from({ length: count }, (_, i) => this.#members[(leader + i) % MACHINES])
    this.#events.down()
    await Promise.all(lost.map((member) => member.kill(Math.random() < 0.5 ? 'SIGKILL' : 'SIGTERM')))
    await sleep(someAbsence())
    await Promise.all(lost.map((member) => member.start())) // two of them can only answer together
    await this.#isWhole()
  }

  /** The leader reaches our members, but no other member of etcd. */
  async #cutOff() {
    const machine = this.#machine(await this.#leader())
    this.#events.down()
    await machine.cutOff()
    await sleep(someAbsence())
    await machine.heal()
    await this.#isWhole()
  }

  /** The leader is paused, and continues as if it led. */
  async #freeze() {
    const { pid } = this.#members[await this.#leader()]
    this.#events.down()
    process.kill(pid, 'SIGSTOP')
    await sleep(someAbsence())
    process.kill(pid, 'SIGCONT')
    await this.#isWhole()
  }

  /** The leader's messages are late or lost. */
  async #slowLinks() {
    const machine = this.#machine(await this.#leader())
    await machine.slowDown()
    await sleep(someAbsence())
    await machine.speedUp()
    await this.#isWhole()
  }

  /** The leader acknowledges only writes on its slow disk. */
  async #slowDisk() {
    const { pid } = this.#members[await this.#leader()]
    const heal = await slowDisk(pid, spread(50, 1000))
    await sleep(someAbsence())
    await heal()
    await this.#isWhole()
  }

  /** Old revisions are removed, and each member rewrites its file, during which it does not answer. */
  async #compact() {
    const { revision } = (await this.#statusOf(this.#members[0])).header
    await this.#members[0].ctl('compact', String(revision))
    for (const member of this.#members) await member.ctl('defrag')
  }

  /** Each member answers what a majority has agreed on. */
  #isWhole() {
    return within(LONGEST_REPAIR_MS, 'the members did not come together again', async () => {
      await Promise.all(this.#members.map((member) => member.isReady()))
      return true
    })
  }
}

module.exports = { start: EtcdClusterUnderFaults.start }
