// Redis and its clients, for tests that run on all databases: how to start a server, changes behind the store's back,
// how to break it, and a row for each client. Sites are a single server, one that Sentinel watches, and a cluster.

import { createRequire } from 'node:module'
import { Cluster, Redis } from 'ioredis'
import * as iovalkey from 'iovalkey'
import * as nodeRedis from 'redis'
import * as redis from '../../servers/redis.mjs'
import { until } from '../../servers/server.mjs'
import { stopProcess } from '../../support/stop-process.mjs'

const require = createRequire(import.meta.url)
const { redisClient } = require('../../../target/rooms/lib/stores/redis/client.js')
const { RedisRecords } = require('../../../target/rooms/lib/stores/redis/records.js')
const { readAddress } = require('../../../target/rooms/lib/stores/redis/address.js')
const { openIoredis } = require('../../../target/rooms/lib/stores/redis/own-ioredis.js')
const { openNodeRedis } = require('../../../target/rooms/lib/stores/redis/own-node-redis.js')
const { openRedis, redisStore } = require('../../../target/rooms/lib/stores/redis.js')

const { createClient, createClientPool, createCluster, createSentinel, RESP_TYPES } = nodeRedis
const { glide } = redis
const hashOf = (group) => `flakeforge:{${group}}:records`

/** Server settings that keep acknowledged writes. */
const KEEPS = ['--appendonly', 'yes', '--appendfsync', 'always']
/** A primary that demands a replica for each write. It keeps taking writes when the replica is silent. */
const DEMANDS_REPLICA = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '1000']

const stopAll = (servers) => Promise.all(servers.map((server) => server.stop()))

async function startServer(options = []) {
  const server = await redis.startRedis(...options)
  return { server, url: server.url, stop: () => server.stop() }
}

async function startReplicated() {
  const server = await redis.startRedis(...DEMANDS_REPLICA)
  const replica = await redis.startReplica(server)
  return { server, replica, replicas: [replica], url: server.url, stop: () => stopAll([replica, server]) }
}

async function startWatched() {
  const site = await startReplicated()
  const sentinel = await redis.startSentinel(site.server)
  const sentinels = [{ host: '127.0.0.1', port: sentinel.port }]
  await until(async () => (await sentinel.cli('SENTINEL', 'REPLICAS', 'primary')).includes(String(site.replica.port)))
  return { ...site, sentinels, stop: () => Promise.all([sentinel.stop(), site.stop()]) }
}

async function startCluster() {
  const nodes = await redis.startCluster()
  const replicas = await Promise.all(nodes.map((node) => redis.startClusterReplica(nodes, node)))
  for (const node of nodes) await node.cli('CONFIG', 'SET', 'min-replicas-to-write', '1')
  return { server: nodes[0], nodes, replicas, stop: () => stopAll([...replicas, ...nodes]) }
}

/** A user's client of ioredis' kind. */
/** Without it, a busy machine has 1 s for the first look at the cluster's slots. */
const OF_CLUSTER = { scaleReads: 'slave', slotsRefreshTimeout: 30_000 }

const ofIoredis = (client) => ({ client, end: () => client.disconnect() })
const ofNodeRedis = (client) => ({ client, end: () => client.destroy() })
const hostsOf = ({ nodes }) => nodes.map(({ port }) => ({ host: '127.0.0.1', port }))

/** What a user's client does when it moves to another database of the server. */
const select = (client) => client.select(2)

/** MULTI on the connection that all calls share. */
const TRANSACTIONS = {
  ioredis: { begin: (client) => client.multi({ pipeline: false }), end: (client) => client.discard() },
  'node-redis': {
    begin: (client) => client.sendCommand(['MULTI']),
    end: (client) => client.sendCommand(['DISCARD']),
  },
}

const isMulti = { message: /MULTI/ }

/** Takes the only connection of a pool of node-redis; returns the function that releases it. */
async function takeFromPool(pool) {
  let giveBack
  const isOver = new Promise((resolve) => {
    giveBack = resolve
  })
  const executed = pool.execute(() => isOver)
  return async () => {
    giveBack()
    await executed
  }
}

/** Options that change the form of replies. */
const IOREDIS_OPTIONS = [
  { stringNumbers: true },
  { replyMapping: 'resp3' },
  { protocol: 2 },
  { protocol: 3 },
  { commandTimeout: 5000 },
  { enableAutoPipelining: true },
  { lazyConnect: true },
  { keyPrefix: '' },
  { showFriendlyErrorStack: true },
]
const typeMapping = {
  [RESP_TYPES.BLOB_STRING]: Buffer,
  [RESP_TYPES.NUMBER]: String,
  [RESP_TYPES.VERBATIM_STRING]: Buffer,
  [RESP_TYPES.MAP]: Map,
}
const NODE_REDIS_OPTIONS = [2, 3].flatMap((RESP) => [{ RESP }, { RESP, commandOptions: { typeMapping } }])

const userOfIoredis = (Kind) => ({
  connect: async ({ url }, options = {}) => ofIoredis(new Kind(url, options)),
  options: IOREDIS_OPTIONS,
  transaction: { ...TRANSACTIONS.ioredis, refused: isMulti },
  move: select,
})

const userOfNodeRedis = {
  connect: async ({ url }, options = {}) => ofNodeRedis(await createClient({ url, ...options }).connect()),
  options: NODE_REDIS_OPTIONS,
  transaction: { ...TRANSACTIONS['node-redis'], refused: isMulti },
  move: select,
}

const serverUrl = ({ url }) => url
const sentinelUrl = ({ sentinels, user = '' }) => `redis-sentinel://${user}${sentinels.map(textOf)}#primary`
const clusterUrl = (site) => `redis-cluster://${site.user ?? ''}${hostsOf(site).map(textOf)}`
const textOf = ({ host, port }) => `${host}:${port}`

/** Our own client of an address, by the package with these exports. */
const own = (open, exports, urlOf = serverUrl) => ({
  isOurs: true,
  connect: async (site) => {
    const client = open(exports, readAddress(urlOf(site)))
    return { client, end: () => client.close() }
  },
  recordsOf: (client) => new RedisRecords(client),
})

const ROWS = {
  ioredis: { isFull: true, ...userOfIoredis(Redis) },
  iovalkey: { isFull: true, ...userOfIoredis(iovalkey.Valkey) },
  'node-redis': { isFull: true, ...userOfNodeRedis },
  'a pool of node-redis': {
    connect: async ({ url }, { maximum = 3, ...options } = {}) =>
      ofNodeRedis(await createClientPool({ url, ...options }, { minimum: 1, maximum }).connect()),
    pool: { options: { maximum: 1 }, take: takeFromPool },
    leavesReplicas: true,
  },
  'a URL, by ioredis': own(openIoredis, { Redis, Cluster }),
  'a URL, by iovalkey': own(openIoredis, iovalkey),
  'a URL, by node-redis': own(openNodeRedis, nodeRedis),
  'redis-sentinel://, by ioredis': { site: 'watched', ...own(openIoredis, { Redis, Cluster }, sentinelUrl) },
  'redis-sentinel://, by iovalkey': { site: 'watched', ...own(openIoredis, iovalkey, sentinelUrl) },
  'redis-sentinel://, by node-redis': { site: 'watched', ...own(openNodeRedis, nodeRedis, sentinelUrl) },
  'redis-cluster://, by ioredis': { site: 'cluster', ...own(openIoredis, { Redis, Cluster }, clusterUrl) },
  'redis-cluster://, by iovalkey': { site: 'cluster', ...own(openIoredis, iovalkey, clusterUrl) },
  'redis-cluster://, by node-redis': { site: 'cluster', ...own(openNodeRedis, nodeRedis, clusterUrl) },
  'Sentinel, by ioredis': {
    site: 'watched',
    connect: async ({ sentinels }) => ofIoredis(new Redis({ sentinels, name: 'primary' })),
  },
  'Sentinel, by node-redis': {
    site: 'watched',
    connect: async ({ sentinels }) =>
      ofNodeRedis(
        await createSentinel({ name: 'primary', sentinelRootNodes: sentinels, replicaPoolSize: 1 }).connect(),
      ),
  },
  'a Cluster of ioredis': {
    site: 'cluster',
    connect: async (site) => ofIoredis(new Cluster(hostsOf(site), OF_CLUSTER)),
  },
  'a Cluster of iovalkey': {
    site: 'cluster',
    connect: async (site) => ofIoredis(new iovalkey.Cluster(hostsOf(site), OF_CLUSTER)),
  },
  'a cluster of node-redis': {
    site: 'cluster',
    connect: async ({ nodes }) =>
      ofNodeRedis(await createCluster({ rootNodes: nodes.map(({ url }) => ({ url })), useReplicas: true }).connect()),
  },
}

if (glide) {
  const close = (client) => ({ client, end: () => client.close() })
  ROWS.glide = {
    isFull: true,
    connect: async (server) => close(await redis.connectGlide(glide.GlideClient, [server])),
    move: select,
  }
  ROWS['a cluster of glide'] = {
    site: 'cluster',
    connect: async ({ nodes }) =>
      close(await redis.connectGlide(glide.GlideClusterClient, nodes, { readFrom: 'preferReplica' })),
  }
}

/** The name of a group on this node of a cluster, for a row. */
async function groupOn(node, row) {
  for (let i = 0; ; i++) {
    const name = `${row} ${i}`
    const answer = await node.cli('HGET', hashOf(name), 'group')
    if (!answer.startsWith('MOVED')) return name
  }
}

const set =
  (name, value) =>
  ({ server }) =>
    server.cli('CONFIG', 'SET', name, value)

/** Settings with which a write can be lost, and the right ones. */
const LOSING = [
  ['appendfsync', 'everysec', 'always'],
  ['appendfsync', 'no', 'always'],
  ['no-appendfsync-on-rewrite', 'yes', 'no'],
  ['maxmemory-policy', 'allkeys-lru', 'noeviction'],
  ['maxmemory-policy', 'allkeys-random', 'volatile-lru'],
]

const DURABLE_NEEDS = [
  ...LOSING.map(([name, wrong, right]) => ({
    what: `${name} ${wrong}`,
    break: set(name, wrong),
    mend: set(name, right),
    message: new RegExp(`its ${name.replace('maxmemory-', 'maxmemory.')} is ${wrong}.* Set ${name} `),
  })),
  { what: 'appendonly no', break: set('appendonly', 'no'), message: /aof_enabled is 0.*Set appendonly yes/ },
]

export const REDIS = {
  isInstalled: () => redis.wantRedis() !== undefined,
  /** A server that keeps acknowledged writes. */
  start: (...options) => redis.startRedis(...KEEPS, ...options),
  keeps: KEEPS,
  urlOf: ({ url }) => url,
  sites: { server: startServer, watched: startWatched, cluster: startCluster, replicated: startReplicated },
  rows: ROWS,
  recordsOf: (client) => new RedisRecords(redisClient(client)),
  storeOf: redisStore,
  openUrl: openRedis,
  get: async ({ cli }, group, name) => (await cli('HGET', hashOf(group), name)) || null,
  put: ({ cli }, group, name, text) => cli('HSET', hashOf(group), name, text),
  remove: ({ cli }, group, name) => cli('HDEL', hashOf(group), name),
  cannotListGroups: true, // it would have to search all keys
  /** Kills a server. */
  crash: (server) => server.kill(),
  /** The parts of an identity that this database knows. */
  identity: ['process'],
  /** A promotion gives another history, though a server that was never promoted has none. */
  signals: ['SIGTERM', 'SIGKILL'],
  durableNeeds: DURABLE_NEEDS,
  /** Why a write is definitely refused. */
  refusals: [
    {
      what: 'a server that is full',
      break: set('maxmemory', '1'),
      mend: set('maxmemory', '0'),
      message: /OOM.* maxmemory/,
    },
    {
      what: 'too few replicas',
      break: set('min-replicas-to-write', '1'),
      mend: set('min-replicas-to-write', '0'),
      message: /NOREPLICAS.*min-replicas-to-write/,
    },
    {
      what: 'a server that became a replica',
      break: ({ server }) => server.cli('REPLICAOF', '127.0.0.1', '1'),
      mend: ({ server }) => server.cli('REPLICAOF', 'NO', 'ONE'),
      message: /READONLY.*primary/,
    },
  ],
  /** A server no longer takes writes, without a restart; `other` leads from now on. */
  async demote({ server }, other) {
    await other.cli('REPLICAOF', 'NO', 'ONE')
    await server.cli('REPLICAOF', '127.0.0.1', String(other.port))
  },
  startOther: ({ server }) => redis.startReplica(server),
  /** A replica's answer, and how it begins to lead. */
  replicaRefuses: /READONLY.*replica.*Connect to the primary/,
  async promote({ server, replica }) {
    await redis.untilCaughtUp(replica, server)
    await replica.cli('REPLICAOF', 'NO', 'ONE')
  },
  strangers: {
    values: [null, 'redis://localhost', { eval() {}, evalsha() {} }, { evalSha() {} }],
    message: /ioredis, iovalkey, node-redis or @valkey/,
  },
  connectionsOf: async ({ server }) => (await server.cli('CLIENT', 'LIST')).split('\n').length,
  packages: ['ioredis', 'iovalkey', 'redis'],
  program: { file: 'redis', open: 'openRedis', schemes: ['redis', 'valkey', 'VALKEY'], path: '' },
  /** A paused replica: its primary counts it as fresh, and the replica gets no writes. */
  acknowledgement: {
    sites: ['replicated', 'watched', 'cluster'],
    break: ({ replicas }) => Promise.all(replicas.map(({ pid }) => stopProcess(pid))),
    mend({ replicas }) {
      for (const { pid } of replicas) process.kill(pid, 'SIGCONT')
    },
    message: /acknowledged it within/,
    /** One group on each node of a cluster: the node that executed the swap is asked. */
    groupsOn: ({ nodes }, row) => nodes && Promise.all(nodes.map((node) => groupOn(node, row))),
  },
}
