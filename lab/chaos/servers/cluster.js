'use strict'

// A Redis Cluster under faults: three machines, each with a primary and a replica of each other machine's primary.
// Faults hit the primary with the group. Only the members write to it.

const { execFile } = require('node:child_process')
const { setTimeout: sleep } = require('node:timers/promises')
const { promisify } = require('node:util')
const { someOf, spread } = require('../faults/fault.js')
const { CUT_THEN_FROZEN, FROZEN, FROZEN_THEN_CUT, SPLIT, endFault } = require('../faults/machine-faults.js')
const { openNetwork } = require('../faults/network.js')
const { TcpProxy, together } = require('../faults/tcp-proxy.js')
const { within } = require('../faults/within.js')

const helpers = import('../../../__test__/servers/redis.mjs')
const ports = import('../../../__test__/servers/server.mjs')

const MACHINES = 3
const REPLICAS = 2 // of each primary: after a promotion the new one still has one, which its writes need
const NODE_TIMEOUT_MS = 2000
/** The default: how long a primary that resumed in the minority takes writes. */
const DEFAULT_NODE_TIMEOUT_MS = 15_000
/** For machines whose clocks are up to 4 s apart. */
const LEASE = { ttlMs: 9000, skewMs: 5000 }
/**
 * How long an old primary stays isolated after the promotion: longer than new members wait, so that both sides have
 * some.
 */
const AWAY_MS = LEASE.ttlMs + LEASE.skewMs + 4000
/** After a freeze it is cut off for a while more, in which members on its side may renew. */
const AWAY = { awayMs: AWAY_MS, awakeMs: 10_000 }
const NOT_AWAY = { awayMs: 0 }
const CLOSED_PORT = 1
/** At the default node timeout, a replica that was not elected asks for votes again a minute later. */
const LONGEST_PROMOTION_MS = 150_000
const PROMOTION_MS = 1000 // by hand; asking again would start over
const LONGEST_REPAIR_MS = 90_000
const KEYS = '{chaos}' // the group's keys have its name as their hash tag
const CLIENTS = ['cluster of ioredis', 'cluster of node-redis']

class ClusterUnderFaults {
  #events
  #network
  #nodes = []
  #slot
  #lead // the node with the group
  #doors = [] // of each member: its proxies to all nodes
  #repair = Promise.resolve() // ends the remains of the last fault

  /** Undefined where Redis is not installed. `events`: see scenarios/server.js. */
  static async start(events) {
    const { wantRedis } = await helpers
    if (!wantRedis()) return
    const cluster = new ClusterUnderFaults()
    cluster.#events = events
    cluster.#network = await openNetwork(MACHINES)
    await cluster.#startNodes()
    return cluster
  }

  async #startNodes() {
    const { machines } = this.#network
    for (const machine of Array.from({ length: 1 + REPLICAS }, () => machines).flat()) {
      this.#nodes.push(await startNode(machine))
    }
    const addresses = this.#nodes.map(({ address }) => hostAndPort(address))
    await promisify(execFile)('redis-cli', [
      '--cluster',
      'create',
      ...addresses,
      '--cluster-replicas',
      String(REPLICAS),
      '--cluster-yes',
    ])
    this.#slot = await this.#nodes[0].server.cli('CLUSTER', 'KEYSLOT', KEYS)
    await this.#isHealthy()
  }

  lease = LEASE

  get network() {
    return this.#network
  }

  get port() {
    return this.#lead.server.port
  }

  urlAt() {
    return this.#lead.server.url
  }

  /** Each begins with a different machine, so that some ask the one that is cut off. */
  async doorOf(i) {
    const proxies = await Promise.all(
      this.#nodes.map(({ machine, server }) => TcpProxy.open(server.port, machine.host)),
    )
    this.#doors.push(proxies)
    const doors = proxies.map(({ port }) => ({ host: '127.0.0.1', port }))
    const join = {
      client: CLIENTS[i % CLIENTS.length],
      nodes: [...doors.slice(i), ...doors.slice(0, i)],
      addresses: Object.fromEntries(this.#nodes.map(({ address }, n) => [hostAndPort(address), doors[n]])),
    }
    return { task: { join, policy: 'own client' }, proxy: together(proxies) }
  }

  #frozenThenCut = {
    counts: ['frozen then cut'],
    isLoss: true,
    strike: () => this.#atDefaultTimeout(FROZEN_THEN_CUT),
  }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart() },
    { counts: ['migrations'], strike: () => this.#migrate() },
    { counts: ['switch-overs'], strike: () => this.#replace(SWITCH_OVER) },
    { counts: ['failovers'], isLoss: true, strike: () => this.#replace(KILL) },
    { counts: ['frozen'], isLoss: true, strike: () => this.#keepAway(FROZEN) },
    this.#frozenThenCut,
    { counts: ['cut then frozen'], isLoss: true, strike: () => this.#atDefaultTimeout(CUT_THEN_FROZEN) },
    { counts: ['split brains'], isLoss: true, strike: () => this.#keepAway(SPLIT) },
  ]

  /** Without the setting that the docs demand, and with the fault that it prevents. */
  control = {
    name: 'no min-replicas',
    faults: [this.#frozenThenCut],
    prepare: () => this.#setAll('min-replicas-to-write', 0),
  }

  /** Waits until everything works again. */
  settle() {
    return this.#repair
  }

  async stop() {
    await this.#repair.catch(() => {})
    await Promise.all(this.#nodes.map(({ server }) => server.stop()))
    await this.#network.close()
  }

  /** So short that the others do nothing. */
  async #restart() {
    await this.#repair
    const { server } = this.#lead
    this.#events.down()
    await server.kill()
    await sleep(spread(50, 500))
    await server.start()
    this.#repair = this.#comeBack()
  }

  /** The group moves to another primary, key by key, while it is used. */
  async #migrate() {
    await this.#repair
    const from = this.#lead
    const primaries = (await this.#seenBy(from)).filter(({ isPrimary, node }) => isPrimary && node !== from)
    const to = primaries[Math.floor(Math.random() * primaries.length)].node
    const setSlot = (node, ...how) => node.server.cli('CLUSTER', 'SETSLOT', this.#slot, ...how)
    const [fromId, toId] = await Promise.all([from, to].map(({ server }) => server.cli('CLUSTER', 'MYID')))
    await setSlot(to, 'IMPORTING', fromId)
    await setSlot(from, 'MIGRATING', toId)
    const { host, port } = to.address
    for (let keys; ; ) {
      keys = await from.server.cli('CLUSTER', 'GETKEYSINSLOT', this.#slot, '2')
      if (keys === '') break
      await from.server.cli('MIGRATE', host, String(port), '', '0', '5000', 'KEYS', ...keys.split('\n'))
      await sleep(Math.random() * 100)
    }
    for (const node of [to, from, ...primaries.map(({ node }) => node)]) await setSlot(node, 'NODE', toId)
    this.#repair = this.#isHealthy()
  }

  /** The primary fails until its replica has been promoted, or for long after that. */
  async #replace(fault, away = NOT_AWAY) {
    await this.#repair
    const old = this.#lead
    this.#events.down()
    await fault.harm(old, async () => this.#promote(await this.#replicaOf(old)))
    await within(LONGEST_PROMOTION_MS, 'no replica was promoted', () => this.#isReplaced(old))
    this.#repair = this.#repairLater(old, fault, away)
    this.#repair.catch(() => {}) // waiting code learns of it
  }

  /**
   * The primary fails for long, and meanwhile some members reach only its machine, as if the cut were in front of them
   * too.
   */
  #keepAway(fault) {
    let open
    const harm = async (old) => {
      open = this.#strand(old)
      await fault.harm(old)
    }
    const heal = async (old) => {
      await fault.heal(old)
      open()
    }
    return this.#replace({ ...fault, harm, heal }, AWAY)
  }

  /**
   * Cuts some members of each client off from all other machines; returns a function that ends that. Of each, because
   * node-redis renews nothing until it reaches the other primaries again.
   */
  #strand({ machine }) {
    const doors = CLIENTS.flatMap((_, kind) => someOf(this.#doors.filter((_, i) => i % CLIENTS.length === kind)))
    const ways = doors.flatMap((proxies) => proxies.map((proxy, n) => ({ proxy, node: this.#nodes[n] })))
    const closed = ways.filter(({ node }) => node.machine !== machine)
    for (const { proxy } of closed) proxy.pointTo(CLOSED_PORT)
    return () => {
      for (const { proxy, node } of closed) proxy.pointTo(node.server.port, node.machine.host)
    }
  }

  /** With the default of a setting that is short otherwise, so that a run has time for all faults. */
  async #atDefaultTimeout(fault) {
    await this.#repair
    await this.#setAll('cluster-node-timeout', DEFAULT_NODE_TIMEOUT_MS)
    const heal = async (node) => {
      await fault.heal(node)
      await this.#setAll('cluster-node-timeout', NODE_TIMEOUT_MS)
    }
    await this.#keepAway({ ...fault, heal })
  }

  #setAll(setting, value) {
    return Promise.all(this.#nodes.map(({ server }) => server.cli('CONFIG', 'SET', setting, String(value))))
  }

  async #repairLater(old, fault, away) {
    await endFault(old, fault, away)
    await this.#comeBack()
  }

  /** The first primaries lead again: one machine with two of them would be the majority. */
  async #comeBack() {
    await this.#isHealthy()
    for (const node of this.#nodes.slice(0, MACHINES)) await this.#promote(node)
    await this.#isHealthy()
  }

  /**
   * By hand, unless it already leads: the replica requests it, and the primary waits until the replica has everything.
   */
  #promote(node) {
    return within(LONGEST_PROMOTION_MS, 'a replica was not promoted by hand', async () => {
      if ((await node.server.cli('ROLE')).startsWith('master')) return true
      await node.server.cli('CLUSTER', 'FAILOVER')
      await sleep(PROMOTION_MS)
      return false
    })
  }

  async #isReplaced(old) {
    await this.#lookWhoLeads(this.#nodes.find(({ machine }) => machine !== old.machine))
    return this.#lead !== old
  }

  async #lookWhoLeads(witness) {
    this.#lead = this.#leadAmong(await this.#seenBy(witness))
  }

  #leadAmong(seen) {
    const owns = ([first, last]) => first <= this.#slot && this.#slot <= last
    return seen.find(({ ranges }) => ranges.some(owns)).node
  }

  async #replicaOf(node) {
    const seen = await this.#seenBy(node)
    const { id } = seen.find((each) => each.node === node)
    return seen.find(({ primary }) => primary === id).node
  }

  /** How a node sees all of them: `CLUSTER NODES`. */
  async #seenBy(witness) {
    const text = await witness.server.cli('CLUSTER', 'NODES')
    return text.split('\n').map((line) => {
      const [id, address, flags, primary, , , , link, ...slots] = line.split(' ')
      const node = this.#nodes.find((each) => hostAndPort(each.address) === address.split('@')[0])
      const isWell = !/fail|handshake|noaddr/.test(flags) && link === 'connected'
      const isPrimary = flags.includes('master')
      const ranges = isWell && isPrimary ? slots.filter((slot) => !slot.startsWith('[')).map(rangeOf) : []
      return { id, node, primary, isWell, isPrimary, ranges }
    })
  }

  /** All nodes see all nodes and the same primary of the group, and each primary has a replica that follows. */
  #isHealthy() {
    return within(LONGEST_REPAIR_MS, 'the nodes did not come together again', async () => {
      const leads = await Promise.all(this.#nodes.map((node) => this.#leadIfSettled(node)))
      this.#lead = leads[0] ?? this.#lead
      return leads.every((lead) => lead !== undefined && lead === leads[0])
    })
  }

  /** The primary of the group as this node sees it; undefined while something is still wrong. */
  async #leadIfSettled(node) {
    const [seen, info, own] = await Promise.all([
      this.#seenBy(node),
      node.server.cli('CLUSTER', 'INFO'),
      node.server.cli('INFO', 'replication'),
    ])
    const isWhole = seen.length === this.#nodes.length && seen.every(({ isWell }) => isWell)
    if (isWhole && info.includes('cluster_state:ok') && WELL.test(own)) return this.#leadAmong(seen)
  }
}

/** INFO of a primary with all its replicas, or of a replica that follows. */
const WELL = new RegExp(`connected_slaves:${REPLICAS}|master_link_status:up`)

async function startNode(machine) {
  const { startRedisOn } = await helpers
  const { freePort } = await ports
  const [port, bus] = [await freePort(), await freePort()]
  const [address, busAddress] = [await machine.open(port), await machine.open(bus)]
  const lines = [
    'save 3 1', // so that a kill loses what was acknowledged since
    'repl-diskless-sync-delay 0',
    'repl-ping-replica-period 1',
    'cluster-enabled yes',
    'min-replicas-to-write 1',
    `cluster-port ${bus}`,
    `cluster-node-timeout ${NODE_TIMEOUT_MS}`,
    'cluster-replica-validity-factor 0', // a replica that lags is promoted too
    'cluster-allow-replica-migration no',
    `cluster-announce-ip ${address.host}`,
    `cluster-announce-port ${address.port}`,
    `cluster-announce-bus-port ${busAddress.port}`,
  ]
  return { machine, address, server: await startRedisOn(machine, port, lines) }
}

const SWITCH_OVER = {
  harm: (_, promoteReplica) => promoteReplica(),
  heal() {},
}

const KILL = {
  harm: ({ server }) => server.kill(),
  heal: ({ server }) => server.start(),
}

const hostAndPort = ({ host, port }) => `${host}:${port}`
const rangeOf = (text) => [text.split('-')[0], text.split('-').at(-1)].map(Number)

module.exports = { start: ClusterUnderFaults.start }
