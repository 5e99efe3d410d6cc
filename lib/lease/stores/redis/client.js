'use strict'

// The two Redis clients of Node, ioredis and node-redis, as one: `run(script, keys, args)` returns the script's reply
// as texts, and `setting(name)` a setting of the server, within a time limit. Clients are recognised by what they can do, since several versions may be installed.
// It must never connect, configure or end a client that the user made.

const { clientError, optionTypeError, storeError } = require('../../../base/errors')
const { inTime } = require('../../../base/in-time.js')
const { monotonicNow } = require('../../../base/timers.js')
const { oldClientError } = require('../versions')
const { databaseOf, isRefusedSelect } = require('./database')

/** How long a step may take. Both clients queue commands while they reconnect, by default forever. */
const ANSWER_MS = 5000

const WANTED = 'an ioredis or node-redis client'
const BUSY = 'It is in MULTI, a pipeline or subscriber mode. Use a duplicate() of it, which may run scripts.'

// Both clients collect commands for MULTI or a pipeline in an object that has the same methods but no connection of its
// own.
const isBatch = (client) => typeof client?.exec === 'function' && typeof client.connect !== 'function'
// Redis (also with Sentinel) and Cluster of ioredis.
const isIoredis = (client) =>
  ['evalsha', 'defineCommand', 'on'].every((method) => typeof client?.[method] === 'function')
// node-redis: client, cluster, sentinel and pool.
const isNodeRedis = (client) => ['evalSha', 'connect', 'on'].every((method) => typeof client?.[method] === 'function')

// node-redis before 4, which wants callbacks.
const isOldNodeRedis = (client) => typeof client?.internal_send_command === 'function'

/** The last connection error of each client that is watched, and when it was. */
const connectionErrors = new WeakMap()

/**
 * Remembers why a client has no connection, for a step's `cause`: clients report that only in events. The listener also
 * keeps a process alive when the store is down and the user has no listener of their own: IDs can be made until the
 * window ends.
 */
function watch(client) {
  if (connectionErrors.has(client)) return
  connectionErrors.set(client, undefined)
  client.on('error', (error) => connectionErrors.set(client, { error, at: monotonicNow() }))
}

/**
 * Refuses options that would silently lead to other keys than those of the other members, or crash the process at the
 * first command.
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

function ioredisCalls(client) {
  checkOptions(client)
  const database = databaseOf(client)
  return {
    evalSha: (sha, keys, args) => database.run(() => client.evalsha(sha, keys.length, ...keys, ...args)),
    evaluate: (source, keys, args) => database.run(() => client.eval(source, keys.length, ...keys, ...args)),
    setting: (name) => client.config('GET', name),
  }
}

// node-redis 4 sends a cluster's eval() to any node and gives up after 16 redirections: so the key is passed separately
// there.
const clusterCall = (client, command) => (text, keys, args) =>
  client.sendCommand(keys[0], false, [command, text, String(keys.length), ...keys, ...args])

function nodeRedisCalls(client) {
  const setting = (name) => client.configGet(name)
  if (typeof client.getSlotRandomNode === 'function') {
    return { evalSha: clusterCall(client, 'EVALSHA'), evaluate: clusterCall(client, 'EVAL'), setting }
  }
  return {
    evalSha: (sha, keys, args) => client.evalSha(sha, { keys, arguments: args }),
    evaluate: (source, keys, args) => client.eval(source, { keys, arguments: args }),
    setting,
  }
}

/** A server that refuses a command answers with one of these: by its ACL, or because its provider took it away. */
const isForbidden = (error) => /^(NOPERM|ERR) /.test(error?.message)

/** The reply of CONFIG GET for one name: a list, a Map or an object, by the client's version and protocol. */
function settingOf(reply, name) {
  const entries = Array.isArray(reply) || reply instanceof Map ? [...reply] : Object.entries(reply)
  const texts = entries.flat().map(String)
  return texts[0] === name ? texts[1] : undefined
}

/** Runs scripts on a client. If it is our own, `close` ends it, and `onFailure` may give up its connection. */
class ScriptRunner {
  #client
  #calls
  #onFailure

  constructor(client, calls, { close = () => {}, onFailure = () => {} } = {}) {
    this.#client = client
    this.#calls = calls
    this.#onFailure = onFailure
    this.close = close
    watch(client)
  }

  /** The reply's texts; null stays null. */
  async run(script, keys, args) {
    const reply = await this.#inTime(() => this.#evaluate(script, keys, args.map(String)))
    // Inside MULTI the reply is QUEUED, and a client with callbacks returns nothing.
    if (!Array.isArray(reply)) throw clientError(this.#client, BUSY)
    return reply.map((value) => (value === null ? null : String(value)))
  }

  /** A setting of the server; undefined if the server does not show it. For a single server, not for a cluster. */
  async setting(name) {
    const reply = await this.#inTime(() =>
      this.#calls.setting(name).catch((error) => {
        if (!isForbidden(error)) throw error
        return []
      }),
    )
    return settingOf(reply, name)
  }

  async #inTime(call) {
    const start = monotonicNow()
    try {
      return await inTime(call(), ANSWER_MS)
    } catch (error) {
      const failure = this.#failure(error, start) // at once: it checks the client's present state
      this.#onFailure(error)
      throw failure
    }
  }

  /** The server keeps scripts by their hash, and forgets them at a restart or SCRIPT FLUSH. */
  async #evaluate({ sha, source }, keys, args) {
    try {
      return await this.#calls.evalSha(sha, keys, args)
    } catch (error) {
      if (!error?.message?.startsWith('NOSCRIPT')) throw error
      return this.#calls.evaluate(source, keys, args)
    }
  }

  #failure(error, start) {
    if (/subscriber mode|allowed in this context/i.test(error.message)) {
      return clientError(this.#client, BUSY)
    }
    if (isRefusedSelect(error)) {
      const why = `Redis refused database ${error.command.args?.[0]}, and in another one this member would be alone`
      return storeError(`${why}. Name one that exists, with an ACL that has +select (${error.message}).`, error)
    }
    if (this.#client.isOpen === false) {
      return storeError('The Redis client is closed or was never connected. Await client.connect() first.', error)
    }
    const seen = connectionErrors.get(this.#client)
    const cause = seen !== undefined && seen.at >= start ? seen.error : error
    return storeError(`Redis: ${error.message}${cause === error ? '' : ` (${cause.message || cause.code})`}`, cause)
  }
}

/** The user's client, ready to run scripts. */
function redisClient(client) {
  if (isOldNodeRedis(client)) throw oldClientError(client, 'redis')
  if (isBatch(client)) throw clientError(client, BUSY)
  if (isIoredis(client)) return new ScriptRunner(client, ioredisCalls(client))
  if (isNodeRedis(client)) return new ScriptRunner(client, nodeRedisCalls(client))
  throw optionTypeError('client', client, WANTED)
}

module.exports = { ANSWER_MS, ScriptRunner, ioredisCalls, nodeRedisCalls, redisClient }
