// Which clients the PostgreSQL store takes, what it needs from a server, and what it says when it does not get it.

import { execFile } from 'node:child_process'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import anyTest from 'ava'
import pg from 'pg'
import postgres from 'postgres'
import { CLIENTS, startPostgres, wantPostgres } from './servers/postgres.mjs'
import { startProxy } from './servers/proxy.mjs'
import { freePort, freshFolder } from './servers/server.mjs'
import { newOwner } from './store-reference.mjs'

const require = createRequire(import.meta.url)
const { openPostgres, postgresStore } = require('../lib/stores/postgres.js')
const { StatementRunner } = require('../lib/stores/postgres/client.js')
const { openPg, openPostgresJs } = require('../lib/stores/postgres/url.js')

const run = promisify(execFile)
const LIB = join(import.meta.dirname, '..', 'lib')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

const CONFIG = { fingerprint: 'f', slots: 3, ttlMs: 60_000, skewMs: 5000, create: true }
const OPTION = { code: 'ERR_FLAKE_OPTION' }
const TRANSACTION = { ...OPTION, message: /^A store cannot use this client\. .*outside of a transaction\.$/ }

let server

anyTest.before(async () => {
  if (wantPostgres() !== undefined) server = await startPostgres()
})

anyTest.after.always(() => server?.stop())

const acquire = (store, group) => store.acquire(group, { owner: newOwner(), host: 'host', clientNow: Date.now() })

async function connectedClient(t) {
  const client = new pg.Client(server.url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** A client like those of pg before it told the state of a transaction. */
async function olderClient(t) {
  const client = await connectedClient(t)
  client.getTransactionStatus = undefined
  return client
}

const CLIENT_KINDS = { 'a Client of pg': connectedClient, 'a Client of an older pg': olderClient }

for (const [what, connect] of Object.entries(CLIENT_KINDS)) {
  test(`${what} takes steps, also several at once`, async (t) => {
    const store = postgresStore(await connect(t))
    await store.open(what, CONFIG)
    const grants = await Promise.all([1, 2, 3].map(() => acquire(store, what)))
    t.deepEqual(
      grants.map(({ slot }) => slot),
      [0, 1, 2],
    )
  })

  test(`${what} inside a transaction is refused, and taken after it`, async (t) => {
    const client = await connect(t)
    const store = postgresStore(client)
    const group = `${what}, transaction`
    await store.open(group, CONFIG)
    await client.query('BEGIN')
    await t.throwsAsync(acquire(store, group), TRANSACTION)
    await t.throwsAsync(client.query('no statement'))
    await t.throwsAsync(acquire(store, group), TRANSACTION, 'a transaction that failed is one too')
    await client.query('ROLLBACK')
    t.deepEqual(await store.list(group), [])
    t.is((await acquire(store, group)).slot, 0)
  })

  test(`${what} that is about to begin a transaction is refused too`, async (t) => {
    const client = await connect(t)
    const store = postgresStore(client)
    const group = `${what}, begins`
    await store.open(group, CONFIG)
    const begun = client.query('BEGIN')
    await t.throwsAsync(acquire(store, group), TRANSACTION)
    await begun
    await client.query('ROLLBACK')
    t.is((await acquire(store, group)).slot, 0)
  })
}

test('a Client of pg, which will have no queue, is never sent a query during another', async (t) => {
  const program = `
    const { Client } = require('pg')
    const client = new Client(process.argv[1])
    const store = require('./lib/stores/postgres.js').postgresStore(client)
    client.connect().then(async () => {
      await Promise.all([store.list('g'), store.list('g'), store.list('g')])
      await client.end()
    })`
  await server.query('CREATE SCHEMA untouched') // where the tables are yet to be made
  const url = `${server.url}?options=-c%20search_path%3Duntouched`
  const { stderr } = await run(process.execPath, ['-e', program, url], { cwd: join(LIB, '..') })
  t.is(stderr, '')
  t.is((await server.query("SELECT FROM pg_tables WHERE schemaname = 'untouched'")).length, 3)
})

anyTest("a statement that came second is run again with the client's clock of that time", async (t) => {
  const sent = []
  const send = async (_, [clientNow]) => {
    sent.push(Number(clientNow))
    await sleep(50)
    if (sent.length === 1) throw Object.assign(new Error('could not serialize access'), { code: '40001' })
    return '{"outcome":"done"}'
  }
  const runner = new StatementRunner({}, { isBusy: () => false, send })
  await runner.run({ text: '', names: ['clientNow'] }, { clientNow: 1_900_000_000_000 })
  const [first, second] = sent
  t.true(first >= 1_900_000_000_000)
  t.true(second - first >= 45, `${second - first} ms later, and 50 have passed`)
})

test('the sql of a transaction of postgres.js, or of a reserved connection, is refused', async (t) => {
  const { client: sql, end } = CLIENTS['postgres.js'](server.url)
  t.teardown(end)
  await sql.begin((inner) => t.throws(() => postgresStore(inner), TRANSACTION))
  const reserved = await sql.reserve()
  t.throws(() => postgresStore(reserved), TRANSACTION)
  reserved.release()
})

test('anything else is no client', (t) => {
  for (const value of [undefined, null, 'postgres://', {}, () => {}, pg, { query: () => {} }, new Map()]) {
    t.throws(() => postgresStore(value), { ...OPTION, message: /Pool or Client of pg, or the sql function/ })
  }
})

test('own names and types of a postgres.js client do not matter', async (t) => {
  const sql = postgres(server.url, {
    onnotice: () => {},
    transform: postgres.toPascal,
    types: { bigint: postgres.BigInt },
  })
  t.teardown(() => sql.end())
  const store = postgresStore(sql)
  await store.open('own types', CONFIG)
  t.is((await acquire(store, 'own types')).slot, 0)
  t.is(await store.advance('own types', 2n ** 63n, 1n), 1n)
  t.is(await store.advance('own types', 0n), 2n ** 63n + 1n)
})

test('own type parsers of a pg client do not matter', async (t) => {
  const pool = new pg.Pool({ connectionString: server.url, types: { getTypeParser: () => (text) => `${text}!` } })
  t.teardown(() => pool.end())
  const store = postgresStore(pool)
  await store.open('own parsers', CONFIG)
  t.is((await acquire(store, 'own parsers')).slot, 0)
})

test('a postgres.js client that changes texts is told so', async (t) => {
  for (const change of [
    { transform: { value: () => undefined } },
    { transform: { value: () => null } },
    { transform: { row: () => undefined } },
    { types: { text: { to: 25, from: [25], serialize: String, parse: (text) => `${text}!` } } },
  ]) {
    const sql = postgres(server.url, { onnotice: () => {}, fetch_types: false, ...change })
    t.teardown(() => sql.end())
    await t.throwsAsync(postgresStore(sql).open('changed', CONFIG), { ...OPTION, message: /transform or type parser/ })
  }
})

test('a pg client that was never connected is told so', async (t) => {
  const client = new pg.Client(server.url)
  const store = postgresStore(client)
  const start = performance.now()
  await t.throwsAsync(store.open('closed', CONFIG), { code: 'ERR_FLAKE_STORE', message: /Await client\.connect\(\)/ })
  t.true(performance.now() - start < 5000)
  const connected = client.connect()
  await store.open('closed', CONFIG)
  await connected
  await client.end()
})

test('the user’s client is not ended', async (t) => {
  const pool = new pg.Pool({ connectionString: server.url })
  t.teardown(() => pool.end())
  await postgresStore(pool).close()
  t.is((await pool.query('SELECT 1 AS one')).rows[0].one, 1)
})

/** A database that only its owner may make tables in, and a store of a role without any right of its own. */
async function restricted(t, name) {
  await server.query(`CREATE ROLE ${name} LOGIN`)
  await server.query(`CREATE DATABASE ${name}`)
  const connect = (url) => {
    const { client, end } = CLIENTS.pg(url.replace(/postgres$/, name))
    t.teardown(end)
    return client
  }
  const owner = connect(server.url)
  await owner.query('REVOKE CREATE ON SCHEMA public FROM public')
  return { owner, store: postgresStore(connect(server.urlOf(name))) }
}

const SCHEMA = require('../lib/stores/postgres/schema.js')

test('a role that may only read and write the tables is enough', async (t) => {
  const { owner, store } = await restricted(t, 'member')
  await t.throwsAsync(store.open('g', CONFIG), {
    code: 'ERR_FLAKE_STORE',
    message: /may not create them.*flakeforge schema/,
  })
  await owner.query(SCHEMA)
  await owner.query(SCHEMA) // a migration may run twice
  const tables = 'flakeforge_group, flakeforge_slot, flakeforge_counter'
  await owner.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables} TO member`)
  await store.open('g', CONFIG)
  const owners = newOwner()
  const grant = await store.acquire('g', { owner: owners, host: 'host', clientNow: Date.now() })
  t.is((await store.renew('g', { slot: grant.slot, owner: owners, clientNow: Date.now() })).lo, grant.lo)
  await store.release('g', { slot: grant.slot, owner: owners, last: grant.lo })
  t.is((await store.list('g')).length, 1)
  await store.destroy('g')
  t.is(await store.advance('c', 5n, 1n), 1n)
})

test('a server that hides its identity: the error names what is needed', async (t) => {
  const { owner, store } = await restricted(t, 'blind')
  await owner.query(SCHEMA)
  await owner.query('GRANT ALL ON ALL TABLES IN SCHEMA public TO blind')
  await store.open('g', CONFIG)
  for (const call of ['pg_control_system()', 'pg_walfile_name(pg_lsn)', 'pg_current_wal_lsn()']) {
    await owner.query(`REVOKE EXECUTE ON FUNCTION ${call} FROM public`)
    const error = await t.throwsAsync(store.open('g', CONFIG), { code: 'ERR_FLAKE_STORE', message: /GRANT EXECUTE/ })
    t.true(error.message.includes(call.split('(')[0]), error.message)
    t.is(error.cause.code, '42501')
    await owner.query(`GRANT EXECUTE ON FUNCTION ${call} TO public`)
  }
  await store.open('g', CONFIG)
})

const OWN_CLIENTS = { pg: (url) => openPg(pg, url), 'postgres.js': (url) => openPostgresJs(postgres, url) }

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  const advance = { text: 'SELECT \'{"outcome":"done"}\'', names: [] }

  test(`${name}: a server that is down is an error with its cause, again and again`, async (t) => {
    const runner = open(`postgres://tester@127.0.0.1:${await freePort()}/postgres`)
    for (let i = 0; i < 3; i++) {
      const error = await t.throwsAsync(runner.run(advance, {}), { code: 'ERR_FLAKE_STORE', message: /ECONNREFUSED/ })
      t.is(error.cause.code, 'ECONNREFUSED')
    }
    await runner.close()
  })

  test(`${name}: a server that goes away does not end the process, and is used again once it is back`, async (t) => {
    const own = await startPostgres()
    t.teardown(() => own.stop())
    const runner = open(own.url)
    t.deepEqual(await runner.run(advance, {}), { outcome: 'done' })
    await own.kill('SIGQUIT')
    const error = await t.throwsAsync(runner.run(advance, {}), { code: 'ERR_FLAKE_STORE' })
    t.truthy(error.cause)
    await own.start()
    let answer
    // A connection that died may still be in the pool, once for each.
    for (let i = 0; i < 5 && answer === undefined; i++) answer = await runner.run(advance, {}).catch(() => {})
    t.deepEqual(answer, { outcome: 'done' })
    await runner.close()
  })

  test(`${name}: connections that died without a word: a step fails, then there are others`, async (t) => {
    const proxy = await startProxy(server.port)
    t.teardown(() => proxy.stop())
    const runner = open(server.url.replace(String(server.port), String(proxy.port)))
    t.deepEqual(await runner.run(advance, {}), { outcome: 'done' })
    for (let i = 0; i < 2; i++) {
      proxy.lose() // as many as the client may have
      await t.throwsAsync(runner.run(advance, {}), { code: 'ERR_FLAKE_STORE', message: /no answer within|timeout/i })
      t.deepEqual(await runner.run(advance, {}), { outcome: 'done' })
    }
    const closed = runner.close()
    t.is(await Promise.race([closed.then(() => 'closed'), sleep(8000, 'hangs')]), 'closed')
  })

  test(`${name}: close() does not wait for a step that is stuck`, async (t) => {
    const proxy = await startProxy(server.port)
    t.teardown(() => proxy.stop())
    const runner = open(server.url.replace(String(server.port), String(proxy.port)))
    await runner.run(advance, {})
    proxy.lose()
    const stuck = t.throwsAsync(runner.run(advance, {}), { code: 'ERR_FLAKE_STORE' })
    await sleep(100) // it is on its way
    const closed = runner.close()
    t.is(await Promise.race([closed.then(() => 'closed'), sleep(8000, 'hangs')]), 'closed')
    await stuck
  })

  test(`${name}: a server that says nothing is an error, too`, async (t) => {
    const sockets = []
    const silent = createServer((socket) => sockets.push(socket))
    await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const runner = open(`postgres://tester@127.0.0.1:${silent.address().port}/postgres`)
    const error = await t.throwsAsync(runner.run(advance, {}), { code: 'ERR_FLAKE_STORE' })
    t.truthy(error.cause)
    for (const socket of sockets) socket.destroy()
    silent.close()
    await runner.close()
  })
}

test('a connection of the user’s pool that died without a word leaves the pool after a step', async (t) => {
  const proxy = await startProxy(server.port)
  t.teardown(() => proxy.stop())
  const { client: pool, end } = CLIENTS.pg(server.url.replace(String(server.port), String(proxy.port)))
  t.teardown(end)
  const store = postgresStore(pool)
  await store.list('g')
  t.is(pool.totalCount, 1)
  proxy.lose()
  const removed = new Promise((resolve) => pool.once('remove', () => resolve('removed')))
  await t.throwsAsync(store.list('g'), { code: 'ERR_FLAKE_STORE', message: /no answer within 10000 ms/ })
  t.is(await Promise.race([removed, sleep(20_000, 'it is still there')]), 'removed')
  t.is(pool.totalCount, 0)
  t.deepEqual(await store.list('g'), [])
})

test('a lock that somebody keeps is an error in the end', async (t) => {
  const { client, end } = CLIENTS.pg(server.url)
  t.teardown(end)
  const store = postgresStore(client)
  await store.open('locked', CONFIG)
  const other = await connectedClient(t)
  await other.query(`BEGIN; SELECT 1 FROM flakeforge_group WHERE name = 'locked' FOR UPDATE`)
  await t.throwsAsync(acquire(store, 'locked'), { code: 'ERR_FLAKE_STORE', message: /no answer within 10000 ms/ })
  await other.query('ROLLBACK')
})

test('a URL opens a client by the package that is there, and close() ends it', async (t) => {
  const store = openPostgres(server.url)
  await store.open('by url', CONFIG)
  t.is((await acquire(store, 'by url')).slot, 0)
  await store.close()
  await t.throwsAsync(acquire(store, 'by url'), { code: 'ERR_FLAKE_STORE' })
})

for (const version of ['3.4.7', '3.3.9', '2.9.9']) {
  test(`a URL in a project with postgres.js ${version}, which drops the error of a COMMIT, is refused`, async (t) => {
    const { stdout } = await openBeside(t, version)
    t.regex(
      stdout,
      new RegExp(`ERR_FLAKE_STORE postgres ${version} is too old.*3\\.4\\.8 or newer.*npm install postgres@latest`),
    )
  })
}

for (const version of ['3.4.8', '3.5.0-beta.1', '4.0.0']) {
  test(`a URL in a project with postgres.js ${version} is taken`, async (t) => {
    t.is((await openBeside(t, version)).stdout, 'a client\n')
  })
}

/** Opens a URL in a project that has postgres.js alone, or what says to be that version of it. */
async function openBeside(t, version) {
  const folder = await freshFolder('postgres-js')
  t.teardown(() => rm(folder, { recursive: true }))
  const own = join(folder, 'node_modules', 'postgres')
  await mkdir(join(own, 'cjs', 'src'), { recursive: true })
  await writeFile(join(own, 'package.json'), JSON.stringify({ name: 'postgres', version, main: 'cjs/src/index.js' }))
  await writeFile(join(own, 'cjs', 'package.json'), '{ "type": "commonjs" }')
  await writeFile(join(own, 'cjs', 'src', 'index.js'), "module.exports = () => console.log('a client') ?? (() => {})")
  await cp(LIB, join(folder, 'lib'), { recursive: true })
  await cp(join(LIB, '..', 'package.json'), join(folder, 'package.json')) // its "imports"
  const open = `require('./lib/stores/postgres.js').openPostgres('postgres://h/')`
  const program = `try { ${open} } catch ({ code, message }) { console.log(code, message) }`
  return run(process.execPath, ['-e', program], { cwd: folder })
}

test('without a package a URL is an error that says what to install', async (t) => {
  const folder = await freshFolder('no-packages')
  t.teardown(() => rm(folder, { recursive: true }))
  await cp(LIB, join(folder, 'lib'), { recursive: true })
  await cp(join(LIB, '..', 'package.json'), join(folder, 'package.json')) // its "imports"
  const open = `require('./lib/stores/postgres.js').openPostgres('postgres://h/')`
  const program = `try { ${open} } catch ({ code, message }) { console.log(code, message) }`
  const { stdout } = await run(process.execPath, ['-e', program], { cwd: folder })
  t.regex(stdout, /ERR_FLAKE_STORE .*npm install pg/)
})

test('a store of a URL that is not closed does not keep the process alive', async (t) => {
  const program = `require('./lib/stores/postgres.js').openPostgres(process.argv[1]).list('g').then(console.log)`
  const { stdout } = await run(process.execPath, ['-e', program, server.url], { cwd: join(LIB, '..'), timeout: 60_000 })
  t.is(stdout, '[]\n')
})
