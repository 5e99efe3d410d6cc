'use strict'

// PostgreSQL under faults: a server, and a standby that follows it. Only the members write to it.

const { setTimeout: sleep } = require('node:timers/promises')
const { ReplicatedServer } = require('./replicated.js')

const helpers = import('../../../__test__/servers/postgres.mjs')

const LONGEST_START_MS = 60_000 // the sessions of a server that was killed hold its memory until they notice
const LONGEST_COPY_MS = 120_000
const RETRY_MS = 100
const urlAt = (port) => `postgres://tester@127.0.0.1:${port}/postgres`

const POSTGRES = {
  urlAt,
  restartSignals: ['SIGKILL', 'SIGINT'], // SIGTERM would wait until the last client has disconnected
  crashSignal: 'SIGQUIT',

  async startPrimary() {
    const { startPostgres } = await helpers
    return startPostgres()
  },

  /** A copy starts over when its source server fails meanwhile. */
  async startReplica(port) {
    const { startStandby } = await helpers
    return patiently(LONGEST_COPY_MS, () => startStandby({ url: urlAt(port) }))
  },

  startAgain: (server) => patiently(LONGEST_START_MS, () => server.start()),
  promote: (standby) => standby.query('SELECT pg_promote()'),
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

/** Undefined where PostgreSQL is not installed. */
async function start(events) {
  const { wantPostgres } = await helpers
  return wantPostgres() ? ReplicatedServer.start(POSTGRES, events) : undefined
}

module.exports = { start }
