// What the clients of all databases have in common: how they are recognised and ended, and that each of them has one
// statement under way at most. What differs from database to database is in its folder.

import { storeError } from '../../base/errors.ts'
import { inTime, within } from '../../base/in-time.ts'
import { ANSWER_MS, CALL_MS } from './limits.ts'

const { randomBytes } = process.getBuiltinModule('node:crypto')

/** What a client throws: an error, perhaps with what the server said. */
export type ClientError = Error & { code?: string; errno?: number; sqlMessage?: string; cause?: ClientError }

/** How long it may take to end our own client: all work is done by then, except for a step that is stuck. */
const END_MS = 5000

/**
 * Whether this has all these methods. We recognise clients by what they can do: several versions and copies of a package
 * may be installed, so a class says nothing.
 */
export const hasMethods = (client: unknown, ...names: string[]) => {
  const given = client as Record<string, unknown> | null | undefined
  return names.every((name) => typeof given?.[name] === 'function')
}

/** Ends our own client. If a step is stuck, it leaves the client alone, which does not keep the process alive. */
export const endInTime = (end: () => Promise<unknown>) => within(end(), END_MS).catch(() => {})

/**
 * A connection of a pool, or the only one that there is. `giveBack()` does nothing to that one. `drop()` closes it and
 * returns true; where the client has no way to close it, it returns false, and what was sent stays under way.
 */
export interface Lent {
  giveBack: () => void
  drop: () => boolean
}

/** Work on a connection. Once it is over it may send nothing, because the caller no longer waits for the answer. */
export interface Step {
  isOver: boolean
}

type Work<Connection, Result> = (connection: Connection, step: Step) => Promise<Result>

/**
 * What turns need of a client. `take()`: a connection. `stillRuns()` asks the server whether another of its sessions runs a
 * statement of this client: newMark() tells them. `isLost()`: whether the work failed with its connection, so that the
 * server's answer is unknown.
 */
export interface Served<Connection> {
  take: () => Promise<Connection>
  stillRuns: (connection: Connection) => Promise<boolean>
  isLost: (error: unknown) => boolean
}

/**
 * A comment that begins each statement of a client, so that the server's list of sessions shows them. The number of a session
 * would not do: a pooler hides it, and a server that was restarted counts again.
 */
export const newMark = () => `/* flakeforge ${randomBytes(8).toString('hex')} */`

/** One call. `sent`: what is under way on its connection. `end()` lets the next turn begin. */
type Turn<Connection> = Step & {
  hasBegun: boolean
  sent?: { connection: Connection; answer: Promise<unknown> } | undefined
  end: () => void
  fail: (error: Error) => void
}

/** What was given up. `settled`: when it was answered after all, unless its connection was closed. */
type Left = { settled?: Promise<void> }

/** The question whether a statement still runs needs no lock and no disk: a server that works answers it in this time. */
const ASK_MS = 2000

const closedError = () => storeError('The store was closed.')
const givenUpError = () => new Error('the call was given up')
const stillRunsError = (cause?: unknown) =>
  storeError(
    'The server may still run a statement that was given up because it was not answered in time: it may wait for a standby ' +
      'or a lock. Nothing else is sent until it has ended. Check what the server waits for.',
    cause,
  )

/**
 * Runs the calls of one client one after the other, each on a connection that it takes.
 *
 * A statement that was given up may still run on the server: a commit that waits for a standby does not end with its
 * connection. So nothing else is sent until it is known to have ended: it is answered after all, or the server says, on
 * one further connection, that it no longer runs it. A client thus has two connections of the server at most. Before, 20
 * members used up all 100 connections within 31 s of a standby's outage.
 */
export class Turns<Connection extends Lent> {
  #client
  #last: Promise<void> = Promise.resolve() // the end of the last turn so far
  #turns: Set<Turn<Connection>> = new Set()
  #waiting = 0 // how many turns have not begun
  #kept: Connection | undefined // for the next turn, so that it need not wait for the user's pool
  #left: Left | undefined
  #asking: Promise<boolean> | undefined
  #isClosed = false

  constructor(client: Served<Connection>) {
    this.#client = client
  }

  /**
   * Takes a connection, works on it, and gives it back: within `ms`, and never longer than a call may take.
   * @param isFit whether the connection is still of use after the work, which may have failed with this error
   */
  async run<Result>(work: Work<Connection, Result>, isFit: (error: unknown) => boolean, ms: number = CALL_MS) {
    if (this.#isClosed) throw closedError()
    const turn: Turn<Connection> = { isOver: false, hasBegun: false, end: () => {}, fail: () => {} }
    this.#turns.add(turn)
    const result = new Promise<Result>((resolve, reject) => {
      turn.fail = reject
      this.#inTurn(turn, () => this.#workOn(turn, work, isFit)).then(resolve, reject)
    })
    try {
      return await inTime(result, Math.min(ms, CALL_MS))
    } catch (error) {
      const isKeptBack = !turn.hasBegun && this.#left !== undefined && (error as ClientError).code === 'ETIMEDOUT'
      throw isKeptBack ? stillRunsError(error) : error
    } finally {
      this.#turns.delete(turn)
      this.#giveUp(turn)
    }
  }

  /** Fails all calls, and closes the connection that one of them works on. */
  close() {
    this.#isClosed = true
    for (const turn of this.#turns) {
      turn.fail(closedError())
      this.#giveUp(turn)
    }
  }

  /** Makes a call once those before it have ended or were given up. */
  async #inTurn<Result>(turn: Turn<Connection>, call: () => Promise<Result>) {
    const before = this.#last
    this.#last = new Promise((resolve) => {
      turn.end = resolve
    })
    this.#waiting += 1
    await before
    this.#waiting -= 1
    try {
      return await call()
    } finally {
      if (this.#waiting === 0) this.#giveBackKept()
      turn.end()
    }
  }

  async #workOn<Result>(turn: Turn<Connection>, work: Work<Connection, Result>, isFit: (error: unknown) => boolean) {
    await this.#awaitLeft(turn)
    if (turn.isOver) throw givenUpError()
    const connection = this.#kept ?? (await this.#client.take())
    this.#kept = undefined
    if (turn.isOver) {
      connection.giveBack()
      throw givenUpError()
    }
    turn.hasBegun = true
    const answer = work(connection, turn)
    turn.sent = { connection, answer }
    let failure: unknown
    try {
      return await inTime(answer, ANSWER_MS)
    } catch (error) {
      failure = error
      if ((error as ClientError).code === 'ETIMEDOUT' || this.#client.isLost(error)) this.#giveUp(turn)
      throw error
    } finally {
      if (turn.sent !== undefined) this.#release(connection, isFit(failure))
      turn.sent = undefined
    }
  }

  #giveBackKept() {
    this.#kept?.giveBack()
    this.#kept = undefined
  }

  #release(connection: Connection, isFit: boolean) {
    if (!isFit) connection.drop()
    else if (this.#waiting > 0) this.#kept = connection
    else connection.giveBack()
  }

  /** What it sent may still run. An answer on a connection that we closed says nothing about the server. */
  #giveUp(turn: Turn<Connection>) {
    turn.isOver = true
    if (turn.sent === undefined) return
    const { connection, answer } = turn.sent
    turn.sent = undefined
    const left: Left = {}
    const clear = () => this.#clear(left)
    this.#left = left
    if (!connection.drop()) left.settled = answer.then(clear, clear)
    turn.end()
  }

  #clear(left: Left) {
    if (this.#left === left) this.#left = undefined
  }

  /** Throws if the statement that was given up still runs. A connection that does not answer is no server's answer. */
  async #awaitLeft(turn: Turn<Connection>) {
    while (this.#left !== undefined && !turn.isOver) {
      const left = this.#left
      this.#asking ??= this.#ask(left).finally(() => {
        this.#asking = undefined
      })
      if (await Promise.race([this.#asking, ...(left.settled ? [left.settled] : [])])) throw stillRunsError()
    }
  }

  /** Whether the server says that it still runs it. One question is under way at most. */
  async #ask(left: Left) {
    const connection = await this.#client.take()
    const answer = this.#client.stillRuns(connection)
    try {
      const isRunning = await inTime(answer, ASK_MS)
      connection.giveBack()
      if (!isRunning) this.#clear(left)
      return isRunning
    } catch (error) {
      if (!connection.drop()) await answer.catch(() => {})
      if ((error as ClientError).code === 'ETIMEDOUT') return false // another connection may answer
      throw error
    }
  }
}
