'use strict'
// @ts-check

// How ioredis and node-redis are called: each gives the same three commands, in its own way. It must never connect,
// configure or end a client.

const { once } = require('node:events')
const { clientError } = require('../../../base/errors.js')
const { hasMethods } = require('../clients.js')
const { databaseOf } = require('./database.js')

/**
 * @import { EventEmitter } from 'node:events'
 * @import { ClientError } from '../clients.js'
 * @import { Selecting } from './database.js'
 */

/**
 * Runs a script, which is its SHA-1 or its text, unless nobody waits for it any more once there is a connection. (What
 * ioredis keeps for later it sends in any case.)
 * @typedef {(script: string, keys: string[], args: string[], isOver: () => boolean) => Promise<unknown>} RunScript
 */

/**
 * The commands of a client.
 * @typedef {{ evalSha: RunScript, evaluate: RunScript, setting: (name: string) => Promise<unknown> }} Commands
 */

/**
 * What we need of both: its events. `isOpen`: whether connect() was called, and `isReady`: whether there is a connection,
 * if the package tells.
 * @typedef {{ on(event: string, listener: (error: ClientError) => void): unknown, readonly isOpen?: boolean,
 *   readonly isReady?: boolean }} Client
 */

/**
 * What we need of ioredis: Redis (also with Sentinel) or Cluster.
 * @typedef {object} IoredisCommands
 * @property {(sha: string, keys: number, ...texts: string[]) => Promise<unknown>} evalsha
 * @property {(text: string, keys: number, ...texts: string[]) => Promise<unknown>} eval
 * @property {(verb: 'GET', name: string) => Promise<unknown>} config
 */

/** @typedef {Client & Selecting & IoredisCommands} Ioredis */

/**
 * What we need of node-redis: client, sentinel or pool.
 * @typedef {object} NodeRedisCommands
 * @property {(sha: string, options: { keys: string[], arguments: string[] }) => Promise<unknown>} evalSha
 * @property {(text: string, options: { keys: string[], arguments: string[] }) => Promise<unknown>} eval
 * @property {(name: string) => Promise<unknown>} configGet
 */

/** @typedef {Client & EventEmitter & NodeRedisCommands} NodeRedis */

/**
 * What we need of node-redis' cluster beside that.
 * @typedef {{ sendCommand(key: string, isReadonly: boolean, args: string[]): Promise<unknown> }} Cluster
 */

/**
 * What we need of a pool of node-redis: one of its connections.
 * @typedef {NodeRedisCommands & { destroy(): void, connect(): Promise<unknown> }} PoolMember
 * @typedef {{ execute(task: (client: PoolMember) => Promise<unknown>): Promise<unknown> }} Pool
 */

/**
 * Both packages collect commands for MULTI or a pipeline in an object that has the same methods but no connection of its
 * own.
 * @param {unknown} client
 */
const isBatch = (client) => hasMethods(client, 'exec') && !hasMethods(client, 'connect')

/**
 * @param {unknown} client
 * @returns {client is Ioredis}
 */
const isIoredis = (client) => hasMethods(client, 'evalsha', 'defineCommand', 'on')

/**
 * @param {unknown} client
 * @returns {client is NodeRedis}
 */
const isNodeRedis = (client) => hasMethods(client, 'evalSha', 'connect', 'on')

/**
 * @param {NodeRedis} client
 * @returns {client is NodeRedis & Cluster}
 */
const isCluster = (client) => hasMethods(client, 'getSlotRandomNode')

/**
 * @param {NodeRedis} client
 * @returns {client is NodeRedis & Pool}
 */
const isPool = (client) => hasMethods(client, 'execute')

/**
 * node-redis before 4, which wants callbacks.
 * @param {unknown} client
 */
const isOldNodeRedis = (client) => hasMethods(client, 'internal_send_command')

/**
 * Refuses options that would silently lead to other keys than those of the other members, or crash the process at the
 * first command.
 * @param {Ioredis} client
 */
function checkOptions(client) {
  const { keyPrefix, db } = client.options ?? {}
  if (keyPrefix) {
    throw clientError(
      client,
      `With its keyPrefix '${keyPrefix}' the keys would belong to another group. Use a client without keyPrefix.`,
    )
  }
  if (Number.isNaN(db)) throw clientError(client, 'Its db is NaN. Use a client whose db is a number.')
}

/**
 * @param {Ioredis} client
 * @returns {Commands}
 */
function ofIoredis(client) {
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
 * @param {Cluster} client
 * @param {string} command
 * @returns {RunScript}
 */
const onCluster = (client, command) => (script, keys, args) =>
  client.sendCommand(keys[0], false, [command, script, String(keys.length), ...keys, ...args])

/**
 * So answers a server that is no primary, to our scripts and to any write.
 * @param {unknown} error
 */
const isOfReplica = (error) => /** @type {Error | undefined} */ (error)?.message?.startsWith('READONLY') === true

/** @type {WeakMap<NodeRedis, Promise<unknown>>} */
const connecting = new WeakMap()

/**
 * Waits while a client has no connection, and fails as its next attempt does. node-redis would keep a command until there
 * is a connection: nobody would hear why there is none, and a swap might be sent long after its step.
 * @param {NodeRedis} client
 */
function connected(client) {
  if (client.isReady !== false || !client.isOpen) return
  const known = connecting.get(client)
  if (known !== undefined) return known
  const ready = once(client, 'ready').finally(() => connecting.delete(client))
  connecting.set(client, ready)
  return ready
}

/**
 * Runs a command on a client that has a connection.
 * @param {NodeRedis} client
 * @returns {(command: (client: NodeRedisCommands) => Promise<unknown>) => Promise<unknown>}
 */
const onClient = (client) => async (command) => {
  await connected(client)
  return command(client)
}

/**
 * Runs a command on a connection of a pool. The pool takes it back whatever happened, so one that leads to a replica is
 * made anew: it may find the primary.
 * @param {Pool} pool
 * @returns {(command: (client: NodeRedisCommands) => Promise<unknown>) => Promise<unknown>}
 */
const onPool = (pool) => (command) =>
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

/**
 * @param {NodeRedis} client
 * @returns {Commands}
 */
function ofNodeRedis(client) {
  const setting = (/** @type {string} */ name) => client.configGet(name)
  if (isCluster(client)) {
    return { evalSha: onCluster(client, 'EVALSHA'), evaluate: onCluster(client, 'EVAL'), setting }
  }
  const onConnection = isPool(client) ? onPool(client) : onClient(client)
  /**
   * @param {() => boolean} isOver
   * @param {(each: NodeRedisCommands) => Promise<unknown>} command
   */
  const run = (isOver, command) =>
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

/**
 * The user's client with its commands; undefined if it is neither package's.
 * @param {unknown} client
 * @returns {{ client: Client, commands: Commands } | undefined}
 */
function packageOf(client) {
  if (isIoredis(client)) return { client, commands: ofIoredis(client) }
  if (isNodeRedis(client)) return { client, commands: ofNodeRedis(client) }
}

module.exports = { isBatch, isOfReplica, isOldNodeRedis, ofIoredis, ofNodeRedis, packageOf }
