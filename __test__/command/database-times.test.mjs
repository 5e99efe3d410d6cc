// `npx flakeforge schema --times`: a real PostgreSQL and a real MariaDB read the times of IDs as `decode` does, and give the IDs of
// a time as `range` does, in every layout and at its edges.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { DATABASES, sqlOf } from '../../lab/database-function/databases.mjs'
import { isMysql, startMysql, wantMysql } from '../servers/mysql.mjs'
import { CLIENTS, startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { findProgram } from '../servers/server.mjs'
import { isRefused, textOf } from '../support/command.mjs'
import { FlakeId } from '../support/index.mjs'
import { makeNamesakes } from '../support/namesakes.mjs'

const { Layout, toBigInt } = FlakeId
const onPostgres = wantPostgres() === undefined ? anyTest.skip : anyTest
const onMariadb = wantMysql() === undefined ? anyTest.skip : anyTest

/** Layouts, as options of the class. An own tick of 1.5 µs or 1 ns ends between two µs, and one field stands above the time. */
const LAYOUTS = [
  ['flake'],
  ['flake', { epoch: Date.UTC(2020, 0) }],
  ['flake', { epoch: Date.UTC(1931, 4, 6, 7, 8, 9, 10) }],
  ['flake', { idOffset: 2n ** 40n }],
  ['flake', { idOffset: -(2n ** 40n) - 1n }],
  ['hazelcast'],
  ['hazelcast', { idOffset: 2n ** 38n }],
  ['snowcast'],
  ['snowcast', { nodes: 128 }],
  ['uniqueid'],
  ['uniqueid', { mode: 'sequential' }],
  ...['flake', 'hazelcast', 'twitter', 'discord', 'instagram', 'sonyflake', 'tsid', 'tid', 'safe'].map((spec) => [
    spec,
    { mode: 'spread' },
  ]),
  [
    {
      fields: [
        ['timestamp', 63],
        ['counter', 1],
      ],
      tickMs: 0.000001,
      epoch: 1_700_000_000_000,
    },
    { mode: 'spread' },
  ],
  ['snowcast', { mode: 'spread', nodes: 128, epoch: Date.UTC(2020, 0) }],
  ['chronicle'],
  ['chronicle', { idOffset: -12_345n }],
  ['chronicle-micros'],
  ['twitter'],
  ['discord'],
  ['instagram'],
  ['sonyflake'],
  ['sonyflake2'],
  ['tsid'],
  ['mastodon'],
  ['tid'],
  ['safe'],
  [
    {
      fields: [
        ['region', 4],
        ['timestamp', 44],
        ['counter', 8],
        ['worker', 8],
      ],
      tickMs: 0.1,
      epoch: 1_700_000_000_000,
    },
  ],
  [
    {
      fields: [
        ['timestamp', 48],
        ['shard', 8],
        ['counter', 8],
      ],
      tickMs: 0.0015,
      epoch: 1_700_000_000_000,
    },
  ],
  [
    {
      fields: [
        ['timestamp', 60],
        ['counter', 4],
      ],
      tickMs: 0.000001,
      epoch: 1_700_000_000_000,
    },
  ],
  [
    {
      fields: [
        ['timestamp', 63],
        ['counter', 1],
      ],
      tickMs: 0.000001,
      epoch: 1_700_000_000_000,
    },
  ],
]

const shownAs = ([spec, options]) =>
  JSON.stringify([spec, options], (_, value) => (typeof value === 'bigint' ? `${value}` : value))

/** The same as options of the command. */
function optionsOf([spec, { epoch, nodes, mode, idOffset } = {}]) {
  const given = {
    layout: typeof spec === 'string' ? spec : JSON.stringify(spec),
    epoch,
    nodes,
    mode,
    'id-offset': idOffset,
  }
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]))
}

const tickNsOf = ({ tickMs }) => BigInt(Math.round(tickMs * 1e6))

/** The Unix µs of a tick's start, rounded down. */
function microsecondsOf(layout, tick) {
  const ns = BigInt(layout.epoch) * 1_000_000n + tick * tickNsOf(layout)
  return ns / 1000n - (ns % 1000n < 0n ? 1n : 0n)
}

const LAST_DATE_NS = 8_640_000_000_000_000n * 1_000_000n

/** The last tick of a layout that a Date can show, and its first, by trying which ones it encodes. */
function edgesOf(layout) {
  const isThere = (tick) => {
    try {
      layout.encode({ tick })
      return BigInt(layout.epoch) * 1_000_000n + (tick + 1n) * tickNsOf(layout) <= LAST_DATE_NS
    } catch {
      return false
    }
  }
  const search = (from, to) => {
    // from is there, to is not
    let [inside, outside] = [from, to]
    while (inside - outside > 1n || outside - inside > 1n) {
      const middle = (inside + outside) / 2n
      if (isThere(middle)) inside = middle
      else outside = middle
    }
    return inside
  }
  const present = layout.decode(layout.encode({ timestamp: Math.max(Date.UTC(2027, 5), layout.epoch) })).tick
  return { first: search(present, -1n), present, last: search(present, 2n ** 64n) }
}

/** IDs of some ticks, with all other bits clear and set. */
function samplesOf(layout) {
  const { first, present, last } = edgesOf(layout)
  const ticks = [first, first + 1n, present, present + 1n, present + 7n, (present + last) / 2n, last - 1n, last]
  const counter = 2 ** (layout.fields.find(([name]) => name === 'counter')?.[1] ?? 0) - 1
  const nodes = layout.decode(layout.encode({ tick: present }))
  const most = mostNodeOf(layout)
  return ticks.flatMap((tick) =>
    [{ tick }, { tick, counter, ...(most > 0 && { id: most }) }].map((parts) => {
      const id = layout.encode({ ...parts, ...(nodes.mode && { mode: nodes.mode }) })
      return { id: toBigInt(id), tick, us: microsecondsOf(layout, tick) }
    }),
  )
}

function mostNodeOf(layout) {
  if (layout.fields.length === 0) return 99
  const bits = layout.fields.filter(([name]) => !['timestamp', 'counter', 'zero', 'mode'].includes(name))
  return 2 ** bits.reduce((sum, [, width]) => sum + width, 0) - 1
}

/** The smallest and the largest ID of a µs, by the library. */
function rangeOf(layout, us) {
  const { min, max } =
    tickNsOf(layout) % 1_000_000n === 0n
      ? layout.range(new Date(Number(us / 1000n)))
      : layout.range(us * 1000n, us * 1000n + 999n)
  return { min: toBigInt(min), max: toBigInt(max) }
}

function isOrdered(layout) {
  try {
    const { timestamp } = layout.decode(layout.encode({ tick: edgesOf(layout).present }))
    layout.range(timestamp)
    return true
  } catch ({ option }) {
    if (option !== 'layout') throw new Error(`${layout.name}: another error than that of the order`)
    return false
  }
}

/** A statement ends with an error about a value. */
async function refuses(t, running, message, said) {
  const { sqlState } = await t.throwsAsync(running, { message }, said)
  t.is(sqlState, '22003', said)
}

/** A time as SQL has it. */
function textOfTime(us) {
  const [ms, rest] = [us / 1000n - (us % 1000n < 0n ? 1n : 0n), ((us % 1000n) + 1000n) % 1000n]
  const text = new Date(Number(ms)).toISOString().replace(/^\+0*/, '')
  return text.replace('T', ' ').replace('Z', `${String(rest).padStart(3, '0')}`)
}

const AS_BIGINT = { signed: (id) => BigInt.asIntN(64, id), unsigned: (id) => id }

function shared(start) {
  let starting
  anyTest.after.always(async () => (await starting)?.stop())
  return () => {
    starting ??= start()
    return starting
  }
}

const postgres = shared(() => startPostgres({ fsync: 'on', full_page_writes: 'on', timezone: 'America/St_Johns' }))
const mariadb = shared(() => startMysql({ 'default-time-zone': '-03:30' }))
let databases = 0

async function freshPostgres(t) {
  const [server, name] = [await postgres(), `times_${++databases}`]
  await server.query(`CREATE DATABASE ${name}`)
  const url = server.url.replace(/postgres$/, name)
  const { client, end } = CLIENTS.pg(url)
  t.teardown(end)
  return {
    url,
    query: async (text, values) => (await client.query(text, values)).rows,
    urlOf: (role) => url.replace('tester@', `${role}@`),
  }
}

async function freshMariadb(t) {
  const [server, name] = [await mariadb(), `times_${++databases}`]
  const url = await server.freshUrl(name)
  const connection = await DATABASES.mysql.connect(url)
  t.teardown(() => connection.end())
  return { url, apply: (text) => server.query(`USE ${name}; ${text}`), query: connection.run }
}

const times = (database, row, name = 'flake', ...more) => sqlOf(database, '--times', name, ...optionsOf(row), ...more)

onPostgres('postgres: times and ranges of every layout are those of decode and range', async (t) => {
  const { query } = await freshPostgres(t)
  for (const [index, row] of LAYOUTS.entries()) {
    const [layout, name] = [new Layout(...row), `t${index}`]
    await query(await times('postgres', row, name))
    const samples = samplesOf(layout)
    const ids = samples.map(({ id }) => String(AS_BIGINT.signed(id)))
    const read = await query(
      `SELECT to_char(${name}_time(id) AT TIME ZONE 'UTC', 'FMYYYY-MM-DD HH24:MI:SS.US') AS at FROM unnest($1::bigint[]) AS id`,
      [ids],
    )
    for (const [i, { us }] of samples.entries()) t.is(pad(read[i].at), textOfTime(us), `${shownAs(row)} ${ids[i]}`)
    if (!isOrdered(layout)) {
      t.deepEqual(await query(`SELECT 1 FROM pg_proc WHERE proname = '${name}_min'`), [])
      continue
    }
    const moments = samples.map(({ us }) => us)
    const bounds = await query(
      `SELECT ${name}_min(at) AS min, ${name}_max(at) AS max FROM unnest($1::timestamptz[]) AS at`,
      [moments.map((us) => `${textOfTime(us)}+00`)],
    )
    for (const [i, us] of moments.entries()) {
      const wanted = rangeOfSample(layout, samples[i])
      const found = { min: BigInt(bounds[i].min), max: BigInt(bounds[i].max) }
      t.deepEqual(
        found,
        { min: AS_BIGINT.signed(wanted.min), max: AS_BIGINT.signed(wanted.max) },
        `${shownAs(row)} ${us}`,
      )
    }
    const { min, max } = layout.range(new Date(-8.64e15), new Date(8.64e15))
    t.deepEqual(
      await query(`SELECT ${name}_min('-infinity') AS min, ${name}_max('infinity') AS max`),
      [{ min: String(AS_BIGINT.signed(toBigInt(min))), max: String(AS_BIGINT.signed(toBigInt(max))) }],
      shownAs(row),
    )
    await t.throwsAsync(query(`SELECT ${name}_min('infinity')`), {
      code: '22003',
      message: /infinity is past the last time/,
    })
    await t.throwsAsync(query(`SELECT ${name}_max('-infinity')`), {
      code: '22003',
      message: /is before the first time/,
    })
  }
})

/** A year has four digits at least. */
const pad = (text) => text.replace(/^\d+/, (year) => year.padStart(4, '0'))

/** The IDs of a sample's µs; without the library's range where that would not take a time for Unix ns, because it is too small. */
function rangeOfSample(layout, { tick, us }) {
  if (tickNsOf(layout) >= 1_000_000n || us > 10n ** 15n) return rangeOf(layout, us)
  const of = (ns) => (ns - BigInt(layout.epoch) * 1_000_000n) / tickNsOf(layout)
  const { first, last } = edgesOf(layout)
  const [from, to] = [of(us * 1000n), of(us * 1000n + 999n)]
  if (tick < from || tick > to) throw new Error(`tick ${tick} is not from ${from} to ${to}`)
  return {
    min: idOf(layout, from < first ? first : from, 'lowest'),
    max: idOf(layout, to > last ? last : to, 'highest'),
  }
}

function idOf(layout, tick, which) {
  if (which === 'lowest') return toBigInt(layout.encode({ tick }))
  const counter = 2 ** (layout.fields.find(([name]) => name === 'counter')?.[1] ?? 0) - 1
  const most = mostNodeOf(layout)
  return toBigInt(layout.encode({ tick, counter, ...(most > 0 && { id: most }) }))
}

/** Years that MariaDB has. */
const LAST_YEAR = BigInt(Date.UTC(9999, 11, 31, 23, 59, 59, 999)) * 1000n + 999n

for (const sign of ['signed', 'unsigned']) {
  onMariadb(`mysql, ${sign}: times and ranges of every layout are those of decode and range`, async (t) => {
    const { apply, query } = await freshMariadb(t)
    await query("SET sql_mode = '', div_precision_increment = 0")
    for (const [index, row] of LAYOUTS.entries()) {
      const [layout, name] = [new Layout(...row), `t${index}`]
      await apply(await times('mysql', row, name, ...(sign === 'unsigned' ? ['--unsigned'] : [])))
      for (const sample of samplesOf(layout)) {
        const { id, us } = sample
        const said = `${shownAs(row)} ${id}`
        for (const form of Object.values(AS_BIGINT)) {
          const reading = query(`SELECT CAST(${name}_time(${form(id)}) AS CHAR) AS at`)
          if (us > LAST_YEAR) await refuses(t, reading, /is not an ID of this layout/, said)
          else t.is((await reading)[0].at, textOfTime(us), said)
        }
        if (!isOrdered(layout) || us > LAST_YEAR) continue
        const at = `'${textOfTime(us)}'`
        const [{ min, max }] = await query(`SELECT ${name}_min(${at}) AS min, ${name}_max(${at}) AS max`)
        const wanted = rangeOfSample(layout, sample)
        t.deepEqual([BigInt(min), BigInt(max)], [AS_BIGINT[sign](wanted.min), AS_BIGINT[sign](wanted.max)], said)
      }
    }
  })
}

/** IDs that no generator of a layout makes, without a sign. */
const STRANGERS = [
  [['hazelcast'], 2n ** 63n],
  [['twitter'], 2n ** 64n - 1n],
  [['safe'], 2n ** 53n],
  [['chronicle'], 2n ** 64n - 1n],
  [['hazelcast', { idOffset: 2n ** 38n }], 2n ** 38n - 1n],
  [['flake', { idOffset: -(2n ** 40n) - 1n }], 2n ** 64n - 2n ** 40n],
]

anyTest('the strangers are none of the layouts for the library either', (t) => {
  for (const [row, id] of STRANGERS) t.throws(() => new Layout(...row).decode(id), undefined, shownAs(row))
})

onPostgres('postgres: an ID of another layout is an error, and NULL is NULL', async (t) => {
  const { query } = await freshPostgres(t)
  for (const [index, [row, id]] of STRANGERS.entries()) {
    await query(await times('postgres', row, `t${index}`))
    const signed = AS_BIGINT.signed(id)
    await t.throwsAsync(
      query(`SELECT t${index}_time('${signed}')`),
      { code: '22003', message: `public.t${index}_time(): ${signed} is not an ID of this layout` },
      shownAs(row),
    )
  }
  t.deepEqual(await query('SELECT t0_time(NULL) AS a, t0_min(NULL) AS b, t0_max(NULL) AS c'), [
    { a: null, b: null, c: null },
  ])
})

onMariadb('mysql: an ID of another layout is an error, and NULL is NULL', async (t) => {
  const { apply, query } = await freshMariadb(t)
  for (const [index, [row, id]] of [...STRANGERS, [['flake'], 2n ** 64n], [['flake'], -(2n ** 63n) - 1n]].entries()) {
    await apply(await times('mysql', row, `t${index}`))
    const message = new RegExp(`t${index}_time\\(\\): ${id} is not an ID of this layout`)
    await refuses(t, query(`SELECT t${index}_time(${id})`), message, shownAs(row))
  }
  t.deepEqual(await query('SELECT t0_time(NULL) AS a, t0_min(NULL) AS b, t0_max(NULL) AS c'), [
    { a: null, b: null, c: null },
  ])
  await refuses(t, query("SELECT t0_max('2017-12-31 23:59:59.999999')"), /before the first time/)
  await refuses(t, query("SELECT t0_min('2099-01-01')"), /past the last time/)
  await t.throwsAsync(query("SELECT t0_min('0000-00-00')"), { message: /past the last time|Incorrect/ })
})

const LAYOUT = new Layout('flake', { epoch: Date.UTC(2020, 0) })
const ROW = ['flake', { epoch: Date.UTC(2020, 0) }]
const signedId = (...at) =>
  String(AS_BIGINT.signed(toBigInt(LAYOUT.encode({ timestamp: Date.UTC(...at), counter: 7, id: 5 }))))

onPostgres('postgres: an index, a generated column and partitions use them, and a dump keeps all', async (t) => {
  const { url, query } = await freshPostgres(t)
  await query(await times('postgres', ROW))
  await query(`CREATE TABLE orders (id bigint PRIMARY KEY, made timestamptz GENERATED ALWAYS AS (flake_time(id)) STORED)
      PARTITION BY RANGE (id);
    CREATE TABLE orders_2026_10 PARTITION OF orders FOR VALUES FROM (flake_min('2026-10-01Z')) TO (flake_min('2026-11-01Z'));
    CREATE TABLE orders_2026_11 PARTITION OF orders FOR VALUES FROM (flake_min('2026-11-01Z')) TO (flake_min('2026-12-01Z'));
    CREATE INDEX ON orders ((flake_time(id)));
    INSERT INTO orders VALUES (${signedId(2026, 9, 31, 23, 59, 59, 999)}), (${signedId(2026, 10, 1)})`)
  t.deepEqual(await query('SELECT tableoid::regclass::text AS part, made FROM orders ORDER BY id'), [
    { part: 'orders_2026_10', made: new Date('2026-10-31T23:59:59.999Z') },
    { part: 'orders_2026_11', made: new Date('2026-11-01T00:00:00.000Z') },
  ])
  const explain = async (condition) => {
    await query('SET enable_seqscan = off')
    return (await query(`EXPLAIN SELECT * FROM orders WHERE ${condition}`)).map((row) => row['QUERY PLAN']).join('\n')
  }
  const november = await explain("id >= flake_min('2026-11-02Z') AND id <= flake_max('2026-11-03Z')")
  t.regex(november, /Index Cond: \(\(id >= '\d+'::bigint\) AND \(id <= '\d+'::bigint\)\)/)
  t.notRegex(november, /orders_2026_10/)
  t.regex(await explain("id >= flake_min('2026-11-02Z'::timestamptz + (now() - now()))"), /Subplans Removed: 1/)
  t.regex(await explain("flake_time(id) = '2026-11-02Z'"), /Index Cond: \(flake_time\(id\) = /)

  // A restore has an empty search_path.
  const { stdout } = await promisify(execFile)(findProgram('pg_dump'), ['--no-owner', url])
  const copy = await freshPostgres(t)
  const restoring = promisify(execFile)(findProgram('psql'), [
    '--no-psqlrc',
    '--quiet',
    '--set=ON_ERROR_STOP=1',
    copy.url,
  ])
  restoring.child.stdin.end(stdout)
  await restoring
  t.is((await copy.query('SELECT FROM orders WHERE made = flake_time(id)')).length, 2)
  await copy.query(await times('postgres', ROW)) // the restored functions are known
})

onPostgres('postgres: nothing of another schema takes the place of what they use', async (t) => {
  const { query } = await freshPostgres(t)
  await makeNamesakes(query)
  await query('SET search_path = evil, pg_catalog')
  for (let i = 0; i < 2; i++) await query(await times('postgres', ['uniqueid', { mode: 'sequential' }]))
  await query(await times('postgres', ['hazelcast', { idOffset: 5n }], 'hz'))
  t.is(
    (await query("SELECT public.flake_time(public.flake_min('2026-11-01Z'))::pg_catalog.text AS at"))[0].at.slice(
      0,
      10,
    ),
    '2026-10-31',
  )
  t.is(
    (await query("SELECT public.hz_time(public.hz_max('2026-11-01Z'))::pg_catalog.text AS at"))[0].at.slice(0, 10),
    '2026-10-31',
  )
})

onPostgres('postgres: the script changes no function that another role or another layout has', async (t) => {
  const database = await freshPostgres(t)
  const { query } = database
  await query(await times('postgres', ROW))
  const [id] = await query("SELECT flake_min('2026-11-01Z') AS id")
  await t.throwsAsync(query(await times('postgres', ['flake'])), {
    message: /There is another function public\.flake_time\(\)/,
  })
  t.deepEqual(await query("SELECT flake_min('2026-11-01Z') AS id"), [id])
  await query('CREATE FUNCTION mine_max(timestamptz) RETURNS bigint LANGUAGE sql AS $$ SELECT 1::bigint $$')
  await t.throwsAsync(query(await times('postgres', ROW, 'mine')), {
    message: /There is another function public\.mine_max\(\)/,
  })
  t.deepEqual(await query("SELECT 1 FROM pg_proc WHERE proname = 'mine_time'"), [], 'nothing is made')
  await query('CREATE ROLE times_other LOGIN; GRANT CREATE ON SCHEMA public TO times_other')
  const other = CLIENTS.pg(database.urlOf('times_other'))
  t.teardown(other.end)
  await other.client.query(await times('postgres', ROW, 'theirs'))
  await t.throwsAsync(query(await times('postgres', ROW, 'theirs')), {
    message: /theirs_time\(\) belongs to the role times_other/,
  })
})

onPostgres('postgres: roles get their rights, where functions are not for all', async (t) => {
  const database = await freshPostgres(t)
  const { query } = database
  await query('CREATE ROLE times_app LOGIN; ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC')
  const app = CLIENTS.pg(database.urlOf('times_app'))
  t.teardown(app.end)
  const script = (...more) => sqlOf('postgres://localhost/x?schema=ids', '--times', 'flake', ...more)
  await query(await script())
  await t.throwsAsync(app.client.query('SELECT ids.flake_time(1)'), { code: '42501' })
  await query(await script('--grant', 'times_app'))
  t.is(
    (
      await app.client.query('SELECT ids.flake_time(ids.flake_max($1)) AS at', ['2026-11-01Z'])
    ).rows[0].at.toISOString(),
    '2026-11-01T00:00:00.000Z',
  )
})

onMariadb('mysql: a range by the functions uses the key, and the script changes no other function', async (t) => {
  const { apply, query } = await freshMariadb(t)
  await apply(await times('mysql', ROW))
  await apply(await times('mysql', ROW))
  await query('CREATE TABLE orders (id BIGINT PRIMARY KEY)')
  await query(`INSERT INTO orders WITH RECURSIVE step (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step WHERE n < 1000)
    SELECT flake_min('2026-11-01') + (n << 34) FROM step`)
  await query("SET @bound = flake_min('2026-11-01 00:10:00')")
  t.like((await query('EXPLAIN SELECT * FROM orders WHERE id < @bound'))[0], { key: 'PRIMARY', type: 'range' })
  const [plan] = await query("EXPLAIN SELECT * FROM orders WHERE id < flake_min('2026-11-01 00:10:00')")
  t.like(plan, { key: 'PRIMARY', type: isMysql ? 'index' : 'range' })
  await t.throwsAsync(apply(await times('mysql', ['flake'])), { message: /choose another name\. It exists/ })
  await t.throwsAsync(apply(await times('mysql', ROW, 'flake', '--unsigned')), {
    message: /choose another name\. It exists/,
  })
  await t.throwsAsync(query('ALTER TABLE orders ADD COLUMN made DATETIME(3) AS (flake_time(id)) VIRTUAL'), {
    message: /cannot be used|not allowed|may not be used|disallowed/,
  })
})

/** The statements of the guide, in its order. */
async function guideSql() {
  const text = await readFile(new URL('../../docs/data/partitions.md', import.meta.url), 'utf8')
  const [, section] = /^## Functions in the database$(.*?)^## /ms.exec(text)
  return Array.from(section.matchAll(/^```sql\n(.*?)^```$/gms), ([, sql]) => sql)
}

onPostgres('postgres: the statements of the guide work, also a second time', async (t) => {
  const { query } = await freshPostgres(t)
  const [first, ahead] = await guideSql()
  await query(await times('postgres', ROW))
  await query(first)
  for (let i = 0; i < 2; i++) await query(ahead)
  const parts = await query("SELECT count(*)::int AS n FROM pg_inherits WHERE inhparent = 'orders'::regclass")
  const month = new Date().toISOString().slice(0, 7)
  const made = month >= '2026-08' && month <= '2026-11' ? 4 : 5 // the first statements make one of November 2026
  t.is(parts[0].n, made)
  await query(`INSERT INTO orders VALUES (flake_min(now() + interval '2 months'))`)
  t.is((await query('SELECT FROM orders WHERE made_at > now()')).length, 1)
})

onMariadb('mysql: the statements of the guide work', async (t) => {
  const { apply, query } = await freshMariadb(t)
  const [, , statements] = await guideSql()
  await apply(await times('mysql', ROW))
  await query('CREATE TABLE orders (id BIGINT PRIMARY KEY)')
  await query('INSERT INTO orders VALUES (flake_min(UTC_TIMESTAMP(6))), (flake_min(UTC_TIMESTAMP(6) - INTERVAL 2 DAY))')
  let rows
  for (const statement of statements.trim().split('\n')) rows = await query(statement)
  t.is(rows.length, 1)
})

anyTest('options that would have no effect are refused', async (t) => {
  await isRefused(t, ['schema', '--times', 'Flake'], /--times must be 1 to 50 lower-case letters/)
  await isRefused(t, ['schema', '--unsigned'], /--unsigned is about functions that read times: add --times flake/)
  await isRefused(t, ['schema', '--times', 'flake', '--unsigned'], /--unsigned is only for mysql/)
  await isRefused(t, ['schema', '--times', 'flake', '--node', '1'], /--node is about a function that generates IDs/)
  await isRefused(t, ['schema', '--times', 'flake', '--function', 'flake_id', '--node', '1'], /one at a time/)
  await isRefused(
    t,
    ['schema', '--times', 'flake', '--layout', '{"fields":[["worker",52],["counter",12]]}'],
    /timestamp/,
  )
  t.regex(await textOf(t, ['schema', '--times', 'flake', '--layout', 'uniqueid']), /not ordered by time/)
})
