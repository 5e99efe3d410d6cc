// The Redis and Valkey clients of Node (ioredis, iovalkey, node-redis and Valkey GLIDE) as one: runs scripts in the store's
// database and asks for settings, within a time limit. The user's own client is not connected, configured or ended here.

import {
  clientError,
  FlakeError,
  noClientError,
  passing,
  refusedWriteError,
  said,
  storeError,
} from '../../base/errors.ts'
import { inTime, within } from '../../base/in-time.ts'
import { monotonicNow } from '../../base/timers.ts'
import { oldClientError } from '../client-packages.ts'
import type { ClientError } from '../clients.ts'
import { BUDGET } from '../time-budget.ts'
import { isLate } from './failures.ts'
import { type Client, type Commands, isBatch, isOldNodeRedis, packageOf, textsIn } from './packages.ts'
import { isCrowded, refusalOf } from './refusals.ts'
import { wrongServer } from './wrong-server.ts'

/** A Lua script, and the SHA-1 by which a server knows it. */
export type Script = { source: string; sha: string }

const WANTED = 'a client of ioredis, iovalkey, node-redis or @valkey/valkey-glide'
const BUSY = 'It is in MULTI, a pipeline or subscriber mode. Use a duplicate() of it, which may run scripts.'

/** The last connection error of each watched client since its last answer, and its time. */
const connectionErrors: WeakMap<Client, { error: ClientError; at: number } | undefined> = new WeakMap()

/**
 * Remembers why a client has no connection, for a step's `cause`: clients report that only in events. The listener also keeps
 * a process alive when the store is down and the user has no listener: IDs can be generated until the window ends.
 */
function watch(client: Client) {
  if (connectionErrors.has(client)) return
  connectionErrors.set(client, undefined)
  client.on?.('error', (error) => connectionErrors.set(client, { error, at: monotonicNow() }))
}

/** A call that was given up: the connection that it was sent on, if known, and when. */
type Left = { connection: unknown; at: number }

/**
 * Calls of each client that were given up and may still be answered. Clients keep commands and send them again, so until
 * these have ended nothing else is sent: a hanging server that wakes up gets one command of each caller. A call has ended if
 * its client has forgotten it together with its connection, and at the latest after GIVEN_UP_MS.
 */
class GivenUp extends Map<Promise<unknown>, Left> {
  #pause: Promise<void> | undefined

  /** Resolves when one of them has ended, and soon in any case. All that wait share it. */
  pause() {
    this.#pause ??= within(Promise.race(this.keys()), BUDGET.SHORT_PAUSE_MS)
      .catch(() => {})
      .then(() => {
        this.#pause = undefined
      })
    return this.#pause
  }
}

const givenUp: WeakMap<Client, GivenUp> = new WeakMap()

/** A server's answer when it refuses a command: by its ACL, or because its provider removed it. */
const isForbidden = (error: Error | undefined) => /^(NOPERM|ERR) /.test(error?.message ?? '')

function emptyIfForbidden(error: Error) {
  if (!isForbidden(error)) throw error
  return []
}

/** The reply of CONFIG GET for one name. */
function settingOf(reply: unknown, name: string): string | undefined {
  const texts = textsIn(reply)
  return texts[0] === name ? texts[1] : undefined
}

/** Runs scripts on a client. If it is our own, `close` ends it, and `onFailure` may give up its connection. */
export class ScriptRunner {
  close

  #client
  #commands
  #onFailure
  #database: string | undefined // determined once: see #findDatabase()
  #stuck: GivenUp

  constructor(
    client: Client,
    commands: Commands,
    { close = () => {}, onFailure = () => {} }: { close?: () => unknown; onFailure?: (error: unknown) => void } = {},
  ) {
    this.#client = client
    this.#commands = commands
    this.#database = commands.database
    this.#onFailure = onFailure
    this.#stuck = givenUp.get(client) ?? new GivenUp()
    givenUp.set(client, this.#stuck)
    this.close = close
    watch(client)
  }

  /**
   * The reply's texts; null stays null.
   * @param signal once it has aborted, nothing is sent any more
   */
  async run(script: Script, keys: string[], args: readonly string[], signal?: AbortSignal) {
    const reply = await this.#inTime(async (isOver) => {
      const database = await this.#findDatabase(keys[0])
      return this.#evaluate(script, keys, [database, ...args.map(String)], isOver)
    }, signal)
    return this.#textsOf(reply)
  }

  /**
   * The replies of a script before and after the server asked its replicas for their positions. Commands on one connection
   * are answered in order, so the second reply shows the replicas' answers. Without WAIT they report once per second. WAIT
   * blocks a connection that may be shared, so it is short, and its own answer is not used.
   */
  async runAroundWait(script: Script, keys: string[], replicas: number, signal?: AbortSignal) {
    const replies = await this.#inTime(async (isOver) => {
      const database = await this.#findDatabase(keys[0])
      const before = this.#evaluate(script, keys, [database], isOver)
      this.askReplicas(keys[0], replicas)
      return Promise.all([before, this.#evaluate(script, keys, [database], isOver)])
    }, signal)
    return replies.map((reply) => this.#textsOf(reply))
  }

  /** Sends a short WAIT, whose answer is not used. */
  askReplicas(key: string, replicas: number) {
    this.#commands.command(key, ['WAIT', String(replicas), String(BUDGET.WAIT_MS)]).catch(() => {})
  }

  #textsOf(reply: unknown) {
    // Inside MULTI the reply is QUEUED, and a client with callbacks returns nothing.
    if (!Array.isArray(reply)) throw clientError(this.#client, BUSY)
    return reply.map((value: unknown) => (value === null ? null : String(value)))
  }

  /** A setting of the server that has this key; undefined if the server does not show it. */
  async setting(name: string, key: string = '') {
    return settingOf(await this.#ask(key, ['CONFIG', 'GET', name]), name)
  }

  /** why the client has had no connection since its last answer, if it said why */
  get failure() {
    const seen = connectionErrors.get(this.#client)
    return seen && storeError(`Redis: no connection (${said(seen.error)})`, seen.error)
  }

  /** where the client leads, if it shows that */
  get server() {
    return this.#commands.address
  }

  /** Where the records are, in readable form. */
  async place(key: string) {
    const database = this.#database ?? (await this.#inTime(() => this.#findDatabase(key)))
    return `${this.#commands.address ?? 'the server of its client'}${database === '' ? '' : `, database ${database}`}`
  }

  /**
   * The database of the client when it was first used, so that a later select() changes nothing. If neither the client nor
   * the server shows it, it is the database that the client was created with; '' keeps the connection's.
   */
  async #findDatabase(key: string) {
    if (this.#database !== undefined) return this.#database
    const reply = await this.#commands.command(key, ['CLIENT', 'INFO']).catch(emptyIfForbidden)
    this.#database ??= /\bdb=(\d+)/.exec(String(reply))?.[1] ?? this.#commands.configured ?? ''
    return this.#database
  }

  /** The reply to a command that a server may forbid: then it is empty. */
  #ask(key: string, args: string[]) {
    return this.#inTime(() => this.#commands.command(key, args).catch(emptyIfForbidden))
  }

  async #inTime<Result>(call: (isOver: () => boolean) => Promise<Result>, signal?: AbortSignal) {
    const start = monotonicNow()
    let isOver = false
    let left: Left | undefined
    const send = async () => {
      while (!isOver && this.#isStuck()) await this.#stuck.pause()
      if (isOver) throw new Error('the call was given up')
      left = { connection: this.#commands.connection?.(), at: start }
      return call(() => isOver)
    }
    const sent = send()
    sent.catch(() => {}) // after an abort it fails without a caller
    try {
      const answer = await inTime(sent, BUDGET.ANSWER_MS, signal)
      connectionErrors.set(this.#client, undefined)
      return answer
    } catch (error) {
      if (left !== undefined && ((error as ClientError).code === 'ETIMEDOUT' || signal?.aborted)) this.#keep(sent, left)
      const failure = this.#failure(error, start) // at once: it checks the client's present state
      this.#onFailure(error)
      throw failure
    } finally {
      isOver = true
    }
  }

  /** Blocks later calls until one that was given up has ended. */
  #keep(call: Promise<unknown>, left: Left) {
    const end = () => this.#stuck.delete(call)
    this.#stuck.set(call, left)
    call.then(end, end)
  }

  /** Whether a call that was given up may still be answered. */
  #isStuck() {
    const present = this.#commands.connection?.()
    for (const [call, left] of this.#stuck) {
      left.connection ??= present // it waited for a connection: this one, or one before
      const isLost = present !== undefined && left.connection !== present
      if (isLost || monotonicNow() - left.at > BUDGET.GIVEN_UP_MS) this.#stuck.delete(call)
    }
    return this.#stuck.size > 0
  }

  /** The server caches scripts by their hash, and loses them at a restart or SCRIPT FLUSH. */
  async #evaluate({ sha, source }: Script, keys: string[], args: string[], isOver: () => boolean) {
    try {
      return await this.#commands.evalSha(sha, keys, args, isOver)
    } catch (error) {
      const { message = '' } = error as ClientError
      if (message.startsWith('NOSCRIPT')) return this.#commands.evaluate(source, keys, args, isOver)
      const advice = await wrongServer(this.#commands, keys[0], message)
      throw advice === undefined ? error : clientError(this.#client, advice)
    }
  }

  /**
   * The failure, and the remedy.
   * @param start when the call began
   */
  #failure(thrown: unknown, start: number) {
    const error = thrown as ClientError
    if (error instanceof FlakeError) return error
    if (/subscriber mode|allowed in this context/i.test(error.message)) {
      return clientError(this.#client, BUSY)
    }
    const refusal = refusalOf(error.message)
    if (refusal !== undefined) {
      const refused = refusedWriteError(`Redis: ${said(error).replace(/\.*$/, '.')} ${refusal.wayOut}`, error)
      return refusal.passes ? passing(refused) : refused
    }
    const seen = connectionErrors.get(this.#client)
    const isGivenUp = error.name === 'MaxRetriesPerRequestError' // by ioredis, which may have seen the reason before the call
    const isDown = /^(?:reconnecting|close|end)$/.test(this.#client.status ?? '') // it may pause before it connects again
    const isOfCall = isGivenUp || isDown || isLate(error) // it may have waited for a connection that failed before
    const reason = seen !== undefined && (isOfCall || seen.at >= start) ? seen.error : undefined
    if (reason === undefined && this.#client.isOpen === false) {
      return storeError('The Redis client is closed or was never connected. Await client.connect() first.', error)
    }
    const cause = reason ?? error
    const what = isGivenUp ? 'no connection' : said(error)
    const failure = storeError(`Redis: ${what}${cause === error ? '' : ` (${said(cause)})`}`, cause)
    return isCrowded(cause.message) ? passing(failure) : failure
  }
}

/** The user's client, ready to run scripts. */
export function redisClient(given: unknown) {
  if (isOldNodeRedis(given)) throw oldClientError(given, 'redis')
  if (isBatch(given)) throw clientError(given, BUSY)
  const found = packageOf(given)
  if (found === undefined) throw noClientError(given, WANTED)
  return new ScriptRunner(found.client, found.commands)
}
