// `flakeforge at --column`: its output, run on real databases. Each column holds IDs at the bounds, next to them, and
// far from them; the query must return exactly those that BigInt finds between the bounds.

import anyTest from 'ava'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { runSqlite, wantSqlite } from '../servers/sqlite.mjs'
import { isRefused, jsonOf, linesOf } from '../support/command.mjs'
import { bufferOf, FlakeId, MAX } from '../support/index.mjs'

const { Layout, format, layouts, toBigInt, toSigned } = FlakeId
const test = anyTest.serial
const when = (isHere) => (isHere ? test : test.skip)
const COLUMNS = ['bigint', 'unsigned', 'bytea', 'binary', 'text', 'base32', 'uuid']

const END = layouts.flake.signedEnd.getTime() // of flake: its first ID is 2^63
const { epoch } = layouts.hazelcast
const LONGER = epoch + Math.floor(10 ** 18 / 2 ** 22) // here IDs of hazelcast get a 19th digit

/** Ranges in which numbers change their sign, or decimal text its length: [title, layout, from, to]. */
const RANGES = [
  ['one day of the present', 'flake', Date.UTC(2026, 10, 20), Date.UTC(2026, 10, 21) - 1],
  ['before and after 2^63', 'flake', END - 1, END],
  ['up to 2^63 − 1', 'flake', END - 2, END - 1],
  ['from 2^63 on', 'flake', END, END + 1],
  ['after 2^63', 'flake', Date.UTC(2040, 0), Date.UTC(2040, 1)],
  ['one length of text and the next', 'hazelcast', LONGER - 1, LONGER + 1],
  ['many lengths of text', 'hazelcast', epoch + 1000, LONGER],
  ['19 digits and 20', 'flake', Math.floor(10 ** 19 / 2 ** 22) - 1, Math.floor(10 ** 19 / 2 ** 22) + 1],
  ['ticks of 100 ns', 'chronicle', 999_999_999_999, 1_000_000_000_001],
]

/** IDs of the layout at these bounds, close to them, and where only text or signed numbers are close. */
function idsAround(layout, min, max) {
  const near = [min, max, (min + max) / 2n, 2n ** 63n, 2n ** 53n].flatMap((id) => [id - 1n, id, id + 1n])
  const others = [0n, 9n, MAX, min / 10n, max / 10n, min * 10n, max * 10n, 10n ** 18n, 10n ** 19n - 1n, 10n ** 17n + 3n]
  const all = [...new Set([...near, ...others])].filter((id) => id >= 0n && id <= MAX)
  return all.filter((id) => isOf(layout, id))
}

function isOf(layout, id) {
  try {
    layout.decode(id)
    return true
  } catch {
    return false
  }
}

/** An ID as the literal of each kind of column. */
const LITERALS = {
  bigint: (id) => String(toSigned(id)),
  unsigned: String,
  bytea: (id) => `'\\x${bufferOf(id).toString('hex')}'`,
  binary: (id) => `x'${bufferOf(id).toString('hex')}'`,
  text: (id) => `'${id}'`,
  base32: (id) => `'${format(id, 'base32')}'`,
  uuid: (id, layout) => `'${layout.toUuid(id)}'`,
}

/** The databases: the type of each kind of column, and the numbers that a query returns. */
const DATABASES = {
  PostgreSQL: {
    isHere: wantPostgres() !== undefined,
    start: () => startPostgres({ enable_seqscan: 'off' }), // small tables need no index otherwise
    types: { bigint: 'bigint', unsigned: 'numeric(20)', bytea: 'bytea', text: 'text', base32: 'text', uuid: 'uuid' },
    async answer(server, statements) {
      for (const statement of statements.slice(0, -1)) await server.query(statement)
      return (await server.query(statements.at(-1))).map(({ n }) => n)
    },
  },
  MariaDB: {
    isHere: wantMysql() !== undefined,
    start: async () => {
      const server = await startMysql()
      await server.query('CREATE DATABASE columns')
      return server
    },
    types: {
      bigint: 'BIGINT',
      unsigned: 'BIGINT UNSIGNED',
      binary: 'BINARY(8)',
      text: 'VARCHAR(20)',
      base32: 'CHAR(13)',
      uuid: 'UUID',
    },
    async answer(server, statements) {
      const rows = await server.query(['USE columns', ...statements].join(';\n'))
      return rows.at(-1).map(({ n }) => n)
    },
  },
  SQLite: {
    isHere: wantSqlite() !== undefined,
    start: () => undefined,
    types: { bigint: 'INTEGER', binary: 'BLOB', text: 'TEXT', base32: 'TEXT', uuid: 'TEXT' },
    answer: async (_, statements) => (await runSqlite(statements.map((statement) => `${statement};`))).map(Number),
  },
}

const servers = new Map()
let tables = 0

/** The output of the command for a range and a column. It knows no database, so all of them share its answer. */
const printed = new Map()
async function shownFor(t, layout, from, to, column) {
  const args = ['at', String(from), String(to), '--layout', layout, '--column', column, '--json']
  const key = args.join(' ')
  if (!printed.has(key)) printed.set(key, (await jsonOf(t, args))[0])
  return printed.get(key)
}

for (const [database, { isHere, start, types, answer }] of Object.entries(DATABASES)) {
  if (isHere) test.before(`${database} starts`, async () => servers.set(database, await start()))
  for (const column of Object.keys(types)) {
    when(isHere)(`--column ${column} finds the IDs of a range, and no others: ${database}`, async (t) => {
      for (const [title, name, from, to] of RANGES) {
        const layout = layouts[name]
        const end = BigInt(to) * 1_000_000n + 999_999n // the command covers the whole last ms
        const [min, max] = Object.values(layout.range(from, end)).map(toBigInt)
        const ids = idsAround(layout, min, max)
        const shown = await shownFor(t, name, from, to, column)
        t.is(shown.column, column)
        const table = `t${tables++}`
        const rows = ids.map((id, n) => `(${LITERALS[column](id, layout)}, ${n})`)
        const found = await answer(servers.get(database), [
          `CREATE TABLE ${table} (id ${types[column]} PRIMARY KEY, n integer)`,
          `INSERT INTO ${table} VALUES ${rows.join(', ')}`,
          `SELECT n FROM ${table} ${shown.where} ORDER BY n`,
        ])
        const expected = [...ids.keys()].filter((n) => ids[n] >= min && ids[n] <= max)
        t.true(expected.length >= 3 && expected.length < ids.length, title)
        t.deepEqual(
          found.map((n) => ids[n]),
          expected.map((n) => ids[n]),
          `${title}: ${shown.where}`,
        )
      }
    })
  }
}

when(DATABASES.PostgreSQL.isHere)('PostgreSQL finds them by the index of the primary key', async (t) => {
  const server = servers.get('PostgreSQL')
  const sortable = RANGES.filter(([title]) => title !== 'many lengths of text') // an index of text ignores lengths
  for (const [column, type] of Object.entries(DATABASES.PostgreSQL.types)) {
    await server.query(`CREATE TABLE by_${column} (id ${type} PRIMARY KEY)`)
    for (const [title, name, from, to] of sortable) {
      const { where } = await shownFor(t, name, from, to, column)
      const plan = await server.query(`EXPLAIN SELECT * FROM by_${column} ${where}`)
      t.regex(JSON.stringify(plan), /Index Cond/, `${title}: ${where}`)
    }
  }
})

test('the printed text has the bounds and one WHERE, for the requested column', async (t) => {
  for (const column of COLUMNS) {
    const args = ['at', '2100-01-01', '--column', column]
    const [{ where, min, max, whereSigned }] = await jsonOf(t, [...args, '--json'])
    const lines = await linesOf(t, args)
    t.is(lines.length, 4)
    t.true(lines[1].includes(min.dec) && lines[2].includes(max.dec))
    t.is(lines[3], where)
    t.is(whereSigned, undefined)
  }
})

test('your own layout has its own UUIDs, and they are those of toUuid()', async (t) => {
  const spec = { fields: Object.entries({ timestamp: 41, shard: 13, counter: 10 }) }
  const layout = new Layout(spec, { epoch: Date.UTC(2020, 0) })
  const range = layout.range(Date.UTC(2026, 0), Date.UTC(2027, 0))
  const [{ where }] = await jsonOf(t, [
    'at',
    '2026-01-01',
    '2027-01-01',
    '--column',
    'uuid',
    '--json',
    '--layout',
    JSON.stringify(spec),
    '--epoch',
    '2020-01-01',
  ])
  t.is(where, `WHERE id BETWEEN '${layout.toUuid(range.min)}' AND '${layout.toUuid(range.max)}'`)
})

test('an unknown column is rejected', async (t) => {
  await isRefused(t, ['at', 'now', '--column', 'varchar'], /--column must be one of bigint, .*, uuid, not 'varchar'/)
  await isRefused(t, ['at', 'now', '--column'], /--column needs a value/)
  await isRefused(t, ['at', 'now', '--column', 'toString'], /--column must be one of/)
  await isRefused(t, ['new', '--column', 'bigint'], /Unknown option '--column'/)
})

test.after.always(() => Promise.all([...servers.values()].map((server) => server?.stop())))
