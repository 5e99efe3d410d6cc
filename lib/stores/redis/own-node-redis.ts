// Our own client for an address, by node-redis: a single server, the primary that Sentinels name, or a cluster. No connection
// of it keeps the process alive; a step does, until its time limit.
//
// createSentinel() is not used: its connections to Sentinels keep the process alive, and it does not show them.

import { said, storeError } from '../../base/errors.ts'
import { inTime } from '../../base/in-time.ts'
import { tooOldError } from '../client-packages.ts'
import { BUDGET } from '../time-budget.ts'
import { forNodeRedis } from '../tls.ts'
import { type Host, hostsOf, nodeOf, type RedisAddress, urlOf } from './address.ts'
import { type Connect, type Connection, Connections } from './connections.ts'
import { needsNewConnection } from './failures.ts'
import { type NodeRedis, ofNodeRedis } from './packages.ts'

/** Only version 5 and newer have `destroy`. */
type Own = NodeRedis & {
  connect: () => Promise<unknown>
  disconnect: () => unknown
  destroy?: () => unknown
}
type OwnClient = Own & { unref: () => void }
type OwnCluster = Own & { nodeByAddress: Map<string, { client?: OwnClient }> }

/** The exports of redis. */
export interface NodeRedisExports {
  createClient(options: object): OwnClient
  createCluster(options: object): OwnCluster
}

// Without a connection a command makes one, or fails at once: the caller of a step knows better when to retry.
const reconnectStrategy = () => new Error('no connection')

const end = (client: Own) => (client.isOpen ? (client.destroy ?? client.disconnect).call(client) : undefined)

export function openNodeRedis(exports: NodeRedisExports, address: RedisAddress) {
  const { kind, database, primary } = address
  if (kind === 'cluster') return openCluster(exports, address)
  const one: Connect = (onError) => connect(exports, optionsOf(address), onError)
  const connections = new Connections(kind === 'server' ? one : throughSentinels(exports, address))
  const shown = kind === 'server' ? hostsOf(address) : `the primary '${primary}' of Sentinel`
  return connections.runner({ database: String(database), address: shown }, needsNewConnection)
}

/** socketTimeout would end an idle connection. */
const optionsOf = ({ url, tls, hosts: [{ host }] }: RedisAddress) => ({
  url,
  socket: { reconnectStrategy, ...forNodeRedis(tls, host) },
})

function connect({ createClient }: NodeRedisExports, options: object, onError: (error: Error) => void): Connection {
  const client = createClient(options)
  client.unref()
  client.on('error', onError)
  return {
    ready: client.connect().then(() => ofNodeRedis(client)),
    isAlive: () => client.isOpen === true,
    end: () => end(client),
  }
}

/** Each connection asks the Sentinels again where the primary is. */
function throughSentinels(exports: NodeRedisExports, address: RedisAddress): Connect {
  const { username, password, tls } = address
  return (onError) => {
    let isEnded = false
    let found: Connection | undefined
    const find = async () => {
      const server = await findPrimary(exports, address)
      const socket = { reconnectStrategy, ...forNodeRedis(tls, server.host) }
      if (isEnded) throw new Error('the connection was given up')
      found = connect(exports, { url: urlOf(address, server), username, password, socket }, onError)
      return found.ready
    }
    const stop = () => {
      isEnded = true
      return found?.end()
    }
    return { ready: find(), isAlive: () => found?.isAlive() ?? true, end: stop }
  }
}

/** Asks one Sentinel after the other. The first one that answers moves to the front. */
async function findPrimary(exports: NodeRedisExports, address: RedisAddress): Promise<Host> {
  const { hosts, primary } = address
  const reasons: string[] = []
  for (const sentinel of [...hosts]) {
    try {
      const answer = await askSentinel(exports, address, sentinel)
      hosts.unshift(...hosts.splice(hosts.indexOf(sentinel), 1))
      if (answer !== undefined) return answer
      reasons.push(`it watches no '${primary}'`)
    } catch (error) {
      reasons.push(said(error))
    }
  }
  throw storeError(`No Sentinel of ${hostsOf(address)} names the primary '${primary}': ${reasons.at(-1)}`)
}

async function askSentinel(exports: NodeRedisExports, address: RedisAddress, sentinel: Host) {
  const limits = { connectTimeout: BUDGET.SENTINEL_MS, reconnectStrategy }
  const socket = { ...limits, ...forNodeRedis(address.tls, sentinel.host) }
  const client = exports.createClient({ url: urlOf({ ...address, database: 0 }, sentinel), socket })
  client.unref()
  let reason: Error | undefined // connect() rejects with reconnectStrategy's error
  client.on('error', (error) => {
    reason = error
  })
  const ask = async () => {
    await client.connect()
    return client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', address.primary])
  }
  try {
    const answer = await inTime(ask(), BUDGET.SENTINEL_MS)
    return Array.isArray(answer) ? { host: String(answer[0]), port: Number(answer[1]) } : undefined
  } catch (error) {
    throw reason ?? error
  } finally {
    end(client)
  }
}

/** Any failure may come from a node that is gone, so the next call looks for the nodes again. */
function openCluster(exports: NodeRedisExports, address: RedisAddress) {
  if (!('createClientPool' in exports)) throw tooOldError('redis-cluster', 'redis', '4', [5, 0, 0])
  const { hosts, tls, username, password } = address
  const options = {
    rootNodes: hosts.map((each) => ({ url: urlOf(address, each), socket: { ...forNodeRedis(tls, each.host) } })),
    nodeAddressMap: (at: string) => {
      const node = nodeOf(at)
      return { ...node, ...forNodeRedis(tls, node.host) }
    },
    defaults: { username, password, socket: { reconnectStrategy, ...forNodeRedis(tls) } },
  }
  const connections = new Connections((onError) => {
    const cluster = exports.createCluster(options)
    cluster.on('error', onError)
    cluster.on('node-connect', () => {
      for (const { client } of cluster.nodeByAddress.values()) client?.unref()
    })
    return {
      ready: cluster.connect().then(() => ofNodeRedis(cluster)),
      isAlive: () => cluster.isOpen === true,
      end: () => end(cluster),
    }
  })
  return connections.runner({ database: '', address: `the cluster of ${hostsOf(address)}` }, () => true)
}
