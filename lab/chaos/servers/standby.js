'use strict'

// PostgreSQL with two standbys under faults, on three machines: commits wait for one of the standbys, and not for the other.
// Half of the members come through PgBouncer in transaction mode. The harness promotes, and fences only where it promotes the
// standby that commits do not wait for. It must never be written to but by the members.

const { setTimeout: sleep } = require('node:timers/promises')
const { spread } = require('../faults/fault.js')
const { openNetwork } = require('../faults/network.js')
const { TcpProxy } = require('../faults/tcp-proxy.js')
const { within } = require('../faults/within.js')

const helpers = import('../../../__test__/servers/postgres.mjs')
const ports = import('../../../__test__/servers/server.mjs')

const NAMES = ['one', 'two', 'three']
const LEASE = { ttlMs: 4000, skewMs: 1000 }
/** How long an old primary goes on beside the new one: longer than new members wait, so that both sides have some. */
const AWAY_MS = LEASE.ttlMs + LEASE.skewMs + 4000
const LONGEST_LAG_MS = 5000
const LONGEST_REPAIR_MS = 90_000
/** A commit that waits for a standby keeps its connection after its client has gone. */
const SETTINGS = { max_connections: 400 }

const urlAt = ({ host, port }) => `postgres://tester@${host}:${port}/postgres`

class StandbysUnderFaults {
  #events
  #network
  #nodes = [] // { name, machine, address, server, bouncer }: the first leads, and commits wait for the second
  #doors = []
  #repair = Promise.resolve() // of what the last fault has left behind

  /** Undefined where PostgreSQL or PgBouncer is not installed. `events`: see scenarios/server.js. */
  static async start(events) {
    const { wantPgbouncer, wantPostgres } = await helpers
    if (!wantPostgres() || !wantPgbouncer()) return
    const server = new StandbysUnderFaults()
    server.#events = events
    server.#network = await openNetwork(NAMES.length)
    await server.#startNodes()
    return server
  }

  async #startNodes() {
    const { startPgbouncer, startPostgres } = await helpers
    for (const [i, name] of NAMES.entries()) {
      const machine = this.#network.machines[i]
      const port = await (await ports).freePort()
      this.#nodes.push({ name, machine, port, address: await machine.open(port) })
    }
    const [lead] = this.#nodes
    lead.server = await startPostgres(settingsOf(lead), lead.machine)
    await this.#follow()
    for (const node of this.#nodes) node.bouncer = await startPgbouncer(node.server)
  }

  lease = LEASE

  get network() {
    return this.#network.kind
  }

  get port() {
    return this.#nodes[0].port
  }

  urlAt() {
    return this.#nodes[0].server.url
  }

  async doorOf(i) {
    const proxy = await TcpProxy.open(this.port)
    const door = { proxy, isPooled: i % 2 === 0 }
    this.#doors.push(door)
    this.#lead(door)
    return { task: { join: urlAt({ host: '127.0.0.1', port: proxy.port }), policy: 'window' }, proxy }
  }

  /** To the server that leads now, or to the pooler before it. */
  #lead({ proxy, isPooled }) {
    const [{ server, bouncer }] = this.#nodes
    if (isPooled) proxy.pointTo(bouncer.port)
    else proxy.pointTo(server.port, server.host)
  }

  #splitBrain = { counts: ['split brains'], isLoss: true, strike: () => this.#replace(SPLIT) }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart() },
    { counts: ['failovers'], isLoss: true, strike: () => this.#replace(KILL) },
    { counts: ['failovers behind'], strike: () => this.#replace(LAG) },
    this.#splitBrain,
  ]

  /** Commits wait for nobody, and the old primary goes on. */
  control = {
    name: 'no synchronous standby',
    faults: [this.#splitBrain],
    prepare: () => waitFor(this.#nodes[0], []),
  }

  /** Waits until all is well again. */
  settle() {
    return this.#repair
  }

  async stop() {
    await this.#repair.catch(() => {})
    await Promise.all(this.#nodes.flatMap(({ server, bouncer }) => [bouncer.stop(), server.stop()]))
    await this.#network.close()
  }

  async #restart() {
    await this.#repair
    const [{ server }] = this.#nodes
    this.#events.down()
    await server.kill('SIGQUIT')
    await sleep(spread(50, 500))
    await server.start()
  }

  /** Another one leads. Where the old one lives on, some members stay with it for a while. */
  async #replace({ heir, harm, comeBack, heal }) {
    await this.#repair
    const old = [...this.#nodes]
    this.#events.down()
    await harm(old)
    const next = old[heir]
    await next.server.query('SELECT pg_promote()')
    this.#nodes = [next, ...old.filter((node) => node !== next)]
    for (const door of this.#doors) if (comeBack === undefined || Math.random() < 0.5) this.#lead(door)
    this.#repair = this.#repairLater(old[0], { comeBack, heal })
    this.#repair.catch(() => {}) // whoever waits for it learns it
  }

  async #repairLater(old, { comeBack, heal }) {
    if (comeBack !== undefined) {
      await comeBack(old)
      await sleep(AWAY_MS)
      for (const door of this.#doors) this.#lead(door)
    }
    await heal?.(old)
    await Promise.all(this.#nodes.slice(1).map(({ server }) => server.stop()))
    await this.#follow()
  }

  /** New copies of the one that leads follow it; commits wait for the first of them. */
  async #follow() {
    const { startStandby } = await helpers
    const [lead, ...others] = this.#nodes
    for (const node of others)
      node.server = await startStandby({ url: urlAt(lead.address) }, settingsOf(node), node.machine)
    await waitFor(lead, others.slice(0, 1))
    await within(LONGEST_REPAIR_MS, 'the standbys do not follow', async () => {
      const rows = await lead.server.query("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")
      return (
        rows
          .map((row) => row.sync_state)
          .sort()
          .join() === 'async,sync'
      )
    })
  }
}

const settingsOf = ({ name, port }) => ({ ...SETTINGS, port, cluster_name: name })

/** Commits on a server wait for these from now on. */
async function waitFor({ server }, nodes) {
  await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${nodes.map(({ name }) => name).join()}'`)
  await server.query('SELECT pg_reload_conf()')
}

/** The primary crashes. When it is back it does not know that another one leads, and nobody fences it. */
const KILL = {
  heir: 1,
  harm: ([{ server }]) => server.kill('SIGQUIT'),
  comeBack: ({ server }) => server.start(),
}

/** The primary reaches no standby, but members. */
const SPLIT = {
  heir: 1,
  harm: ([{ machine }]) => machine.cutOff(),
  comeBack() {}, // it was never away
  heal: ({ machine }) => machine.heal(),
}

/** The standby that commits do not wait for has not followed for a while when the two others fail for good. */
const LAG = {
  heir: 2,
  async harm([lead, synchronous, behind]) {
    await behind.machine.cutOff()
    await sleep(Math.random() * LONGEST_LAG_MS)
    await Promise.all([lead, synchronous].map(({ server }) => server.kill('SIGQUIT')))
    await behind.machine.heal()
  },
}

module.exports = { start: StandbysUnderFaults.start }
