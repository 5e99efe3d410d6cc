// `npx flakeforge schema`: its output is all that a role without the right to create tables needs, on a real PostgreSQL
// and a real MariaDB.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { findProgram, stopAfter } from '../servers/server.mjs'
import { fails, isRefused, jsonOf, linesOf, textOf } from '../support/command.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { closeAfter, joinAs } from '../support/lease.mjs'

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

const TABLES = ['flakeforge_record']

/** Runs SQL like a migration by hand: one transaction that ends at the first error. */
async function psql(url, sql) {
  const args = ['--no-psqlrc', '--single-transaction', '--set=ON_ERROR_STOP=1', '--quiet', url]
  const running = promisify(execFile)(findProgram('psql'), args)
  running.child.stdin.end(sql)
  return running
}

test('psql applies it, also twice; then a role that may not CREATE joins', async (t) => {
  const server = stopAfter(t, await startPostgres({ fsync: 'on', full_page_writes: 'on' }))
  await server.query('CREATE ROLE member LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC')
  const member = server.urlOf('member')
  await fails(t, ['create', member, 'shop', '--durable'], /may not create it/)

  const sql = await textOf(t, ['schema'])
  t.regex(sql, /^-- .*flakeforge schema$/m)
  for (let i = 0; i < 2; i++) await psql(server.url, sql)
  const made = await server.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
  t.deepEqual(
    made.map(({ tablename }) => tablename),
    TABLES,
  )
  // The header names exactly what the role needs.
  const [grant] = /GRANT .*;/.exec(sql)
  await psql(server.url, grant.replace('your_role', 'member'))

  t.deepEqual(await jsonOf(t, ['create', member, 'shop', '--durable', '--json']), [{ group: 'shop', created: true }])
  const flake = await joinAs(t, member, { group: 'shop', durable: true, waitMs: 20_000 })
  const counter = await lease.SegmentId.open(member, { name: 'invoices' })
  t.is(counter.nextBigInt(), 0n)
  await counter.close()

  await textOf(t, ['create', member, 'stock', '--durable'])
  t.deepEqual(
    (await jsonOf(t, ['slots', member, '--json'])).map(({ group, slot }) => [group, slot]),
    [['shop', flake.slot]],
  )
  t.regex((await linesOf(t, ['slots', member])).at(-2), /^Group 'stock' is empty/)
  await fails(
    t,
    ['slots', member, '--group', 'stokc'],
    /There is no group 'stokc' on this server\. Did you mean 'stock'\?/,
  )
  await textOf(t, ['destroy', member, 'stock', '--yes'])
  await fails(
    t,
    ['slots', member, '--group', 'stock'],
    /There is no group 'stock' on this server\. The only group is 'shop'\./,
  )
})

const onMariadb = wantMysql() === undefined ? anyTest.skip : anyTest

onMariadb('mariadb applies it, also twice; then a user that may not CREATE joins', async (t) => {
  const server = stopAfter(t, await startMysql({ 'innodb-flush-method': 'fsync' }))
  const owner = await server.freshUrl('app')
  const member = server.urlOf('app', 'member')
  await server.query("CREATE USER member@'%'; GRANT SELECT ON app.* TO member@'%'")
  await fails(t, ['create', member, 'shop', '--durable'], /may not use or create them.*flakeforge schema mysql/)

  const sql = await textOf(t, ['schema', 'mysql'])
  for (let i = 0; i < 2; i++) await server.query(`USE app; ${sql}`)
  const grants = [...sql.matchAll(/GRANT .*;/g)].map(([grant]) => grant.replace('ON ', 'ON app.'))
  t.is(grants.length, 2)
  for (const grant of grants) await server.query(grant.replace('your_user', "member@'%'"))

  t.deepEqual(await jsonOf(t, ['create', member, 'shop', '--durable', '--json']), [{ group: 'shop', created: true }])
  closeAfter(t, await FlakeId.join(member, { group: 'shop', durable: true, waitMs: 20_000 }))
  t.is((await jsonOf(t, ['slots', owner, '--json'])).length, 1)
})

anyTest('one database, by its name or by the start of an address; none for others', async (t) => {
  const of = (name) => textOf(t, ['schema', name])
  t.is(await of('postgresql'), await textOf(t, ['schema']))
  t.is(await of('mariadb'), await of('mysql'))
  t.is(await of('mysql://localhost/app'), await of('mysql'))
  const tables = /GRANT SELECT, INSERT, UPDATE ON flakeforge_record.*CREATE TABLE.*ENGINE = InnoDB.*ENGINE = MEMORY/s
  t.regex(await of('mysql'), tables)
  t.not(await of('mysql'), await of('postgres'))
  await isRefused(t, ['schema', 'redis'], /but not for 'redis'/)
  await isRefused(t, ['schema', 'mysql', 'postgres'], /leave out 'postgres'/)
})

anyTest('--json: the same SQL as one object', async (t) => {
  const [{ sql }, ...more] = await jsonOf(t, ['schema', '--json'])
  t.deepEqual(more, [])
  t.is(sql, await textOf(t, ['schema']))
})

anyTest(
  'the comment before a function is the command that prints it again, with all that says which IDs',
  async (t) => {
    const own = JSON.stringify(
      {
        name: "it's\n-- mine",
        fields: [
          ['timestamp', 42],
          ['shard', 10],
          ['counter', 12],
        ],
      },
      null,
      1,
    )
    for (const args of [
      ['--times', 'flake', '--mode', 'spread'],
      ['--times', 'flake', '--layout', 'snowcast', '--epoch', '2020-01-01 12:00', '--nodes', '128', '--mode', 'spread'],
      ['--times', 'flake', '--unsigned', '--epoch', '1577836800000', '--id-offset=-5'],
      ['--times', 'flake', '--layout', own],
      ['--function', 'flake_id', '--node', '1023', '--layout', 'twitter'],
    ]) {
      const sql = await textOf(t, ['schema', 'mysql', ...args])
      const [, command] = /^-- .*, printed by flakeforge \S+: flakeforge (.*)$/m.exec(sql.split('\n')[0])
      const { stdout } = await promisify(execFile)('sh', ['-c', `printf '%s\\0' ${command}`])
      const [schema, ...words] = stdout.split('\0').slice(0, -1)
      t.is(schema, 'schema')
      t.is(await textOf(t, [schema, ...words]), sql, command)
      t.true(sql.split('\n').every((line) => !line.startsWith('-- mine')))
    }
  },
)
