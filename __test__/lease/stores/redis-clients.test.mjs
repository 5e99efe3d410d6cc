// Which clients the Redis store takes and which it refuses, what it says when the server is gone, and URLs.

import { once } from 'node:events'
import { createRequire } from 'node:module'
import anyTest from 'ava'
import { Cluster, Redis } from 'ioredis'
import * as iovalkey from 'iovalkey'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { startProxy } from '../../servers/proxy.mjs'
import { CLIENTS, startRedis, startReplica, wantRedis } from '../../servers/redis.mjs'
import { freePort, stopAfter, until } from '../../servers/server.mjs'
import { newProject, runIn } from '../../support/project.mjs'
import { stepsOf, works } from '../../support/steps.mjs'
import { stopProcess } from '../../support/stop-process.mjs'
import { testInTurn } from '../../support/turns.mjs'

const require = createRequire(import.meta.url)
const { DatabaseStore } = require('../../../target/rooms/lib/lease/stores/database.js')
const { redisStore, openRedis } = require('../../../target/rooms/lib/lease/stores/redis.js')
const { RedisRecords } = require('../../../target/rooms/lib/lease/stores/redis/records.js')

const test = testInTurn(wantRedis() === undefined ? anyTest.skip : anyTest, 8)

async function start(t, ...options) {
  return stopAfter(t, await startRedis(...options))
}

async function connect(t, name, server) {
  const { client, end } = await CLIENTS[name](server)
  t.teardown(end)
  return client
}

const OPTION = { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError }

test('what is no client is refused', (t) => {
  const strangers = [undefined, null, 'redis://localhost', {}, new Map(), { eval() {}, evalsha() {} }, { evalSha() {} }]
  for (const stranger of strangers)
    t.throws(() => redisStore(stranger), { ...OPTION, message: /ioredis, iovalkey, node-redis or @valkey/ })
})

test('an ioredis client with a key prefix, whose group would be another, or with a db that is no number', (t) => {
  for (const [options, message] of [
    [{ keyPrefix: 'app:' }, /^A store cannot use this client\. .*keyPrefix 'app:' .*without keyPrefix\.$/],
    [{ db: 'abc' }, /^A store cannot use this client\. Its db is NaN\. .*db is a number\.$/],
  ]) {
    t.throws(() => redisStore(new Redis({ lazyConnect: true, ...options })), { ...OPTION, message })
  }
  const cluster = new Cluster([{ port: 1 }], { lazyConnect: true, keyPrefix: 'app:' })
  t.throws(() => redisStore(cluster), { ...OPTION, message: /without keyPrefix/ })
})

test('a node-redis client with a key prefix is refused, in every form', async (t) => {
  const { url } = await start(t)
  const [rootNodes, sentinelRootNodes] = [[{ url }], [{ host: '127.0.0.1', port: 1 }]]
  const name = 'primary'
  for (const keyPrefix of ['app:', Buffer.from('app:')]) {
    const client = createClient({ url, keyPrefix })
    const clients = [
      client,
      client.duplicate(),
      client.withTypeMapping({}),
      client.duplicate().withTypeMapping({}),
      createClientPool({ url, keyPrefix }),
      createCluster({ rootNodes, keyPrefix }),
      createCluster({ rootNodes, keyPrefix }).duplicate(),
      createSentinel({ name, sentinelRootNodes, keyPrefix }),
      createSentinel({ name, sentinelRootNodes, keyPrefix }).duplicate(),
      createSentinel({ name, sentinelRootNodes, keyPrefix }).withTypeMapping({}),
    ]
    for (const each of clients) {
      t.throws(() => redisStore(each), { ...OPTION, message: /keyPrefix 'app:' .*without keyPrefix\.$/ })
    }
  }
})

/** What GLIDE makes of an error of the server. */
const inWordsOfGlide = ({ message }) =>
  new Error(message.replace(/^NOSCRIPT/, 'An error was signalled by the server: - NoScriptError:'))

test('Valkey GLIDE, by what it can do and by its words for errors', async (t) => {
  const nodeRedis = await connect(t, 'node-redis', await start(t))
  const sent = []
  const customCommand = (args) => {
    sent.push(args[0])
    return nodeRedis.sendCommand(args).catch((error) => {
      throw inWordsOfGlide(error)
    })
  }
  await works(t, redisStore({ customCommand, invokeScript() {}, exec() {}, configGet() {} }))
  t.deepEqual([...new Set(sent)], ['CLIENT', 'EVALSHA', 'EVAL'])
  t.throws(() => redisStore({ customCommand() {} }), { ...OPTION, message: /MULTI/ }, 'a Batch')
})

test('MULTI and pipelines are refused', async (t) => {
  const server = await start(t)
  const ioredis = await connect(t, 'ioredis', server)
  const nodeRedis = await connect(t, 'node-redis', server)
  for (const batch of [ioredis.pipeline(), ioredis.multi(), nodeRedis.multi()]) {
    t.throws(() => redisStore(batch), { ...OPTION, message: /MULTI/ })
  }
  await ioredis.multi({ pipeline: false })
  await nodeRedis.sendCommand(['MULTI'])
  for (const client of [ioredis, nodeRedis]) {
    const { create, acquire, list } = stepsOf(redisStore(client), 'inside MULTI')
    for (const step of [create, acquire, list]) await t.throwsAsync(step(), { ...OPTION, message: /MULTI/ })
  }
  await ioredis.discard()
  await nodeRedis.sendCommand(['DISCARD'])
  for (const client of [ioredis, nodeRedis]) await works(t, redisStore(client))
})

test('a client in subscriber mode is refused, where it can do nothing else', async (t) => {
  const { port, url } = await start(t)
  const ioredis = new Redis(port, { protocol: 2 })
  t.teardown(() => ioredis.disconnect())
  await ioredis.subscribe('news')
  const nodeRedis = await createClient({ url, RESP: 2 }).connect()
  t.teardown(() => nodeRedis.destroy())
  await nodeRedis.subscribe('news', () => {})
  for (const client of [ioredis, nodeRedis]) {
    const { create } = stepsOf(redisStore(client), 'subscribed')
    await t.throwsAsync(create(), { ...OPTION, message: /subscriber mode/ })
  }
  const both = await createClient({ url, RESP: 3 }).connect()
  t.teardown(() => both.destroy())
  await both.subscribe('news', () => {})
  await works(t, redisStore(both))
})

test('a node-redis client that is not connected is told so', async (t) => {
  const { url } = await start(t)
  const client = createClient({ url })
  const store = redisStore(client)
  const error = await t.throwsAsync(store.list('closed'), {
    code: 'ERR_FLAKE_STORE',
    message: /client\.connect\(\)/,
  })
  t.true(error.cause instanceof Error)
  await client.connect()
  await works(t, store)
  await store.close()
  t.true(client.isOpen, "close() leaves the user's client alone")
  client.destroy()
})

test('an error of the server is the cause, and not an older one of the connection', async (t) => {
  const server = await start(t)
  for (const name of Object.keys(CLIENTS)) {
    const client = await connect(t, name, server)
    const store = redisStore(client)
    client.emit?.('error', new Error('connection refused')) // as when there was no server for a moment
    await server.cli('SET', `flakeforge:{${name}}:records`, 'not a hash')
    const error = await t.throwsAsync(store.advance(name, 1n, 0n), { code: 'ERR_FLAKE_STORE', message: /WRONGTYPE/ })
    t.regex(error.cause.message, /WRONGTYPE/)
  }
})

for (const name of Object.keys(CLIENTS)) {
  test(`${name}: a server that is gone is an error with its cause, and steps go on when it is back`, async (t) => {
    const server = await start(t)
    const client = await connect(t, name, server)
    const store = redisStore(client)
    await works(t, store)
    await server.kill()
    const error = await t.throwsAsync(store.advance('gone', 1n, 0n), { code: 'ERR_FLAKE_STORE' })
    t.true(error.cause instanceof Error)
    t.regex(error.message, /ECONNREFUSED|Socket closed|connection error|timed out/) // the others when the client had not seen it yet
    await server.start()
    await works(t, store)
  })

  test(`${name}: a server that does not answer is an error`, async (t) => {
    const server = await start(t)
    const store = redisStore(await connect(t, name, server))
    await works(t, store)
    await stopProcess(server.pid)
    t.teardown(() => process.kill(server.pid, 'SIGCONT'))
    await t.throwsAsync(store.advance('hangs', 1n, 0n), {
      code: 'ERR_FLAKE_STORE',
      message: /no answer within|timed out/,
    })
  })
}

test('a URL: a client of our own, which close() ends', async (t) => {
  const { url, cli } = await start(t)
  const clients = async () => (await cli('CLIENT', 'LIST')).split('\n').length
  const before = await clients()
  const store = openRedis(`${url}/2`)
  t.is(await clients(), before, 'it connects at the first step')
  await works(t, store)
  t.is(await clients(), before + 1)
  t.not(await cli('-n', '2', 'DBSIZE'), '0')
  await store.close()
  await t.throwsAsync(store.list('any'), { code: 'ERR_FLAKE_STORE', message: /closed/ })
  while ((await clients()) > before);
})

const { openIoredis, openNodeRedis } = require('../../../target/rooms/lib/lease/stores/redis/url.js')
const OWN_CLIENTS = {
  ioredis: (url) => openIoredis({ Redis }, url),
  iovalkey: (url) => openIoredis(iovalkey, url),
  'node-redis': (url) => openNodeRedis({ createClient }, url),
}
const PING = { source: 'return { "PONG" }', sha: '0'.repeat(40) }

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: a URL whose connection died without a word: one step fails, then there is another connection`, async (t) => {
    const proxy = stopAfter(t, await startProxy((await start(t)).port))
    const runner = open(`redis://127.0.0.1:${proxy.port}`)
    const ping = () => runner.run(PING, ['key'], [])
    for (let i = 0; i < 2; i++) {
      t.deepEqual(await ping(), ['PONG'])
      proxy.lose()
      await t.throwsAsync(ping(), { code: 'ERR_FLAKE_STORE', message: /no answer within|timeout/i })
    }
    await runner.close()
    await t.throwsAsync(ping(), { code: 'ERR_FLAKE_STORE', message: /closed/ })
  })
}

// A step waits for 5 s for an answer, and says so. Who knows why there is none does not wait.
const AT_ONCE = { code: 'ERR_FLAKE_STORE', message: /^Redis: (?!no answer)/ }

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: a URL where no server is: at once an error with its cause, each time`, async (t) => {
    const runner = open(`redis://127.0.0.1:${await freePort()}`)
    for (let i = 0; i < 3; i++) {
      const error = await t.throwsAsync(runner.run(PING, ['key'], []), { ...AT_ONCE, message: /^Redis: no connection/ })
      t.is(error.cause.code, 'ECONNREFUSED')
    }
    await runner.close()
  })

  test(`${name}: a URL with a wrong password: at once an error with its cause, and steps go on with the right one`, async (t) => {
    const server = await start(t)
    await server.cli('CONFIG', 'SET', 'requirepass', 'right')
    const runner = open(server.url.replace('//', '//:wrong@'))
    t.teardown(() => runner.close())
    for (let i = 0; i < 2; i++) {
      const error = await t.throwsAsync(runner.run(PING, ['key'], []), AT_ONCE)
      t.regex(error.cause.message, /WRONGPASS/)
    }
    await server.cli('-a', 'right', 'CONFIG', 'SET', 'requirepass', 'wrong')
    // A connection that is being given up may take one more step with it.
    await until(() => runner.run(PING, ['key'], []).catch(({ cause }) => t.regex(cause.message, /WRONGPASS/) && false))
  })

  test(`${name}: a URL that leads to a primary that was demoted: one step fails, then there is the new primary`, async (t) => {
    const primary = await start(t)
    const replica = stopAfter(t, await startReplica(primary))
    const proxy = stopAfter(t, await startProxy(primary.port))
    const runner = open(`redis://127.0.0.1:${proxy.port}`)
    t.teardown(() => runner.close())
    await demotes(t, new DatabaseStore(new RedisRecords(runner)), { primary, replica, proxy })
  })
}

test('a pool of node-redis that leads to a primary that was demoted: its connections are made anew', async (t) => {
  const primary = await start(t)
  const replica = stopAfter(t, await startReplica(primary))
  const proxy = stopAfter(t, await startProxy(primary.port))
  const pool = await createClientPool({ url: `redis://127.0.0.1:${proxy.port}` }, { maximum: 1 }).connect()
  t.teardown(() => pool.destroy())
  await demotes(t, redisStore(pool), { primary, replica, proxy })
})

test('a swap that waited too long for a connection of a pool of node-redis is not sent', async (t) => {
  const { url } = await start(t)
  const pool = await createClientPool({ url }, { maximum: 1 }).connect()
  t.teardown(() => pool.destroy())
  const { records } = redisStore(pool)
  const { identity } = await records.read('g', ['group'])
  await records.swap('g', 'other', null, 'in time', identity) // the server knows the script
  let giveBack
  const taken = pool.execute(
    () =>
      new Promise((resolve) => {
        giveBack = resolve
      }),
  )
  await t.throwsAsync(records.swap('g', 'group', null, 'late', identity, AbortSignal.timeout(50)), {
    message: /aborted/,
  })
  giveBack()
  await taken
  t.deepEqual((await records.read('g', ['group'])).values, [null])
})

/** The primary and its replica change places, and the address leads to the new primary. Nothing is restarted or closed. */
async function demotes(t, store, { primary, replica, proxy }) {
  await works(t, store)
  await replica.cli('REPLICAOF', 'NO', 'ONE')
  await primary.cli('REPLICAOF', '127.0.0.1', String(replica.port))
  proxy.leadTo(replica.port)
  await t.throwsAsync(store.list('any'), { code: 'ERR_FLAKE_STORE', message: /READONLY/ })
  t.deepEqual(await store.list('any'), [])
}

test('node-redis: a client that finds no server: its error is the cause, at once, for all who wait', async (t) => {
  const server = await start(t)
  await server.kill()
  const client = createClient({ url: server.url })
  t.teardown(() => client.destroy())
  const store = redisStore(client)
  client.connect() // which goes on trying
  const warnings = []
  const keep = (warning) => warnings.push(warning)
  process.on('warning', keep)
  t.teardown(() => process.off('warning', keep))
  const refused = { code: 'ERR_FLAKE_STORE', message: /^Redis: connect ECONNREFUSED/ }
  const steps = Array.from({ length: 20 }, () => t.throwsAsync(store.list('any'), refused))
  for (const error of await Promise.all(steps)) t.is(error.cause.code, 'ECONNREFUSED')
  t.deepEqual(warnings, [], 'one listener is enough for all')
  await server.start()
  while (!client.isReady) await once(client, 'ready')
  t.notRegex(await server.cli('INFO', 'commandstats'), /evalsha/, 'nothing is sent for a step that is over')
  await works(t, store)
})

for (const name of ['ioredis', 'iovalkey', 'redis']) {
  test(`${name}: a store of a URL that is not closed does not keep the process alive, but a step does`, async (t) => {
    const { url } = await start(t)
    const code = `
      const store = require('./target/rooms/lib/lease/stores/redis.js').openRedis('${url}')
      const other = require('./target/rooms/lib/lease/stores/redis.js').openRedis('${url}')
      store.list('g').then(async () => {
        await other.list('g')
        await promisify(execFile)('redis-cli', ['-u', '${url}', 'CLIENT', 'PAUSE', '700'])
        console.log(await store.list('g'))
      })`
    const imports = `const { execFile } = require('node:child_process'); const { promisify } = require('node:util');`
    t.is(await inProject(t, [name], imports + code), '[]')
  })
}

for (const name of ['ioredis', 'iovalkey', 'redis']) {
  test(`${name}: a store of a URL does not keep the process alive while its server is away`, async (t) => {
    const server = await start(t)
    const code = `
      const store = require('./target/rooms/lib/lease/stores/redis.js').openRedis('${server.url}')
      store.list('g').then(() => {
        process.kill(${server.pid}, 'SIGKILL')
        return store.list('g').catch(({ code }) => console.log(code))
      })`
    t.is(await inProject(t, [name], code), 'ERR_FLAKE_STORE')
  })
}

for (const name of ['ioredis', 'iovalkey', 'redis']) {
  test(`${name}: a store of a URL that found no server ends with close(), and so does the process`, async (t) => {
    const code = `
      const store = require('./target/rooms/lib/lease/stores/redis.js').openRedis('redis://127.0.0.1:${await freePort()}')
      let isLate = false
      store.list('g').catch(() => store.close()).then(() => setTimeout(() => { isLate = true }, 1900).unref())
      process.on('exit', () => console.log(isLate))`
    t.is(await inProject(t, [name], code), 'false')
  })
}

/** Runs code in a project that has only these packages beside the store's files. */
const inProject = async (t, packages, code) => runIn(await newProject(t, ...packages), code)

const OPEN_AND_USE = (url) => `
  const store = require('./target/rooms/lib/lease/stores/redis.js').openRedis('${url}')
  Promise.all([store.advance('one', 1n, 1n), store.advance('two', 1n, 2n)])
    .then(async (values) => {
      await store.close()
      await store.close()
      console.log(values.map(({ number }) => number).join(), await store.advance('one', 1n).catch((error) => error.code))
    })`

for (const name of ['ioredis', 'iovalkey', 'redis']) {
  test(`a URL of Redis or of Valkey in a project with ${name} alone`, async (t) => {
    const { url, cli } = await start(t)
    for (const each of [url, url.replace('redis', 'valkey'), url.replace('redis', 'VALKEY')]) {
      t.is(await inProject(t, [name], OPEN_AND_USE(each)), '1,2 ERR_FLAKE_STORE')
      await cli('FLUSHALL')
    }
  })

  test(`valkeys:// is TLS, with ${name} alone`, async (t) => {
    const code = `
      const server = require('node:net').createServer((socket) => socket.once('data', ([first]) => {
        console.log(first)
        process.exit()
      }))
      server.listen(0, '127.0.0.1', () => {
        const url = 'valkeys://127.0.0.1:' + server.address().port
        require('./target/rooms/lib/lease/stores/redis.js').openRedis(url).list('any').catch(() => {})
      })`
    t.is(await inProject(t, [name], code), '22', 'the first byte of a TLS handshake')
  })
}
