// "Which column" in docs/data/databases.md: each named form, passed and read as the page says, on real servers.

import { createRequire } from 'node:module'
import test from 'ava'
import mysql2 from 'mysql2/promise'
import { Ids, SIZES } from '../../lab/databases/ids.js'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'

const { format, fromSigned, Layout, layouts, parse, toBigInt, toSigned } = createRequire(import.meta.url)('flakeforge')

/** How to pass an ID and how to read it, from the table. */
const FORMS = {
  signed: { pass: (id) => toSigned(id), read: (value) => fromSigned(value) },
  unsigned: { pass: (id) => toBigInt(id), read: (value) => parse(String(value)) },
  decimal: { pass: (id) => format(id), read: (value) => parse(value) },
  bytes: { pass: (id) => id, read: (value) => value },
  uuid: { pass: (id) => layouts.flake.toUuid(id), read: (value) => layouts.flake.fromUuid(value) },
  text: { pass: (id) => format(id, 'base32'), read: (value) => parse(value, 'base32') },
  short: { pass: (id) => format(id, 'base62'), read: (value) => parse(value, 'base62') },
}

const POSTGRES = {
  bigint: FORMS.signed,
  'numeric(20)': FORMS.decimal,
  bytea: FORMS.bytes,
  uuid: FORMS.uuid,
  'char(13) COLLATE "C"': FORMS.text,
  'char(11) COLLATE "C"': FORMS.short,
}

const MARIADB = {
  BIGINT: FORMS.signed,
  'BIGINT UNSIGNED': FORMS.unsigned,
  'BINARY(8)': FORMS.bytes,
  UUID: FORMS.uuid,
  'CHAR(13) CHARACTER SET ascii COLLATE ascii_bin': FORMS.text,
  'CHAR(11) CHARACTER SET ascii COLLATE ascii_bin': FORMS.short,
}

const [hasPostgres, hasMariadb] = [wantPostgres() !== undefined, wantMysql() !== undefined]
const onPostgres = hasPostgres ? test.serial : test.serial.skip
const onMariadb = hasMariadb ? test.serial : test.serial.skip

let postgres
let mariadb
test.before(async () => {
  if (hasPostgres) postgres = await startPostgres()
  if (hasMariadb) mariadb = await startMysql()
})
test.after.always(() => Promise.all([postgres?.stop(), mariadb?.stop()]))

/** Buffers in the order of the IDs. */
const idsOf = (size) => {
  const ids = new Ids(size, false)
  const all = [2, 0, 1].flatMap((ms) => ids.edge(ms)).sort((a, b) => (a < b ? -1 : 1))
  return all.map((id) => parse(String(id)))
}

/**
 * IDs are inserted in the wrong order and come out in order, and a range returns those of one ms. A signed column keeps
 * the order below 2^63, and above it too: there all are negative.
 */
async function keeps(t, query, type, { pass, read }) {
  for (const size of Object.keys(SIZES)) {
    const ids = idsOf(size)
    await query('DROP TABLE IF EXISTS ids')
    await query(`CREATE TABLE ids (id ${type} PRIMARY KEY)`)
    for (const id of ids.toReversed()) await query('INSERT INTO ids VALUES (?)', [pass(id)])
    const stored = await query('SELECT id FROM ids ORDER BY id')
    t.deepEqual(
      stored.map(({ id }) => read(id)),
      ids,
      size,
    )
    const middle = new Ids(size, false).range(1).map((id) => parse(String(id)))
    const found = await query('SELECT id FROM ids WHERE id BETWEEN ? AND ?', middle.map(pass))
    t.is(found.length, 5, size)
  }
}

for (const [type, form] of Object.entries(POSTGRES)) {
  onPostgres(`PostgreSQL ${type}`, async (t) => {
    const query = (text, values = []) => {
      let i = 0
      return postgres.query(
        text.replaceAll('?', () => `$${++i}`),
        values,
      )
    }
    await keeps(t, query, type, form)
  })
}

for (const [type, form] of Object.entries(MARIADB)) {
  onMariadb(`MariaDB ${type}`, async (t) => {
    const url = await mariadb.freshUrl(`columns_${Object.keys(MARIADB).indexOf(type)}`)
    const pool = mysql2.createPool({ uri: url, supportBigNumbers: true, bigNumberStrings: true })
    t.teardown(() => pool.end())
    await keeps(t, async (text, values) => (await pool.query(text, values))[0], type, form)
  })
}

// --- why text needs a binary collation: without it these columns lose IDs or their order ---

const burst = (base) => {
  const first = toBigInt(layouts.flake.encode({ timestamp: Date.UTC(2026, 10, 26), datacenter: 9, worker: 7 }))
  return Array.from({ length: 4096 }, (_, i) => format(first + BigInt(i), base))
}

onMariadb(
  'MariaDB: base 62 and 58 are fewer IDs in a column of the default collation, until it is altered as the page says',
  async (t) => {
    const pool = mysql2.createPool({ uri: await mariadb.freshUrl('collation') })
    t.teardown(() => pool.end())
    for (const base of ['base62', 'base58']) {
      const texts = burst(base)
      const fewer = new Set(texts.map((text) => text.toLowerCase())).size
      t.log(`${base}: ${texts.length} texts, ${fewer} in lower case`)
      await pool.query('DROP TABLE IF EXISTS orders')
      await pool.query('CREATE TABLE orders (id varchar(11) PRIMARY KEY)')
      const fill = () => pool.query('INSERT IGNORE INTO orders VALUES ?', [texts.map((text) => [text])])
      const [{ affectedRows }] = await fill()
      t.is(affectedRows, fewer)
      t.true(fewer < texts.length / 2)
      await pool.query('ALTER TABLE orders MODIFY id CHAR(11) CHARACTER SET ascii COLLATE ascii_bin NOT NULL')
      const [{ affectedRows: others }] = await fill()
      t.is(others, texts.length - fewer)
    }
  },
)

onPostgres(
  'PostgreSQL: base 32 does not sort as IDs in Estonian, until the column is altered as the page says',
  async (t) => {
    const month = 30 * 86_400_000
    const ids = Array.from({ length: 2000 }, (_, i) =>
      layouts.flake.encode({ timestamp: 1_780_000_000_000 + (i * month) / 2000 }),
    )
    const texts = ids.map((id) => format(id, 'base32'))
    await postgres.query('DROP TABLE IF EXISTS orders')
    await postgres.query('CREATE TABLE orders (id char(13) COLLATE "et-x-icu" PRIMARY KEY)')
    await postgres.query('INSERT INTO orders SELECT unnest($1::text[])', [texts])
    const sorted = async () => (await postgres.query('SELECT id FROM orders ORDER BY id')).map(({ id }) => id)
    t.notDeepEqual(await sorted(), texts)
    await postgres.query('ALTER TABLE orders ALTER COLUMN id TYPE char(13) COLLATE "C"')
    t.deepEqual(await sorted(), texts)
  },
)

test('hex without leading zeros loses a digit in Buffer.from; padded as the page says, it does not', (t) => {
  const young = new Layout('flake', { epoch: Date.UTC(2020, 0) }).encode({
    timestamp: Date.UTC(2026, 10, 26),
    counter: 7,
  })
  t.is(format(young, 'hex').length, 15)
  t.notDeepEqual(Buffer.from(format(young, 'hex'), 'hex'), young)
  t.deepEqual(Buffer.from(format(young, 'hex', { padstr: '0', size: 16 }), 'hex'), young)
})
