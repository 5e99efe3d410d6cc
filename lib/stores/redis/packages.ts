// How ioredis, its fork iovalkey, node-redis and Valkey GLIDE are called: each runs scripts and plain commands in its own
// way. The user's own client is not connected, configured or ended here.

import type { EventEmitter } from 'node:events'
import { clientError } from '../../base/errors.ts'
import { type ClientError, hasMethods } from '../clients.ts'

const { once } = process.getBuiltinModule('node:events')

/**
 * Runs a script, given as its SHA-1 or its text, unless `isOver` once there is a connection. (ioredis sends queued commands
 * in any case.)
 */
export type RunScript = (script: string, keys: string[], args: string[], isOver: () => boolean) => Promise<unknown>

/**
 * A client's commands, and what it shows of its server.
 *
 * - `command()` sends a command without keys to the server that has this key, on the connection that scripts for it use.
 * - `database`: the number of its database, '' if only one exists; undefined if the client does not show it.
 * - `configured`: the number it was created with, for a server that does not show it either.
 * - `address`: the address of its server, in readable form; undefined if the client does not show it.
 * - `connection()`: the present connection; undefined if there is none. Only if the client forgets its unanswered commands with
 *   the connection, without an error: others send them again, or let them fail.
 */
export type Commands = {
  evalSha: RunScript
  evaluate: RunScript
  command: (key: string, args: string[]) => Promise<unknown>
  database: string | undefined
  configured?: string
  address: string | undefined
  connection?: () => unknown
}

/**
 * The part of each client that we use: its events, which GLIDE lacks. `isOpen`: whether connect() was called, and `isReady`:
 * whether there is a connection, if the package shows it.
 */
export type Client = {
  on?(event: string, listener: (error: ClientError) => void): unknown
  readonly isOpen?: boolean
  readonly isReady?: boolean
  /** of ioredis and iovalkey */
  readonly status?: string
}

/**
 * The part of ioredis or iovalkey that we use: Redis (also with Sentinel) or Cluster. `condition`: of the present connection,
 * which `select()` changes; `options`: the user's settings.
 */
export interface Ioredis extends Client {
  condition?: { select?: number } | null
  options?: IoredisOptions
  stream?: unknown
  evalsha: (sha: string, keys: number, ...texts: string[]) => Promise<unknown>
  eval: (text: string, keys: number, ...texts: string[]) => Promise<unknown>
  call: (name: string, ...args: string[]) => Promise<unknown>
  pipeline: (commands: string[][]) => { exec(): Promise<[Error | null, unknown][] | null> }
  on: (event: string, listener: (error: ClientError) => void) => unknown
}

type IoredisOptions = {
  db?: number
  keyPrefix?: string
  host?: string
  port?: number
  path?: string
  name?: string
  sentinels?: unknown[]
  autoResendUnfulfilledCommands?: boolean
}

/** The part of node-redis that we use: client, sentinel or pool. */
interface NodeRedisCommands {
  evalSha: (sha: string, options: { keys: string[]; arguments: string[] }) => Promise<unknown>
  eval: (text: string, options: { keys: string[]; arguments: string[] }) => Promise<unknown>
  sendCommand: (args: string[]) => Promise<unknown>
}

export type NodeRedis = Client &
  EventEmitter &
  NodeRedisCommands & {
    readonly _keyPrefix?: unknown
    readonly options?: { database?: number; socket?: { host?: string; port?: number; path?: string } }
  }

/** The further methods of node-redis' sentinel. */
type Sentinel = { sendCommand(isReadonly: boolean, args: string[]): Promise<unknown> }

/** The further methods of node-redis' cluster. */
export type Cluster = {
  sendCommand(key: string, isReadonly: boolean, args: string[]): Promise<unknown>
  multi(key: string): ClusterBatch
  readonly masters?: Array<{ host?: string; port?: number }>
}

type ClusterBatch = {
  addCommand(key: string, isReadonly: boolean, args: string[], transformReply?: undefined): ClusterBatch
  execAsPipeline(): Promise<unknown[]>
}

/** A connection of a node-redis pool. */
type PoolMember = NodeRedisCommands & { destroy(): void; connect(): Promise<unknown> }

export type Pool = { execute(task: (client: PoolMember) => Promise<unknown>): Promise<unknown> }

/** The part of Valkey GLIDE that we use: GlideClient or GlideClusterClient. */
interface Glide extends Client {
  customCommand: (args: string[], options: object) => Promise<unknown>
}

const isGlide = (client: unknown): client is Glide => hasMethods(client, 'customCommand', 'invokeScript')

/** The packages collect commands for MULTI or a pipeline in an object with the same methods but without a connection. */
export const isBatch = (client: unknown) =>
  !isGlide(client) &&
  (hasMethods(client, 'customCommand') || (hasMethods(client, 'exec') && !hasMethods(client, 'connect')))

const isIoredis = (client: unknown): client is Ioredis => hasMethods(client, 'evalsha', 'defineCommand', 'on')

const isIoredisCluster = (client: Ioredis): client is Ioredis & { nodes(): Ioredis[] } => hasMethods(client, 'nodes')

const isNodeRedis = (client: unknown): client is NodeRedis => hasMethods(client, 'evalSha', 'connect', 'on')

const isCluster = (client: NodeRedis): client is NodeRedis & Cluster => hasMethods(client, 'getSlotRandomNode')

const isPool = (client: NodeRedis): client is NodeRedis & Pool => hasMethods(client, 'execute')

const isSentinel = (client: NodeRedis): client is NodeRedis & Sentinel => hasMethods(client, 'getSentinelNode')

/** node-redis before 4, which requires callbacks. */
export const isOldNodeRedis = (client: unknown) => hasMethods(client, 'internal_send_command')

/** What GLIDE makes of an entry of a map. */
type GlideEntry = { key: unknown; value: unknown }

const isGlideEntry = (each: unknown): each is GlideEntry => typeof each === 'object' && each !== null && 'key' in each

/**
 * The texts of a reply in their order: it is a list, a Map, an object or a list of entries, by the client, its version and
 * protocol.
 */
export function textsIn(reply: unknown): string[] {
  const entries: unknown[] = Array.isArray(reply) || reply instanceof Map ? [...reply] : Object.entries(Object(reply))
  return entries.flatMap((each) => (isGlideEntry(each) ? [each.key, each.value] : each)).map(String)
}

/** Refuses a prefix, which would silently lead to other keys than those of the other members. */
function checkPrefix(client: Client, prefix: unknown) {
  if (!prefix?.toString()) return
  throw clientError(
    client,
    `With its keyPrefix '${prefix}' the keys would belong to another group. Use a client without keyPrefix.`,
  )
}

const hostAndPort = ({ host, port, path }: { host?: string; port?: number; path?: string }) =>
  path ?? `${host ?? 'localhost'}:${port ?? 6379}`

/** A cluster, by the servers that its client knows at present. */
const clusterOf = (servers: Array<{ host?: string; port?: number }>) =>
  servers.length === 0 ? 'a cluster' : `the cluster of ${servers.map(hostAndPort).join(',')}`

const addressOfIoredis = (options: IoredisOptions) =>
  options.sentinels ? `the primary '${options.name}' of Sentinel` : hostAndPort(options)

/** The commands of a pipeline go to the server that has the keys of its scripts. */
const onIoredisCluster =
  (client: Ioredis): Commands['command'] =>
  async (key, args) => {
    const pipeline = client.pipeline([
      ['eval', 'return 0', '1', key],
      ['call', ...args],
    ])
    const [error, reply] = (await pipeline.exec())?.[1] ?? []
    if (error) throw error
    return reply
  }

export function ofIoredis(client: Ioredis): Commands {
  const { condition, options = {} } = client
  checkPrefix(client, options.keyPrefix)
  if (Number.isNaN(options.db)) throw clientError(client, 'Its db is NaN. Use a client whose db is a number.')
  const scripts = {
    evalSha: (sha: string, keys: string[], args: string[]) => client.evalsha(sha, keys.length, ...keys, ...args),
    evaluate: (text: string, keys: string[], args: string[]) => client.eval(text, keys.length, ...keys, ...args),
  }
  if (isIoredisCluster(client)) {
    return {
      ...scripts,
      command: onIoredisCluster(client),
      database: '',
      get address() {
        return clusterOf(client.nodes().map(({ options = {} }) => options))
      },
    }
  }
  return {
    ...scripts,
    command: (_, [name, ...args]) => client.call(name, ...args),
    database: String(condition?.select ?? options.db ?? 0),
    address: addressOfIoredis(options),
    ...(options.autoResendUnfulfilledCommands === false && {
      connection: () => (client.status === 'ready' ? client.stream : undefined),
    }),
  }
}

/** node-redis 4 sends a cluster's eval() to any node and gives up after 16 redirections, so it gets the key separately. */
const onCluster =
  (client: Cluster, command: string): RunScript =>
  (script, keys, args) =>
    client.sendCommand(keys[0], false, [command, script, String(keys.length), ...keys, ...args])

/** In node-redis 4 this takes no `isReadonly`. */
const ADD_COMMAND_LENGTH = 4

/**
 * node-redis 6 sends CONFIG GET to any node, a replica too, and WAIT to all masters, whatever key they come with. A pipeline
 * goes to the master of its key. node-redis 4 has other pipelines, and obeys the key.
 */
const onKeysMaster =
  (client: Cluster): Commands['command'] =>
  async (key, args) => {
    const pipeline = client.multi(key)
    if (pipeline.addCommand.length < ADD_COMMAND_LENGTH) return client.sendCommand(key, false, args)
    try {
      return (await pipeline.addCommand(key, false, args).execAsPipeline())[0]
    } catch (error) {
      throw (error as { replies?: unknown[] }).replies?.[0] ?? error
    }
  }

/** The answer of a server that is not the primary, to our scripts and to any write. */
export const isOfReplica = (error: unknown) => (error as Error | undefined)?.message?.startsWith('READONLY') === true

const connecting: WeakMap<NodeRedis, Promise<unknown>> = new WeakMap()

/**
 * Waits while a client has no connection, and fails as its next attempt does. node-redis would keep a command until there is
 * a connection: the reason would be lost, and a swap might be sent long after its step.
 */
function connected(client: NodeRedis) {
  if (client.isReady !== false || !client.isOpen) return
  const known = connecting.get(client)
  if (known !== undefined) return known
  const ready = once(client, 'ready').finally(() => connecting.delete(client))
  connecting.set(client, ready)
  return ready
}

/** Runs a command on a client that has a connection. */
const onClient =
  (client: NodeRedis): ((command: (client: NodeRedisCommands) => Promise<unknown>) => Promise<unknown>) =>
  async (command) => {
    await connected(client)
    return command(client)
  }

/**
 * Runs a command on a connection of a pool. The pool takes it back in any case, so a connection to a replica is reconnected:
 * it may then find the primary.
 */
const onPool =
  (pool: Pool): ((command: (client: NodeRedisCommands) => Promise<unknown>) => Promise<unknown>) =>
  (command) =>
    pool.execute(async (member) => {
      try {
        return await command(member)
      } catch (error) {
        if (isOfReplica(error)) {
          member.destroy()
          member.connect().catch(() => {}) // the pool emits the failure
        }
        throw error
      }
    })

export function ofNodeRedis(client: NodeRedis): Commands {
  checkPrefix(client, client._keyPrefix)
  if (isCluster(client)) {
    return {
      evalSha: onCluster(client, 'EVALSHA'),
      evaluate: onCluster(client, 'EVAL'),
      command: onKeysMaster(client),
      database: '',
      get address() {
        return clusterOf(client.masters ?? [])
      },
    }
  }
  const onConnection = isPool(client) ? onPool(client) : onClient(client)
  const run = (isOver: () => boolean, command: (each: NodeRedisCommands) => Promise<unknown>) =>
    onConnection(async (each) => {
      if (isOver()) throw new Error('the call was given up')
      return command(each)
    })
  return {
    evalSha: (sha, keys, args, isOver) => run(isOver, (each) => each.evalSha(sha, { keys, arguments: args })),
    evaluate: (text, keys, args, isOver) => run(isOver, (each) => each.eval(text, { keys, arguments: args })),
    command: (_, args) =>
      isSentinel(client) ? client.sendCommand(false, args) : onConnection((each) => each.sendCommand(args)),
    database: undefined, // it hides changes by select()
    configured: client.options === undefined ? '' : String(client.options.database ?? 0),
    address: client.options?.socket && hostAndPort(client.options.socket),
  }
}

/** Its Decoder.String: a client may be set to answer with Buffers. */
const AS_TEXT = { decoder: 1 }

/** GLIDE's names for servers' error codes: only these matter to us. */
const SAID: Record<string, string> = {
  NoScriptError: 'NOSCRIPT',
  PermissionDenied: 'NOPERM',
  ReadOnly: 'READONLY',
  ResponseError: 'ERR',
}

/** A server's error in its original form: GLIDE reports `An error was signalled by the server: - NoScriptError: …`. */
function asServerSaid(error: Error) {
  const [, code, text] = /^(?:An error was signalled by the server: - )?(\w+): (.*)/s.exec(error.message) ?? []
  return code === undefined ? error : new Error(`${SAID[code] ?? code} ${text}`, { cause: error })
}

/** It routes a script by its key, and sends none to a replica. */
function ofGlide(client: Glide): Commands {
  const send = (reply: Promise<unknown>) =>
    reply.catch((error) => {
      throw asServerSaid(error)
    })
  const runBy =
    (command: string): RunScript =>
    (script, keys, args) =>
      send(client.customCommand([command, script, String(keys.length), ...keys, ...args], AS_TEXT))
  return {
    evalSha: runBy('EVALSHA'),
    evaluate: runBy('EVAL'),
    command: (key, args) => send(client.customCommand(args, { ...AS_TEXT, route: { type: 'primarySlotKey', key } })), // a route only in a cluster
    database: undefined,
    address: undefined,
  }
}

/** The user's client with its commands; undefined if it is of no known package. */
export function packageOf(client: unknown): { client: Client; commands: Commands } | undefined {
  if (isIoredis(client)) return { client, commands: ofIoredis(client) }
  if (isNodeRedis(client)) return { client, commands: ofNodeRedis(client) }
  if (isGlide(client)) return { client, commands: ofGlide(client) }
}
