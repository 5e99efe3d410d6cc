// The records of groups in MySQL or MariaDB: reads and swaps them, and interprets nothing. A swap counts as made only if it
// certainly was.

import { optionError, storeError, warnOfReplicas } from '../../base/errors.ts'
import type { ClientError } from '../clients.ts'
import { foundFunctions } from '../database-function.ts'
import type { Records, StoreIdentity } from '../records.ts'
import type { Session, SessionRunner } from './client.ts'
import { checkTables, checkVariables, checkVisible, howMade, lossOf, VARIABLES } from './identity.ts'
import type { Row } from './packages.ts'
import { PLACE, type Tables, tablesIn } from './place.ts'
import { CLOCK, readFunctions, readGroups, readNames, readRecords } from './read.ts'
import { MOST_BYTES } from './schema.ts'
import { replicasOf } from './semi-sync.ts'
import { insert, nameProcess, nameTable, update } from './swap.ts'

const { randomUUID } = process.getBuiltinModule('node:crypto')

const NO_DATABASE =
  'The MySQL client has no database. Name one, as in mysql://HOST/DATABASE or mysqlStore(pool, { database }).'
const NO_TABLE = 1146
/** The record or the table has changed since it was read, or a deadlock: nothing was written. */
const NOT_WRITTEN = new Set([1062, NO_TABLE, 1213])

export class MysqlRecords implements Records {
  #client
  #database
  #place: { tables: Tables; shown: string } | undefined
  #isSeen = false // whether the tables were there and ours when they were looked for
  #checked: string | undefined // the server whose variables were checked

  /** @param database of the tables; default: the client's at the first call */
  constructor(client: SessionRunner, database?: string) {
    this.#client = client
    this.#database = database
  }

  get server() {
    return this.#client.server ?? this.#place?.shown
  }

  async place() {
    return (await this.#client.run((session) => this.#find(session))).shown
  }

  read(group: string, names: readonly string[], signal?: AbortSignal) {
    return this.#client.run(async (session) => {
      for (;;) {
        const { answer, isNamed, hasTables } = await this.#look(session, group, names)
        if (isNamed) return answer
        await this.#name(session, hasTables)
      }
    }, signal)
  }

  /** A server that was restarted, or whose table was restored, has no names yet. Without tables it needs none. */
  readExisting(group: string, names: readonly string[], signal?: AbortSignal) {
    return this.#client.run(async (session) => {
      for (;;) {
        const { answer, isNamed, hasTables } = await this.#look(session, group, names)
        if (isNamed || !hasTables) return answer
        await this.#name(session, hasTables)
      }
    }, signal)
  }

  look(group: string, names: readonly string[], signal?: AbortSignal) {
    return this.#client.run(async (session) => (await this.#look(session, group, names)).answer, signal)
  }

  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    identity: StoreIdentity,
    signal?: AbortSignal,
  ) {
    const size = Buffer.byteLength(to)
    if (size > MOST_BYTES) {
      throw storeError(`The record '${name}' would have ${size} bytes, and a record has at most ${MOST_BYTES}.`)
    }
    const swap = { group, name, to, identity }
    return this.#client.run(async (session) => {
      const { tables } = await this.#find(session)
      try {
        const text = from === null ? insert(tables, swap) : update(tables, { ...swap, from })
        return (await session.writeCleanly(text)) === 1
      } catch (error) {
        const { errno = 0 } = error as ClientError
        if (NOT_WRITTEN.has(errno)) return false
        throw error
      }
    }, signal)
  }

  names(group: string, signal?: AbortSignal) {
    return this.#list((tables) => readNames(tables, group), signal)
  }

  groups() {
    return this.#list(readGroups)
  }

  functions(signal?: AbortSignal) {
    return this.#client.run(async (session) => {
      const [rows] = await session.read(readFunctions((await this.#find(session)).tables))
      return foundFunctions(rows.map(([name, comment]) => [String(name), String(comment)]))
    }, signal)
  }

  async checkDurable() {
    const loss = lossOf(await this.#client.run(variablesOf))
    if (loss !== undefined)
      throw optionError(RangeError, 'durable', true, `durable cannot be used with this MySQL server: ${loss}.`)
  }

  async close() {
    await this.#client.close()
  }

  async #list(textFor: (tables: Tables) => string, signal?: AbortSignal) {
    const reading = async (session: Session) => ifTables(session.read(textFor((await this.#find(session)).tables)))
    const [rows] = (await this.#client.run(reading, signal)) ?? [[]]
    return rows.map(([name]) => String(name))
  }

  /** Where the tables are, for statements that read or write them. */
  async #find(session: Session) {
    const place = this.#place ?? (await this.#locate(session))
    if (!this.#isSeen) this.#isSeen = (await ifTables(seeTables(session, place.tables))) !== undefined
    return place
  }

  /** Where they are is determined once: a session that moves to another database moves nothing. */
  async #locate(session: Session) {
    const [[[current, folding, server]]] = await session.read(PLACE)
    const named = this.#database ?? current
    if (named == null) throw storeError(NO_DATABASE)
    const database = folding === '0' ? named : named.toLowerCase()
    const place = { tables: tablesIn(database), shown: `${server}/${database}` }
    this.#place = place
    return place
  }

  /** The present records. The server may not have its names yet, or no tables. */
  async #look(session: Session, group: string, names: readonly string[]) {
    const { tables } = await this.#find(session)
    const found = await ifTables(session.read(readRecords(tables, group, names), CLOCK))
    const [rows, [[now, clock]]] = found ?? [[], ...(await session.read(CLOCK))]
    const [, history, process, state] = rows.find(([what]) => what === 'server') ?? []
    const identity = { history: history ?? '', process: process ?? '' }
    const isNamed = history != null && process != null
    if (state != null) session.checkState(state, clock)
    // A server that follows another has no history, either.
    await (isNamed ? this.#check(session, identity) : session.check())
    const answer = { now: Number(now), identity, values: valuesOf(rows, names) }
    return { answer, isNamed, hasTables: found !== undefined }
  }

  /** Gives this run of the server and the table their random texts. */
  async #name(session: Session, hasTables: boolean) {
    const { tables } = await this.#find(session)
    checkVariables(await variablesOf(session)) // before anything is written
    if (!hasTables) await session.makeTables(tables)
    await seeTables(session, tables)
    await session.write(nameTable(tables, randomUUID()))
    await session.write(nameProcess(tables, randomUUID()))
  }

  /** Throws if a store must not use this server, whose variables are read once. */
  async #check(session: Session, identity: StoreIdentity) {
    const server = JSON.stringify(identity)
    if (server === this.#checked) return
    checkTables(identity)
    const isNew = this.#checked === undefined && this.#isSeen
    const { tables } = await this.#find(session)
    if (!isNew) await seeTables(session, tables)
    checkVariables(await variablesOf(session))
    await warnIfReplicas(session)
    this.#checked = server
  }
}

const SEMI_SYNC = 'rpl_semi_sync_master_enabled (MySQL 8: rpl_semi_sync_source_enabled) = 1, on every server'

/** Warns if replicas follow this server, any of which may be promoted. */
async function warnIfReplicas(session: Session) {
  const { connected, awaited } = await replicasOf(session)
  if (connected === 0) return
  const missing = (await session.hasSemiSync()) ? [] : [SEMI_SYNC]
  if (connected > awaited)
    missing.push(`one replica, which is the one to promote (a commit waits for ${awaited}, and more are connected)`)
  warnOfReplicas('MySQL', missing)
}

/**
 * Throws if something else has the place of a table. This comes before the first read: a view may call another user's function,
 * which then has the rights of the reader.
 */
async function seeTables(session: Session, { record, process }: Tables) {
  const made = await session.read(howMade(record), howMade(process))
  made.forEach(checkVisible)
  return made
}

/** The rows, or undefined if a table is missing. */
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
