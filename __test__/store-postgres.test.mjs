// The store's rules on a real PostgreSQL, with both clients: store-rules.mjs has them.

import { createRequire } from 'node:module'
import { CLIENTS, serverNow, startPostgres, untilPast, wantPostgres } from './servers/postgres.mjs'
import { testRules } from './store-rules.mjs'

const { postgresStore } = createRequire(import.meta.url)('../lib/stores/postgres.js')

const COLUMNS = {
  quietUntil: 'quiet_until',
  floor: 'floor',
  fingerprint: 'fingerprint',
  slots: 'slots',
  ttlMs: 'ttl_ms',
  skewMs: 'skew_ms',
}

function byHand(server, group) {
  return {
    forget: () => server.query('DELETE FROM flakeforge_group WHERE name = $1', [group]),
    edit: async (change) => {
      for (const [name, value] of Object.entries(change)) {
        await server.query(`UPDATE flakeforge_group SET ${COLUMNS[name]} = $1 WHERE name = $2`, [value, group])
      }
    },
    record: async () => (await server.query('SELECT * FROM flakeforge_group WHERE name = $1', [group]))[0],
    moveEnd: ({ slot, hi }) =>
      server.query('UPDATE flakeforge_slot SET hi = $1 WHERE group_name = $2 AND slot = $3', [hi, group, slot]),
  }
}

testRules({
  isInstalled: wantPostgres() !== undefined,
  start: startPostgres,
  clients: Object.fromEntries(
    Object.entries(CLIENTS).map(([name, connect]) => [name, async ({ url }) => connect(url)]),
  ),
  storeOf: postgresStore,
  serverNow,
  untilPast,
  byHand,
})
