// docs/data/partitions.md is correct on real servers: IDs go into the partition of their month, and the columns that
// SQL computes equal `layout.decode`. Its JavaScript runs in documents.test.mjs.

import { readFileSync } from 'node:fs'
import anyTest from 'ava'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { blocksOf } from '../support/guides.mjs'
import { FlakeId } from '../support/index.mjs'

const { Layout, layouts, toSigned } = FlakeId
const GUIDE = 'data/partitions.md'
const page = readFileSync(new URL(`../../docs/${GUIDE}`, import.meta.url), 'utf8')
const [onPostgresSql, onMysqlSql, madeAtInPostgres, madeAtInMysql] = blocksOf(GUIDE, 'sql')

const onPostgres = wantPostgres() === undefined ? anyTest.skip : anyTest
const onMysql = wantMysql() === undefined ? anyTest.skip : anyTest

const ours = new Layout('flake', { epoch: Date.UTC(2020, 0) })
const at = (timestamp, counter = 0) => toSigned(ours.encode({ timestamp, counter }))
const [first, last, after] = [Date.UTC(2026, 10), Date.UTC(2026, 11) - 1, Date.UTC(2026, 11)]
const november = `id BETWEEN ${at(first)} AND ${toSigned(ours.range(first, last).max)}`

async function started(t, start) {
  const server = await start()
  t.teardown(() => server.stop())
  return server
}

onPostgres('PostgreSQL: partitions by month, and the time of an ID as a column', async (t) => {
  const server = await started(t, startPostgres)
  await server.query(onPostgresSql)
  await server.query(madeAtInPostgres)
  await server.query(`CREATE TABLE other PARTITION OF orders FOR VALUES FROM (0) TO (${at(first)})`)
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
  const plan = JSON.stringify(await server.query(`EXPLAIN SELECT item FROM orders WHERE ${november}`))
  t.regex(plan, /orders_2026_11/)
  t.notRegex(plan, /other/)
})

onMysql('MariaDB: partitions by month, and the time of an ID as a column', async (t) => {
  const server = await started(t, startMysql)
  await server.query(`CREATE DATABASE guide; USE guide; ${onMysqlSql} ${madeAtInMysql}`)
  const insert = (ms, counter) => server.query(`INSERT INTO guide.orders (id) VALUES (${at(ms, counter)})`)
  await insert(first)
  await insert(last, 4095)
  await t.throwsAsync(insert(after), { message: /no partition/i })
  const rows = await server.query(
    "SELECT CONCAT(made_at, 'Z') AS date FROM guide.orders PARTITION (p2026_11) ORDER BY id",
  )
  t.deepEqual(
    rows.map(({ date }) => Date.parse(date)),
    [first, last],
  )
  const [{ partitions }] = await server.query(`EXPLAIN PARTITIONS SELECT item FROM guide.orders WHERE ${november}`)
  t.is(partitions, 'p2026_11')
  await server.query('ALTER TABLE guide.orders DROP PARTITION p2026_11')
})

/** Each layout with the expressions that the page shows for it: `[['timestamp', 'id >> 22'], …]`. */
function decodings(database) {
  const rows = [...page.matchAll(/^\| `([\w-]+)`(?:, mode `(\w+)`)? \| `([^`]+)` \| (.*) \|$/gm)]
  const all = rows.map(([, name, mode, time, rest]) => {
    const others = [...rest.matchAll(/(\w+) `([^`]+)`/g)].map(([, field, expression]) => [field, expression])
    return { name, layout: mode === undefined ? layouts[name] : new Layout(name, { mode }), time, others }
  })
  const { others } = all.find(({ name }) => name === 'uniqueid')
  const time = new RegExp(`\`([^\`]+)\` in ${database}`).exec(page)[1]
  return [...all, { name: 'uniqueid', layout: layouts.uniqueid, time, others }]
}

const widthOf = (layout, name) => layout.fields.reduce((sum, [field, bits]) => sum + (field === name ? bits : 0), 0)

/** IDs all over a layout's time and fields; those of `chronicle` are decimal, and have no bits. */
function idsOf({ name, layout, others }, seed) {
  let state = seed
  const below = (n) => {
    state = (state * 48_271) % 2_147_483_647
    return Math.floor((state / 2_147_483_647) * n)
  }
  const isDecimal = name.startsWith('chronicle')
  const end = Number(isDecimal ? layout.signedEnd : layout.end)
  return Array.from({ length: 200 }, () => {
    const fields = others.map(([field]) => [field, below(isDecimal ? 100 : 2 ** widthOf(layout, field))])
    const timestamp = layout.epoch + below(end - layout.epoch)
    return layout.encode({ date: new Date(timestamp), ...Object.fromEntries(fields) }) // a number may look like µs
  })
}

/** Compares the columns that a database computes with the results of `decode`. */
async function compare(t, server, database) {
  const all = decodings(database)
  t.deepEqual([...new Set(all.map(({ name }) => name))].sort(), Object.keys(layouts).sort())
  for (const [i, { name, layout, time, others }] of all.entries()) {
    const ids = idsOf({ name, layout, others }, i + 1)
    const columns = [['timestamp', time], ...others]
    const generated = columns.map(([, expression], j) => `c${j} BIGINT GENERATED ALWAYS AS (${expression}) STORED`)
    await server.query(`CREATE TABLE t${i} (id BIGINT PRIMARY KEY, ${generated})`)
    await server.query(`INSERT INTO t${i} (id) VALUES ${ids.map((id) => `(${toSigned(id)})`)}`)
    for (const id of ids) {
      const [row] = await server.query(`SELECT * FROM t${i} WHERE id = ${toSigned(id)}`)
      const decoded = layout.decode(id)
      for (const [j, [field]] of columns.entries()) t.is(Number(row[`c${j}`]), decoded[field], `${name} ${field}`)
    }
  }
}

onPostgres('PostgreSQL decodes every layout as the page says', async (t) => {
  await compare(t, await started(t, startPostgres), 'PostgreSQL')
})

onMysql('MariaDB decodes every layout as the page says', async (t) => {
  const server = await started(t, startMysql)
  await server.query('CREATE DATABASE guide')
  await compare(t, { query: (sql) => server.query(`USE guide; ${sql}`).then((results) => results[1]) }, 'MariaDB')
})
