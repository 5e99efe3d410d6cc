'use strict'
// @ts-check

// The two Redis clients of Node, ioredis and node-redis, as one: `run(script, keys, args)` returns the script's reply
// as texts, and `setting(name)` a setting of the server, within a time limit. It must never connect, configure or end a
// client that the user made.

const { clientError, optionTypeError, storeError } = require('../../../base/errors.js')
const { inTime } = require('../../../base/in-time.js')
const { monotonicNow } = require('../../../base/timers.js')
const { oldClientError } = require('../client-packages.js')
const { ANSWER_MS } = require('../limits.js')
const { isRefusedSelect } = require('./database.js')
const { isBatch, isOldNodeRedis, packageOf } = require('./packages.js')

/**
 * @import { ClientError } from '../clients.js'
 * @import { Client, Commands } from './packages.js'
 */

/**
 * A Lua script, and the SHA-1 by which a server knows it.
 * @typedef {{ source: string, sha: string }} Script
 */

const WANTED = 'an ioredis or node-redis client'
const BUSY = 'It is in MULTI, a pipeline or subscriber mode. Use a duplicate() of it, which may run scripts.'

/**
 * The last connection error of each client that is watched, and when it was.
 * @type {WeakMap<Client, { error: ClientError, at: number } | undefined>}
 */
const connectionErrors = new WeakMap()

/**
 * Remembers why a client has no connection, for a step's `cause`: clients report that only in events. The listener also
 * keeps a process alive when the store is down and the user has no listener of their own: IDs can be made until the
 * window ends.
 * @param {Client} client
 */
function watch(client) {
  if (connectionErrors.has(client)) return
  connectionErrors.set(client, undefined)
  client.on('error', (error) => connectionErrors.set(client, { error, at: monotonicNow() }))
}

/**
 * A server that refuses a command answers so: by its ACL, or because its provider took it away.
 * @param {Error | undefined} error
 */
const isForbidden = (error) => /^(NOPERM|ERR) /.test(error?.message ?? '')

/**
 * The reply of CONFIG GET for one name: a list, a Map or an object, by the client's version and protocol.
 * @param {unknown} reply
 * @param {string} name
 * @returns {string | undefined}
 */
function settingOf(reply, name) {
  const entries = Array.isArray(reply) || reply instanceof Map ? [...reply] : Object.entries(Object(reply))
  const texts = entries.flat().map(String)
  return texts[0] === name ? texts[1] : undefined
}

/** Runs scripts on a client. If it is our own, `close` ends it, and `onFailure` may give up its connection. */
class ScriptRunner {
  #client
  #commands
  #onFailure

  /**
   * @param {Client} client
   * @param {Commands} commands
   * @param {{ close?: () => unknown, onFailure?: (error: unknown) => void }} [own]
   */
  constructor(client, commands, { close = () => {}, onFailure = () => {} } = {}) {
    this.#client = client
    this.#commands = commands
    this.#onFailure = onFailure
    this.close = close
    watch(client)
  }

  /**
   * The reply's texts; null stays null.
   * @param {Script} script
   * @param {string[]} keys
   * @param {readonly string[]} args
   * @param {number} [ms] after which it is not sent any more
   */
  async run(script, keys, args, ms) {
    const reply = await this.#inTime((isOver) => this.#evaluate(script, keys, args.map(String), isOver), ms)
    // Inside MULTI the reply is QUEUED, and a client with callbacks returns nothing.
    if (!Array.isArray(reply)) throw clientError(this.#client, BUSY)
    return reply.map((/** @type {unknown} */ value) => (value === null ? null : String(value)))
  }

  /**
   * A setting of the server; undefined if the server does not show it. For a single server, not for a cluster.
   * @param {string} name
   */
  async setting(name) {
    const reply = await this.#inTime(() =>
      this.#commands.setting(name).catch((error) => {
        if (!isForbidden(error)) throw error
        return []
      }),
    )
    return settingOf(reply, name)
  }

  /**
   * @template Result
   * @param {(isOver: () => boolean) => Promise<Result>} call
   * @param {number} [ms]
   */
  async #inTime(call, ms = ANSWER_MS) {
    const start = monotonicNow()
    let isOver = false
    try {
      return await inTime(
        call(() => isOver),
        Math.min(ms, ANSWER_MS),
      )
    } catch (error) {
      const failure = this.#failure(error, start) // at once: it checks the client's present state
      this.#onFailure(error)
      throw failure
    } finally {
      isOver = true
    }
  }

  /**
   * The server keeps scripts by their hash, and forgets them at a restart or SCRIPT FLUSH.
   * @param {Script} script
   * @param {string[]} keys
   * @param {string[]} args
   * @param {() => boolean} isOver
   */
  async #evaluate({ sha, source }, keys, args, isOver) {
    try {
      return await this.#commands.evalSha(sha, keys, args, isOver)
    } catch (error) {
      if (!(/** @type {ClientError | undefined} */ (error)?.message?.startsWith('NOSCRIPT'))) throw error
      return this.#commands.evaluate(source, keys, args, isOver)
    }
  }

  /**
   * What went wrong, and what to do about it.
   * @param {unknown} thrown
   * @param {number} start when the call began
   */
  #failure(thrown, start) {
    const error = /** @type {ClientError} */ (thrown)
    if (/subscriber mode|allowed in this context/i.test(error.message)) {
      return clientError(this.#client, BUSY)
    }
    if (isRefusedSelect(error)) {
      const why = `Redis refused database ${error.command.args?.[0]}, and in another one this member would be alone`
      return storeError(`${why}. Name one that exists, with an ACL that has +select (${error.message}).`, error)
    }
    const seen = connectionErrors.get(this.#client)
    const isGivenUp = error.name === 'MaxRetriesPerRequestError' // by ioredis, which may have seen why before the call
    const reason = seen !== undefined && (isGivenUp || seen.at >= start) ? seen.error : undefined
    if (reason === undefined && this.#client.isOpen === false) {
      return storeError('The Redis client is closed or was never connected. Await client.connect() first.', error)
    }
    const cause = reason ?? error
    const what = isGivenUp ? 'no connection' : error.message
    return storeError(`Redis: ${what}${cause === error ? '' : ` (${cause.message || cause.code})`}`, cause)
  }
}

/**
 * The user's client, ready to run scripts.
 * @param {unknown} given
 */
function redisClient(given) {
  if (isOldNodeRedis(given)) throw oldClientError(given, 'redis')
  if (isBatch(given)) throw clientError(given, BUSY)
  const found = packageOf(given)
  if (found === undefined) throw optionTypeError('client', given, WANTED)
  return new ScriptRunner(found.client, found.commands)
}

module.exports = { ScriptRunner, redisClient }
