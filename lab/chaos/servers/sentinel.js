'use strict'

// Redis under Sentinel and under faults: three machines, each with a server and a Sentinel, one of them the primary's.
// Sentinels decide which server leads. The settings are those of the docs, with shorter times. Only the members write
// to it.

const { setTimeout: sleep } = require('node:timers/promises')
const { spread } = require('../faults/fault.js')
const { CUT_THEN_FROZEN, FROZEN, FROZEN_THEN_CUT, SPLIT, endFault } = require('../faults/machine-faults.js')
const { openNetwork } = require('../faults/network.js')
const { TcpProxy, together } = require('../faults/tcp-proxy.js')
const { within } = require('../faults/within.js')

const helpers = import('../../../__test__/servers/redis.mjs')
const ports = import('../../../__test__/servers/server.mjs')

const MACHINES = 3
const NAME = 'primary'
const LAG_S = 2
const LONGEST_LAG_MS = 1500 // shorter than the time after which it counts as down
const LONGEST_SLOWNESS_MS = 6000
/** For machines whose clocks are up to 4 s apart, and an old primary that stops within 2 s of the promotion. */
const LEASE = { ttlMs: 10_000, skewMs: 6000 }
/**
 * How long an old primary stays isolated after the promotion: longer than new members wait, so that both sides have
 * some.
 */
const AWAY_MS = LEASE.ttlMs + LEASE.skewMs + 4000
/** After a freeze it is cut off for a while more, in which members on its side may renew. */
const AWAY = { awayMs: AWAY_MS, awakeMs: 6000 }
const NOT_AWAY = { awayMs: 0 }
const LONGEST_PROMOTION_MS = 60_000
const LONGEST_REPAIR_MS = 90_000
const CLIENTS = ['ioredis', 'node-redis']

class SentinelUnderFaults {
  #events
  #network
  #nodes = []
  #lead // one of the nodes
  #repair = Promise.resolve() // ends the remains of the last fault

  /** Undefined where Redis is not installed. `events`: see scenarios/server.js. */
  static async start(events) {
    const { wantRedis } = await helpers
    if (!wantRedis()) return
    const server = new SentinelUnderFaults()
    server.#events = events
    server.#network = await openNetwork(MACHINES)
    await server.#startNodes()
    return server
  }

  async #startNodes() {
    for (const machine of this.#network.machines) this.#nodes.push(await this.#startNode(machine))
    for (const node of this.#nodes) node.sentinel = await this.#startSentinel(node.machine)
    await this.#isHealthy()
  }

  /** The first one leads, and Sentinels prefer it when they promote. */
  async #startNode(machine) {
    const { startRedisOn } = await helpers
    const port = await (await ports).freePort()
    const address = await machine.open(port)
    this.#lead ??= { address }
    const lines = [
      'save 3 1', // so that a kill loses what was acknowledged since
      'repl-diskless-sync-delay 0',
      'repl-backlog-ttl 0',
      'min-replicas-to-write 1',
      `min-replicas-max-lag ${LAG_S}`,
      `replica-priority ${this.#nodes.length === 0 ? 1 : 100}`,
      `replica-announce-ip ${address.host}`,
      `replica-announce-port ${address.port}`,
      ...(this.#nodes.length > 0 ? [`replicaof ${hostAndPort(this.#lead.address)}`] : []),
    ]
    const node = { machine, address, server: await startRedisOn(machine, port, lines) }
    if (this.#nodes.length === 0) this.#lead = node
    return node
  }

  /** By our clock: a Sentinel whose clock steps does nothing for half a minute (TILT). */
  async #startSentinel(machine) {
    const { startSentinelOn } = await helpers
    const port = await (await ports).freePort()
    const address = await machine.open(port)
    const place = { host: machine.host, inside: (command) => machine.inside(command) }
    return startSentinelOn(place, port, [
      `sentinel announce-ip ${address.host}`,
      `sentinel announce-port ${address.port}`,
      `sentinel monitor ${NAME} ${hostAndPort(this.#lead.address)} 2`,
      `sentinel down-after-milliseconds ${NAME} ${LAG_S * 1000}`,
      `sentinel failover-timeout ${NAME} 3000`,
      `sentinel parallel-syncs ${NAME} 2`,
    ])
  }

  lease = LEASE

  get network() {
    return this.#network
  }

  get port() {
    return this.#lead.server.port
  }

  urlAt(port) {
    return `redis://${this.#lead.machine.host}:${port}`
  }

  /** How member `i` connects: each begins with a different Sentinel, so that some ask the one that is cut off. */
  async doorOf(i) {
    const proxies = await Promise.all(
      this.#nodes.map(({ machine, server }) => TcpProxy.open(server.port, machine.host)),
    )
    const addresses = this.#nodes.map(({ address }, n) => [
      hostAndPort(address, ':'),
      { host: '127.0.0.1', port: proxies[n].port },
    ])
    const sentinels = this.#nodes.map(({ machine, sentinel }) => ({ host: machine.host, port: sentinel.port }))
    const join = {
      client: CLIENTS[i % CLIENTS.length],
      name: NAME,
      sentinels: [...sentinels.slice(i % MACHINES), ...sentinels.slice(0, i % MACHINES)],
      addresses: Object.fromEntries(addresses),
    }
    return { task: { join, policy: 'own client' }, proxy: together(proxies) }
  }

  #splitBrain = {
    counts: ['split brains'],
    isLoss: true,
    strike: () => this.#replace(SPLIT, AWAY),
  }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart() },
    { counts: ['switch-overs'], strike: () => this.#replace(SWITCH_OVER) },
    { counts: ['failovers'], strike: () => this.#replace(KILL) },
    { counts: ['failovers behind'], strike: () => this.#replace(LAG) },
    { counts: ['failbacks'], strike: () => this.#failBack() },
    { counts: ['frozen'], isLoss: true, strike: () => this.#replace(FROZEN, AWAY) },
    { counts: ['frozen then cut'], isLoss: true, strike: () => this.#replace(FROZEN_THEN_CUT, AWAY) },
    { counts: ['cut then frozen'], isLoss: true, strike: () => this.#replace(CUT_THEN_FROZEN, AWAY) },
    this.#splitBrain,
  ]

  /** Without the setting that the docs demand, and with the fault that it prevents. */
  control = {
    name: 'no min-replicas',
    faults: [this.#splitBrain],
    prepare: () =>
      Promise.all(this.#nodes.map(({ server }) => server.cli('CONFIG', 'SET', 'min-replicas-to-write', '0'))),
  }

  /** Waits until everything works again. */
  settle() {
    return this.#repair
  }

  async stop() {
    await this.#repair.catch(() => {})
    await Promise.all(this.#nodes.flatMap(({ server, sentinel }) => [server.stop(), sentinel.stop()]))
    await this.#network.close()
  }

  /** So short that the Sentinels do nothing. */
  async #restart() {
    await this.#repair
    const { server } = this.#lead
    this.#events.down()
    await server.kill()
    await sleep(spread(50, 500))
    await server.start()
    this.#repair = this.#isHealthy()
  }

  /** The primary fails until the Sentinels have promoted another one, or for long after that. */
  async #replace(fault, away = NOT_AWAY) {
    await this.#repair
    const old = this.#lead
    this.#events.down()
    await fault.harm(old)
    await within(LONGEST_PROMOTION_MS, 'no replica was promoted', () => this.#isReplaced(old))
    this.#repair = this.#repairLater(old, fault, away)
    this.#repair.catch(() => {}) // waiting code learns of it
  }

  /** The first one leads again, after another one did. */
  async #failBack() {
    const [first] = this.#nodes
    if (this.#lead === first) await this.#replace(SWITCH_OVER)
    while (this.#lead !== first) await this.#replace(KILL)
  }

  async #repairLater(old, fault, away) {
    await endFault(old, fault, away)
    await this.#isHealthy()
  }

  /** Another one leads, and takes writes. */
  async #isReplaced(old) {
    await this.#lookWhoLeads(old)
    if (this.#lead === old) return false
    return /role:master[\s\S]*connected_slaves:[1-9]/.test(await this.#lead.server.cli('INFO', 'replication'))
  }

  /** Asks a Sentinel that is not on the machine of this one. */
  async #lookWhoLeads(away) {
    const { sentinel } = this.#nodes.find((node) => node !== away)
    const address = (await sentinel.cli('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)).replace('\n', ':')
    this.#lead = this.#nodes.find((node) => hostAndPort(node.address, ':') === address)
  }

  /** All follow one primary, and all Sentinels know it. */
  #isHealthy() {
    return within(LONGEST_REPAIR_MS, 'the servers did not come together again', async () => {
      await this.#lookWhoLeads()
      const states = await Promise.all(this.#nodes.map((node) => this.#isSettled(node)))
      return states.every(Boolean)
    })
  }

  async #isSettled(node) {
    const [own, seen] = await Promise.all([
      node.server.cli('INFO', 'replication'),
      node.sentinel.cli('INFO', 'sentinel'),
    ])
    const role = node === this.#lead ? /role:master[\s\S]*connected_slaves:2/ : /role:slave[\s\S]*master_link_status:up/
    const lead = hostAndPort(this.#lead.address, ':')
    return role.test(own) && seen.includes(`status=ok,address=${lead},slaves=2,sentinels=3`)
  }
}

/** By hand: the old primary is demoted while it runs. */
const SWITCH_OVER = {
  harm: ({ sentinel }) =>
    within(LONGEST_PROMOTION_MS, 'no Sentinel began to switch over', async () => {
      return (await sentinel.cli('SENTINEL', 'FAILOVER', NAME)) === 'OK' // not during the last one
    }),
  heal() {},
}

/** The replicas have not followed for a while when it is killed. */
const KILL = {
  async harm({ machine, server }) {
    await machine.cutOff()
    await sleep(Math.random() * LONGEST_LAG_MS)
    await server.kill()
  },
  async heal({ machine, server }) {
    await machine.heal()
    await server.start()
  },
}

/** The replicas have old data, because their traffic is late, but their messages still arrive. */
const LAG = {
  async harm({ machine, server }) {
    await machine.slowDown()
    await sleep(spread(1000, LONGEST_SLOWNESS_MS))
    await machine.cutOff()
    await server.kill()
    await machine.speedUp()
  },
  heal: KILL.heal,
}

const hostAndPort = ({ host, port }, between = ' ') => `${host}${between}${port}`

module.exports = { start: SentinelUnderFaults.start }
