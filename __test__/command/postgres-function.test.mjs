// `npx flakeforge schema --function` for PostgreSQL, among other roles: what they can be made to run, hold, own or set. On a real
// server, with real psql and pg_dump. Its IDs under faults are in database-function.test.mjs.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import anyTest from 'ava'
import pg from 'pg'
import { sqlOf } from '../../lab/database-function/databases.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { findProgram } from '../servers/server.mjs'
import { isRefused, jsonOf } from '../support/command.mjs'
import { FlakeId } from '../support/index.mjs'
import { closeAfter } from '../support/lease.mjs'
import { makeNamesakes } from '../support/namesakes.mjs'

const test = wantPostgres() === undefined ? anyTest.skip : anyTest
const { layouts } = FlakeId
const PAGE = new URL('../../docs/data/database-defaults.md', import.meta.url)

let server
let databases = 0

anyTest.before(async () => {
  if (wantPostgres() === undefined) return
  server = await startPostgres({ fsync: 'on', full_page_writes: 'on' })
  await server.query('CREATE ROLE att LOGIN; CREATE ROLE app LOGIN; CREATE ROLE reader LOGIN IN ROLE pg_read_all_data')
})

anyTest.after.always(() => server?.stop())

/** A new database of the superuser in which all may create objects, and sessions of roles. */
async function newDatabase(t) {
  const name = `function${++databases}`
  await server.query(`CREATE DATABASE ${name}`)
  const url = server.url.replace(/postgres$/, name)
  const urlOf = (role) => url.replace('tester@', `${role}@`)
  const as = async (role) => {
    const client = new pg.Client(urlOf(role))
    const notices = []
    client.on('notice', ({ message }) => notices.push(message))
    await client.connect()
    t.teardown(() => client.end())
    return { run: async (text) => (await client.query(text)).rows, notices }
  }
  const { run } = await as('tester')
  await run('GRANT CREATE ON SCHEMA public TO PUBLIC')
  return { url, urlOf, as, run }
}

const functionSql = (...options) => sqlOf('postgres', '--function', 'flake_id', '--node', '1023', ...options)

/** Runs SQL as a plain psql does, which goes on after an error. */
async function psql(url, sql) {
  const running = promisify(execFile)(findProgram('psql'), ['--no-psqlrc', '--quiet', url])
  running.child.stdin.end(sql)
  return (await running).stderr
}

const idOf = async (run, name = 'flake_id') => BigInt((await run(`SELECT ${name}() AS id`))[0].id)

const isMade = async (run, name = 'public.flake_id()') =>
  (await run(`SELECT to_regprocedure('${name}') IS NOT NULL AS made`))[0].made

test('applied by a superuser, the script calls nothing that it does not name with its schema', async (t) => {
  const { run } = await newDatabase(t)
  await makeNamesakes(run)
  await run('SET search_path = evil, pg_catalog')
  for (let i = 0; i < 2; i++) await run(await functionSql('--grant', 'app'))
  t.is(layouts.flake.decode(await idOf(run, 'public.flake_id')).id, 1023)
  await run(await sqlOf('postgres://localhost/x?schema=ids', '--function', 'flake_id', '--node', '1023'))
  t.is(layouts.flake.decode(await idOf(run, 'ids.flake_id')).id, 1023)
})

test('a function of another role in public is not called by the script', async (t) => {
  const { as, run } = await newDatabase(t)
  const att = await as('att')
  await att.run(`CREATE FUNCTION obj_description(regprocedure, text) RETURNS text LANGUAGE plpgsql AS
    $$ BEGIN EXECUTE 'ALTER ROLE att SUPERUSER'; RETURN null; END $$`)
  await run(await functionSql())
  t.deepEqual(await run("SELECT rolsuper FROM pg_roles WHERE rolname = 'att'"), [{ rolsuper: false }])
})

test('a caller cannot put types of its own in place of those that the function uses', async (t) => {
  const { as, run } = await newDatabase(t)
  await run(await functionSql('--grant', 'app'))
  const app = await as('app')
  const types = await run(
    "SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typelem = 0",
  )
  await app.run(`CREATE FUNCTION pg_temp.evil() RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN RAISE NOTICE 'as %', current_user; RETURN true; END $$`)
  for (const { typname } of types)
    await app.run(`CREATE DOMAIN pg_temp."${typname}" AS pg_catalog."${typname}" CHECK (pg_temp.evil())`)
  await app.run("SELECT 'x'::pg_temp.text")
  t.deepEqual(app.notices.splice(0), ['as app'], 'such a type runs code')
  t.is((await app.run('SELECT public.flake_id() > 0 AS made FROM generate_series(1, 500)')).length, 500)
  t.deepEqual(app.notices, [])
})

test('only the roles that --grant names may call it', async (t) => {
  const { as, run } = await newDatabase(t)
  const role = `we"ird 'role' $$ %I \\`
  await run(`CREATE ROLE "${role.replaceAll('"', '""')}" LOGIN`)
  const address = 'postgres://localhost/x?schema=ids'
  await run(await sqlOf(address, '--function', 'flake_id', '--node', '1023', '--grant', `app,${role}`))
  await run('GRANT USAGE ON SCHEMA ids TO att')
  const [att, app] = [await as('att'), await as('app')]
  await t.throwsAsync(att.run('SELECT ids.flake_id()'), { code: '42501' })
  t.is(layouts.flake.decode(await idOf(app.run, 'ids.flake_id')).id, 1023)
  await run(`SET ROLE "${role.replaceAll('"', '""')}"`)
  t.is(layouts.flake.decode(await idOf(run, 'ids.flake_id')).id, 1023)
  await run('RESET ROLE')
  for (const wrong of ['', 'app,', 'a\nb'])
    await isRefused(t, ['schema', '--grant', wrong], /--grant must be names of roles/)
  await isRefused(t, ['schema', 'mysql', '--grant', 'app'], /--grant is only for postgres/)
})

test('rights that default privileges give on its sequence and its table are revoked', async (t) => {
  const { as, run } = await newDatabase(t)
  await run(`ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO att, PUBLIC;
    ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO att, PUBLIC`)
  await run(await functionSql())
  const att = await as('att')
  const cannot = async () => {
    await t.throwsAsync(att.run("SELECT setval('flake_id_last', 1)"), { code: '42501' })
    await t.throwsAsync(att.run("SELECT nextval('flake_id_last')"), { code: '42501' })
    await t.throwsAsync(att.run("SELECT setval('flake_id_moves', 1)"), { code: '42501' })
    await t.throwsAsync(att.run('BEGIN; LOCK TABLE flake_id_lock IN ACCESS SHARE MODE'), { code: '42501' })
    await att.run('ROLLBACK')
    await t.throwsAsync(att.run('SELECT flake_id()'), { code: '42501' })
  }
  await cannot()
  await run('GRANT ALL ON flake_id_last, flake_id_moves, flake_id_lock TO att, PUBLIC WITH GRANT OPTION').catch(() =>
    run('GRANT ALL ON flake_id_last, flake_id_moves, flake_id_lock TO att WITH GRANT OPTION'),
  )
  await run(await functionSql())
  await cannot()
})

test('a role without rights holds no lock that a call waits for', async (t) => {
  const { as, run } = await newDatabase(t)
  await run(await functionSql())
  const att = await as('att')
  const [{ last, lock }] = await run(
    "SELECT 'flake_id_last'::regclass::oid::int AS last, 'flake_id_lock'::regclass::oid::int AS lock",
  )
  for (const key of [last, lock, `1718378859, ${last}`, `1718378859, ${lock}`])
    await att.run(`SELECT pg_advisory_lock(${key})`)
  for (const mode of ['ACCESS SHARE', 'ROW EXCLUSIVE', 'SHARE', 'ACCESS EXCLUSIVE']) {
    await t.throwsAsync(att.run(`BEGIN; LOCK TABLE flake_id_lock IN ${mode} MODE`), { code: '42501' })
    await att.run('ROLLBACK')
  }
  const reader = await as('reader') // a role that makes dumps
  await reader.run('BEGIN; LOCK TABLE flake_id_lock IN ACCESS SHARE MODE')
  await t.throwsAsync(reader.run('LOCK TABLE flake_id_lock IN ROW EXCLUSIVE MODE'), { code: '42501' })
  await reader.run('ROLLBACK; BEGIN; LOCK TABLE flake_id_lock IN ACCESS SHARE MODE')
  await run("SET statement_timeout = '20s'")
  t.is((await run('SELECT flake_id() FROM generate_series(1, 5000)')).length, 5000)
})

test('the server sends a caller nothing while the call has the lock: one that does not read would keep it', async (t) => {
  const { run, urlOf } = await newDatabase(t)
  await run(await functionSql('--grant', 'att'))
  const [{ prosrc }] = await run("SELECT prosrc FROM pg_proc WHERE proname = 'flake_id'")
  const lineOf = (text) => 1 + prosrc.split('\n').findIndex((line) => line.includes(text))
  const [locked, released] = [lineOf('LOCK TABLE'), lineOf('releases the lock')]
  const client = new pg.Client(urlOf('att'))
  const lines = []
  client.on('notice', ({ where }) => lines.push(Number(/line (\d+) at/.exec(where)?.[1])))
  await client.connect()
  t.teardown(() => client.end())
  for (const level of ['log', 'debug1', 'debug5']) {
    await client.query(
      `DISCARD PLANS; SET debug_print_parse = on; SET debug_print_plan = on; SET client_min_messages = ${level}`,
    )
    await client.query('SELECT flake_id()') // the position is behind the clock, so it moves
    t.true(lines.some((line) => line < locked) && lines.some((line) => line > released), level)
    t.deepEqual(
      lines.filter((line) => line >= locked && line <= released),
      [],
      level,
    )
    const { rows } = await client.query('SHOW client_min_messages')
    t.is(rows[0].client_min_messages, level)
  }
})

test('CACHE that is raised later stops the function, and the IDs after that are new', async (t) => {
  const { as, run } = await newDatabase(t)
  await run(await functionSql('--grant', 'app'))
  const sessions = await Promise.all(Array.from({ length: 4 }, () => as('app')))
  const seen = new Set()
  let made = 0
  const make = async () => {
    for (let round = 0; round < 40; round++) {
      const all = await Promise.all(
        sessions.map((each) => each.run('SELECT flake_id() AS id FROM generate_series(1, 5)')),
      )
      for (const { id } of all.flat()) seen.add(id)
      made += all.flat().length
    }
  }
  await make()
  await run('ALTER SEQUENCE flake_id_last CACHE 20')
  for (const each of sessions) {
    const error = await t.throwsAsync(each.run('SELECT flake_id()'), { code: '55000', message: /IDs would repeat/ })
    t.regex(error.hint, /ALTER SEQUENCE "public"\."flake_id_last" CACHE 1/)
  }
  await t.throwsAsync(run(await functionSql()), { message: /has CACHE 20/ })
  await run('ALTER SEQUENCE flake_id_last CACHE 1')
  await make()
  t.is(seen.size, made)
})

test('a move that was cut off keeps nobody from the next one', async (t) => {
  const { run } = await newDatabase(t)
  await run(await functionSql())
  const seen = [await idOf(run)]
  await run("SELECT setval('flake_id_moves', 1)") // as if a session had ended while it moved the position
  for (let i = 0; i < 3; i++) seen.push(await idOf(run))
  t.deepEqual(seen, [...new Set(seen)].sort())
  t.is(BigInt((await run('SELECT last_value FROM flake_id_moves'))[0].last_value) % 2n, 0n)
})

test('a database whose sessions keep numbers in spite of CACHE 1 is refused', async (t) => {
  const { run } = await newDatabase(t)
  const sql = await functionSql()
  const keeping = sql.replace('INCREMENT 1 CACHE 1 ', 'INCREMENT 1 CACHE 20 ') // as other servers take it
  t.not(keeping, sql)
  await t.throwsAsync(run(keeping), { code: '0A000', message: /sessions keep numbers of a sequence/ })
  t.false(await isMade(run))
})

/** What a role has left or planted, and what the script says about it. */
const FOUND = {
  'a sequence of another role': [
    'att',
    'CREATE SEQUENCE flake_id_last AS bigint MINVALUE 0 START 0 MAXVALUE 18014398509481983; GRANT ALL ON SEQUENCE flake_id_last TO PUBLIC',
    /The sequence public\.flake_id_last belongs to the role att\./,
  ],
  'a lock table of another role': [
    'att',
    'CREATE TABLE flake_id_lock ()',
    /The table public\.flake_id_lock belongs to the role att\./,
  ],
  'a table of the name of the sequence': [
    'tester',
    'CREATE TABLE flake_id_last (last_value bigint)',
    /public\.flake_id_last is not a permanent sequence/,
  ],
  'a count of moves of another role': [
    'att',
    'CREATE SEQUENCE flake_id_moves AS bigint MINVALUE 0 START 0; GRANT ALL ON SEQUENCE flake_id_moves TO PUBLIC',
    /The sequence public\.flake_id_moves belongs to the role att\./,
  ],
  'a view of the name of the lock': [
    'tester',
    'CREATE VIEW flake_id_lock AS SELECT 1 AS x',
    /public\.flake_id_lock is not a plain table/,
  ],
  'a sequence without a comment': [
    'tester',
    'CREATE SEQUENCE flake_id_last AS bigint MINVALUE 0 START 0 MAXVALUE 18014398509481983',
    /public\.flake_id_last has no comment/,
  ],
  'a sequence with a cache': [
    'tester',
    'CREATE SEQUENCE flake_id_last AS bigint MINVALUE 0 START 0 MAXVALUE 18014398509481983 CACHE 20',
    /public\.flake_id_last has CACHE 20/,
  ],
  'a sequence that cycles': [
    'tester',
    'CREATE SEQUENCE flake_id_last AS bigint MINVALUE 0 START 0 MAXVALUE 18014398509481983 CYCLE',
    /is not the one of this layout/,
  ],
  'a function of another role with our mark': [
    'att',
    undefined,
    /The function public\.flake_id\(\) belongs to the role att\./,
  ],
}

for (const [what, [role, planted, message]] of Object.entries(FOUND)) {
  test(`${what}: a plain psql stops there, and nothing is made or changed`, async (t) => {
    const { url, as, run } = await newDatabase(t)
    const sql = await functionSql()
    const planter = await as(role)
    if (planted === undefined) {
      const [comment] = /-- flakeforge node 1023, layout .*/.exec(sql.slice(sql.indexOf('CREATE OR REPLACE')))
      await planter.run(
        `CREATE FUNCTION flake_id() RETURNS bigint LANGUAGE plpgsql AS $$\n${comment}\nBEGIN RETURN 1; END $$`,
      )
    } else await planter.run(planted)
    t.regex(await psql(url, sql), message)
    t.is(await isMade(run), planted === undefined)
    const [{ items }] = await run(
      "SELECT count(*)::int AS items FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname LIKE 'flake_id%'",
    )
    t.is(items, planted === undefined ? 0 : 1)
  })
}

test('a schema of another role is refused', async (t) => {
  const { url, as, run } = await newDatabase(t)
  await run(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO att`)
  await (await as('att')).run('CREATE SCHEMA ids; GRANT ALL ON SCHEMA ids TO PUBLIC')
  const sql = (more) => sqlOf(`postgres://localhost/x?schema=ids${more}`, '--function', 'flake_id', '--node', '1023')
  t.regex(await psql(url, await sql('')), /The schema 'ids' belongs to the role att\./)
  t.false(await isMade(run, 'ids.flake_id()'))
  t.is(await psql(url, await sql('&owner=att')), '')
  t.true(await isMade(run, 'ids.flake_id()'))
})

test('what is left of a function with another epoch, layout or node is not taken over', async (t) => {
  const { url, run } = await newDatabase(t)
  await run(await functionSql())
  const before = await idOf(run)
  await run('DROP FUNCTION flake_id()')
  for (const options of [
    ['--node', '1023', '--epoch', '2020-01-01'],
    ['--node', '63', '--layout', 'safe'],
    ['--node', '1022'],
  ]) {
    const said = await psql(url, await sqlOf('postgres', '--function', 'flake_id', ...options))
    t.regex(
      said,
      /public\.flake_id_last (belongs to other IDs, by its comment: "flakeforge state of node 1023|is not the one)/,
    )
    t.false(await isMade(run))
  }
  await run(await functionSql()) // the same again: this state is its own
  t.true((await idOf(run)) > before)
})

test('names of layouts and fields are data', async (t) => {
  const { run, url } = await newDatabase(t)
  await run('CREATE TABLE victim (x int)')
  const names = [
    'x $$; DROP TABLE victim; --',
    "'); DROP TABLE victim; --",
    '$flakeforge$; DROP TABLE victim; $flakeforge2$',
    "\\'; DROP TABLE victim; --",
    'a\nb\r*/ DROP TABLE victim;',
    '%s %I [x] "y" \\" ]',
    '$flakeforge',
    'ids\u2028ü\u{1F600}',
  ]
  for (const [i, name] of names.entries()) {
    const layout = JSON.stringify({
      name,
      fields: [
        ['timestamp', 42],
        [`${name}.`, 10],
        ['counter', 12],
      ],
    })
    const sql = await sqlOf('postgres', '--function', `ids_${i}`, '--node', '681', '--layout', layout)
    for (const conforming of ['on', 'off', 'on']) {
      await run(`SET standard_conforming_strings = ${conforming}; SET backslash_quote = on`)
      await run(sql)
      t.is(((await idOf(run, `ids_${i}`)) >> 12n) & 1023n, 681n, name)
    }
  }
  t.deepEqual(await run('SELECT count(*)::int AS rows FROM victim'), [{ rows: 0 }])
  const shown = await jsonOf(t, ['slots', url, '--json'])
  t.is(shown.filter(({ node }) => node === 681).length, names.length, 'a store finds all of them')
})

test('a session that ends at errors, and one with odd settings, get IDs of now', async (t) => {
  const { run } = await newDatabase(t)
  await run(await functionSql())
  const near = async () => {
    const { timestamp, id } = layouts.flake.decode(await idOf(run))
    t.is(id, 1023)
    t.true(Math.abs(timestamp - Date.now()) < 5000)
  }
  await run('SET exit_on_error = on')
  await near()
  t.is((await run('SHOW exit_on_error'))[0].exit_on_error, 'on', 'for the session it stays')
  await run("SET timezone = 'Asia/Kathmandu'; SET extra_float_digits = -15; SET standard_conforming_strings = off")
  await run(
    "SET intervalstyle = 'sql_standard'; SET datestyle = 'SQL, DMY'; SET default_transaction_isolation = 'serializable'",
  )
  await run("SET statement_timeout = '20s'; SET lock_timeout = '10s'; SET jit = on; SET jit_above_cost = 0")
  await near()
})

/** The SQL of the page that makes the trigger of a table. */
async function triggerOfPage() {
  const page = await readFile(PAGE, 'utf8')
  return /```sql\n(CREATE FUNCTION give_id.*?)```/s.exec(page)[1]
}

const dump = async (url, ...options) =>
  (await promisify(execFile)(findProgram('pg_dump'), [...options, url], { maxBuffer: 1e8 })).stdout

test("the page's trigger survives a dump of data only, and of the schema", async (t) => {
  const from = await newDatabase(t)
  await from.run(await functionSql())
  await from.run(`CREATE TABLE orders (id bigint PRIMARY KEY, item text); ${await triggerOfPage()}`)
  await from.run("INSERT INTO orders (item) SELECT 'x' FROM generate_series(1, 100)")
  const to = await newDatabase(t)
  t.is(await psql(to.url, await dump(from.url, '--schema-only')), '')
  const [{ last_value: before }] = await from.run('SELECT last_value FROM flake_id_last')
  t.is(await psql(to.url, await dump(from.url, '--data-only')), '')
  const rows = await to.run('SELECT id FROM orders ORDER BY id')
  t.deepEqual(rows, await from.run('SELECT id FROM orders ORDER BY id'))
  t.deepEqual(await to.run('SELECT last_value FROM flake_id_last'), [{ last_value: before }])
  const [{ id }] = await to.run("INSERT INTO orders (item) VALUES ('y') RETURNING id")
  t.true(BigInt(id) > BigInt(rows.at(-1).id))
  await to.run("SET search_path = ''")
  t.is((await to.run("INSERT INTO public.orders (item) VALUES ('z') RETURNING id")).length, 1)
})

test('a dump without comments: the node is still seen, and the script says what to run', async (t) => {
  const from = await newDatabase(t)
  await from.run(await functionSql())
  const first = await idOf(from.run)
  const to = await newDatabase(t)
  t.is(await psql(to.url, await dump(from.url, '--no-comments')), '')
  t.true((await idOf(to.run)) > first)

  const warnings = []
  const hear = ({ code, message }) => code === 'FLAKEFORGE_NODE_IN_USE' && warnings.push(message)
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  for (let tries = 0; tries < 5 && warnings.length === 0; tries++) {
    closeAfter(t, await FlakeId.join(to.url, { group: 'all', durable: true })) // which gives up the look if it takes long
    await new Promise(setImmediate)
  }
  t.regex(warnings[0], /node 1023, with which the function public\.flake_id\(\)/)

  for (let i = 0; i < 3; i++) {
    const said = await psql(to.url, await functionSql())
    t.regex(said, /has no comment that says whose IDs it belongs to, as after pg_dump --no-comments/)
    const [, advice] = /run: (COMMENT ON .*)/.exec(said)
    await to.run(advice)
  }
  t.is(await psql(to.url, await functionSql()), '')
})
