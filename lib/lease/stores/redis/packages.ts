// How ioredis, its fork iovalkey, node-redis and Valkey GLIDE are called: each gives the same three commands, in its own way. It must never connect,
// configure or end a client.

import type { EventEmitter } from 'node:events'
import { clientError } from '../../../base/errors.ts'
import { type ClientError, hasMethods } from '../clients.ts'
import { databaseOf, type Selecting } from './database.ts'

const { once } = process.getBuiltinModule('node:events')

/**
 * Runs a script, which is its SHA-1 or its text, unless nobody waits for it any more once there is a connection. (What
 * ioredis keeps for later it sends in any case.)
 */
export type RunScript = (script: string, keys: string[], args: string[], isOver: () => boolean) => Promise<unknown>

/** The commands of a client. */
export type Commands = { evalSha: RunScript; evaluate: RunScript; setting: (name: string) => Promise<unknown> }

/**
 * What we need of each: its events, which GLIDE has not. `isOpen`: whether connect() was called, and `isReady`: whether there is a connection,
 * if the package tells.
 */
export type Client = {
  on?(event: string, listener: (error: ClientError) => void): unknown
  readonly isOpen?: boolean
  readonly isReady?: boolean
}

/** What we need of ioredis or iovalkey: Redis (also with Sentinel) or Cluster. */
interface IoredisCommands {
  evalsha: (sha: string, keys: number, ...texts: string[]) => Promise<unknown>
  eval: (text: string, keys: number, ...texts: string[]) => Promise<unknown>
  config: (verb: 'GET', name: string) => Promise<unknown>
}

export type Ioredis = Client & Selecting & IoredisCommands

/** What we need of node-redis: client, sentinel or pool. */
interface NodeRedisCommands {
  evalSha: (sha: string, options: { keys: string[]; arguments: string[] }) => Promise<unknown>
  eval: (text: string, options: { keys: string[]; arguments: string[] }) => Promise<unknown>
  configGet: (name: string) => Promise<unknown>
}

export type NodeRedis = Client & EventEmitter & NodeRedisCommands

/** What we need of node-redis' cluster beside that. */
export type Cluster = { sendCommand(key: string, isReadonly: boolean, args: string[]): Promise<unknown> }

/** What we need of a pool of node-redis: one of its connections. */
type PoolMember = NodeRedisCommands & { destroy(): void; connect(): Promise<unknown> }

export type Pool = { execute(task: (client: PoolMember) => Promise<unknown>): Promise<unknown> }

/** What we need of Valkey GLIDE: GlideClient or GlideClusterClient. */
interface Glide extends Client {
  customCommand: (args: string[], options: object) => Promise<unknown>
  configGet: (names: string[], options: object) => Promise<unknown>
}

const isGlide = (client: unknown): client is Glide => hasMethods(client, 'customCommand', 'invokeScript')

/**
 * The packages collect commands for MULTI or a pipeline in an object that has the same methods but no connection of its
 * own.
 */
export const isBatch = (client: unknown) =>
  !isGlide(client) &&
  (hasMethods(client, 'customCommand') || (hasMethods(client, 'exec') && !hasMethods(client, 'connect')))

const isIoredis = (client: unknown): client is Ioredis => hasMethods(client, 'evalsha', 'defineCommand', 'on')

const isNodeRedis = (client: unknown): client is NodeRedis => hasMethods(client, 'evalSha', 'connect', 'on')

const isCluster = (client: NodeRedis): client is NodeRedis & Cluster => hasMethods(client, 'getSlotRandomNode')

const isPool = (client: NodeRedis): client is NodeRedis & Pool => hasMethods(client, 'execute')

/** node-redis before 4, which wants callbacks. */
export const isOldNodeRedis = (client: unknown) => hasMethods(client, 'internal_send_command')

/**
 * Refuses options that would silently lead to other keys than those of the other members, or crash the process at the
 * first command.
 */
function checkOptions(client: Ioredis) {
  const { keyPrefix, db } = client.options ?? {}
  if (keyPrefix) {
    throw clientError(
      client,
      `With its keyPrefix '${keyPrefix}' the keys would belong to another group. Use a client without keyPrefix.`,
    )
  }
  if (Number.isNaN(db)) throw clientError(client, 'Its db is NaN. Use a client whose db is a number.')
}

export function ofIoredis(client: Ioredis): Commands {
  checkOptions(client)
  const database = databaseOf(client)
  return {
    evalSha: (sha, keys, args) => database.run(() => client.evalsha(sha, keys.length, ...keys, ...args)),
    evaluate: (text, keys, args) => database.run(() => client.eval(text, keys.length, ...keys, ...args)),
    setting: (name) => client.config('GET', name),
  }
}

/**
 * node-redis 4 sends a cluster's eval() to any node and gives up after 16 redirections: so the key is passed separately
 * there.
 */
const onCluster =
  (client: Cluster, command: string): RunScript =>
  (script, keys, args) =>
    client.sendCommand(keys[0], false, [command, script, String(keys.length), ...keys, ...args])

/** So answers a server that is no primary, to our scripts and to any write. */
export const isOfReplica = (error: unknown) => (error as Error | undefined)?.message?.startsWith('READONLY') === true

const connecting: WeakMap<NodeRedis, Promise<unknown>> = new WeakMap()

/**
 * Waits while a client has no connection, and fails as its next attempt does. node-redis would keep a command until there
 * is a connection: nobody would hear why there is none, and a swap might be sent long after its step.
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
 * Runs a command on a connection of a pool. The pool takes it back whatever happened, so one that leads to a replica is
 * made anew: it may find the primary.
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
          member.connect().catch(() => {}) // the pool emits why it failed
        }
        throw error
      }
    })

export function ofNodeRedis(client: NodeRedis): Commands {
  const setting = (name: string) => client.configGet(name)
  if (isCluster(client)) {
    return { evalSha: onCluster(client, 'EVALSHA'), evaluate: onCluster(client, 'EVAL'), setting }
  }
  const onConnection = isPool(client) ? onPool(client) : onClient(client)
  const run = (isOver: () => boolean, command: (each: NodeRedisCommands) => Promise<unknown>) =>
    onConnection(async (each) => {
      if (isOver()) throw new Error('the step was given up')
      return command(each)
    })
  return {
    evalSha: (sha, keys, args, isOver) => run(isOver, (each) => each.evalSha(sha, { keys, arguments: args })),
    evaluate: (text, keys, args, isOver) => run(isOver, (each) => each.eval(text, { keys, arguments: args })),
    setting,
  }
}

/** Its Decoder.String: a client may be set to answer with Buffers. */
const AS_TEXT = { decoder: 1 }

/** GLIDE's words for what servers say in one: only these matter to us. */
const SAID: Record<string, string> = {
  NoScriptError: 'NOSCRIPT',
  PermissionDenied: 'NOPERM',
  ReadOnly: 'READONLY',
  ResponseError: 'ERR',
}

/** An error of the server in the server's own words: GLIDE says `An error was signalled by the server: - NoScriptError: …`. */
function asServerSaid(error: Error) {
  const [, code, text] = /^(?:An error was signalled by the server: - )?(\w+): (.*)/s.exec(error.message) ?? []
  return code === undefined ? error : new Error(`${SAID[code] ?? code} ${text}`, { cause: error })
}

/** It places a script by its key, and sends none to a replica. */
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
    setting: (name) => send(client.configGet([name], AS_TEXT)),
  }
}

/** The user's client with its commands; undefined if it is no package's. */
export function packageOf(client: unknown): { client: Client; commands: Commands } | undefined {
  if (isIoredis(client)) return { client, commands: ofIoredis(client) }
  if (isNodeRedis(client)) return { client, commands: ofNodeRedis(client) }
  if (isGlide(client)) return { client, commands: ofGlide(client) }
}
