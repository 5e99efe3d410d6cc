// docs/data/partitions.md keeps its word: its statements make partitions into which IDs of that month go, and the column has
// the time of each ID. Its JavaScript runs in documents.test.mjs.

import anyTest from 'ava'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { blocksOf } from '../support/guides.mjs'
import { FlakeId } from '../support/index.mjs'

const { Layout, toSigned } = FlakeId
const layout = new Layout('flake', { epoch: Date.UTC(2020, 0) })
const at = (timestamp, counter = 0) => toSigned(layout.encode({ timestamp, counter }))
const [partitions, madeAt] = blocksOf('data/partitions.md', 'sql')

const onPostgres = wantPostgres() === undefined ? anyTest.skip : anyTest
const onMysql = wantMysql() === undefined ? anyTest.skip : anyTest

onPostgres('partitions by month, and the time of an ID as a column', async (t) => {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  await server.query(partitions)
  await server.query(madeAt)
  const [first, last, after] = [Date.UTC(2026, 10), Date.UTC(2026, 11) - 1, Date.UTC(2026, 11)]
  const insert = (ms, counter) => server.query(`INSERT INTO orders (id) VALUES (${at(ms, counter)})`)
  await insert(first)
  await insert(last, 4095)
  await t.throwsAsync(insert(after), { message: /no partition/ })
  const rows = await server.query(
    'SELECT (extract(epoch FROM made_at) * 1000)::bigint AS ms FROM orders_2026_11 ORDER BY id',
  )
  t.deepEqual(
    rows.map(({ ms }) => Number(ms)),
    [first, last],
  )
})

onMysql(
  'the time of an ID in MySQL is the expression of the guide, which a generated column cannot hold',
  async (t) => {
    const server = await startMysql()
    t.teardown(() => server.stop())
    const ms = Date.UTC(2026, 10, 20)
    const [row] = await server.query(
      `SELECT UNIX_TIMESTAMP(FROM_UNIXTIME(((${at(ms)} >> 22) + 1577836800000) / 1000)) AS s`,
    )
    t.is(Number(row.s) * 1000, ms)
    await server.query('CREATE DATABASE guide')
    const table = (column) =>
      server.query(
        `CREATE TABLE guide.t (id BIGINT, ${column} STORED) PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (${at(ms)}))`,
      )
    await t.throwsAsync(table('at DATETIME GENERATED ALWAYS AS (FROM_UNIXTIME((id >> 22) / 1000))'), {
      message: /from_unixtime/,
    })
    await table('ms BIGINT GENERATED ALWAYS AS ((id >> 22) + 1577836800000)')
  },
)
