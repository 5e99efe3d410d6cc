// examples/cluster-redis and examples/postgres run as their READMEs say, on servers of this test.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'

const onRedis = wantRedis() === undefined ? anyTest.skip : anyTest
const onPostgres = wantPostgres() === undefined ? anyTest.skip : anyTest

const pathOf = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const run = (script, ...args) => promisify(execFile)(process.execPath, [pathOf(script), ...args])

onRedis(
  'cluster-redis: workers, one of them replacing a killed one, have different node numbers and no duplicate',
  async (t) => {
    const server = await startRedis()
    t.teardown(() => server.stop())
    await run('dist/flakeforge.cjs', 'create', server.url, 'cluster-example')
    const { stdout, stderr } = await run('examples/cluster-redis/cluster.mjs', server.url)
    t.is(stderr, '')
    const [, nodes, count, duplicates] = /^(\d+) node numbers\n(\d+) IDs, (\d+) duplicates\n$/.exec(stdout)
    t.is(Number(nodes), 5, 'the slot of the killed worker is not free before its window ends')
    t.true(Number(count) > 400_000)
    t.is(Number(duplicates), 0)
  },
)

onPostgres('postgres: orders of several processes sort by time through their key', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await run('dist/flakeforge.cjs', 'create', server.url, 'orders')
  const { stdout, stderr } = await run('examples/postgres/orders.mjs', server.url)
  t.is(stderr, '')
  t.is(
    stdout,
    ['8000 rows by 4 processes', '0 of them out of order', '8000 of them since the start, found by key alone', ''].join(
      '\n',
    ),
  )
  const [{ rows, keys }] = await server.query(
    'SELECT count(*)::int AS rows, count(DISTINCT id)::int AS keys FROM orders',
  )
  t.deepEqual({ rows, keys }, { rows: 8000, keys: 8000 })
  const slots = await server.query(
    "SELECT value FROM flakeforge_record WHERE group_name = 'orders' AND name LIKE 'slot%'",
  )
  t.true(slots.length >= 1 && slots.length <= 4)
  t.true(slots.every(({ value }) => value.includes(' owner=- ')))
})
