// docs/data/backfill.md keeps its word on a real PostgreSQL: its program is killed and started again beside a process that
// inserts rows, and then each old row has an ID of its created_at, in order.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import anyTest from 'ava'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { blocksOf, installed, program } from '../support/guides.mjs'
import { FlakeId } from '../support/index.mjs'
import { once } from '../support/waits.mjs'

const { createGroup, layouts, toSigned } = FlakeId
const GUIDE = 'data/backfill.md'
const [tooMany, addColumn, wrong, makeKey] = blocksOf(GUIDE, 'sql')
const [, code] = blocksOf(GUIDE, 'javascript')
const FIRST = 1020 // of the kept nodes
const GROUP = { group: 'orders', backfill: 4, durable: true }

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

const TABLE = 'CREATE TABLE orders (id bigserial PRIMARY KEY, created_at timestamptz, item text)'

/** Rows of 2024: some share a microsecond, some a millisecond, and the keys are not in the order of time. */
const OLD_ROWS = `
  INSERT INTO orders (created_at)
  SELECT timestamptz '2024-02-29 23:59:59.9990Z' + (n * 7919 % 10000) * interval '137 microseconds'
  FROM generate_series(1, 20000) AS n`

/** An import: all rows in one millisecond, more than one node number holds. */
const IMPORT = `
  INSERT INTO orders (created_at) SELECT timestamptz '2023-01-01 00:00:00.000999Z' FROM generate_series(1, $1::integer)`

async function started(t) {
  const server = await startPostgres({ fsync: 'on' })
  t.teardown(() => server.stop())
  await server.query(TABLE)
  await createGroup(server.url, GROUP)
  const file = await program(await installed(t), 'backfill.mjs', code)
  return { server, file }
}

/** Starts the page's program; `lines` are its output, one for each batch. */
function start({ server, file }) {
  const env = { ...process.env, DATABASE_URL: server.url }
  const child = spawn(process.execPath, [file], { env, timeout: 120_000 })
  const faults = []
  child.stderr.on('data', (text) => faults.push(text))
  return { child, lines: createInterface({ input: child.stdout }), faults }
}

async function run(place) {
  const { child, faults } = start(place)
  child.stdout.resume()
  const [status] = await once(child, 'close')
  return { status, faults: faults.join('') }
}

/** Inserts rows with IDs until it is told to stop, as the application does meanwhile. */
async function insertRows({ server }, flake, traffic) {
  for (; traffic.isOn; traffic.rows++)
    await server.query('INSERT INTO orders (created_at, item, flake_id) VALUES (clock_timestamp(), $1, $2)', [
      'new',
      toSigned(flake.next()),
    ])
}

const count = async ({ server }, sql) => Number((await server.query(sql))[0].count)

test('killed and started again, beside new rows: each ID has the time of its row, in order, from a kept node', async (t) => {
  const place = await started(t)
  const { server } = place
  await server.query(OLD_ROWS)
  await server.query(IMPORT, [10_000])
  await server.query(addColumn)
  const flake = await FlakeId.join(server.url, GROUP)
  t.teardown(() => flake.close())
  const traffic = { isOn: true, rows: 0 }
  const inserting = insertRows(place, flake, traffic)

  const first = start(place)
  let batches = 0
  for await (const _ of first.lines) if (++batches === 3) first.child.kill('SIGKILL')
  const left = await count(place, 'SELECT count(*) FROM orders WHERE flake_id IS NULL')
  t.true(left > 0 && left <= 24_000, `${left} rows were left`)
  const began = Date.now()
  t.deepEqual(await run(place), { status: 0, faults: '' })
  t.log(`${left} rows in ${Date.now() - began} ms`)
  traffic.isOn = false
  await inserting

  t.is(await count(place, wrong), 0)
  const old = await server.query(
    "SELECT flake_id FROM orders WHERE item IS NULL AND created_at > '2024-01-01' ORDER BY created_at, id",
  )
  t.is(old.length, 20_000)
  const ids = old.map(({ flake_id }) => BigInt(flake_id))
  t.true(ids.every((id, i) => i === 0 || id > ids[i - 1]))
  const all = await server.query('SELECT flake_id FROM orders WHERE item IS NULL')
  const nodes = new Set(all.map(({ flake_id }) => layouts.flake.decode(BigInt(flake_id)).id))
  t.deepEqual([all.length, nodes.has(1023), [...nodes].every((node) => node >= FIRST)], [30_000, true, true])
  t.true(traffic.rows > 0)
  t.is(await count(place, "SELECT count(*) FROM orders WHERE item = 'new' AND (flake_id >> 12 & 1023) >= 1020"), 0)
  await server.query(makeKey)
  t.is(await count(place, 'SELECT count(DISTINCT flake_id) FROM orders'), 30_000 + traffic.rows)
})

test('a millisecond with more rows than IDs stops it, with the time, and the query of the page finds it', async (t) => {
  const place = await started(t)
  const { server } = place
  await server.query(IMPORT, [15_000])
  await server.query(addColumn)
  const [row, ...others] = await server.query(tooMany)
  t.deepEqual([row.ms.toISOString(), row.count, others.length], ['2023-01-01T00:00:00.000Z', '15000', 0])
  const { status, faults } = await run(place)
  t.is(status, 1)
  t.regex(faults, /ERR_FLAKE_BACKFILL/)
  t.regex(faults, /2023-01-01T00:00:00\.000Z/)
})

test('rows without a time, or before the epoch, stop it and get no ID', async (t) => {
  const place = await started(t)
  const { server } = place
  await server.query(addColumn)
  for (const [time, fault] of [
    ['NULL', /ERR_FLAKE_OPTION/],
    ["'1969-12-31 23:59:59.999Z'", /ERR_FLAKE_TIME_RANGE/],
  ]) {
    await server.query(`INSERT INTO orders (created_at) VALUES (${time})`)
    const { status, faults } = await run(place)
    t.is(status, 1)
    t.regex(faults, fault)
    t.is(await count(place, 'SELECT count(*) FROM orders WHERE flake_id IS NULL'), 1)
    await server.query('DELETE FROM orders')
  }
})
