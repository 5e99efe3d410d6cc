'use strict'

// Whether an ioredis client is in the database that it was made for: where SELECT is refused, ioredis says so in an
// 'error' event and goes on in database 0, where the other members are not.
// It must never let an answer be used that another database may have given.

/** Before these a connection is yet to come: its 'connect' and 'error' events will be heard. */
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

  /** The reply of a call, in this database; else the refusal is thrown. */
  async run(call) {
    await this.#enter()
    this.#verify()
    const reply = await call()
    this.#verify() // ioredis sends a call again on a new connection, whose SELECT may have been refused
    return reply
  }

  /** Asks where nothing was heard of the connection's own SELECT: it is older than this object, or not there yet. */
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

/** One for each client, however many stores are made on it. */
function databaseOf(client) {
  if (!databases.has(client)) databases.set(client, new Database(client))
  return databases.get(client)
}

module.exports = { databaseOf, isRefusedSelect }
