// The MySQL clients of Node, mysql2 and mariadb, as one: `run(work)` gives `work` a session on one connection, within a time
// limit. The user's own client is neither configured nor ended, and is not used inside the user's transaction: a read would
// be stale, and a write might be rolled back.

import {
  clientError,
  FlakeError,
  noClientError,
  passing,
  refusedWriteError,
  said,
  storeError,
} from '../../base/errors.ts'
import { CallQueue, type Turn } from '../call-queue.ts'
import type { ClientError } from '../clients.ts'
import { checkState, SERVER } from './identity.ts'
import { type Connection, type Header, packageOf, type Row, serverOf } from './packages.ts'
import type { Tables } from './place.ts'
import { statementsFor } from './schema.ts'
import { checkAfter, checkBefore, SEMI_SYNC, semiSyncOf } from './semi-sync.ts'
import { LOCK_SECONDS, literal, withoutHints } from './statement.ts'

const WANTED = 'a pool or connection of mysql2 or mariadb'
const IN_TRANSACTION = 'It is in a transaction. Use the pool, or another connection outside of a transaction.'
const NO_AUTOCOMMIT = 'Its autocommit is off. Use a client that leaves it on.'
const SHARED = 'On MySQL, a single connection of mariadb does not show whether it is in a transaction. Use its pool.'

const NOT_ALLOWED = new Set([1044, 1142, 1143])
/** A table, the disk, the temporary files or a tablespace is full. 1030 is any error of the engine. */
const FULL = new Set([1021, 1114, 3, 1030])
const NO_ENGINE = new Set([1286, 3161])
const TAKES_NO_WRITES = new Set([1290, 1792, 1836])
/**
 * Temporary failures: a server that is read_only in a failover, has no free connection, or shuts down, and a lock. (A session
 * that is read-only, 1792, stays so.)
 */
const FOR_NOW = new Set([1290, 1836, 1040, 1203, 1053, 1205])

/**
 * MariaDB answers with a row. MySQL lacks such a variable, but the flags of its answer have the same information. The last
 * column shows whether semi-sync must be checked.
 */
const STATUS =
  '/*M!100100 SELECT @@in_transaction, @@autocommit, @@global.rpl_semi_sync_master_enabled *//*!80000 DO 0 */'
/** For our own connections: MySQL cannot set the second one for a single statement. */
const SET_UP = `SET autocommit = 1, innodb_lock_wait_timeout = ${LOCK_SECONDS}, lock_wait_timeout = ${LOCK_SECONDS}`
const FLAG_IN_TRANSACTION = 1
const FLAG_AUTOCOMMIT = 2

/** Of the package mariadb: the password would cross an unencrypted connection, and only a key of the server may protect it. */
const NO_KEY = new Set([45044])

/** If several addresses all refuse, there is only a code. A pool's failure to connect may be the cause. */
function wordsOf({ sqlMessage, message, code, cause }: ClientError): string {
  const [first] = (sqlMessage || message || code || '').split('\n')
  return cause === undefined ? said(first) : `${said(first)}: ${wordsOf(cause)}`
}

/**
 * Whether the server itself refused a statement because of the data, a constraint or a trigger, the user, the text, its
 * state, or its disk. It then wrote nothing. An interrupted one (class 70) may have been written.
 */
const isRefused = ({ errno = 0, sqlState }: ClientError & { sqlState?: string }) =>
  TAKES_NO_WRITES.has(errno) || FULL.has(errno) || /^(22|23|42|45)/.test(sqlState ?? '')

/** Whether an error has one of these numbers. A pool's failure to connect may be the cause. */
const hasNumber = (numbers: Set<number>, { errno = 0, cause }: ClientError): boolean =>
  numbers.has(errno) || (cause !== undefined && hasNumber(numbers, cause))

function failure(thrown: unknown) {
  if (thrown instanceof FlakeError) return thrown
  const error = thrown as ClientError
  return hasNumber(FOR_NOW, error) ? passing(failureOf(error)) : failureOf(error)
}

/** The failure, and the remedy. */
function failureOf(error: ClientError) {
  const { errno = 0 } = error
  const words = wordsOf(error)
  const makeError = isRefused(error) ? refusedWriteError : storeError
  if (TAKES_NO_WRITES.has(errno)) {
    return makeError(`This MySQL server takes no writes. Use the address of the primary. (${words})`, error)
  }
  if (hasNumber(NO_KEY, error)) {
    const why = 'The package mariadb sends this password to MySQL only over an encrypted connection'
    return makeError(`${why}: add ssl=true to the address, or \`ssl\` to the options of your pool. (${words})`, error)
  }
  if (FULL.has(errno)) {
    return makeError(`MySQL: the table or the disk of the server is full. Free space on it. (${words})`, error)
  }
  if (NOT_ALLOWED.has(errno)) {
    const why = 'The tables are missing, or this user may not use or create them.'
    return makeError(`${why} Run the SQL that \`npx flakeforge schema mysql\` prints. (${words})`, error)
  }
  return makeError(`MySQL: ${words}`, error)
}

/** Whether the server of a connection is MariaDB. */
const kinds: WeakMap<object, boolean> = new WeakMap()

/** Statements on one connection, outside of a transaction. Once its turn is over it sends nothing. */
export class Session {
  #client
  #connection
  #turn
  #mark
  /** Whether a store may use this server: otherwise the connection is useless to all callers. */
  isFit = true

  /** @param client for messages */
  constructor(client: unknown, connection: Connection, turn: Turn, mark: string) {
    this.#mark = mark
    this.#client = client
    this.#connection = connection
    this.#turn = turn
  }

  /** Throws unless a store may use this server. */
  async check() {
    const [[state, isMariadb]] = (await this.#ask(SERVER)) as Row[]
    kinds.set(this.#connection.key, isMariadb === '1')
    this.checkState(String(state))
  }

  /** @param clock what the server's clock shows in a later statement, on MySQL */
  checkState(state: string, clock?: string | null) {
    this.isFit = false
    checkState(state, clock)
    this.isFit = true
  }

  /** Their rows. They are sent at once, so that no statement of the user comes between them on the user's connection. */
  async read(...texts: string[]) {
    const asked = [...texts, STATUS].map((text) => this.#ask(text))
    await Promise.allSettled(asked) // before a failed one is thrown, so that none is still running
    const [status, ...rows] = (await Promise.all(asked)).reverse()
    this.#checkStatus(status)
    return rows.reverse() as Row[][]
  }

  /** Our own connection needs autocommit, whatever the server's default, and short waits for locks. */
  async setUp() {
    await this.#ask(SET_UP)
  }

  /** Writes, whether or not a replica has it: no grant depends on it. Returns how many rows it changed. */
  async write(text: string) {
    this.#checkStatus(await this.#ask(STATUS))
    return Number((await this.#write(text)).affectedRows)
  }

  /** The same, but throws unless the server confirms that a replica has the write. */
  async writeCleanly(text: string) {
    const mayWait = this.#checkStatus(await this.#ask(STATUS))
    const before = mayWait ? await this.#semiSync() : undefined
    if (before !== undefined) checkBefore(before)
    const { affectedRows, warningStatus } = await this.#write(text)
    if (warningStatus > 0)
      throw storeError(`MySQL warned about a write: ${said(await this.#warnings())}. The write is retried.`)
    if (before?.isEnabled) checkAfter(before, await this.#semiSync())
    return Number(affectedRows)
  }

  /** Whether the server is set to wait for a replica before it answers. */
  async hasSemiSync() {
    return (await this.#semiSync()).isEnabled
  }

  async #write(text: string) {
    const answer = (await this.#ask(text)) as Header
    this.#checkFlags(this.#connection.flagsOf(answer)) // a BEGIN may have been running during the check
    return answer
  }

  async #semiSync() {
    return semiSyncOf((await this.#ask(SEMI_SYNC)) as Row[])
  }

  async #warnings() {
    const rows = (await this.#ask('SHOW WARNINGS')) as Row[]
    return rows.map((row) => row.at(-1)).join(' ')
  }

  async makeTables(tables: Tables) {
    try {
      for (const table of statementsFor(tables)) await this.write(table)
    } catch (error) {
      const { errno = 0 } = error as ClientError
      if (!NO_ENGINE.has(errno)) throw error
      throw storeError(`This MySQL server has no in-memory tables, which reveal its restarts. (${said(error)})`, error)
    }
  }

  async #ask(text: string) {
    if (this.#turn.isOver) throw new Error('the call was given up')
    const isMariadb = kinds.get(this.#connection.key)
    return this.#connection.ask(`${this.#mark} ${isMariadb ? withoutHints(text) : text}`)
  }

  /**
   * Returns whether a write may wait for a replica.
   * @param status the server's answer to STATUS
   */
  #checkStatus(status: Row[] | Header) {
    if (!Array.isArray(status)) {
      const flags = this.#connection.flagsOf(status)
      if (flags === undefined) throw clientError(this.#client, SHARED)
      this.#checkFlags(flags)
      return true // MySQL has to be asked
    }
    const [[inTransaction, autocommit, semiSync]] = status
    if (autocommit !== '1') throw clientError(this.#client, NO_AUTOCOMMIT)
    if (inTransaction !== '0') throw clientError(this.#client, IN_TRANSACTION)
    return semiSync === '1'
  }

  #checkFlags(flags: number | undefined) {
    if (flags === undefined) return
    if (!(flags & FLAG_AUTOCOMMIT)) throw clientError(this.#client, NO_AUTOCOMMIT)
    if (flags & FLAG_IN_TRANSACTION) throw clientError(this.#client, IN_TRANSACTION)
  }
}

type Work<Result> = (session: Session) => Promise<Result>

/** Whether an error is not the server's answer: the server's errors have a SQLSTATE, and class 08 is about connections. */
function isLost(error: unknown) {
  const { sqlState = '' } = (error ?? {}) as { sqlState?: string | null }
  return !(error instanceof FlakeError) && (!sqlState || sqlState.startsWith('08'))
}

/** Runs the calls of one client, one at a time. */
export class SessionRunner extends CallQueue<Connection> {
  /** where the user's client leads */
  get server() {
    return serverOf(this.client)
  }

  /** The connections whose server was checked before anything else: see SERVER. */
  #greeted = new WeakSet()

  protected isLost(error: unknown) {
    return isLost(error)
  }

  /** The server lists a user's own sessions. A session whose connection was closed stays listed while its statement runs. */
  protected async stillRuns(connection: Connection, marks: string[]) {
    const isOne = marks.map((mark) => `INFO LIKE ${literal(`${mark}%`)}`).join(' OR ')
    const rows = await connection.ask(
      `SELECT 1 FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND (${isOne})`,
    )
    return Array.isArray(rows) && rows.length > 0
  }

  /** @param signal once it has aborted, nothing is sent any more */
  async run<Result>(work: Work<Result>, signal?: AbortSignal) {
    let session: Session | undefined
    const onSession = async (connection: Connection, turn: Turn) => {
      session = new Session(this.client, connection, turn, this.mark)
      if (!this.#greeted.has(connection.key)) {
        await session.check()
        if (this.isOwn) await session.setUp()
      }
      this.#greeted.add(connection.key)
      return work(session)
    }
    // The address of an unfit server may lead to another one by now, so the next connection may be to a primary.
    const isFit = (error: unknown) =>
      session?.isFit === true && !TAKES_NO_WRITES.has((error as ClientError | undefined)?.errno ?? 0)
    try {
      return await this.inTurn(onSession, isFit, signal)
    } catch (error) {
      throw failure(error)
    }
  }
}

const runners: WeakMap<object, SessionRunner> = new WeakMap()

/** The user's client, ready for calls: one runner for all stores on it, because a client runs one statement at a time. */
export function mysqlClient(client: unknown) {
  const take = packageOf(client)
  if (take === undefined) throw noClientError(client, WANTED)
  const key = client as object
  const runner = runners.get(key) ?? new SessionRunner(client, take)
  runners.set(key, runner)
  return runner
}
