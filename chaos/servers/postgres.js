'use strict'

// PostgreSQL under faults: a server, and a standby that follows it through a line of its own and may lag. It must never be
// written to but by the members.

const { setTimeout: sleep } = require('node:timers/promises')
const { someLag, spread } = require('../faults.js')
const { Line } = require('../line.js')

const helpers = import('../../__test__/servers/postgres.mjs')

const LONGEST_START_MS = 60_000 // the sessions of a server that was killed hold its memory until they notice
const LONGEST_COPY_MS = 120_000
const RETRY_MS = 100
const urlAt = (port) => `postgres://tester@127.0.0.1:${port}/postgres`

class PostgresUnderFaults {
  #primary
  #standby // a promise
  #link // from standby to primary
  #events

  /** Undefined where PostgreSQL is not installed. `events`: see leased.js. */
  static async start(events) {
    const { startPostgres, wantPostgres } = await helpers
    if (!wantPostgres()) return
    const store = new PostgresUnderFaults()
    store.#events = events
    store.#primary = await startPostgres()
    store.#link = await Line.open(store.#primary.port)
    store.#standby = store.#follow()
    await store.#standby
    return store
  }

  get port() {
    return this.#primary.port
  }

  urlAt = urlAt

  faults = [
    { counts: ['restarts'], strike: () => this.#restart('SIGKILL') },
    // SIGTERM would wait until the last client has gone by itself.
    { counts: ['restarts'], strike: () => this.#restart('SIGINT') },
    { counts: ['failovers'], strike: () => this.#failOver() },
  ]

  async stop() {
    const standby = await this.#standby
    await standby.stop()
    await Promise.all([this.#primary.stop(), this.#link.close()])
  }

  async #restart(signal) {
    this.#events.down()
    await this.#primary.kill(signal)
    await sleep(spread(50, 1000))
    await patiently(LONGEST_START_MS, () => this.#primary.start())
  }

  /** The standby takes over without what was acknowledged while it could not follow. */
  async #failOver() {
    const [old, standby] = [this.#primary, await this.#standby]
    this.#link.bar()
    await sleep(someLag())
    this.#events.down()
    await old.kill('SIGQUIT')
    await standby.query('SELECT pg_promote()')
    this.#primary = standby
    this.#events.lead(standby.port)
    this.#link.pointTo(standby.port)
    this.#link.unbar()
    this.#standby = this.#follow()
    await old.stop()
  }

  /** A copy begins anew when the server that it is made of fails meanwhile. */
  async #follow() {
    const { startStandby } = await helpers
    return patiently(LONGEST_COPY_MS, () => startStandby({ url: urlAt(this.#link.port) }))
  }
}

async function patiently(longestMs, start) {
  for (const until = performance.now() + longestMs; ; await sleep(RETRY_MS)) {
    try {
      return await start()
    } catch (error) {
      if (performance.now() > until) throw error
    }
  }
}

module.exports = { start: PostgresUnderFaults.start }
