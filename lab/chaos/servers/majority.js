'use strict'

// Three or five servers that know nothing of each other, and are one store: quorumStore(). Each of them fails: it is killed,
// frozen, cut off or wiped, with its own clock, or it is switched off for good and an empty successor takes its address. The
// next one fails when the members have filled it, because only then it counts again. A wipe of a majority is a loss. Only the
// members and the faults write to them.

const { setTimeout: sleep } = require('node:timers/promises')
const { spawnSync } = require('node:child_process')
const { quorumStore } = require('flakeforge/lease')
const { canSetClocks, Clock, offsetWithin } = require('../faults/clock.js')
const { spread } = require('../faults/fault.js')
const { apart, TcpProxy } = require('../faults/tcp-proxy.js')
const { within } = require('../faults/within.js')

const etcd = import('../../../__test__/servers/etcd.mjs')
const mysql = import('../../../__test__/servers/mysql.mjs')
const postgres = import('../../../__test__/servers/postgres.mjs')
const redis = import('../../../__test__/servers/redis.mjs')
const freePort = async () => (await import('../../../__test__/servers/server.mjs')).freePort()

/** More slots than members: then a member that gets no ID has no store, and does not wait for a slot of a killed one. */
const LEASE = { slots: 12, ttlMs: 6000, skewMs: 2500 }
/** So two clocks are at most as far apart as the group allows, with the second that etcd rounds down. */
const FURTHEST_CLOCK_MS = 500
/** In nearly every ms, as everywhere, and so many that a soak of a quarter of an hour makes a thousand million. */
const TASK = { batch: 4096, perSecond: 800_000 }
/** Members fill an empty server, so on a busy machine they have to live for longer than their start and a fill take. */
const BETWEEN_FAULTS_MS = 8000
const LONGEST_REPAIR_MS = 120_000
const someAbsence = () => spread(500, 8000)

/** This machine, with another clock. */
function clocked() {
  const clock = new Clock(canSetClocks ? offsetWithin(FURTHEST_CLOCK_MS) : 0)
  return { host: '127.0.0.1', inside: (command) => command, environment: clock.environment }
}

/** For each kind: whether it is installed, a server with its URL at another port, how it is killed, and how it is wiped. */
const KINDS = {
  redis: {
    isInstalled: async () => (await redis).wantRedis() !== undefined,
    start: async () => (await redis).startRedisOn(clocked(), await freePort(), ["save ''"]),
    urlAt: (_, port) => `redis://127.0.0.1:${port}`,
    signal: 'SIGKILL', // it has nothing on a disk, so this is a wipe as well
    wipe: (server) => server.cli('FLUSHALL'),
  },
  postgres: {
    isInstalled: async () => (await postgres).wantPostgres() !== undefined,
    start: async () => (await postgres).startPostgres({}, clocked()),
    urlAt: ({ url }, port) => url.replace(/:\d+\//, `:${port}/`),
    signal: 'SIGQUIT',
    wipe: (server) => server.query('DROP TABLE IF EXISTS public.flakeforge_record'),
  },
  mysql: {
    isInstalled: async () => (await mysql).wantMysql() !== undefined,
    async start() {
      const server = await (await mysql).startMysql({}, clocked().environment)
      await server.freshUrl('ids')
      return server
    },
    urlAt: (_, port) => `mysql://root@127.0.0.1:${port}/ids`,
    signal: 'SIGKILL',
    wipe: (server) => server.query('DROP TABLE IF EXISTS ids.flakeforge_record'),
  },
  etcd: {
    isInstalled: async () => (await etcd).wantEtcd() !== undefined,
    start: async () => (await etcd).startEtcd({ machine: clocked() }),
    urlAt: (_, port) => `etcd://127.0.0.1:${port}`,
    signal: 'SIGKILL',
    async wipe(server) {
      await server.wipe()
      await server.start()
    },
  },
}

/** A server's processes: the first one and its children. */
function processesOf({ pid }) {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return [pid, ...stdout.split('\n').filter(Boolean).map(Number)]
}

function signalAll(pids, signal) {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
}

class MajorityUnderFaults {
  #parts
  #links = [] // of each member, and those of `#store`
  #store

  /**
   * Undefined where one of the kinds is not installed.
   * @param {string[]} kinds of its servers
   */
  static async start(kinds) {
    for (const kind of kinds) if (!(await KINDS[kind].isInstalled())) return
    const majority = new MajorityUnderFaults()
    majority.#parts = await Promise.all(
      kinds.map(async (name) => ({ ...KINDS[name], name, server: await KINDS[name].start(), isOut: false })),
    )
    const { addresses, labels } = (await majority.#waysTo()).join
    majority.#store = quorumStore(addresses, { labels })
    return majority
  }

  lease = LEASE
  betweenMs = BETWEEN_FAULTS_MS
  task = TASK
  /** Without a loss of a majority, no window is lost. */
  port = 0

  /** The members reach each server by a way of their own, so its address is no name for it. */
  get #labels() {
    return this.#parts.map(({ name }, n) => `${name}-${n}`)
  }

  get #few() {
    return Math.floor(this.#parts.length / 2)
  }

  urlAt() {
    return this.#store
  }

  /** Each member has its own ways to the servers, and lists them in another order. */
  async doorOf(i) {
    const { join, proxies } = await this.#waysTo(i)
    return { task: { join, policy: 'several' }, proxy: apart(proxies) }
  }

  async #waysTo(i = 0) {
    const proxies = await Promise.all(this.#parts.map(({ server }) => TcpProxy.open(server.port)))
    this.#links.push(proxies)
    const all = this.#parts.map((part, n) => [part.urlAt(part.server, proxies[n].port), this.#labels[n]])
    const turned = [...all.slice(i % all.length), ...all.slice(0, i % all.length)]
    return {
      join: { addresses: turned.map(([address]) => address), labels: turned.map(([, label]) => label) },
      proxies,
    }
  }

  /** Whether member `i` reaches a majority of servers that count. */
  reaches(i) {
    const proxies = this.#links[i + 1] // after our own
    return this.#parts.filter(({ isOut }, n) => !isOut && !proxies[n].isShut).length > this.#few
  }

  get faults() {
    const each = [1, this.#few].filter((count, i, all) => all.indexOf(count) === i)
    const named = (name, count) => (count === 1 ? name : `${name} ${count}`)
    const ones = each.flatMap((count) => [
      { counts: [named('restarts', count)], strike: () => this.#some(count, (part) => this.#restart(part)) },
      { counts: [named('frozen', count)], strike: () => this.#some(count, (part) => this.#freeze(part)) },
      { counts: [named('cut off', count)], strike: () => this.#some(count, (part) => this.#cutOff(part)) },
      { counts: [named('wiped', count)], strike: () => this.#some(count, (part) => part.wipe(part.server)) },
      { counts: [named('replaced', count)], strike: () => this.#some(count, (part) => this.#replace(part)) },
    ])
    return [...ones, { counts: ['majority wiped'], isLoss: true, strike: () => this.#wipeMajority() }]
  }

  async stop() {
    await this.#store.close()
    await Promise.all(this.#parts.map(({ server }) => server.stop()))
    await Promise.all(this.#links[0].map((proxy) => proxy.close()))
  }

  #any(count) {
    return this.#parts.toSorted(() => Math.random() - 0.5).slice(0, count)
  }

  async #some(count, harm) {
    const parts = this.#any(count)
    for (const part of parts) part.isOut = true
    await Promise.all(parts.map(harm))
    await this.#isWhole()
    for (const part of parts) part.isOut = false
  }

  async #restart({ server, signal }) {
    await server.kill(signal)
    await sleep(someAbsence())
    await server.start()
  }

  async #freeze({ server }) {
    const pids = processesOf(server)
    signalAll(pids, 'SIGSTOP')
    await sleep(someAbsence())
    signalAll(pids, 'SIGCONT')
  }

  /** Switched off for good. Its address leads to another one, which has nothing. */
  async #replace(part) {
    await part.server.stop()
    await sleep(someAbsence())
    part.server = await part.start()
    const n = this.#parts.indexOf(part)
    for (const proxies of this.#links) proxies[n].pointTo(part.server.port)
  }

  /** No member reaches it. */
  async #cutOff(part) {
    const n = this.#parts.indexOf(part)
    for (const proxies of this.#links) proxies[n].refuse()
    await sleep(someAbsence())
    for (const proxies of this.#links) proxies[n].accept()
  }

  async #wipeMajority() {
    await Promise.all(this.#any(this.#few + 1).map((part) => part.wipe(part.server)))
  }

  /** Every server takes part again: members fill one that is empty. */
  #isWhole() {
    return within(LONGEST_REPAIR_MS, 'a server was not filled', async () => {
      const states = await this.#store.storeStates(this.group)
      const missing = states.filter(({ state }) => state !== 'votes' && state !== 'behind')
      if (missing.length > 0) throw new Error(missing.map(({ store, state }) => `${store} ${state}`).join(', '))
      return true
    })
  }

  group = 'chaos'
}

module.exports = { start: MajorityUnderFaults.start }
