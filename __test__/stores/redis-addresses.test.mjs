// Addresses of Sentinels and clusters, with each client package. behaviour/ has what holds for clients of all databases.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { Cluster, Redis } from 'ioredis'
import * as iovalkey from 'iovalkey'
import * as nodeRedis from 'redis'
import {
  startCluster,
  startClusterReplica,
  startRedis,
  startReplica,
  startSentinel,
  untilCaughtUp,
  wantRedis,
} from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { newProject, runIn } from '../support/project.mjs'
import { works } from '../support/steps.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { testInTurn } from '../support/turns.mjs'

const require = createRequire(import.meta.url)
const rooms = '../../target/rooms/lib/stores'
const { readAddress } = require(`${rooms}/redis/address.js`)
const { openIoredis } = require(`${rooms}/redis/own-ioredis.js`)
const { openNodeRedis } = require(`${rooms}/redis/own-node-redis.js`)
const { RedisRecords } = require(`${rooms}/redis/records.js`)
const { DatabaseStore } = require(`${rooms}/database.js`)
const { openStore } = require('../../dist/lease.cjs')

const test = testInTurn(wantRedis() === undefined ? anyTest.skip : anyTest, 4)

const OPTION = { code: 'ERR_FLAKE_OPTION' }
const PACKAGES = {
  ioredis: [openIoredis, { Redis, Cluster }],
  iovalkey: [openIoredis, iovalkey],
  redis: [openNodeRedis, nodeRedis],
}

function open(t, name, url) {
  const [openClient, exports] = PACKAGES[name]
  const store = new DatabaseStore(new RedisRecords(openClient(exports, readAddress(url))))
  t.teardown(() => store.close())
  return store
}

const start = async (t, ...options) => stopAfter(t, await startRedis(...options))
const startCopy = async (t, ...options) => stopAfter(t, await startReplica(...options))
const hostsOf = (servers) => servers.map(({ port }) => `127.0.0.1:${port}`).join()

/** The port of the node that has a key. */
async function portOf([node, ...others], key) {
  const answer = await node.cli('HSTRLEN', key, 'field')
  const [, port] = /MOVED \d+ \S+:(\d+)/.exec(answer) ?? []
  return port === undefined ? node.port : others.find((each) => each.port === Number(port)).port
}

async function startWatched(t, ...options) {
  const primary = await start(t, ...options)
  return { primary, sentinel: stopAfter(t, await startSentinel(primary)) }
}

/** '' while it closes connections, because its role changes */
async function roleOf(server) {
  const shown = await server.cli('INFO', 'replication').catch(String)
  return /role:(\w+)/.exec(shown)?.[1] ?? ''
}

test('what an address says', (t) => {
  const tls = { isChecked: true, files: {} }
  const rest = { tls: undefined, database: 0, primary: '' }
  const readings = {
    'redis-sentinel://a,b:1,[::1]:2/3#my%20primary': {
      hosts: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 1 },
        { host: '::1', port: 2 },
      ],
      database: 3,
      primary: 'my primary',
    },
    'rediss-sentinel://:p%40s:s@a#n': {
      hosts: [{ host: 'a', port: 26379 }],
      tls,
      password: 'p@s:s',
      primary: 'n',
    },
    'VALKEYS-CLUSTER://user:p@a,b:7001': {
      hosts: [
        { host: 'a', port: 6379 },
        { host: 'b', port: 7001 },
      ],
      tls,
      username: 'user',
      password: 'p',
    },
    'redis://[::1]:7/2': { hosts: [{ host: '::1', port: 7 }], database: 2 },
    'valkey-cluster://a/0': { hosts: [{ host: 'a', port: 6379 }] },
  }
  for (const [url, reading] of Object.entries(readings)) {
    const { kind: _, url: __, ...read } = readAddress(url)
    t.deepEqual(read, { ...rest, ...reading }, url)
  }
})

test('addresses that are refused, with the right form', (t) => {
  const refused = {
    sentinel: [
      '//a',
      '//a#',
      '//a/x#n',
      '//a?db=1#n',
      '//#n',
      '//a:x#n',
      '//a,,b#n',
      '//a:99999#n',
      '//u:p@/0#n',
      '//a#n#m',
    ],
    cluster: ['//a/1', '//a#n', '//a?x=1', '//', '//a,', '//a:70000', '//::1', '//u@b@a'],
  }
  for (const [kind, rests] of Object.entries(refused)) {
    for (const rest of rests) {
      const message = new RegExp(`redis-${kind}:|a valid address`)
      t.throws(() => openStore(`redis-${kind}:${rest}`), { ...OPTION, message }, rest)
    }
  }
})

for (const name of Object.keys(PACKAGES)) {
  test(`${name}: Sentinels name the primary, with a password and a database`, async (t) => {
    const { primary, sentinel } = await startWatched(t)
    await primary.cli('CONFIG', 'SET', 'requirepass', 'right')
    const gone = await start(t)
    await gone.kill()
    const store = open(t, name, `redis-sentinel://:right@${hostsOf([gone, sentinel])}/3#primary`)
    await works(t, store)
    t.regex(await primary.cli('-a', 'right', 'INFO', 'keyspace'), /^db3:/m)
  })

  test(`${name}: a Sentinel that hangs is passed over`, async (t) => {
    const { primary, sentinel } = await startWatched(t)
    const hanging = stopAfter(t, await startSentinel(primary))
    stopProcess(hanging.pid)
    t.teardown(() => process.kill(hanging.pid, 'SIGCONT'))
    await works(t, open(t, name, `redis-sentinel://${hostsOf([hanging, sentinel])}#primary`))
  })

  test(`${name}: after a failover the new primary is used`, async (t) => {
    const { primary, sentinel } = await startWatched(t)
    const replica = await startCopy(t, primary)
    await until(async () => (await sentinel.cli('SENTINEL', 'REPLICAS', 'primary')).includes(String(replica.port)))
    const store = open(t, name, `redis-sentinel://${hostsOf([sentinel])}#primary`)
    await store.advance('counter', 10n, 0n)
    await untilCaughtUp(replica, primary)
    await until(async () => (await sentinel.cli('SENTINEL', 'FAILOVER', 'primary').catch(String)).includes('OK'))
    await until(async () => (await roleOf(replica)) === 'master')
    await until(async () => (await roleOf(primary)) === 'slave')
    // The restored-records rules decide what a counter does then; a group shows that the new primary answers.
    await until(() =>
      store.list('any').then(
        () => true,
        () => false,
      ),
    )
    t.regex(await replica.cli('INFO', 'commandstats'), /eval/)
  })

  test(`${name}: a name that no Sentinel knows`, async (t) => {
    const { sentinel } = await startWatched(t)
    const store = open(t, name, `redis-sentinel://${hostsOf([sentinel])}#other`)
    for (let i = 0; i < 2; i++) {
      await t.throwsAsync(store.list('any'), { code: 'ERR_FLAKE_STORE', message: /No such master|watches no 'other'/ })
    }
  })

  test(`${name}: a process with an idle connection through Sentinel ends`, async (t) => {
    const { sentinel } = await startWatched(t)
    await endsIdle(t, name, `redis-sentinel://${hostsOf([sentinel])}#primary`)
  })

  for (const kind of ['sentinel', 'cluster']) {
    test(`rediss-${kind}:// is TLS, with ${name} alone`, async (t) => {
      const code = `
        const server = require('node:net').createServer((socket) => socket.once('data', ([first]) => {
          console.log(first)
          process.exit()
        }))
        server.listen(0, '127.0.0.1', () => {
          const url = 'rediss-${kind}://127.0.0.1:' + server.address().port + '${kind === 'sentinel' ? '#primary' : ''}'
          require('./target/rooms/lib/stores/redis.js').openRedis(url).list('any').catch(() => {})
        })`
      t.is(await inProject(t, [name], code), '22', 'the first byte of a TLS handshake')
    })
  }
}

const inProject = async (t, packages, code) => runIn(await newProject(t, ...packages), code)

/** Uses a store in a process that then has nothing else to do. */
async function endsIdle(t, name, url) {
  const code = `
    require('./target/rooms/lib/stores/redis.js').openRedis('${url}').list('any').then(
      (slots) => console.log('answered', slots.length), (error) => console.log(error.message))`
  t.is(await inProject(t, [name], code), 'answered 0')
}

test('a cluster by the address of one node, with each package: groups of all nodes, and a process that ends', async (t) => {
  const nodes = await startCluster()
  for (const node of nodes) stopAfter(t, node)
  const url = `redis-cluster://${hostsOf(nodes.slice(0, 1))}`
  for (const name of Object.keys(PACKAGES)) {
    const store = open(t, name, url)
    for (let i = 0; i < 6; i++) await store.advance(`${name} ${i}`, 1n, 0n)
    await endsIdle(t, name, url)
  }
  for (const node of nodes) t.regex(await node.cli('INFO', 'commandstats'), /evalsha/, 'each has a group')
})

test('a node of a cluster that fails is replaced by its replica, with each package', async (t) => {
  const nodes = await startCluster()
  for (const node of nodes) stopAfter(t, node)
  const replica = stopAfter(t, await startClusterReplica(nodes, nodes[0]))
  const stores = Object.keys(PACKAGES).map((name) => [name, open(t, name, `redis-cluster://${hostsOf(nodes)}`)])
  const groups = Array.from({ length: 12 }, (_, i) => `group ${i}`)
  for (const [, store] of stores) await Promise.all(groups.map((group) => store.list(group)))
  await nodes[0].kill()
  await until(async () => (await roleOf(replica)) === 'master')
  for (const [name, store] of stores) {
    const answers = () => Promise.all(groups.map((group) => store.list(group)))
    await until(() =>
      answers().then(
        () => true,
        () => false,
      ),
    )
    t.pass(name)
  }
})

test('redis: a call to a cluster whose connections another call ends does not end those that are made next', async (t) => {
  const nodes = await startCluster()
  for (const node of nodes) stopAfter(t, node)
  const [broken, paused] = nodes
  const store = open(t, 'redis', `redis-cluster://${hostsOf(nodes)}`)
  const counters = {}
  for (let i = 0; counters[broken.port] === undefined || counters[paused.port] === undefined; i++) {
    await store.counter(`counter ${i}`)
    counters[await portOf(nodes, `flakeforge:{counter ${i}}:records`)] = `counter ${i}`
  }
  await paused.cli('CLIENT', 'PAUSE', '60000', 'WRITE') // which scripts wait for
  await broken.cli('CLIENT', 'KILL', 'TYPE', 'normal')
  const pending = store.counter(counters[paused.port]).catch((error) => error)
  t.is(await store.counter(counters[broken.port]), undefined)
  await paused.cli('CLIENT', 'UNPAUSE')
  await pending
})

test('a client of one server that meets a Sentinel or a node of a cluster hears the right address', async (t) => {
  const { sentinel } = await startWatched(t)
  const nodes = await startCluster()
  for (const node of nodes) stopAfter(t, node)
  for (const name of Object.keys(PACKAGES)) {
    const store = open(t, name, `redis://127.0.0.1:${sentinel.port}`)
    const message = `Its server is a Sentinel. Use redis-sentinel://127.0.0.1:${sentinel.port} with .* after it: 'primary'`
    await t.throwsAsync(store.list('any'), { ...OPTION, message: new RegExp(message) }, name)
    const single = open(t, name, nodes[0].url)
    const groups = Array.from({ length: 12 }, (_, i) => single.list(`group ${i}`).catch((error) => error))
    const refused = (await Promise.all(groups)).find((answer) => answer instanceof Error)
    t.like(refused, OPTION)
    t.regex(refused.message, /Its server is a node of a cluster\. Use redis-cluster:\/\/127\.0\.0\.1:\d+, or/)
  }
})

test('a replica says which addresses find the primary', async (t) => {
  const replica = await startCopy(t, await start(t))
  const message = /READONLY.*redis-sentinel:\/\/HOST:26379#NAME or redis-cluster:/
  await t.throwsAsync(open(t, 'ioredis', replica.url).list('any'), { message })
})
