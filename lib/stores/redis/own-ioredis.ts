// Our own client for an address, by ioredis or its fork iovalkey: a single server, the primary that Sentinels name, or a
// cluster. No connection of it keeps the process alive; a step does, until its time limit.

import { BUDGET } from '../time-budget.ts'
import { forIoredis, forIoredisSentinels, nodeForIoredis } from '../tls.ts'
import { hostsOf, nodeOf, type RedisAddress } from './address.ts'
import { ScriptRunner } from './client.ts'
import { Connections } from './connections.ts'
import { isLate, needsNewConnection } from './failures.ts'
import { type Ioredis, ofIoredis } from './packages.ts'

type OwnClient = Ioredis & {
  stream: { unref(): void }
  reconnectTimeout?: { unref(): void }
  connect: () => Promise<unknown>
  disconnect: (reconnect?: boolean) => void
  status: string
}

type OwnCluster = Ioredis & {
  connect: () => Promise<unknown>
  disconnect: () => void
  status: string
  subscriber?: { start: () => void }
}

/** The exports of ioredis or iovalkey. */
export interface IoredisExports {
  Redis: new (...urlAndOptions: (string | object)[]) => OwnClient
  Cluster: new (nodes: object[], options: object) => OwnCluster
}

// A step without a server fails after a second attempt: its caller knows better when to retry. If a step gets no answer, the
// connection may have died silently: it is given up, because a new one may work. disconnectTimeout is a timer that keeps the
// process alive after close(), even without a connection. The ready check would silently keep commands while the server
// loads its data; the server itself answers that it does.
const OPTIONS = {
  lazyConnect: true,
  maxRetriesPerRequest: 1,
  socketTimeout: BUDGET.ANSWER_MS,
  disconnectTimeout: 1,
  enableReadyCheck: false,
}

export function openIoredis({ Redis, Cluster }: IoredisExports, address: RedisAddress) {
  if (address.kind === 'cluster') return openCluster(Cluster, address)
  if (address.kind === 'sentinel') return openThroughSentinels(Redis, address)
  const [{ host }] = address.hosts
  return openServer(new Redis(address.url, { ...OPTIONS, ...forIoredis(address.tls, host) }))
}

/** @param client reconnects on its own */
function openServer(client: OwnClient) {
  client.on('connect', () => client.stream.unref())
  client.on('reconnecting', () => client.reconnectTimeout?.unref())
  // Only a new connection finds the primary, or works if this one died silently. Many calls may fail with one connection, and
  // each disconnect() would add a listener to its socket.
  let givenUp: object | undefined
  const onFailure = (error: unknown) => {
    if (!needsNewConnection(error) || client.stream === givenUp) return
    givenUp = client.stream
    client.disconnect(true)
  }
  return new ScriptRunner(client, ofIoredis(client), { close: () => client.disconnect(), onFailure })
}

/** A client whose Sentinels all failed has ended, so each connection has its own client. */
function openThroughSentinels(Redis: IoredisExports['Redis'], address: RedisAddress) {
  const { hosts, primary, database, tls, username, password } = address
  const options = {
    ...OPTIONS,
    username,
    password,
    ...forIoredisSentinels(tls),
    sentinels: hosts,
    name: primary,
    db: database,
    connectTimeout: BUDGET.SENTINEL_MS,
    sentinelCommandTimeout: BUDGET.SENTINEL_MS,
    sentinelRetryStrategy: () => null,
    retryStrategy: () => null,
  }
  const connections = new Connections((onError) => {
    const client = new Redis(options)
    client.on('error', onError)
    client.on('connect', () => client.stream.unref())
    return {
      ready: client.connect().then(() => ofIoredis(client)),
      isAlive: () => client.status !== 'end',
      end: () => client.disconnect(),
    }
  })
  const shown = { database: String(database), address: `the primary '${primary}' of Sentinel` }
  return connections.runner(shown, needsNewConnection)
}

/** A certificate names the host and not its IP address, so with TLS no name is looked up ahead. */
const asItIs = (host: string, done: (error: null, host: string) => void) => done(null, host)

function openCluster(Cluster: IoredisExports['Cluster'], address: RedisAddress) {
  const { tls, username, password } = address
  // Older versions take no function as natMap: then a node is told no name, and has TLS all the same.
  const redisOptions = { username, password, ...forIoredis(tls), socketTimeout: BUDGET.ANSWER_MS, disconnectTimeout: 1 }
  const options = {
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    redisOptions,
    ...(tls && { dnsLookup: asItIs, natMap: (at: string) => nodeForIoredis(tls, nodeOf(at)) }),
  }
  const connections = new Connections((onError) => {
    const cluster = new Cluster(
      address.hosts.map((node) => nodeForIoredis(tls, node)),
      options,
    )
    if (cluster.subscriber) cluster.subscriber.start = () => {} // its connection would keep the process alive
    cluster.on('error', onError)
    cluster.on('+node', (node: unknown) => {
      const client = node as OwnClient
      client.on('connect', () => client.stream.unref())
    })
    return {
      ready: cluster.connect().then(() => ofIoredis(cluster)),
      isAlive: () => cluster.status !== 'end',
      end: () => cluster.disconnect(),
    }
  })
  return connections.runner({ database: '', address: `the cluster of ${hostsOf(address)}` }, isLate)
}
