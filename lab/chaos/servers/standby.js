'use strict'

// PostgreSQL with a synchronous and an asynchronous standby under faults. Half of the members connect through PgBouncer
// in transaction mode. Only the members write to it.

const { within } = require('../faults/within.js')
const { StandbysUnderFaults } = require('./standbys.js')

const helpers = import('../../../__test__/servers/postgres.mjs')

const LONGEST_START_MS = 90_000
const settingsOf = ({ name, port }) => ({
  port,
  cluster_name: name,
  max_connections: 400, // a commit that waits for a standby keeps its connection after its client has gone
  wal_keep_size: '1GB', // or a standby that starts while the next one is copied may be too late
})

const urlAt = ({ host, port }) => `postgres://tester@${host}:${port}/postgres`

const POSTGRES = {
  urlAt,
  crashSignal: 'SIGQUIT',

  async startPrimary(place) {
    const { startPostgres } = await helpers
    return startPostgres(settingsOf(place), place.machine)
  },

  /** Only after they follow: a copy has the settings of its primary too. */
  async follow(lead, others) {
    const { startStandby } = await helpers
    const primary = { url: urlAt(lead.address) }
    for (const place of others) place.server = await startStandby(primary, settingsOf(place), place.machine)
    await waitFor(lead, others[0].name)
    await within(LONGEST_START_MS, 'the standbys do not follow', async () => {
      const rows = await lead.server.query("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")
      return (
        rows
          .map((row) => row.sync_state)
          .sort()
          .join() === 'async,sync'
      )
    })
  },

  waitForNobody: (lead) => waitFor(lead, ''),
  promote: (server) => server.query('SELECT pg_promote()'),

  endCommits: {
    'cancelled commits': (server) => endWaiting(server, 'pg_cancel_backend'),
    'terminated commits': (server) => endWaiting(server, 'pg_terminate_backend'),
  },

  async startPooler(server) {
    const { startPgbouncer } = await helpers
    return startPgbouncer(server)
  },
}

async function endWaiting(server, end) {
  const rows = await server.query(`SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
  return rows.length
}

/** Commits wait for the standby of this name from now on. */
async function waitFor({ server }, name) {
  await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
  await server.query('SELECT pg_reload_conf()')
}

/** Undefined where PostgreSQL or PgBouncer is not installed. */
async function start(events) {
  const { wantPgbouncer, wantPostgres } = await helpers
  return wantPostgres() && wantPgbouncer() ? StandbysUnderFaults.start(POSTGRES, events) : undefined
}

module.exports = { start }
