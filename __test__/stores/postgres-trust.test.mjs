// Whose code a PostgreSQL store runs and whose objects it uses, on a real server on which another role was there first: with
// functions and operators in the search_path, with a table or a schema of the expected name.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import pg from 'pg'
import postgres from 'postgres'
import { CLIENTS, startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { makeNamesakes } from '../support/namesakes.mjs'
import { openGroup, stepsOf, works } from '../support/steps.mjs'

const require = createRequire(import.meta.url)
const { DatabaseStore } = require('../../target/rooms/lib/stores/database.js')
const { openPostgres, postgresStore } = require('../../target/rooms/lib/stores/postgres.js')
const { readAddress } = require('../../target/rooms/lib/stores/postgres/address.js')
const { PostgresRecords } = require('../../target/rooms/lib/stores/postgres/records.js')
const { schemaFor } = require('../../target/rooms/lib/stores/postgres/schema.js')
const statements = require('../../target/rooms/lib/stores/postgres/statements.js')
const { openPg, openPostgresJs } = require('../../target/rooms/lib/stores/postgres/url.js')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

let server
let databases = 0

anyTest.before(async () => {
  if (wantPostgres() === undefined) return
  server = await startPostgres({ fsync: 'on', full_page_writes: 'on' })
  await server.query('CREATE ROLE att LOGIN; CREATE ROLE member LOGIN; CREATE ROLE migrator LOGIN')
})

anyTest.after.always(() => server?.stop())

/** A new database of the superuser in which all may create objects, as everywhere before PostgreSQL 15. */
async function newDatabase(t) {
  const name = `trust${++databases}`
  await server.query(`CREATE DATABASE ${name}`)
  const url = server.url.replace(/postgres$/, name)
  const as = (role) => {
    const { client, end } = CLIENTS.pg(url.replace('tester@', `${role}@`))
    t.teardown(end)
    return client
  }
  const owner = as('tester')
  await owner.query('GRANT CREATE ON SCHEMA public TO PUBLIC')
  return { url, owner, as, urlOf: (role) => url.replace('tester@', `${role}@`) }
}

const OWN_CLIENTS = { pg: (url) => openPg(pg, url), 'postgres.js': (url) => openPostgresJs(postgres, url) }

/** What a store does, from the making of its table to its end. */
async function worksWholly(t, store) {
  await works(t, store)
  const steps = await openGroup(store, 'whole')
  await steps.acquire()
  t.is((await store.list('whole')).length, 1)
  t.true((await store.groups()).includes('whole'))
  t.is(await store.advance('numbers', 5n, 0n).then(({ number }) => number), 0n)
  t.is(typeof (await store.place()), 'string')
  t.deepEqual(await store.functions(), [])
  await store.records.checkDurable()
  await steps.destroy()
}

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: no statement finds a function, an operator, a type or a relation by the search_path`, async (t) => {
    const { url, owner } = await newDatabase(t)
    const counts = await makeNamesakes(async (text) => (await owner.query(text)).rows)
    t.true(counts.functions > 3000 && counts.operators > 700 && counts.types > 50 && counts.relations > 100)
    const evil = `${url}?options=-c%20search_path%3Devil,pg_catalog`
    const store = new DatabaseStore(new PostgresRecords(open(evil), readAddress(evil)))
    t.teardown(() => store.close())
    await worksWholly(t, store)
  })
}

/** A session that stays the same. */
async function sessionOf(t, url) {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

test('neither do the statements that a store seldom sends', async (t) => {
  const { url } = await newDatabase(t)
  const owner = await sessionOf(t, url)
  await makeNamesakes(async (text) => (await owner.query(text)).rows)
  await owner.query('SET search_path = evil, pg_catalog')
  await t.throwsAsync(owner.query('SELECT 1 = 1'), { message: /cannot accept a value/ })
  const { statementsFor, STILL_RUNS, ...others } = statements
  const texts = Object.values(others).filter((each) => each.text !== undefined)
  t.is(texts.length, 5)
  for (const { text } of texts) t.is((await owner.query(text)).rows.length, 1, text)
  t.is((await owner.query(STILL_RUNS.text, ['["/* a */"]'])).rows.length, 1)
  await owner.query(schemaFor('elsewhere', { withSchema: true, roles: ['member'], owner: 'member' }).text)
  t.is((await owner.query('SHOW search_path')).rows[0].search_path, 'evil, pg_catalog')
  for (const [name, { text }] of Object.entries(statementsFor({ schema: 'elsewhere', owner: 'member' }))) {
    const most = Math.max(0, ...[...text.matchAll(/\$(\d)/g)].map(([, number]) => Number(number)))
    const values = ['group', name === 'readNothing' ? '[]' : '["a"]', 'x', 'y', 'z', 'u'].slice(0, most)
    if (name === 'readNothing') values[0] = '[]'
    t.is((await owner.query(text, values)).rows.length, 1, name)
  }
})

test('an operator of another role in public is not called, and does not set the clock', async (t) => {
  const { owner, as, urlOf } = await newDatabase(t)
  await as('att').query(`CREATE TABLE loot (who text); GRANT ALL ON loot TO PUBLIC;
    CREATE FUNCTION mul(numeric, integer) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO public.loot VALUES (current_user); RETURN numeric_mul($1, $2::numeric) + 3600000000000; END $$;
    CREATE OPERATOR public.* (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = mul)`)
  const store = openPostgres(urlOf('member'))
  t.teardown(() => store.close())
  const { now } = await store.records.read('g', [])
  t.true(Math.abs(now - Date.now()) < 60_000)
  t.deepEqual((await owner.query('SELECT * FROM loot')).rows, [])
})

const COLUMNS = `group_name text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL`
const PLAIN = `CREATE TABLE flakeforge_record (${COLUMNS}, PRIMARY KEY (group_name, name))`
const NOTES = `CREATE TABLE loot (who text); GRANT ALL ON loot TO PUBLIC;
  CREATE FUNCTION note() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.loot VALUES (current_user); RETURN true; END $$;
  CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.note(); RETURN NEW; END $$;`

/** What stands in the place of the table; some run code of their owner when they are only read. */
const SQUATTED = {
  'a table': PLAIN,
  'a table with a trigger': `${PLAIN}; CREATE TRIGGER t BEFORE INSERT OR UPDATE ON flakeforge_record FOR EACH ROW EXECUTE FUNCTION noted()`,
  'a table with a policy': `${PLAIN}; ALTER TABLE flakeforge_record ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON flakeforge_record USING (note())`,
  'a view': `CREATE VIEW flakeforge_record AS SELECT 'g'::text AS group_name, 'group'::text AS name, 'x'::text AS value WHERE note()`,
  'a partitioned table': `CREATE TABLE flakeforge_record (${COLUMNS}, PRIMARY KEY (group_name, name)) PARTITION BY LIST (group_name)`,
  'a materialized view': `CREATE MATERIALIZED VIEW flakeforge_record AS SELECT 'g' AS group_name, 'group' AS name, 'x' AS value`,
}

const OF_ATT = {
  code: 'ERR_FLAKE_STORE',
  message: /The table public\.flakeforge_record belongs to the role att\. .*\?owner=/,
}

for (const [what, text] of Object.entries(SQUATTED)) {
  test(`${what} of another role is refused by the name of that role, and none of its code runs`, async (t) => {
    const { owner, as, urlOf } = await newDatabase(t)
    await as('att').query(`${NOTES} ${text}; GRANT ALL ON flakeforge_record TO PUBLIC`)
    await as('att')
      .query('GRANT att TO member')
      .catch(() => {}) // a role may do that, up to PostgreSQL 15
    for (const role of ['member', 'tester']) {
      const store = openPostgres(urlOf(role))
      t.teardown(() => store.close())
      const calls = {
        join: () => stepsOf(store, 'g').acquire({ joins: true }),
        create: () => stepsOf(store, 'g').create(),
        list: () => store.list('g'),
        groups: () => store.groups(),
        names: () => store.records.names('g'),
        counter: () => store.advance('g', 1n),
      }
      for (const [name, call] of Object.entries(calls)) await t.throwsAsync(call(), OF_ATT, `${role}: ${name}`)
    }
    t.deepEqual((await owner.query('SELECT * FROM loot')).rows, [])
  })
}

test('the printed SQL ends with the same error, and gives nobody a right', async (t) => {
  const { owner, as } = await newDatabase(t)
  await as('att').query(PLAIN)
  await t.throwsAsync(owner.query(schemaFor('public', { roles: ['member'] }).text), { message: OF_ATT.message })
  const { rows } = await owner.query("SELECT has_table_privilege('member', 'flakeforge_record', 'SELECT') AS may")
  t.false(rows[0].may)
})

test('a table that replaces ours while a store is open is refused too', async (t) => {
  const { owner, as, urlOf } = await newDatabase(t)
  const store = openPostgres(urlOf('member'))
  t.teardown(() => store.close())
  await works(t, store)
  await owner.query('DROP TABLE flakeforge_record')
  await as('att').query(`${PLAIN}; GRANT ALL ON flakeforge_record TO PUBLIC`)
  await t.throwsAsync(store.list('g'), OF_ATT)
  await as('att').query('DROP TABLE flakeforge_record')
  await works(t, store)
})

test('a table of a superuser, of the owner of the database, of the own role, or of the one that the option owner names', async (t) => {
  const { url, owner, as, urlOf } = await newDatabase(t)
  const storeOf = (role, more = '') => {
    const store = openPostgres(`${urlOf(role)}${more}`)
    t.teardown(() => store.close())
    return store
  }
  await as('migrator').query(`${PLAIN}; GRANT SELECT, INSERT, UPDATE ON flakeforge_record TO member`)
  await works(t, storeOf('migrator'))
  await t.throwsAsync(storeOf('member').list('g'), { message: /belongs to the role migrator/ })
  await works(t, storeOf('member', '?owner=migrator'))
  const { client, end } = CLIENTS.pg(urlOf('member'))
  t.teardown(end)
  await works(t, postgresStore(client, { owner: 'migrator' }))
  await t.throwsAsync(storeOf('member', '?owner=att').list('g'), { message: /belongs to the role migrator/ })
  await owner.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO migrator`)
  await works(t, storeOf('member'))
  for (const wrong of ['', 5, 'a\nb', 'x'.repeat(64)]) {
    const error = t.throws(() => postgresStore(client, { owner: wrong }), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, 'owner')
  }
})

test('a schema of another role is refused, by a store and by the printed SQL, unless the option owner names that role', async (t) => {
  const { url, owner, as, urlOf } = await newDatabase(t)
  await owner.query(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO att`)
  await as('att').query('CREATE SCHEMA ids; GRANT ALL ON SCHEMA ids TO PUBLIC')
  const refused = { message: /The schema 'ids' belongs to the role att\./ }
  await t.throwsAsync(owner.query(schemaFor('ids', { withSchema: true }).text), refused)
  const store = openPostgres(`${urlOf('member')}?schema=ids`)
  t.teardown(() => store.close())
  await t.throwsAsync(stepsOf(store, 'g').create(), refused)
  const { rows } = await owner.query("SELECT to_regclass('ids.flakeforge_record') AS made")
  t.is(rows[0].made, null)
  const trusting = openPostgres(`${urlOf('member')}?schema=ids&owner=att`)
  t.teardown(() => trusting.close())
  await works(t, trusting)
})

/** Tables of the right owner that do not keep what is written, or lack the key. */
const WRONG = {
  trigger: `${NOTES} ${SQUATTED['a table with a trigger']}`,
  rule: `${PLAIN}; CREATE RULE r AS ON UPDATE TO flakeforge_record DO INSTEAD NOTHING`,
  'row security': `${PLAIN}; ALTER TABLE flakeforge_record ENABLE ROW LEVEL SECURITY`,
  child: `${PLAIN}; CREATE TABLE child () INHERITS (flakeforge_record)`,
  parent: `CREATE TABLE parent (group_name text COLLATE "C" NOT NULL); CREATE TABLE flakeforge_record (${COLUMNS}, PRIMARY KEY (group_name, name)) INHERITS (parent)`,
  view: `CREATE VIEW flakeforge_record AS SELECT 'g'::text AS group_name, 'group'::text AS name, 'x'::text AS value`,
  'no primary key': `CREATE TABLE flakeforge_record (${COLUMNS})`,
  'another key': `CREATE TABLE flakeforge_record (${COLUMNS}, PRIMARY KEY (group_name, value))`,
  'another collation': `${PLAIN.replace('name text COLLATE "C"', 'name text COLLATE "en-x-icu"')}`,
  'another type': `${PLAIN.replace('value text COLLATE "C"', 'value varchar(100) COLLATE "C"')}`,
  'one more column': `${PLAIN}; ALTER TABLE flakeforge_record ADD expires timestamptz`,
  'a value that may be NULL': `${PLAIN}; ALTER TABLE flakeforge_record ALTER value DROP NOT NULL`,
}

for (const [what, text] of Object.entries(WRONG)) {
  test(`a table that a store may use by its owner, but not by its kind: ${what}`, async (t) => {
    const { url, owner } = await newDatabase(t)
    await owner.query(text)
    const store = openPostgres(url)
    t.teardown(() => store.close())
    const message = /public\.flakeforge_record (is not a plain table|has a trigger, a rule|has other columns)/
    await t.throwsAsync(stepsOf(store, 'g').create(), { code: 'ERR_FLAKE_STORE', message })
    await t.throwsAsync(owner.query(schemaFor('public').text), { message })
  })
}

test('names of schemas and roles are data', async (t) => {
  const { url, as } = await newDatabase(t)
  const owner = await sessionOf(t, url)
  const schema = `a"b'c\\d$$e$flakeforge$%s;--`
  const role = `r"o'l\\e$$%I`
  const quoted = (name) => `"${name.replaceAll('"', '""')}"`
  await owner.query(`CREATE ROLE ${quoted(role)} LOGIN`)
  await owner.query('SET standard_conforming_strings = off; SET backslash_quote = on')
  for (let i = 0; i < 2; i++) await owner.query(schemaFor(schema, { withSchema: true, roles: [role] }).text)
  await worksWholly(t, postgresStore(owner, { schema }))
  const store = openPostgres(
    `${url.replace('tester@', `${encodeURIComponent(role)}@`)}?schema=${encodeURIComponent(schema)}`,
  )
  t.teardown(() => store.close())
  await works(t, store)
  await owner.query(`ALTER TABLE ${quoted(schema)}.flakeforge_record OWNER TO att`)
  const refused = postgresStore(as('member'), { schema })
  await owner.query(`GRANT USAGE ON SCHEMA ${quoted(schema)} TO member`)
  const error = await t.throwsAsync(refused.list('g'), { message: /belongs to the role att/ })
  t.true(error.message.includes(schema))
})
