// Which database of a Redis the store works in: the named one, or none. Members in two databases would generate equal
// IDs.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import { createClient, createClientPool, createSentinel } from 'redis'
import { CLIENTS, startRedis, startReplica, startSentinel, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { FlakeId } from '../support/index.mjs'
import { tryJoin } from '../support/lease.mjs'
import { put, textOf } from '../support/records.mjs'
import { openGroup, stepsOf } from '../support/steps.mjs'
import { limited } from '../support/waits.mjs'

const { openRedis, redisStore } = createRequire(import.meta.url)('../../target/rooms/lib/stores/redis.js')

const test = wantRedis() === undefined ? anyTest.skip : anyTest
const REFUSED = { code: 'ERR_FLAKE_STORE', message: /refused database \d+/ }

const COMMANDS = 'evalsha eval time info hset hget hmget hkeys'

async function start(t) {
  return stopAfter(t, await startRedis())
}

function ownClient(t, options) {
  const client = new Redis(options)
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

/** A user that may not SELECT, until `allow()`. */
async function startRestricted(t) {
  const server = await start(t)
  const commands = COMMANDS.split(' ').map((name) => `+${name}`)
  await server.cli('ACL', 'SETUSER', 'app', 'on', '>pw', 'resetkeys', '~flakeforge:*', '-@all', ...commands)
  return {
    ...server,
    url: server.url.replace('//', '//app:pw@'),
    port: server.port,
    cli: server.cli,
    allow: () => server.cli('ACL', 'SETUSER', 'app', '+select'),
  }
}

for (const path of [
  'abc',
  '1.5',
  '-1',
  '0x1',
  '1/2',
  '?db=1',
  '?keyPrefix=app:',
  '?tls=true',
  '?family=6',
  '/tmp/redis.sock',
]) {
  anyTest(`a URL whose path is not a database is rejected: ${path}`, async (t) => {
    const error = await t.throwsAsync(tryJoin(`redis://user:s3cret@localhost/${path}`), { code: 'ERR_FLAKE_OPTION' })
    t.regex(error.message, /number of the database|with (?:rediss|valkeys)\S*:\/\/ there is TLS/)
    const ofValkey = await t.throwsAsync(tryJoin(`valkey://user:s3cret@localhost/${path}`), {
      code: 'ERR_FLAKE_OPTION',
    })
    t.is(ofValkey.message, error.message.replaceAll(/redis(s?):/g, 'valkey$1:'))
    t.false(error.message.includes('s3cret'))
  })
}

anyTest('the address of a socket is not a database', async (t) => {
  await t.throwsAsync(tryJoin('redis:///tmp/redis.sock'), {
    code: 'ERR_FLAKE_OPTION',
    message: /number of the database/,
  })
})

test('a URL with a database that does not exist: no step, and nothing in database 0', async (t) => {
  const { url, cli } = await start(t)
  const store = openRedis(`${url}/99`)
  for (let i = 0; i < 3; i++) await t.throwsAsync(stepsOf(store, 'g').create(), REFUSED)
  await t.throwsAsync(FlakeId.createGroup(`${url}/99`, { group: 'g' }), REFUSED)
  t.is(await cli('DBSIZE'), '0')
  await store.close()
})

test('a URL whose user may not SELECT: no step, until it may', async (t) => {
  const { url, cli, allow } = await startRestricted(t)
  const store = openRedis(`${url}/3`)
  const error = await t.throwsAsync(stepsOf(store, 'g').create(), REFUSED)
  t.regex(error.cause.message, /can't run this command/)
  await t.throwsAsync(stepsOf(store, 'g').create(), REFUSED)
  await allow()
  await until(() =>
    openGroup(store, 'g').then(
      () => true,
      () => false,
    ),
  )
  t.is(await cli('DBSIZE'), '0')
  t.not(await cli('-n', '3', 'DBSIZE'), '0')
  await store.close()
})

for (const when of ['before', 'after']) {
  test(`an ioredis client with a database that does not exist, ${when} it is connected`, async (t) => {
    const { port, cli } = await start(t)
    const client = ownClient(t, { port, db: 99 })
    if (when === 'after') await until(() => client.status === 'ready')
    const store = redisStore(client)
    for (let i = 0; i < 3; i++) await t.throwsAsync(stepsOf(store, 'g').create(), REFUSED)
    t.is(client.status, 'ready', 'the client is not ours to end')
    t.is(await cli('DBSIZE'), '0')
  })
}

test('an ioredis client that resends a step on a connection that may not SELECT: the step fails', async (t) => {
  const { port, cli, allow } = await startRestricted(t)
  await allow()
  const client = ownClient(t, { port, db: 3, username: 'app', password: 'pw' })
  const store = redisStore(client)
  await store.advance('c', 1n, 0n)
  await cli('ACL', 'SETUSER', 'app', '-select')
  await cli('CLIENT', 'PAUSE', '60000', 'WRITE')
  const step = store.advance('c', 1n, 0n)
  step.catch(() => {})
  await until(async () => (await cli('INFO', 'clients')).includes('blocked_clients:1'))
  // Not once(): the error of its SELECT comes before.
  const isReadyAgain = limited(new Promise((resolve) => client.once('ready', resolve)), () => client.status)
  client.stream.destroy()
  await isReadyAgain
  await cli('CLIENT', 'UNPAUSE')
  await t.throwsAsync(step, REFUSED)
})

test('an ioredis client that reconnects, and may no longer SELECT: its steps fail', async (t) => {
  const { port, cli, allow } = await startRestricted(t)
  await allow()
  const client = ownClient(t, { port, db: 3, username: 'app', password: 'pw' })
  await until(() => client.status === 'ready')
  const store = redisStore(client)
  await openGroup(store, 'g')
  await cli('ACL', 'SETUSER', 'app', '-select')
  await cli('CLIENT', 'KILL', 'USER', 'app')
  await until(() => client.status !== 'ready')
  for (let i = 0; i < 3; i++) await t.throwsAsync(stepsOf(store, 'g').create(), REFUSED)
  await allow()
  await cli('CLIENT', 'KILL', 'USER', 'app')
  await until(() => client.status !== 'ready')
  await stepsOf(store, 'g').acquire()
  t.is(await cli('DBSIZE'), '0')
})

/** Moves the connection of each client to another database. */
const SELECT = {
  ioredis: (client) => client.select(2),
  iovalkey: (client) => client.select(2),
  'node-redis': (client) => client.select(2),
  glide: (client) => client.select(2),
}

for (const name of Object.keys(CLIENTS)) {
  test(`${name}: select() by another user of the client does not move the records, also after a reconnect`, async (t) => {
    const server = await start(t)
    const { client, end } = await CLIENTS[name](server)
    t.teardown(end)
    const { records } = redisStore(client)
    t.true(await put(records, 'g', 'group', 'first'))
    await SELECT[name](client)
    t.is(await textOf(records, 'g'), 'first')
    t.true(await put(records, 'g', 'group', 'second'))
    await server.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await until(() =>
      put(records, 'g', 'group', 'third').then(
        () => true,
        () => false,
      ),
    )
    t.is(await server.cli('HGET', 'flakeforge:{g}:records', 'group'), 'third')
    t.is(await server.cli('-n', '2', 'DBSIZE'), '0')
    t.is(await client.get?.('of the user'), null)
  })

  test(`${name}: select() before the store is created determines where the records are`, async (t) => {
    const server = await start(t)
    const { client, end } = await CLIENTS[name](server)
    t.teardown(end)
    await SELECT[name](client)
    const { records } = redisStore(client)
    t.true(await put(records, 'g', 'group', 'text'))
    t.is(await server.cli('-n', '2', 'HGET', 'flakeforge:{g}:records', 'group'), 'text')
    t.is(await server.cli('DBSIZE'), '0')
    t.regex(await records.place(), /^Redis at .*, database 2, keys 'flakeforge:\{…\}:records'$/)
  })

  test(`${name}: the connection of the user stays in its own database`, async (t) => {
    const server = await start(t)
    const { client, end } = await CLIENTS[name](server)
    t.teardown(end)
    const { records } = redisStore(client)
    await put(records, 'g', 'group', 'text')
    await SELECT[name](client)
    await textOf(records, 'g')
    await client.set('of the user', 'value')
    t.is(await server.cli('-n', '2', 'GET', 'of the user'), 'value')
  })
}

test('the database of a pool and of Sentinel of node-redis is that of their connections', async (t) => {
  const { url, ...server } = await start(t)
  const pool = await createClientPool({ url, database: 3 }).connect()
  t.teardown(() => pool.destroy())
  const sentinel = stopAfter(t, await startSentinel(server))
  const sentinelRootNodes = [{ host: '127.0.0.1', port: sentinel.port }]
  const nodeClientOptions = { database: 4 }
  const ofSentinel = await createSentinel({ name: 'primary', sentinelRootNodes, nodeClientOptions }).connect()
  t.teardown(() => ofSentinel.destroy())
  for (const [client, database] of [
    [pool, '3'],
    [ofSentinel, '4'],
  ]) {
    const { records } = redisStore(client)
    await put(records, 'g', 'group', 'text')
    t.is(await server.cli('-n', database, 'HGET', 'flakeforge:{g}:records', 'group'), 'text')
    t.regex(await records.place(), new RegExp(`database ${database}`))
  }
  t.is(await server.cli('DBSIZE'), '0')
})

test('a replica gets what was written to another database there too', async (t) => {
  const server = await start(t)
  const replica = stopAfter(t, await startReplica(server))
  const client = await createClient({ url: `${server.url}/5` }).connect()
  t.teardown(() => client.destroy())
  const { records } = redisStore(client)
  await client.select(2)
  await client.set('of the user', 'value')
  await put(records, 'g', 'group', 'text')
  await client.set('of the user', 'value 2')
  await until(async () => (await replica.cli('-n', '2', 'GET', 'of the user')) === 'value 2')
  t.is(await replica.cli('-n', '2', 'HGET', 'flakeforge:{g}:records', 'group'), 'text')
})

test("a server that does not report the database: it is the client's initial one, despite select()", async (t) => {
  const { url, cli } = await start(t)
  await cli('ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '+@all', '-client')
  const client = await createClient({ url: `${url.replace('//', '//app:pw@')}/3` }).connect()
  t.teardown(() => client.destroy())
  const { records } = redisStore(client)
  t.true(await put(records, 'g', 'group', 'text'))
  await client.select(2)
  t.is(await textOf(records, 'g'), 'text')
  t.is(await cli('-n', '3', 'HGET', 'flakeforge:{g}:records', 'group'), 'text')
})

test("a user that may neither SELECT nor ask for its database stays in its connection's", async (t) => {
  const { url, cli } = await startRestricted(t)
  const client = await createClient({ url }).connect()
  t.teardown(() => client.destroy())
  const { records } = redisStore(client)
  t.true(await put(records, 'g', 'group', 'text'))
  t.is(await cli('HGET', 'flakeforge:{g}:records', 'group'), 'text')
})

test('reading creates nothing', async (t) => {
  const { url, cli } = await start(t)
  const store = openRedis(`${url}/1`)
  t.teardown(() => store.close())
  await store.list('g')
  await store.has('g')
  await store.records.read('g', ['group'])
  await store.records.names('g')
  t.is(await cli('-n', '1', 'DBSIZE'), '0')
})
