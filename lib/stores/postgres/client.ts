// The two PostgreSQL clients of Node, pg and postgres.js, as one: `run(statement, values)` returns the one answer of a statement,
// within a time limit. The user's own client is not connected, configured or ended, and is not used inside the user's
// transaction: what a statement writes must be committed before its answer is used.

import {
  clientError,
  FlakeError,
  noClientError,
  passing,
  refusedWriteError,
  said,
  storeError,
  useAnother,
} from '../../base/errors.ts'
import { sleep } from '../../base/timers.ts'
import { CallQueue, type Turn } from '../call-queue.ts'
import type { ClientError } from '../clients.ts'
import { BUDGET } from '../time-budget.ts'
import {
  type Connection,
  IN_TRANSACTION,
  keepAlive,
  type Notice,
  packageOf,
  serverOf,
  type Values,
} from './packages.ts'
import { type Place, schemaFor } from './schema.ts'
import { commented, type Sql, sql } from './statement.ts'
import { STILL_RUNS } from './statements.ts'

const WANTED = 'a Pool or Client of pg, or the sql function of postgres.js'
const SILENT =
  'The server has synchronous_standby_names, and this client does not report which commits did not reach a standby. Use a URL, or a Pool or Client of pg without pg-native.'
const CHANGES_TEXTS = 'Its transform or type parser changes texts. Use a client that leaves them as they are.'

// Another transaction came first, and the server rolled ours back: a serialization failure or a deadlock. READ COMMITTED,
// PostgreSQL's default, waits instead; a database may have other settings.
const CAME_SECOND = new Set(['40001', '40P01'])
const LOCKED = '55P03' // for longer than lock_timeout
// Another session is creating the same table at this moment, or just did.
const MADE_BY_ANOTHER = new Set([...CAME_SECOND, LOCKED, '23505', '42P07', '42710', 'XX000'])
const NO_TABLE = '42P01'
const NO_SCHEMA = '3F000'
const NOT_ALLOWED = '42501'
const DISK_FULL = '53100'
const TAKES_NO_WRITES = new Set(['25006', '55000'])
/**
 * Temporary failures: a standby that is promoted or no longer asked in a failover, a server that starts, shuts down or has no
 * free connection, and a lock.
 */
const FOR_NOW = new Set(['55000', '57P01', '57P02', '57P03', '53300', LOCKED])
/** The functions of an identity. Aurora has them only with logical replication, and names only the setting. */
const IDENTITY = /pg_control_system|pg_walfile_name|pg_current_wal_flush_lsn|wal_level/

/** A statement's one answer, which is JSON. */
function parseAnswer(text: string | undefined, client: unknown) {
  try {
    return JSON.parse(text ?? '')
  } catch {
    throw clientError(client, CHANGES_TEXTS)
  }
}

/** The failure, and the remedy. */
function wordsFor(error: ClientError) {
  const { code = '' } = error
  const words = said(error) // if several addresses all refuse, there is only a code
  if (IDENTITY.test(error.message)) {
    const why =
      'lost writes would go unnoticed without pg_control_system(), pg_current_wal_flush_lsn() and pg_walfile_name()'
    return `PostgreSQL: ${why}. GRANT EXECUTE on them, or ${useAnother('server')}. (${words})`
  }
  if (TAKES_NO_WRITES.has(code)) {
    return `This PostgreSQL server takes no writes. Use the address of the primary, with default_transaction_read_only off. (${words})`
  }
  if (code === NOT_ALLOWED) {
    return `PostgreSQL: this role may not use the table. GRANT SELECT, INSERT, UPDATE on it, and USAGE on its schema. (${words})`
  }
  if (code === DISK_FULL) return `PostgreSQL: the disk of the server is full. Free space on it. (${words})`
  return `PostgreSQL: ${words}`
}

const isOurs = (error: unknown) => error instanceof FlakeError

/**
 * The server itself refused a statement because of the data, the role, a constraint or trigger, its state, or its disk. It
 * wrote nothing, and would refuse it again at once.
 */
const REFUSED = /^(0A|22|23|25|28|42|P0)...$|^53100$|^55000$/

/** Aurora has the code of a standby for functions that it never has. */
const isForNow = (error: unknown) => FOR_NOW.has(codeOf(error)) && !IDENTITY.test((error as ClientError).message)

const madeBy = (make: typeof storeError) => (error: unknown) => {
  if (isOurs(error)) return error
  const failure = make(wordsFor(error as ClientError), error)
  return isForNow(error) ? passing(failure) : failure
}

/** The failure of a call, as one of our errors. */
const failure = madeBy(storeError)
const refusal = madeBy(refusedWriteError)

/** The same for a write. */
const writeFailure = (error: unknown) => (REFUSED.test(codeOf(error)) ? refusal(error) : failure(error))

/** The code of the server's notice about a clean write. A warning has another code. */
const NO_WARNING = '00000'

/**
 * A commit that waits for a standby, and is cancelled meanwhile, is made on this server alone: the client gets a warning.
 * With `standbys` to wait for, a client that does not pass on warnings is useless.
 */
function checkNotices(notices: Notice[] | undefined, standbys: unknown, client: unknown) {
  if (notices === undefined && standbys) throw clientError(client, SILENT)
  const warning = notices?.find(({ code }) => code !== NO_WARNING)
  if (warning !== undefined) throw unsureError(`it warned: ${said(warning)}`)
}

/** A write that may be lost. `why`: what the server did. */
export const unsureError = (why: string) =>
  passing(storeError(`PostgreSQL did not confirm that a write reached its standby: ${why}. The write is retried.`))

/** Markers for a statement that had no effect. */
const [MISSING, SECOND] = [Symbol('the table is missing'), Symbol('others came first')]

/** A read may be run again. */
function secondIfLocked(error: unknown) {
  if (codeOf(error) !== LOCKED) throw error
  return SECOND
}

/** Whether the outcome of a statement is unknown: an answer has a SQLSTATE, and class 08 is about connections. */
const isLost = (error: unknown) => !(error instanceof FlakeError) && !/^(?!08)[0-9A-Z]{5}$/.test(codeOf(error))

const codeOf = (error: unknown) => String((error as ClientError | undefined)?.code ?? '')

/** Runs statements on a client, one at a time. */
export class StatementRunner extends CallQueue<Connection> {
  /** where the user's client leads */
  get server() {
    return serverOf(this.client)
  }

  /**
   * The answer of a statement that may be run again if another transaction came first and it had no effect. Undefined if our
   * table is missing.
   */
  async run(statement: Sql, values: Values, signal?: AbortSignal) {
    const work = (connection: Connection, turn: Turn) => this.#attempts(connection, turn, statement, values)
    const answer = await this.#onConnection(work, failure, signal)
    return answer === MISSING ? undefined : answer
  }

  /**
   * The same for a write, which must not be sent again: undefined if it had no effect. Throws unless the server confirms that
   * the standbys it waits for have it.
   * @param signal once it has aborted, nothing is sent any more
   */
  async write(statement: Sql, values: Values, signal?: AbortSignal) {
    const answer = await this.#onConnection(
      (connection) => this.#attempt(connection, statement, values),
      writeFailure,
      signal,
    )
    return answer === MISSING || answer === SECOND ? undefined : answer
  }

  makeTable(place: Place) {
    return this.#onConnection((connection) => this.#makeTable(connection, place))
  }

  refuseTransaction() {
    throw clientError(this.client, IN_TRANSACTION)
  }

  /** A connection is useless once the server failed or takes no writes: it may no longer be the primary. */
  async #onConnection<Result>(
    work: (connection: Connection, turn: Turn) => Promise<Result>,
    errorOf: (error: unknown) => unknown = failure,
    signal?: AbortSignal,
  ) {
    try {
      return await this.inTurn(work, (error) => error === undefined || isOurs(error), signal)
    } catch (error) {
      throw errorOf(error)
    }
  }

  /** A longer pause after each attempt that came second. */
  async #attempts(connection: Connection, turn: Turn, statement: Sql, values: Values) {
    for (let pause = 1; !turn.isOver; pause = Math.min(pause * 2, BUDGET.SHORT_PAUSE_MS)) {
      const answer = await this.#attempt(connection, statement, values).catch(secondIfLocked)
      if (answer !== SECOND) return answer
      await sleep(Math.random() * pause)
    }
    throw new Error('other transactions came first until the call was given up')
  }

  /** The answer, or a marker that nothing was done. */
  async #attempt(connection: Connection, statement: Sql, values: Values) {
    this.#refuseBusy(connection)
    try {
      const sent = await connection.send(this.#marked(statement), values)
      const answer = parseAnswer(sent.text, this.client)
      this.#refuseBusy(connection) // a BEGIN may have been running during the check
      if ('standbys' in answer) checkNotices(sent.notices, answer.standbys, this.client)
      return answer
    } catch (error) {
      const { code = '' } = error as ClientError
      if (code === NO_TABLE) return MISSING
      if (CAME_SECOND.has(code)) return SECOND
      throw error
    }
  }

  async #makeTable(connection: Connection, { schema, owner }: Place) {
    try {
      await connection.make(this.#marked(schemaFor(schema, { owner })))
    } catch (error) {
      const { code = '' } = error as ClientError
      if (MADE_BY_ANOTHER.has(code)) return
      if (code === NO_SCHEMA) {
        throw storeError(
          `The schema '${schema}' is missing. Name the schema that the other members have. If there are none, CREATE SCHEMA. (${said(error)})`,
          error,
        )
      }
      if (code !== NOT_ALLOWED) throw error
      const why = `The table ${schema}.flakeforge_record is missing, and this role may not create it.`
      throw storeError(`${why} Run the SQL that \`npx flakeforge schema\` prints. (${said(error)})`, error)
    }
  }

  protected isLost(error: unknown) {
    return isLost(error)
  }

  /** On a connection of the client or of a pooler: another process of the server answers. */
  protected async stillRuns(connection: Connection, marks: string[]) {
    const { text } = await connection.send(STILL_RUNS, [JSON.stringify(marks)])
    return parseAnswer(text, this.client).isRunning === true
  }

  /** A statement that begins with the mark of this client, as a comment. */
  #marked(statement: Sql) {
    return sql`${commented(this.mark)} ${statement}`
  }

  #refuseBusy(connection: Connection) {
    if (connection.isBusy()) this.refuseTransaction()
  }
}

const runners: WeakMap<object, StatementRunner> = new WeakMap()

/** The user's client, ready to run statements: one runner for all stores on it, because a client runs one statement at a time. */
export function postgresClient(client: unknown) {
  const take = packageOf(client)
  if (take === undefined) throw noClientError(client, WANTED)
  const known = runners.get(client as object)
  if (known !== undefined) return known
  keepAlive(client)
  const runner = new StatementRunner(client, take)
  runners.set(client as object, runner)
  return runner
}
