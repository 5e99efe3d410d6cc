'use strict'
// @ts-check

// Checks that an ioredis client is in the database that it was made for. If the server refuses SELECT, ioredis only
// emits an 'error' event and continues in database 0, where the other members are not.
// It must never accept an answer that may come from another database.

/**
 * A command that the server refused, as ioredis says it.
 * @typedef {Error & { command: { name: string, args?: unknown[] } }} CommandError
 */

/**
 * What we need of ioredis to know its database. `status`: how its connection is. `condition`: of the connection that
 * there is; `options`: what the user asked for.
 * @typedef {object} Selecting
 * @property {string} status
 * @property {{ select?: number } | null} [condition]
 * @property {{ db?: number, keyPrefix?: string }} [options]
 * @property {(number: number) => Promise<unknown>} select
 * @property {(event: string, listener: (error: Error) => void) => unknown} on
 */

/** In these states the connection is still to come: we will get its 'connect' and 'error' events. */
const YET_TO_CONNECT = new Set(['wait', 'connecting', 'reconnecting', 'close', 'end'])

/**
 * @param {unknown} error
 * @returns {error is CommandError}
 */
function isRefusedSelect(error) {
  const { command, name } = /** @type {Partial<CommandError>} */ (error ?? {})
  return command?.name === 'select' && name === 'ReplyError'
}

class Database {
  #client
  /** @type {CommandError | undefined} */
  #refusal
  #isHeard // whether we have seen how the connection's own SELECT ended

  /** @param {Selecting} client */
  constructor(client) {
    this.#client = client
    this.#isHeard = YET_TO_CONNECT.has(client.status)
    client.on('connect', () => {
      this.#isHeard = true
      this.#refusal = undefined
    })
    client.on('error', (error) => {
      if (isRefusedSelect(error)) this.#refusal = error
    })
  }

  /**
   * The reply of a call in this database; otherwise throws the refusal.
   * @template Reply
   * @param {() => Promise<Reply>} call
   */
  async run(call) {
    await this.#enter()
    this.#verify()
    const reply = await call()
    this.#verify() // ioredis sends a call again on a new connection, whose SELECT may have been refused
    return reply
  }

  /**
   * Asks the server if we missed the connection's own SELECT, because the connection is older than this object or not
   * there yet.
   */
  async #enter() {
    const { condition, options, status } = this.#client
    const number = condition?.select ?? options?.db
    if (!number || (this.#isHeard && status === 'ready')) return
    if (String(await this.#client.select(number)) === 'OK') this.#isHeard = true
  }

  #verify() {
    if (this.#refusal !== undefined) throw this.#refusal
  }
}

/** @type {WeakMap<Selecting, Database>} */
const databases = new WeakMap()

/**
 * One for each client, however many stores use it.
 * @param {Selecting} client
 */
function databaseOf(client) {
  const known = databases.get(client) ?? new Database(client)
  databases.set(client, known)
  return known
}

module.exports = { databaseOf, isRefusedSelect }
