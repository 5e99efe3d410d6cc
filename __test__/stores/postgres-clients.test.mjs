// Which clients of pg and postgres.js the store accepts, and what it needs from a PostgreSQL server. Rules for the
// clients of all databases are in behaviour/.

import { execFile, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import anyTest from 'ava'
import pg from 'pg'
import postgres from 'postgres'
import { CLIENTS, startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startProxy } from '../servers/proxy.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { newProject, runIn } from '../support/project.mjs'
import { openGroup, stepsOf, works } from '../support/steps.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { postgresStore } = require('../../target/rooms/lib/stores/postgres.js')
const { openPg, openPostgresJs } = require('../../target/rooms/lib/stores/postgres/url.js')

const run = promisify(execFile)
const LIB = join(import.meta.dirname, '..', '..', 'lib')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest

const OPTION = { code: 'ERR_FLAKE_OPTION' }
const TRANSACTION = { ...OPTION, message: /^A store cannot use this client\. .*outside of a transaction\.$/ }

let server

anyTest.before(async () => {
  if (wantPostgres() !== undefined) server = await startPostgres()
})

anyTest.after.always(() => server?.stop())

async function connectedClient(t, url = server.url) {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** A client like those of pg before it reported the state of a transaction. */
async function olderClient(t) {
  const client = await connectedClient(t)
  client.getTransactionStatus = undefined
  return client
}

const CLIENT_KINDS = { 'a Client of pg': connectedClient, 'a Client of an older pg': olderClient }

for (const [what, connect] of Object.entries(CLIENT_KINDS)) {
  test(`${what} in a failed transaction is rejected, and accepted after it`, async (t) => {
    const client = await connect(t)
    const { acquire, list } = await openGroup(postgresStore(client), `${what}, failed`)
    await client.query('BEGIN')
    await t.throwsAsync(client.query('no statement'))
    await t.throwsAsync(list(), TRANSACTION)
    await t.throwsAsync(acquire(), TRANSACTION)
    await client.query('ROLLBACK')
    const { slot } = await acquire()
    t.like(await list(), [{ slot }])
  })

  test(`${what} that is about to begin a transaction is rejected too`, async (t) => {
    const client = await connect(t)
    const store = postgresStore(client)
    const group = `${what}, begins`
    const { acquire, list } = await openGroup(store, group)
    for (const step of [list, acquire]) {
      const begun = client.query('BEGIN')
      await t.throwsAsync(step(), TRANSACTION)
      await begun
      await client.query('ROLLBACK')
    }
    t.deepEqual(await list(), [])
    const { slot } = await acquire()
    t.like(await list(), [{ slot }])
  })
}

test('a Client of pg, which will lose its queue, never gets a query during another', async (t) => {
  const program = `
    const { Client } = require('pg')
    const client = new Client(process.argv[1])
    const store = require('./target/rooms/lib/stores/postgres.js').postgresStore(client)
    client.connect().then(async () => {
      await Promise.all(['a', 'b', 'c'].map((name) => store.advance(name, 1n, 0n)))
      await client.end()
    })`
  await server.query('CREATE DATABASE untouched') // where the table does not exist yet
  const url = server.url.replace(/postgres$/, 'untouched')
  const { stderr } = await run(process.execPath, ['-e', program, url], { cwd: join(LIB, '..') })
  t.is(stderr, '')
  const owner = await connectedClient(t, url)
  t.is((await owner.query("SELECT FROM pg_tables WHERE tablename = 'flakeforge_record'")).rowCount, 1)
})

test('the sql of a transaction of postgres.js, or of a reserved connection, is rejected', async (t) => {
  const { client: sql, end } = CLIENTS['postgres.js'](server.url)
  t.teardown(end)
  await sql.begin((inner) => t.throws(() => postgresStore(inner), TRANSACTION))
  const reserved = await sql.reserve()
  t.throws(() => postgresStore(reserved), TRANSACTION)
  reserved.release()
})

test('a pg client that was never connected gets that error', async (t) => {
  const client = new pg.Client(server.url)
  const store = postgresStore(client)
  const start = performance.now()
  await t.throwsAsync(stepsOf(store, 'closed').create(), {
    code: 'ERR_FLAKE_STORE',
    message: /Await client\.connect\(\)/,
  })
  t.true(performance.now() - start < 5000)
  const connected = client.connect()
  await works(t, store)
  await connected
  await client.end()
})

/** A database in which only its owner may create tables, and a store of a role without any rights. */
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

const SCHEMA = require('../../target/rooms/lib/stores/postgres/schema.js').schemaFor('public').text

test('a server that hides its identity: the error names the required rights', async (t) => {
  const { owner, store } = await restricted(t, 'blind')
  await owner.query(SCHEMA)
  await owner.query('GRANT ALL ON ALL TABLES IN SCHEMA public TO blind')
  await works(t, store)
  for (const call of ['pg_control_system()', 'pg_walfile_name(pg_lsn)', 'pg_current_wal_flush_lsn()']) {
    await owner.query(`REVOKE EXECUTE ON FUNCTION ${call} FROM public`)
    const error = await t.throwsAsync(stepsOf(store, 'g').create(), {
      code: 'ERR_FLAKE_STORE',
      message: /GRANT EXECUTE/,
    })
    t.true(error.message.includes(call.split('(')[0]), error.message)
    t.is(error.cause.code, '42501')
    await owner.query(`GRANT EXECUTE ON FUNCTION ${call} TO public`)
  }
  await works(t, store)
})

test('a pool without a listener of the user survives a restart of the server', async (t) => {
  const own = stopAfter(t, await startPostgres())
  const program = `
    const { Pool } = require('pg')
    const pool = new Pool({ connectionString: process.argv[1] })
    const { postgresStore } = require('./target/rooms/lib/stores/postgres.js')
    for (let i = 0; i < 20; i++) postgresStore(pool) // one listener is enough
    postgresStore(pool).list('g').then(() => {
      pool.once('remove', () => pool.end().then(() => console.log('alive', pool.listenerCount('error'))))
      console.log('idle')
    })`
  const child = spawn(process.execPath, ['-e', program, own.url], { cwd: join(LIB, '..') })
  const closed = once(child, 'close')
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  await until(() => output.includes('idle'))
  await own.kill('SIGINT')
  await closed
  t.is(output, 'idle\nalive 1\n')
})

test('Aurora without logical replication: the error is about the functions, not about a standby', async (t) => {
  const own = stopAfter(t, await startPostgres())
  await own.query('ALTER FUNCTION pg_catalog.pg_current_wal_flush_lsn() RENAME TO real_lsn')
  await own.query(
    `CREATE FUNCTION pg_catalog.pg_current_wal_flush_lsn() RETURNS pg_lsn LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'wal_level must be set to ''logical''' USING ERRCODE = '55000'; END $$`,
  )
  const { client, end } = CLIENTS.pg(own.url)
  t.teardown(end)
  const error = await t.throwsAsync(postgresStore(client).list('g'), { message: /lost writes would go unnoticed/ })
  t.notRegex(error.message, /takes no writes/)
})

test('a record that another transaction keeps locked does not stop the other groups of its client', async (t) => {
  const own = stopAfter(t, await startPostgres())
  const { client, end } = CLIENTS.pg(own.url)
  t.teardown(end)
  const store = postgresStore(client)
  const [stuck, free] = [await openGroup(store, 'stuck'), await openGroup(store, 'free')]
  await stuck.acquire()
  const other = await connectedClient(t, own.url)
  await other.query("BEGIN; SELECT FROM flakeforge_record WHERE group_name = 'stuck' FOR UPDATE")
  const destroyed = t.throwsAsync(stuck.destroy(), { code: 'ERR_FLAKE_STORE' })
  for (let i = 0; i < 3; i++) t.truthy(await free.acquire())
  await destroyed
  await other.query('ROLLBACK')
  await stuck.destroy()
})

const OWN_CLIENTS = { pg: (url) => openPg(pg, url), 'postgres.js': (url) => openPostgresJs(postgres, url) }

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: a step behind one whose connection died silently gets another connection`, async (t) => {
    const proxy = stopAfter(t, await startProxy(server.port))
    const runner = open(server.url.replace(String(server.port), String(proxy.port)))
    t.teardown(() => runner.close())
    const runs = () => [1, 2].map(() => runner.run('SELECT \'{"outcome":"done"}\'', []))
    const done = { outcome: 'done' }
    t.deepEqual(await Promise.all(runs()), [done, done])
    proxy.lose()
    const [first, second] = runs()
    await t.throwsAsync(first, { code: 'ERR_FLAKE_STORE', message: /no answer within|timeout/i })
    t.deepEqual(await second, done)
  })
}

/** The end of a server's greeting, and the last message of one that is killed. */
const READY = Buffer.from('5a0000000549', 'hex')
const LAST_WORDS = errorResponse(
  'SFATAL',
  'C57P02',
  'Mterminating connection because of crash of another server process',
)

function errorResponse(...fields) {
  const body = Buffer.from(`${fields.join('\0')}\0\0`)
  const head = Buffer.from('E0000')
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** A link to the server, which dies at the moment of each greeting: the client reads both at once. */
async function dyingServer(t) {
  const proxy = createServer((near) => {
    const far = connect(server.port, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {})
    near.on('data', (data) => far.write(data))
    far.on('data', (data) => {
      if (data.subarray(-READY.length).equals(READY)) near.end(Buffer.concat([data, LAST_WORDS]))
      else near.write(data)
    })
    near.on('close', () => far.destroy())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => proxy.close())
  return server.url.replace(`:${server.port}/`, `:${proxy.address().port}/`)
}

test('a server that dies at the moment of its greeting does not end the process', async (t) => {
  const { client, end } = CLIENTS.pg(await dyingServer(t))
  t.teardown(end)
  await t.throwsAsync(works(t, postgresStore(client)), { code: 'ERR_FLAKE_STORE' })
})

test('a lock that another session keeps is eventually an error', async (t) => {
  await server.query('CREATE DATABASE locked') // where no other session waits for it
  const url = server.url.replace(/postgres$/, 'locked')
  const { client, end } = CLIENTS.pg(url)
  t.teardown(end)
  const { acquire } = await openGroup(postgresStore(client), 'locked')
  const other = await connectedClient(t, url)
  await other.query('BEGIN; LOCK TABLE flakeforge_record')
  await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_STORE', message: /no answer within 5000 ms/ })
  await other.query('ROLLBACK')
  await until(() => acquire().then(Boolean, () => false)) // the statement that waited may run for a moment
})

for (const version of ['3.4.7', '3.3.9', '2.9.9']) {
  test(`a URL in a project with postgres.js ${version}, which drops the error of a COMMIT, is rejected`, async (t) => {
    t.regex(
      await openBeside(t, version),
      new RegExp(`ERR_FLAKE_STORE postgres ${version} is too old.*3\\.4\\.8 or newer.*npm install postgres@latest`),
    )
  })
}

for (const version of ['3.4.8', '3.5.0-beta.1', '4.0.0']) {
  test(`a URL in a project with postgres.js ${version} is accepted`, async (t) => {
    t.is(await openBeside(t, version), 'a client')
  })
}

const OPEN = `try {
  require('./target/rooms/lib/stores/postgres.js').openPostgres('postgres://h/')
} catch ({ code, message }) { console.log(code, message) }`

/** Opens a URL in a project that has only postgres.js, or a package that claims to be that version of it. */
async function openBeside(t, version) {
  const folder = await newProject(t)
  const own = join(folder, 'node_modules', 'postgres')
  await mkdir(join(own, 'cjs', 'src'), { recursive: true })
  await writeFile(join(own, 'package.json'), JSON.stringify({ name: 'postgres', version, main: 'cjs/src/index.js' }))
  await writeFile(join(own, 'cjs', 'package.json'), '{ "type": "commonjs" }')
  await writeFile(join(own, 'cjs', 'src', 'index.js'), "module.exports = () => console.log('a client') ?? (() => {})")
  return runIn(folder, OPEN)
}
