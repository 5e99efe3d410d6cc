// Redis for tests (Valkey is not available here, and behaves the same): a server with nothing on disk, a replica of
// one, or a cluster of three masters. A Redis that was running before is never touched.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram, freePort, freshFolder, HERE, Server, until, wantProgram, withVariables } from './server.mjs'

const require = createRequire(import.meta.url) // a client is loaded where it is used: many processes use one or none
const run = promisify(execFile)

/** Whether these tests can run: the path of redis-server, or undefined with a loud message. */
export const wantRedis = () => wantProgram('redis-server')

/** Starts redis-server with these arguments; `cli('PING')` asks it by redis-cli, `url` is for clients. */
async function launch(folder, port, args, machine = HERE) {
  const cli = async (...words) => {
    const { stdout } = await run(findProgram('redis-cli'), ['-h', machine.host, '-p', String(port), ...words])
    return stdout.trimEnd()
  }
  const isReady = async () => {
    const answer = await cli('PING')
    if (answer !== 'PONG') throw new Error(answer)
  }
  const server = new Server({
    command: machine.inside(withVariables(machine.environment, ['redis-server', ...args])),
    folder,
    isReady,
  })
  Object.assign(server, { port, cli, url: `redis://${machine.host}:${port}` })
  return server.start()
}

/** A running server that keeps nothing, unless its command line `options` say so. */
export async function startRedis(...options) {
  const [port, folder] = [await freePort(), await freshFolder('redis')]
  const settings = { port, bind: '127.0.0.1', save: '', appendonly: 'no', dir: folder }
  settings['repl-diskless-sync-delay'] = 0 // a replica need not wait for others
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  return launch(folder, port, [...args, ...options])
}

/** A connected client of each package for a server, and how to end it. */
export const CLIENTS = {
  ioredis: async ({ url }) => {
    const { Redis } = require('ioredis')
    const client = new Redis(url)
    return { client, end: () => client.disconnect() }
  },
  iovalkey: async ({ url }) => {
    const { Valkey } = require('iovalkey')
    const client = new Valkey(url)
    return { client, end: () => client.disconnect() }
  },
  'node-redis': async ({ url }) => {
    const client = require('redis').createClient({ url })
    await client.connect()
    return { client, end: () => client.destroy() }
  },
}

/**
 * Valkey's own client, which only `npm run databases:stores` installs and names: it has too many packages for the lock
 * file of the tests.
 */
export const glide = process.env.TEST_GLIDE && createRequire(process.env.TEST_GLIDE)('@valkey/valkey-glide')

/** A connected client of GLIDE's class for these servers. */
export const connectGlide = (Class, servers, options = {}) => {
  const urls = servers.map(({ url }) => new URL(url))
  const addresses = urls.map(({ hostname, port }) => ({ host: hostname, port: Number(port) }))
  const [{ username, password }] = urls
  const credentials = password ? { username, password } : undefined
  return Class.createClient({ addresses, credentials, requestTimeout: 2000, ...options })
}

if (glide) {
  CLIENTS.glide = async (server) => {
    const client = await connectGlide(glide.GlideClient, [server])
    return { client, end: () => client.close() }
  }
}

/** The server's clock in Unix ms, as the scripts read it. */
export async function serverNow(server) {
  const [seconds, micros] = (await server.cli('TIME')).split('\n')
  return seconds * 1000 + Math.floor(micros / 1000)
}

/** A replica that has caught up with `primary`. */
export async function startReplica(primary, ...options) {
  const replica = await startRedis('--replicaof', `127.0.0.1 ${primary.port}`, ...options)
  await untilLinked(replica)
  await untilCounted(replica, primary)
  return replica
}

/** Waits until a replica has the data of its primary. */
export const untilLinked = (replica) =>
  until(async () => (await replica.cli('INFO', 'replication')).includes('master_link_status:up'))

/** A primary counts a replica, and so takes writes that demand one, only after its first acknowledgement. */
const untilCounted = (replica, primary) =>
  until(async () => (await primary.cli('INFO', 'replication')).includes(`port=${replica.port},state=online`))

/**
 * Waits until `replica` has executed everything that `primary` wrote; WAIT would only cover the writes of its own
 * client.
 */
export async function untilCaughtUp(replica, primary) {
  const offset = async (server, name) => (await server.cli('INFO', 'replication')).match(`\\b${name}:(\\d+)`)[1]
  const written = await offset(primary, 'master_repl_offset')
  await until(async () => Number(await offset(replica, 'slave_repl_offset')) >= Number(written))
}

const SLOTS = 16384

async function startNode() {
  const bus = String(await freePort())
  const options = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--cluster-port', bus]
  // a cluster lists a replica once it has a byte of its master's writes, such as a ping
  return Object.assign(await startRedis(...options, '--repl-ping-replica-period', '1'), { bus })
}

const meet = (node, other) => node.cli('CLUSTER', 'MEET', '127.0.0.1', String(other.port), other.bus)

/** Three masters that share the slots of one cluster. */
export async function startCluster() {
  const nodes = await Promise.all([startNode(), startNode(), startNode()])
  const share = Math.ceil(SLOTS / nodes.length)
  await Promise.all(
    nodes.map(async (node, i) => {
      const last = Math.min((i + 1) * share, SLOTS) - 1
      await node.cli('CLUSTER', 'ADDSLOTSRANGE', String(i * share), String(last))
      await node.cli('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1))
    }),
  )
  for (const node of nodes.slice(1)) await meet(node, nodes[0])
  for (const node of nodes) {
    await until(async () => {
      const info = await node.cli('CLUSTER', 'INFO')
      return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')
    })
  }
  return nodes
}

/** A replica of one master of a cluster, which all masters list. */
export async function startClusterReplica(nodes, master) {
  const replica = await startNode()
  await meet(replica, master)
  const id = await master.cli('CLUSTER', 'MYID')
  await until(async () => (await replica.cli('CLUSTER', 'NODES')).includes(id))
  await until(async () => (await replica.cli('CLUSTER', 'REPLICATE', id)) === 'OK')
  await untilLinked(replica)
  await untilCounted(replica, master)
  for (const node of nodes) await until(async () => (await node.cli('CLUSTER', 'SLOTS')).includes(String(replica.port)))
  return replica
}

/**
 * A server with its settings in a file: a Sentinel rewrites its own and those of servers, and does not start without
 * one.
 */
async function startFromFile(name, mode, { port, lines, machine }) {
  const folder = await freshFolder(name)
  const config = join(folder, `${name}.conf`)
  const own = [
    `port ${port}`,
    `bind ${[...new Set([HERE.host, machine.host])].join(' ')}`,
    'protected-mode no',
    `dir ${folder}`,
  ]
  await writeFile(config, `${[...own, ...lines].join('\n')}\n`)
  return launch(folder, port, [config, ...mode], machine)
}

/** A server on a machine, with lines of redis.conf. A restart keeps the role that it got meanwhile. */
export const startRedisOn = (machine, port, lines) => startFromFile('redis', [], { port, lines, machine })

/** A Sentinel on a machine, with lines of sentinel.conf. */
export const startSentinelOn = (machine, port, lines) =>
  startFromFile('sentinel', ['--sentinel'], { port, lines, machine })

/** A sentinel that watches `primary` under that name. */
export async function startSentinel(primary) {
  return startSentinelOn(HERE, await freePort(), [`sentinel monitor primary 127.0.0.1 ${primary.port} 1`])
}
