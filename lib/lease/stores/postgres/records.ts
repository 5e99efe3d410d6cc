// Records in PostgreSQL's table flakeforge_record, over the user's own client: one statement reads, and one swaps. It
// must never decide what a record means. Values are text, so they cannot contain NUL: the server refuses it.

import { storeError, unusableOptionError } from '../../../base/errors.ts'
import type { Identity, Records } from '../step.ts'
import { DURABLE, GROUPS, NAMES, READ, READ_NOTHING, SWAP } from './statements.ts'

export type Snapshot = Omit<Awaited<ReturnType<Records['read']>>, 'position'>

export type StatementRunner = InstanceType<typeof import('./client.ts').StatementRunner>

type Setting = 'fsync' | 'full_page_writes' | 'isLogged'

const IS_UNSAFE = {
  fsync: 'its fsync is off, so a crash of the machine may lose what was answered',
  full_page_writes: 'its full_page_writes is off, so a crash of the machine may leave pages half written',
  isLogged: 'its table flakeforge_record is unlogged, so a crash empties it',
}
const WAYS_OUT = {
  fsync: 'set fsync = on',
  full_page_writes: 'set full_page_writes = on',
  isLogged: 'run ALTER TABLE flakeforge_record SET LOGGED',
}

export class PostgresRecords implements Records {
  #client

  constructor(client: StatementRunner) {
    this.#client = client
  }

  async read(group: string, names: readonly string[]) {
    const wanted = JSON.stringify(names)
    for (;;) {
      const answer = await this.#client.run(READ, [group, wanted])
      if (answer !== undefined) return this.#checked(answer)
      this.#checked(await this.#client.run(READ_NOTHING, [wanted])) // before anything is written
      await this.#client.makeTable()
    }
  }

  async look(group: string, names: readonly string[]) {
    const wanted = JSON.stringify(names)
    const answer = await this.#client.run(READ, [group, wanted])
    return this.#checked(answer ?? (await this.#client.run(READ_NOTHING, [wanted])))
  }

  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    { history, process }: Identity,
    ms?: number,
  ) {
    const answer = await this.#client.runOnce(SWAP, [group, name, from, to, history, process], ms)
    return answer?.isWritten === true
  }

  async names(group: string) {
    return (await this.#client.run(NAMES, [group])) ?? []
  }

  async groups() {
    return (await this.#client.run(GROUPS, [])) ?? []
  }

  async close() {
    await this.#client.close()
  }

  /** Throws if a store must not use the server or the connection that answered. */
  #checked({
    follows,
    isInTransaction,
    position,
    ...answer
  }: { follows: boolean; isInTransaction: boolean; position: string | null } & Snapshot) {
    // A connection that was given back to its pool inside a transaction: what we wrote there may be undone.
    if (isInTransaction) this.#client.refuseTransaction()
    if (follows) {
      const why = 'flakeforge_record gets its rows from another server, by a subscription'
      throw storeError(`A store cannot use this PostgreSQL server. ${why}. Use the address of that server.`)
    }
    return position === null ? answer : { ...answer, position: BigInt(position) }
  }

  /** Refuses a server that may lose what it answered although its identity stays: then `durable` would be untrue. */
  async checkDurable() {
    const found = await this.#client.run(DURABLE, [])
    const settings = Object.keys(IS_UNSAFE) as Setting[]
    const unsafe = settings.filter((name) => found[name] === 'off' || found[name] === false)
    if (unsafe.length === 0) return
    const [why, wayOut] = [IS_UNSAFE, WAYS_OUT].map((texts) => unsafe.map((name) => texts[name]))
    const text = `on this PostgreSQL server: ${why.join(', and ')}. Leave durable out, or ${wayOut.join(' and ')}.`
    throw unusableOptionError('durable', true, text)
  }
}
