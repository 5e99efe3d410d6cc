// `npx flakeforge schema`: what it prints is what a role without the right to make tables needs, on a real PostgreSQL, put
// in place by psql.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startPostgres, wantPostgres } from './servers/postgres.mjs'
import { findProgram } from './servers/server.mjs'
import { FlakeId } from './support.mjs'
import { fails, jsonOf, linesOf, textOf } from './support-command.mjs'
import { closeAfter } from './support-lease.mjs'

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

const TABLES = ['flakeforge_counter', 'flakeforge_group', 'flakeforge_slot']

/** Runs SQL as those do who migrate by hand: one transaction, and the first error ends it. */
async function psql(url, sql) {
  const args = ['--no-psqlrc', '--single-transaction', '--set=ON_ERROR_STOP=1', '--quiet', url]
  const running = promisify(execFile)(findProgram('psql'), args)
  running.child.stdin.end(sql)
  return running
}

test('psql applies it, twice if need be; then a role that may not CREATE joins', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await server.query('CREATE ROLE member LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC')
  const member = server.urlOf('member')
  await fails(t, ['create', member, 'shop'], /may not create them/)

  const sql = await textOf(t, ['schema'])
  t.regex(sql, /^-- .*flakeforge schema$/m)
  for (let i = 0; i < 2; i++) await psql(server.url, sql)
  const made = await server.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
  t.deepEqual(
    made.map(({ tablename }) => tablename),
    TABLES,
  )
  // The header says what the role needs, word for word.
  const [grant] = /GRANT .*;/.exec(sql)
  await psql(server.url, grant.replace('your_role', 'member'))

  t.deepEqual(await jsonOf(t, ['create', member, 'shop', '--json']), [{ group: 'shop', created: true }])
  const flake = await FlakeId.join(member, { group: 'shop', waitMs: 20_000 })
  closeAfter(t, flake)
  t.is(flake.slot, 0)
  const counter = await FlakeId.SegmentId.open(member, { name: 'invoices' })
  t.is(counter.nextBigInt(), 0n)
  await counter.close()

  await textOf(t, ['create', member, 'stock'])
  t.deepEqual(
    (await jsonOf(t, ['slots', member, '--json'])).map(({ group, slot }) => [group, slot]),
    [['shop', 0]],
  )
  t.regex((await linesOf(t, ['slots', member])).at(-1), /^Group 'stock' is empty/)
  await fails(
    t,
    ['slots', member, '--group', 'stokc'],
    /There is no group 'stokc' on this server\. Did you mean 'stock'\?/,
  )
  await textOf(t, ['destroy', member, 'stock', '--yes'])
  await fails(t, ['slots', member, '--group', 'stock'], /There is no group 'stock' on this server\. There are 'shop'\./)
})

anyTest('--json: the same SQL as one object', async (t) => {
  const [{ sql }, ...more] = await jsonOf(t, ['schema', '--json'])
  t.deepEqual(more, [])
  t.is(sql, await textOf(t, ['schema']))
})
