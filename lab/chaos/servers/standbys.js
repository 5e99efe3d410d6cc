'use strict'

// A database with two standbys under faults, on three machines: commits wait for the first standby, and not for the
// second. The harness promotes, and fences only where it promotes the second. The file with the name of a database has
// its specifics. This file never writes to the server, and works for any database.

const { setTimeout: sleep } = require('node:timers/promises')
const { someOf, spread } = require('../faults/fault.js')
const { CUT_THEN_FROZEN, FROZEN_THEN_CUT, SPLIT } = require('../faults/machine-faults.js')
const { openNetwork } = require('../faults/network.js')
const { TcpProxy } = require('../faults/tcp-proxy.js')
const { within } = require('../faults/within.js')

const ports = import('../../../__test__/servers/server.mjs')

const NAMES = ['one', 'two', 'three']
/** For machines whose clocks are up to 4 s apart. */
const LEASE = { ttlMs: 9000, skewMs: 5000 }
/**
 * How long an old primary continues next to the new one: longer than new members wait, so that both sides have some.
 */
const AWAY_MS = LEASE.ttlMs + LEASE.skewMs + 8000
const LONGEST_LAG_MS = 5000
const END_EVERY_MS = 500
const LONGEST_COMMIT_MS = 60_000
/** How long a frozen primary stays paused after the promotion. */
const FROZEN_MS = 3000
const LONGEST_START_MS = 60_000 // the sessions of a server that was killed hold its memory until they notice

/**
 * A server and its location. `address` is for other machines; a pooler is on this one.
 * @typedef {{ name: string, machine: object, port: number, address: { host: string, port: number }, server: object,
 *   pooler?: object }} Place
 */

/**
 * The specifics of a database, in a file of this folder.
 * @typedef {object} Database
 * @property {(address: { host: string, port: number }) => string} urlAt for members
 * @property {(place: Place) => Promise<object>} startPrimary
 * @property {(lead: Place, others: Place[]) => Promise<void>} follow gives the others new servers that follow; once
 *   they do, commits wait for the first
 * @property {(lead: Place) => Promise<void>} waitForNobody commits no longer wait for a standby
 * @property {(server: object) => Promise<object>} promote
 * @property {(server: object) => Promise<object>} [startPooler] before a server, for half of the members
 * @property {Record<string, (server: object) => Promise<number>>} endCommits ways to end the commits that wait for a
 *   standby, as watchdogs and operators do, by the name under which each is counted; resolves to how many it ended
 * @property {string} crashSignal
 */

class StandbysUnderFaults {
  #database
  #events
  #network
  #places = [] // the first leads, and commits wait for the second
  #doors = []
  #repair = Promise.resolve() // ends the remains of the last fault

  /**
   * @param {Database} database
   * @param {object} events see scenarios/server.js
   */
  static async start(database, events) {
    const server = new StandbysUnderFaults()
    server.#database = database
    server.#events = events
    server.#network = await openNetwork(NAMES.length)
    await server.#startAll()
    for (const [count, end] of Object.entries(database.endCommits)) server.#addEndedCommits(count, end)
    return server
  }

  async #startAll() {
    for (const [i, name] of NAMES.entries()) {
      const machine = this.#network.machines[i]
      const port = await (await ports).freePort()
      this.#places.push({ name, machine, port, address: await machine.open(port) })
    }
    const [lead] = this.#places
    lead.server = await this.#database.startPrimary(lead)
    await this.#follow()
    for (const place of this.#places) place.pooler = await this.#database.startPooler?.(place.server)
  }

  lease = LEASE

  get network() {
    return this.#network
  }

  get port() {
    return this.#places[0].port
  }

  urlAt() {
    return this.#database.urlAt(this.#places[0].server)
  }

  async doorOf(i) {
    const proxy = await TcpProxy.open(this.port)
    const door = { proxy, isPooled: i % 2 === 0 }
    this.#doors.push(door)
    this.#lead(door)
    return { task: { join: this.#database.urlAt({ host: '127.0.0.1', port: proxy.port }), policy: 'window' }, proxy }
  }

  /** To the server that leads now, or to the pooler before it. */
  #lead({ proxy, isPooled }) {
    const [{ server, pooler }] = this.#places
    if (isPooled && pooler !== undefined) proxy.pointTo(pooler.port)
    else proxy.pointTo(server.port, server.host)
  }

  #splitBrain = { counts: ['split brains'], isLoss: true, strike: () => this.#replace(takeOver(SPLIT)) }

  faults = [
    { counts: ['restarts'], strike: () => this.#restart() },
    { counts: ['failovers'], isLoss: true, strike: () => this.#replace(KILL) },
    { counts: ['failovers behind'], strike: () => this.#replace(LAG) },
    this.#splitBrain,
    { counts: ['frozen then cut'], isLoss: true, strike: () => this.#replace(takeOver(FROZEN_THEN_CUT)) },
    { counts: ['cut then frozen'], isLoss: true, strike: () => this.#replace(takeOver(CUT_THEN_FROZEN)) },
  ]

  /** A split brain, and on the old side an operator ends slow statements. */
  #addEndedCommits(count, end) {
    const split = { ...takeOver(SPLIT), comeBack: (old) => this.#endCommits(old, end) }
    this.faults.push({ counts: [count], isLoss: true, strike: () => this.#replace(split) })
  }

  /** Commits do not wait for a standby, and the old primary continues. */
  control = {
    name: 'no synchronous standby',
    faults: [this.#splitBrain],
    prepare: () => this.#database.waitForNobody(this.#places[0]),
  }

  /** Waits until everything works again. */
  settle() {
    return this.#repair
  }

  async stop() {
    await this.#repair.catch(() => {})
    await Promise.all(this.#places.flatMap(({ server, pooler }) => [pooler?.stop(), server.stop()]))
    await this.#network.close()
  }

  #crash({ server }) {
    return server.kill(this.#database.crashSignal)
  }

  async #restart() {
    await this.#repair
    const [lead] = this.#places
    this.#events.down()
    await this.#crash(lead)
    await sleep(spread(50, 500))
    await startAgain(lead)
  }

  /** Another one leads. Where the old one stays alive, some members use it for a while. */
  async #replace({ heir, harm, comeBack, heal }) {
    await this.#repair
    const old = [...this.#places]
    this.#events.down()
    await harm(old, (place) => this.#crash(place))
    const next = old[heir]
    await this.#database.promote(next.server)
    this.#places = [next, ...old.filter((place) => place !== next)]
    const moving = comeBack === undefined ? this.#doors : someOf(this.#doors)
    for (const door of moving) this.#lead(door)
    this.#repair = this.#repairLater(old[0], { comeBack, heal })
    this.#repair.catch(() => {}) // waiting code learns of it
  }

  async #repairLater(old, { comeBack, heal }) {
    if (comeBack !== undefined) {
      await comeBack(old)
      await sleep(AWAY_MS)
      for (const door of this.#doors) this.#lead(door)
    }
    await heal?.(old)
    await Promise.all(this.#places.slice(1).map(({ server }) => server.stop()))
    await this.#follow()
  }

  /** Repeatedly for a while, and at least one. */
  async #endCommits({ server }, end) {
    let ended = 0
    const endSome = async () => {
      ended += await end(server)
      return ended > 0
    }
    for (const start = performance.now(); performance.now() - start < AWAY_MS; await sleep(END_EVERY_MS))
      await endSome()
    await within(LONGEST_COMMIT_MS, 'no commit waited for a standby on the old primary', endSome)
  }

  #follow() {
    const [lead, ...others] = this.#places
    return this.#database.follow(lead, others)
  }
}

function startAgain({ server }) {
  return within(LONGEST_START_MS, 'the old primary does not start', async () => (await server.start()) !== undefined)
}

/** The primary crashes. When it is back it does not know that another one leads, and it is not fenced. */
const KILL = {
  heir: 1,
  harm: ([lead], crash) => crash(lead),
  comeBack: startAgain,
}

/** The synchronous standby takes over from a primary with this fault. A frozen primary resumes a while later. */
const takeOver = ({ harm, wake, heal }) => ({
  heir: 1,
  harm: ([lead]) => harm(lead),
  async comeBack(old) {
    if (wake === undefined) return // it was never down
    await sleep(FROZEN_MS)
    await wake(old)
  },
  heal,
})

/** The standby that commits do not wait for has not followed for a while when the two others fail for good. */
const LAG = {
  heir: 2,
  async harm([lead, synchronous, behind], crash) {
    await behind.machine.cutOff()
    await sleep(Math.random() * LONGEST_LAG_MS)
    await Promise.all([crash(lead), crash(synchronous)])
    await behind.machine.heal()
  },
}

module.exports = { StandbysUnderFaults }
