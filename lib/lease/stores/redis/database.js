'use strict'

// Checks that an ioredis client is in the database that it was made for. If the server refuses SELECT, ioredis only
// emits an 'error' event and continues in database 0, where the other members are not.
// It must never accept an answer that may come from another database.

/** In these states the connection is still to come: we will get its 'connect' and 'error' events. */
const YET_TO_CONNECT = new Set(['wait', 'connecting', 'reconnecting', 'close', 'end'])

const isRefusedSelect = (error) => error?.command?.name === 'select' && error.name === 'ReplyError'

class Database {
  #client
  #refusal
  #isHeard

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

  /** The reply of a call in this database; otherwise throws the refusal. */
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

const databases = new WeakMap()

/** One for each client, however many stores use it. */
function databaseOf(client) {
  if (!databases.has(client)) databases.set(client, new Database(client))
  return databases.get(client)
}

module.exports = { databaseOf, isRefusedSelect }
