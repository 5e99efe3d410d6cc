// Random steps on a real PostgreSQL give what the reference of the rules gives.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { CLIENTS, serverNow, startPostgres, wantPostgres } from './servers/postgres.mjs'
import { followsReference } from './store-reference.mjs'

const { postgresStore } = createRequire(import.meta.url)('../lib/stores/postgres.js')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

const TABLES = ['flakeforge_group', 'flakeforge_slot', 'flakeforge_counter']

/** What can happen to a server, done by hand so that it takes no time. */
function faultsOf(server) {
  const each = (statement) => server.query(TABLES.map(statement).join(';'))
  const flush = () => each((table) => `TRUNCATE ${table}`)
  // A record that names another incarnation than the server's is what a promotion leaves.
  const restart = () =>
    server.query(
      `UPDATE flakeforge_group SET incarnation = 'before'; UPDATE flakeforge_counter SET incarnation = 'before'`,
    )
  return {
    restart,
    flush,
    save: () => each((table) => `DROP TABLE IF EXISTS saved_${table}; CREATE TABLE saved_${table} AS TABLE ${table}`),
    rollBack: async () => {
      await flush()
      await each((table) => `CREATE TABLE IF NOT EXISTS saved_${table} (LIKE ${table})`)
      await each((table) => `INSERT INTO ${table} TABLE saved_${table}`)
      await restart()
    },
  }
}

for (const name of Object.keys(CLIENTS)) {
  test.serial(`${name}: the store follows the reference`, async (t) => {
    t.timeout(240_000) // the reference may have to be compiled
    const server = await startPostgres()
    t.teardown(() => server.stop())
    const { client, end } = CLIENTS[name](server.url)
    t.teardown(end)
    const store = postgresStore(client)
    await store.advance('made before anything is saved', 0n, 0n)
    await followsReference(t, { store, clock: () => serverNow(server), faults: faultsOf(server) })
  })
}
