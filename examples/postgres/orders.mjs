// IDs as primary keys in PostgreSQL. Several processes insert orders at once; each has one pool for both its rows and its
// slot. Sorting by the key alone sorts the rows by time.
//
//   node examples/postgres/orders.mjs [postgres://HOST/DATABASE]

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { FlakeId, layouts, toSigned } from 'flakeforge'
import { postgresStore } from 'flakeforge/lease'
import pg from 'pg'

const WRITERS = 4
const ORDERS = 2_000
const BATCH = 100
const URL = process.argv[2] ?? 'postgres://localhost/postgres'

/** For a bigint column: signed, and as text, since a number has 53 bits. */
const keyOf = (id) => String(toSigned(id))

const TABLE = `
  CREATE TABLE orders (
    id bigint PRIMARY KEY,
    writer integer NOT NULL,
    place integer NOT NULL -- position among its writer's orders
  )`

const INSERT = `
  INSERT INTO orders (id, writer, place)
  SELECT id, $2, place FROM unnest($1::bigint[], $3::integer[]) AS rows (id, place)`

async function write(writer) {
  const pool = new pg.Pool({ connectionString: URL })
  const flake = await FlakeId.join(postgresStore(pool), { group: 'orders' })
  for (let first = 0; first < ORDERS; first += BATCH) {
    const places = Array.from({ length: BATCH }, (_, i) => first + i)
    const ids = await Promise.all(places.map(() => flake.nextAsync()))
    await pool.query(INSERT, [ids.map(keyOf), writer, places])
  }
  await flake.close() // gives the slot back; the pool stays open
  await pool.end()
}

/** Rows that a writer inserted earlier but that sort later by key. */
const MISPLACED = `
  SELECT count(*)::integer AS count
  FROM (SELECT place, lag(place) OVER (PARTITION BY writer ORDER BY id) AS before FROM orders) AS neighbours
  WHERE before > place`

async function supervise() {
  const pool = new pg.Pool({ connectionString: URL })
  const count = async (sql, values) => (await pool.query(sql, values)).rows[0].count
  await pool.query(`DROP TABLE IF EXISTS orders; ${TABLE}`)
  const start = Date.now()
  const self = fileURLToPath(import.meta.url)
  const writers = Array.from({ length: WRITERS }, (_, writer) => fork(self, [URL, writer]))
  const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0]))
  if (codes.some((code) => code !== 0)) throw new Error(`writers ended with ${codes}`)

  const { min, max } = layouts.flake.range(start, Date.now())
  console.log(`${await count('SELECT count(*)::integer FROM orders')} rows by ${WRITERS} processes`)
  console.log(`${await count(MISPLACED)} of them out of order`)
  const since = 'SELECT count(*)::integer FROM orders WHERE id BETWEEN $1 AND $2'
  console.log(`${await count(since, [keyOf(min), keyOf(max)])} of them since the start, found by key alone`)
  await pool.end()
}

const writer = process.argv[3]
await (writer === undefined ? supervise() : write(Number(writer)))
