// The records of groups in MySQL or MariaDB: they are read and swapped, nothing else. It must never draw a conclusion from
// what it reads, and never say that a swap was made where it may not have been.

import { optionError, storeError } from '../../../base/errors.ts'
import type { ClientError } from '../clients.ts'
import type { StoreIdentity } from '../record-store.ts'
import type { Identity, Records } from '../step.ts'
import type { Work } from './client.ts'
import type { Row } from './packages.ts'
import { CLOCK, GROUPS, readNames, readRecords } from './read.ts'
import { MOST_BYTES } from './schema.ts'
import { checkTables, checkVariables, lossOf, VARIABLES } from './server.ts'
import { insert, nameProcess, nameTable, update } from './swap.ts'

const { randomUUID } = process.getBuiltinModule('node:crypto')

export type SessionRunner = InstanceType<typeof import('./client.ts').SessionRunner>

export type Session = Parameters<Work<unknown>>[0]

const NO_TABLE = 1146
/** The record or the table is not as it was read; a deadlock, or a lock that came too late: nothing was written. */
const NOT_WRITTEN = new Set([1062, NO_TABLE, 1205, 1213])

export class MysqlRecords implements Records {
  #client
  #checked: string | undefined // the server whose variables were checked

  constructor(client: SessionRunner) {
    this.#client = client
  }

  read(group: string, names: readonly string[]) {
    return this.#client.run(async (session) => {
      for (;;) {
        const { answer, isNamed, hasTables } = await this.#look(session, group, names)
        if (isNamed) return answer
        checkVariables(await variablesOf(session)) // before anything is written
        if (!hasTables) await session.makeTables()
        await session.write(nameTable(randomUUID()))
        await session.write(nameProcess(randomUUID()))
      }
    })
  }

  look(group: string, names: readonly string[]) {
    return this.#client.run(async (session) => (await this.#look(session, group, names)).answer)
  }

  async swap(group: string, name: string, from: string | null, to: string, identity: Identity, ms?: number) {
    const size = Buffer.byteLength(to)
    if (size > MOST_BYTES) {
      throw storeError(`The record '${name}' would have ${size} bytes, and a record has at most ${MOST_BYTES}.`)
    }
    const text = from === null ? insert(group, name, to, identity) : update(group, name, from, to, identity)
    return this.#client.run(async (session) => {
      try {
        return (await session.write(text)) === 1
      } catch (error) {
        const { errno = 0 } = error as ClientError
        if (NOT_WRITTEN.has(errno)) return false
        throw error
      }
    }, ms)
  }

  names(group: string) {
    return this.#list(readNames(group))
  }

  groups() {
    return this.#list(GROUPS)
  }

  async checkDurable() {
    const loss = lossOf(await this.#client.run(variablesOf))
    if (loss !== undefined)
      throw optionError(RangeError, 'durable', true, `durable is not for this MySQL server: ${loss}.`)
  }

  async close() {
    await this.#client.close()
  }

  async #list(text: string) {
    const [rows] = (await this.#client.run((session) => ifTables(session.read(text)))) ?? [[]]
    return rows.map(([name]) => String(name))
  }

  /** What is there. The server may not have its names yet, or no tables. */
  async #look(session: Session, group: string, names: readonly string[]) {
    const found = await ifTables(session.read(readRecords(group, names), CLOCK))
    const [rows, [[now]]] = found ?? [[], ...(await session.read(CLOCK))]
    const [, history, process, state] = rows.find(([what]) => what === 'server') ?? []
    const identity = { history: history ?? '', process: process ?? '' }
    const isNamed = history != null && process != null
    if (state != null) session.checkState(state)
    // A server that follows another has no history, either.
    await (isNamed ? this.#check(session, identity) : session.check())
    const answer = { now: Number(now), identity, values: valuesOf(rows, names) }
    return { answer, isNamed, hasTables: found !== undefined }
  }

  /** Throws if a store must not use this server, which is asked for its variables once. */
  async #check(session: Session, identity: StoreIdentity) {
    const server = JSON.stringify(identity)
    if (server === this.#checked) return
    checkTables(identity)
    checkVariables(await variablesOf(session))
    this.#checked = server
  }
}

/** What was read, or undefined if a table is missing. */
const ifTables = (reading: Promise<Row[][]>) =>
  reading.catch((error) => {
    if ((error as ClientError).errno !== NO_TABLE) throw error
  })

/** In the order of `names`; null for an absent record. */
function valuesOf(rows: Row[], names: readonly string[]) {
  const found = new Map(rows.map(([what, name, value]) => [what === 'record' && name, value]))
  return names.map((name) => found.get(name) ?? null)
}

async function variablesOf(session: Session) {
  const [rows] = await session.read(VARIABLES)
  return Object.fromEntries(rows)
}
