// Which clients of Redis' packages the store accepts and which it rejects, and how it translates their errors. Rules
// for the clients of all databases are in behaviour/.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { Cluster, Redis } from 'ioredis'
import * as iovalkey from 'iovalkey'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { CLIENTS, startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { newProject, runIn } from '../support/project.mjs'
import { stepsOf, works } from '../support/steps.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { testInTurn } from '../support/turns.mjs'

const require = createRequire(import.meta.url)
const { redisStore } = require('../../target/rooms/lib/stores/redis.js')

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

test('an ioredis client with a key prefix, whose group would be another, or with a non-numeric db is rejected', (t) => {
  for (const [options, message] of [
    [{ keyPrefix: 'app:' }, /^A store cannot use this client\. .*keyPrefix 'app:' .*without keyPrefix\.$/],
    [{ db: 'abc' }, /^A store cannot use this client\. Its db is NaN\. .*db is a number\.$/],
  ]) {
    t.throws(() => redisStore(new Redis({ lazyConnect: true, ...options })), { ...OPTION, message })
  }
  const cluster = new Cluster([{ port: 1 }], { lazyConnect: true, keyPrefix: 'app:' })
  t.throws(() => redisStore(cluster), { ...OPTION, message: /without keyPrefix/ })
})

test('a node-redis client with a key prefix is rejected, in every form', async (t) => {
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

/** GLIDE's form of an error of the server. */
const inWordsOfGlide = ({ message }) =>
  new Error(message.replace(/^NOSCRIPT/, 'An error was signalled by the server: - NoScriptError:'))

test('Valkey GLIDE is recognised by its features and its error messages', async (t) => {
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

test('a batch of commands is not accepted as a client', async (t) => {
  const server = await start(t)
  const ioredis = await connect(t, 'ioredis', server)
  const nodeRedis = await connect(t, 'node-redis', server)
  for (const batch of [ioredis.pipeline(), ioredis.multi(), nodeRedis.multi()]) {
    t.throws(() => redisStore(batch), { ...OPTION, message: /MULTI/ })
  }
})

test('a client in subscriber mode is rejected, because it can do nothing else', async (t) => {
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

test('a node-redis client that is not connected gets that error', async (t) => {
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
    client.emit?.('error', new Error('connection refused')) // as when the server was down for a moment
    await server.cli('SET', `flakeforge:{${name}}:records`, 'not a hash')
    const error = await t.throwsAsync(store.advance(name, 1n, 0n), { code: 'ERR_FLAKE_STORE', message: /WRONGTYPE/ })
    t.regex(error.cause.message, /WRONGTYPE/)
  }
})

const { readAddress } = require('../../target/rooms/lib/stores/redis/address.js')
const { openIoredis } = require('../../target/rooms/lib/stores/redis/own-ioredis.js')
const { openNodeRedis } = require('../../target/rooms/lib/stores/redis/own-node-redis.js')
const OWN_CLIENTS = {
  ioredis: (url) => openIoredis({ Redis, Cluster }, readAddress(url)),
  iovalkey: (url) => openIoredis(iovalkey, readAddress(url)),
  'node-redis': (url) => openNodeRedis({ createClient }, readAddress(url)),
}
const PING = { source: 'return { "PONG" }', sha: '0'.repeat(40) }

// A step waits 5 s for an answer, and then fails. A client that knows why there is none does not wait.
const AT_ONCE = { code: 'ERR_FLAKE_STORE', message: /^Redis: (?!no answer)/ }

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: a URL with a wrong password: at once an error with its cause, and steps continue with the right one`, async (t) => {
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
}

test('many calls of an own client that are given up at once end their connection once', async (t) => {
  const server = await start(t)
  const warnings = []
  const keep = (warning) => warnings.push(warning.message)
  process.on('warning', keep)
  t.teardown(() => process.off('warning', keep))
  for (const open of Object.values(OWN_CLIENTS)) {
    const runner = open(server.url)
    t.teardown(() => runner.close())
    const answers = () => until(() => runner.run(PING, ['key'], []).catch(() => false))
    await answers()
    for (let i = 0; i < 2; i++) {
      await stopProcess(server.pid)
      const over = new AbortController()
      const calls = Array.from({ length: 20 }, () => t.throwsAsync(runner.run(PING, ['key'], [], over.signal)))
      await new Promise(setImmediate)
      over.abort()
      await Promise.all(calls)
      process.kill(server.pid, 'SIGCONT')
      await answers()
    }
  }
  t.deepEqual(warnings, [])
})

test('node-redis: a client that finds no server: its error is the cause, at once, for all waiting calls', async (t) => {
  const server = await start(t)
  await server.kill()
  const client = createClient({ url: server.url })
  t.teardown(() => client.destroy())
  const store = redisStore(client)
  client.connect() // which keeps trying
  const warnings = []
  const keep = (warning) => warnings.push(warning)
  process.on('warning', keep)
  t.teardown(() => process.off('warning', keep))
  const refused = { code: 'ERR_FLAKE_STORE', message: /^Redis: connect ECONNREFUSED/ }
  const steps = Array.from({ length: 20 }, () => t.throwsAsync(store.list('any'), refused))
  for (const error of await Promise.all(steps)) t.is(error.cause.code, 'ECONNREFUSED')
  t.deepEqual(warnings, [], 'one listener is enough for all')
  await server.start()
  await until(() => client.isReady)
  t.notRegex(await server.cli('INFO', 'commandstats'), /evalsha/, 'nothing is sent for a step that is over')
  await works(t, store)
})

/** Runs code in a project that has only these packages and the store's files. */
const inProject = async (t, packages, code) => runIn(await newProject(t, ...packages), code)

for (const name of ['ioredis', 'iovalkey', 'redis']) {
  test(`valkeys:// is TLS, with ${name} alone`, async (t) => {
    const code = `
      const server = require('node:net').createServer((socket) => socket.once('data', ([first]) => {
        console.log(first)
        process.exit()
      }))
      server.listen(0, '127.0.0.1', () => {
        const url = 'valkeys://127.0.0.1:' + server.address().port
        require('./target/rooms/lib/stores/redis.js').openRedis(url).list('any').catch(() => {})
      })`
    t.is(await inProject(t, [name], code), '22', 'the first byte of a TLS handshake')
  })
}
