// The Redis and Valkey clients of Node (ioredis, iovalkey, node-redis and Valkey GLIDE) as one: `run(script, keys, args)` returns the script's reply
// as texts, and `setting(name)` a setting of the server, within a time limit. It must never connect, configure or end a
// client that the user made.

import { clientError, optionTypeError, storeError } from '../../../base/errors.ts'
import { inTime } from '../../../base/in-time.ts'
import { monotonicNow } from '../../../base/timers.ts'
import { oldClientError } from '../client-packages.ts'
import type { ClientError } from '../clients.ts'
import { ANSWER_MS } from '../limits.ts'
import { isRefusedSelect } from './database.ts'
import { type Client, type Commands, isBatch, isOldNodeRedis, packageOf } from './packages.ts'

/** A Lua script, and the SHA-1 by which a server knows it. */
type Script = { source: string; sha: string }

const WANTED = 'a client of ioredis, iovalkey, node-redis or @valkey/valkey-glide'
const BUSY = 'It is in MULTI, a pipeline or subscriber mode. Use a duplicate() of it, which may run scripts.'

/** The last connection error of each client that is watched, and when it was. */
const connectionErrors: WeakMap<Client, { error: ClientError; at: number } | undefined> = new WeakMap()

/**
 * Remembers why a client has no connection, for a step's `cause`: clients report that only in events. The listener also
 * keeps a process alive when the store is down and the user has no listener of their own: IDs can be made until the
 * window ends.
 */
function watch(client: Client) {
  if (connectionErrors.has(client)) return
  connectionErrors.set(client, undefined)
  client.on?.('error', (error) => connectionErrors.set(client, { error, at: monotonicNow() }))
}

/** A server that refuses a command answers so: by its ACL, or because its provider took it away. */
const isForbidden = (error: Error | undefined) => /^(NOPERM|ERR) /.test(error?.message ?? '')

/** The reply of CONFIG GET for one name: a list, a Map or an object, by the client's version and protocol. */
function settingOf(reply: unknown, name: string): string | undefined {
  const entries = Array.isArray(reply) || reply instanceof Map ? [...reply] : Object.entries(Object(reply))
  const texts = entries.flat().map(String)
  return texts[0] === name ? texts[1] : undefined
}

/** Runs scripts on a client. If it is our own, `close` ends it, and `onFailure` may give up its connection. */
export class ScriptRunner {
  close

  #client
  #commands
  #onFailure

  constructor(
    client: Client,
    commands: Commands,
    { close = () => {}, onFailure = () => {} }: { close?: () => unknown; onFailure?: (error: unknown) => void } = {},
  ) {
    this.#client = client
    this.#commands = commands
    this.#onFailure = onFailure
    this.close = close
    watch(client)
  }

  /**
   * The reply's texts; null stays null.
   * @param ms after which it is not sent any more
   */
  async run(script: Script, keys: string[], args: readonly string[], ms?: number) {
    const reply = await this.#inTime((isOver) => this.#evaluate(script, keys, args.map(String), isOver), ms)
    // Inside MULTI the reply is QUEUED, and a client with callbacks returns nothing.
    if (!Array.isArray(reply)) throw clientError(this.#client, BUSY)
    return reply.map((value: unknown) => (value === null ? null : String(value)))
  }

  /** A setting of the server; undefined if the server does not show it. For a single server, not for a cluster. */
  async setting(name: string) {
    const reply = await this.#inTime(() =>
      this.#commands.setting(name).catch((error) => {
        if (!isForbidden(error)) throw error
        return []
      }),
    )
    return settingOf(reply, name)
  }

  async #inTime<Result>(call: (isOver: () => boolean) => Promise<Result>, ms: number = ANSWER_MS) {
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

  /** The server keeps scripts by their hash, and forgets them at a restart or SCRIPT FLUSH. */
  async #evaluate({ sha, source }: Script, keys: string[], args: string[], isOver: () => boolean) {
    try {
      return await this.#commands.evalSha(sha, keys, args, isOver)
    } catch (error) {
      if (!(error as ClientError | undefined)?.message?.startsWith('NOSCRIPT')) throw error
      return this.#commands.evaluate(source, keys, args, isOver)
    }
  }

  /**
   * What went wrong, and what to do about it.
   * @param start when the call began
   */
  #failure(thrown: unknown, start: number) {
    const error = thrown as ClientError
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

/** The user's client, ready to run scripts. */
export function redisClient(given: unknown) {
  if (isOldNodeRedis(given)) throw oldClientError(given, 'redis')
  if (isBatch(given)) throw clientError(given, BUSY)
  const found = packageOf(given)
  if (found === undefined) throw optionTypeError('client', given, WANTED)
  return new ScriptRunner(found.client, found.commands)
}
