'use strict'

// PostgreSQL with two standbys, of which the first is promoted by hand; the old primary keeps the second. In the control,
// synchronous_standby_names lists both and waits for one. Otherwise it names the one that is promoted.

const { within } = require('../../faults/within.js')

const helpers = import('../../../../__test__/servers/postgres.mjs')

const LONGEST_MS = 60_000

async function setNames(server, names) {
  await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await server.query('SELECT pg_reload_conf()')
}

async function startPostgres({ isSafe, count }) {
  const { startPostgres, startStandby } = await helpers
  const old = await startPostgres({ max_connections: 200 })
  const standbys = []
  for (const cluster_name of ['b', 'c']) standbys.push(await startStandby(old, { cluster_name, max_connections: 200 }))
  const [next] = standbys
  await setNames(old, isSafe ? 'b' : 'FIRST 1 (b, c)')
  await within(LONGEST_MS, 'standby b is not synchronous', async () => {
    const rows = await old.query("SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync'")
    return rows.map((row) => row.application_name).join() === 'b'
  })
  return {
    urlAt: (port) => `postgres://tester@127.0.0.1:${port}/postgres`,
    old,
    next,
    async promote() {
      count('promotions')
      await next.query('SELECT pg_promote()')
      await setNames(next, '') // b has no standby of its own
    },
    stop: () => Promise.all([old, ...standbys].map((server) => server.stop())),
  }
}

module.exports = {
  want: async () => (await helpers).wantPostgres() !== undefined,
  safe: 'one standby is named',
  control: "postgres, 'FIRST 1 (b, c)'",
  start: startPostgres,
}
