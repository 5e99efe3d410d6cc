// Records in PostgreSQL's table flakeforge_record, over the user's own client: one statement reads, and one swaps. Values are
// text without NUL, which the server would refuse.

import { storeError, unusableOptionError, warnOfReplicas } from '../../base/errors.ts'
import { foundFunctions } from '../database-function.ts'
import type { Records, StoreIdentity } from '../records.ts'
import { type StatementRunner, unsureError } from './client.ts'
import type { Values } from './packages.ts'
import { DEFAULT_SCHEMA, type Place } from './schema.ts'
import { missingOf } from './standbys.ts'
import type { Sql } from './statement.ts'
import { FUNCTIONS, PLACE, REPLICAS, STANDBYS, statementsFor } from './statements.ts'

export type Snapshot = Omit<Awaited<ReturnType<Records['read']>>, 'position'>

type Setting = 'fsync' | 'full_page_writes' | 'isLogged'

const IS_UNSAFE = {
  fsync: 'its fsync is off, so a crash of the machine may lose acknowledged writes',
  full_page_writes: 'its full_page_writes is off, so a crash of the machine may leave pages half written',
  isLogged: 'its table flakeforge_record is unlogged, so a crash empties it',
}
const WAYS_OUT = {
  fsync: 'set fsync = on',
  full_page_writes: 'set full_page_writes = on',
  isLogged: 'run ALTER TABLE flakeforge_record SET LOGGED',
}

/**
 * The answer of a read. `table` is its OID. `isFollowed`: whether anything streams this server's log. `standbys`:
 * synchronous_standby_names.
 * `elsewhere`: where the session finds a table of ours, if the place has none.
 */
type Shown = Snapshot & {
  table: string | null
  elsewhere: string | null
  follows: boolean
  isInTransaction: boolean
  position: string | null
  isFollowed: boolean
  standbys: string
}

export class PostgresRecords implements Records {
  #client
  #place
  #texts
  #table: string | undefined // the OID of the table that was found to be one that a store may use
  #warnedOf: string | undefined // synchronous_standby_names when it warned

  constructor(client: StatementRunner, place: Place = { schema: DEFAULT_SCHEMA }) {
    this.#client = client
    this.#place = place
    this.#texts = statementsFor(place)
  }

  async read(group: string, names: readonly string[], signal?: AbortSignal) {
    for (;;) {
      const answer = await this.#read(group, names, signal)
      if (answer !== undefined) return this.#checked(answer)
      await this.#readNothing(names) // before anything is written
      await this.#client.makeTable(this.#place)
    }
  }

  readExisting(group: string, names: readonly string[], signal?: AbortSignal) {
    return this.look(group, names, signal)
  }

  async look(group: string, names: readonly string[], signal?: AbortSignal) {
    const answer = await this.#read(group, names, signal)
    return answer === undefined ? this.#readNothing(names) : this.#checked(answer)
  }

  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    { history, process }: StoreIdentity,
    signal?: AbortSignal,
  ) {
    const answer = await this.#client.write(this.#texts.swap, [group, name, from, to, history, process], signal)
    if (answer?.isWritten !== true) return false
    if (answer.standbys !== '') await this.#checkStandbys(answer.standbys)
    return true
  }

  async names(group: string, signal?: AbortSignal) {
    return (await this.#onTable(this.#texts.names, [group], signal)) ?? []
  }

  async groups() {
    return (await this.#onTable(this.#texts.groups, [])) ?? []
  }

  /** The place, by the server's answer. */
  async place() {
    const { server, database } = await this.#client.run(PLACE, [])
    return `${server}/${database}, schema ${this.#place.schema}`
  }

  get server() {
    return this.#client.server
  }

  async functions(signal?: AbortSignal) {
    return foundFunctions(await this.#client.run(FUNCTIONS, [], signal))
  }

  async close() {
    await this.#client.close()
  }

  /** The answer of a read from a table that a store may use. Undefined if there is no table. */
  async #read(group: string, names: readonly string[], signal?: AbortSignal): Promise<Shown | undefined> {
    for (;;) {
      const answer: Shown = await this.#onTable(this.#texts.read, [group, JSON.stringify(names)], signal)
      if (answer === undefined || answer.table === this.#table) return answer
      this.#table = undefined // another one is in its place
    }
  }

  /** The answer of a statement on the table, once it is known whose it is. Undefined if there is no table. */
  async #onTable(statement: Sql, values: Values, signal?: AbortSignal) {
    this.#table ??= await this.#find(signal)
    if (this.#table === undefined) return undefined
    const answer = await this.#client.run(statement, values, signal)
    if (answer === undefined) this.#table = undefined
    return answer
  }

  /** The OID of the table, if there is one. Throws if a store must not use it. */
  async #find(signal?: AbortSignal): Promise<string | undefined> {
    const { table, fault } = await this.#client.run(this.#texts.lookFor, [], signal)
    if (fault) throw storeError(`PostgreSQL: ${fault}`)
    return table ?? undefined
  }

  /** A commit that waits for a standby ends without a warning if the standby is taken out of the setting meanwhile. */
  async #checkStandbys(before: string) {
    const { now } = await this.#client.run(STANDBYS, [])
    if (now !== before) throw unsureError(`synchronous_standby_names changed from '${before}' to '${now}' meanwhile`)
  }

  /** The answer without a table. If the session finds another table of ours, the records are probably there. */
  async #readNothing(names: readonly string[]) {
    const shown: Shown = await this.#client.run(this.#texts.readNothing, [JSON.stringify(names)])
    const { elsewhere: schema } = shown
    if (schema === null || schema === this.#place.schema) return this.#checked(shown) // another session may have just created the table
    const [here, there] = [this.#place.schema, schema].map((name) => `${name}.flakeforge_record`)
    const wayOut = `Give the store the option schema '${schema}' (in a URL: ?schema=${encodeURIComponent(schema)}). If no member uses that table, create ${here} with the SQL of \`npx flakeforge schema\``
    throw storeError(`The store's table is ${here}, which is missing, and the session has ${there}. ${wayOut}.`)
  }

  async #warnIfReplicas(standbys: string) {
    const { areThere } = await this.#client.run(REPLICAS, [])
    if (!areThere) return
    warnOfReplicas('PostgreSQL', missingOf(standbys))
    this.#warnedOf = standbys
  }

  /** Throws if a store must not use the server or the connection that answered. */
  async #checked({ now, identity, values, position, follows, isInTransaction, isFollowed, standbys }: Shown) {
    // A connection that was returned to its pool inside a transaction: what we write there may be rolled back.
    if (isInTransaction) this.#client.refuseTransaction()
    if (follows) {
      const why = 'flakeforge_record gets its rows from another server, by a subscription'
      throw storeError(`A store cannot use this PostgreSQL server. ${why}. Use the address of that server.`)
    }
    if (isFollowed && standbys !== this.#warnedOf) await this.#warnIfReplicas(standbys)
    const answer = { now, identity, values }
    return position === null ? answer : { ...answer, position: BigInt(position) }
  }

  /** Refuses a server that may lose answered writes without a change of its identity: `durable` would be untrue. */
  async checkDurable() {
    const found = await this.#client.run(this.#texts.durable, [])
    const settings = Object.keys(IS_UNSAFE) as Setting[]
    const unsafe = settings.filter((name) => found[name] === 'off' || found[name] === false)
    if (unsafe.length === 0) return
    const [why, wayOut] = [IS_UNSAFE, WAYS_OUT].map((texts) => unsafe.map((name) => texts[name]))
    const text = `on this PostgreSQL server: ${why.join(', and ')}. Leave durable out, or ${wayOut.join(' and ')}.`
    throw unusableOptionError('durable', true, text)
  }
}
