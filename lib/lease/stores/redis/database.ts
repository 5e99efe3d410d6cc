// Checks that an ioredis client is in the database that it was made for. If the server refuses SELECT, ioredis only
// emits an 'error' event and continues in database 0, where the other members are not.
// It must never accept an answer that may come from another database.

/** A command that the server refused, as ioredis says it. */
type CommandError = Error & { command: { name: string; args?: unknown[] } }

/**
 * What we need of ioredis to know its database. `status`: how its connection is. `condition`: of the connection that
 * there is; `options`: what the user asked for.
 */
export interface Selecting {
  status: string
  condition?: { select?: number } | null
  options?: { db?: number; keyPrefix?: string }
  select: (number: number) => Promise<unknown>
  on: (event: string, listener: (error: Error) => void) => unknown
}

/** In these states the connection is still to come: we will get its 'connect' and 'error' events. */
const YET_TO_CONNECT = new Set(['wait', 'connecting', 'reconnecting', 'close', 'end'])

export function isRefusedSelect(error: unknown): error is CommandError {
  const { command, name } = (error ?? {}) as Partial<CommandError>
  return command?.name === 'select' && name === 'ReplyError'
}

class Database {
  #client
  #refusal: CommandError | undefined
  #isHeard // whether we have seen how the connection's own SELECT ended

  constructor(client: Selecting) {
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
  async run<Reply>(call: () => Promise<Reply>) {
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

const databases: WeakMap<Selecting, Database> = new WeakMap()

/** One for each client, however many stores use it. */
export function databaseOf(client: Selecting) {
  const known = databases.get(client) ?? new Database(client)
  databases.set(client, known)
  return known
}
