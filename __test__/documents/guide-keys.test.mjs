// What docs/start/which-id.md and docs/migrate/uuid-and-nanoid.md say about PostgreSQL: the order of the sizes in the
// tables, and the steps from UUIDs to bigint keys, with rows inserted meanwhile.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { v7 } from 'uuid'
import { madeBy, madeHere, measureRows } from '../../lab/bench/keys.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { blocksOf } from '../support/guides.mjs'

const { FlakeId, Layout, toSigned } = createRequire(import.meta.url)('flakeforge')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

async function started(t) {
  const server = await startPostgres()
  t.teardown(() => server.stop())
  return server
}

/** The sizes of each kind of key, by its name. */
async function measured(server, kinds, n) {
  const rows = new Map()
  for (const kind of kinds) rows.set(kind.name, await measureRows(server, kind, n))
  return rows
}

const NODES = 'UUIDv7, Node.js' // where Node.js has it
const index = (rows, ...names) => names.map((name) => rows.get(name).index)

test('indexes of flakeforge IDs are as small as those of a sequence, and others larger in the order of the table', async (t) => {
  const server = await started(t)
  const rows = await measured(server, [...(await madeBy(server)), ...madeHere(100_000)], 100_000)
  const names = ['database sequence', 'flakeforge', 'UUIDv7, package uuid', 'UUIDv4', 'nanoid']
  const [sequence, flakeforge, uuid7, uuid4, nanoid] = index(rows, ...names)
  t.is(flakeforge, sequence)
  t.true(uuid7 > flakeforge * 1.2)
  t.true(uuid4 > uuid7 * 1.1)
  t.true(nanoid > uuid4)
  if (rows.has(NODES)) t.true(index(rows, NODES)[0] > uuid7 * 1.1, 'as fast as possible: no better than UUIDv4')
  for (const name of names.slice(0, 3)) t.is(rows.get(name).smaller, 0, name)
  for (const name of ['UUIDv4', 'nanoid']) t.true(Math.abs(rows.get(name).smaller / 100_000 - 0.5) < 0.01, name)
})

test('with keys generated at a lower rate, too, only those without a time make large indexes', async (t) => {
  const kinds = madeHere(20_000, 100)
  const { keys } = kinds.find(({ name }) => name === 'UUIDv7, package uuid')
  t.true(new Set(keys.map((uuid) => uuid.slice(0, 13))).size >= 200, 'milliseconds')
  const rows = await measured(await started(t), kinds, 20_000)
  const [uuid7, uuid4] = index(rows, 'UUIDv7, package uuid', 'UUIDv4')
  t.true(uuid4 > uuid7 * 1.1)
  if (!rows.has(NODES)) return
  t.true(index(rows, NODES)[0] < uuid7 * 1.05, 'the order within a millisecond matters less than a page')
  t.true(rows.get(NODES).smaller > 0.4 * 20_000)
})

/** The generator of the guide's first program, as a function. */
function backfillOf() {
  const [code] = blocksOf('migrate/uuid-and-nanoid.md', 'js')
  const definitions = code.slice(code.indexOf('const layout'), code.indexOf('const old'))
  return new Function('Layout', `${definitions}; return { backfill, layout }`)(Layout)
}

const count = async (server, condition) =>
  Number((await server.query(`SELECT count(*) FROM orders JOIN items ON ${condition}`))[0].count)

test('the steps from uuid keys to bigint keys keep every row and every reference', async (t) => {
  const server = await started(t)
  await server.query('CREATE TABLE orders (id uuid PRIMARY KEY)')
  await server.query('CREATE TABLE items (order_id uuid NOT NULL REFERENCES orders (id), name text)')
  const old = Array.from({ length: 500 }, () => v7())
  await server.query('INSERT INTO orders SELECT unnest($1::uuid[])', [old])
  await server.query("INSERT INTO items SELECT id, 'item' FROM orders")

  const { backfill, layout } = backfillOf()
  const flake = new FlakeId({ layout, datacenter: 1, worker: 0 })
  const [steps] = blocksOf('migrate/uuid-and-nanoid.md', 'sql')
  const statements = steps
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  t.true(statements.length >= 10)
  for (const statement of statements) {
    if (!statement.startsWith('UPDATE orders')) {
      await server.query(statement)
      continue
    }
    // Step 2: a new row, as the program writes it. Step 3: the old rows.
    await server.query('INSERT INTO orders (id, new_id) VALUES ($1, $2)', [v7(), String(toSigned(flake.next()))])
    const [set, where] = statement.match(/new_id = |WHERE id = /g)
    for (const [uuid, id] of backfill(old)) {
      await server.query(`UPDATE orders SET ${set}$1 ${where}$2`, [String(toSigned(id)), uuid])
    }
  }
  t.is(await count(server, 'items.new_order_id = orders.new_id'), 500)
  t.is(await count(server, 'items.new_order_id = orders.new_id AND items.order_id = orders.id'), 500)
  const [order] = await server.query(
    "SELECT string_agg(id::text, ',' ORDER BY new_id) = string_agg(id::text, ',' ORDER BY id) AS same FROM orders",
  )
  t.true(order.same, 'both keys sort alike')
  const [key] = await server.query(
    "SELECT pg_get_constraintdef(oid) AS def FROM pg_constraint WHERE conname = 'orders_pkey'",
  )
  t.is(key.def, 'PRIMARY KEY (new_id)')
  await t.throwsAsync(server.query('INSERT INTO items (order_id, new_order_id) VALUES ($1, 1)', [old[0]]), {
    code: '23503',
  })
})
