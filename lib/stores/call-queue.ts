// The calls of one client of an SQL database: one after the other, those of the oldest step first, each on a connection that it
// takes, and none while a statement that was given up may still run.

import { whenAborted } from '../base/abort.ts'
import { endedError, passing, storeError } from '../base/errors.ts'
import { inTime, within } from '../base/in-time.ts'
import { monotonicNow } from '../base/timers.ts'
import type { ClientError, Lent } from './clients.ts'
import { BUDGET } from './time-budget.ts'
import { type Left, unfinishedAt } from './unfinished.ts'

const { randomBytes } = process.getBuiltinModule('node:crypto')

/** One call of a client. Once it is over it may send nothing, because the caller no longer waits for the answer. */
export interface Turn {
  isOver: boolean
}

type Work<Connection, Result> = (connection: Connection, turn: Turn) => Promise<Result>

/** The step of a call whose signal is not that of its step. */
const steps: WeakMap<AbortSignal, AbortSignal> = new WeakMap()

/** Says which step a call belongs to, if the call has its own signal. */
export function belongsTo(step: AbortSignal, call: AbortSignal) {
  steps.set(call, step)
}

/** Our own client: how to end it, and the server it leads to. */
export type Own = { end: () => Promise<unknown>; address: string }

/**
 * A turn that has not ended. `age`: lower for an older step. `sent`: what is running on its connection. `begin()` ends its wait
 * for others. `end()` lets the next turn begin. `stop()` ends all its waits: `stopped` rejects.
 */
type Pending<Connection> = Turn & {
  age: number
  hasBegun: boolean
  sent?: { connection: Connection; answer: Promise<unknown> } | undefined
  begin: () => void
  end: () => void
  stop: (why: Error) => void
  stopped: Promise<never>
}

/** A request for a connection, and the turn that waits for it. */
type Request<Connection> = {
  at: number
  waiting?: { turn: Turn; resolve: (connection: Connection) => void; reject: (error: unknown) => void }
}

function newPending<Connection>(age: number): Pending<Connection> {
  let stop: (why: Error) => void = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = reject
  })
  stopped.catch(() => {}) // a turn that is stopped may wait for nothing
  return { age, isOver: false, hasBegun: false, begin: () => {}, end: () => {}, stop, stopped }
}

/**
 * A comment that begins each statement of a client, so that the server's list of sessions shows them. The number of a session
 * is unsuitable: a pooler hides it, and a restarted server counts again from the start.
 */
const newMark = () => `/* flakeforge ${randomBytes(8).toString('hex')} */`

const isLate = (error: unknown) => (error as ClientError).code === 'ETIMEDOUT'

const closedError = () => storeError('The store was closed.')
const givenUpError = () => new Error('the call was given up')
const stillRunsError = (cause?: unknown) =>
  passing(
    storeError(
      'The server may still run a statement that was given up because it was not answered in time: it may wait for a standby ' +
        'or a lock. Nothing else is sent until it has ended. Check what the server waits for.',
      cause,
    ),
  )

/** The failure of a statement: if the client's only connection has ended, that is the reason, and no retry helps. */
const explained = (error: unknown, connection: Lent) => (connection.hasEnded?.() ? endedError(error) : error)

/**
 * Runs the calls of one client.
 *
 * A statement that was given up may still run on the server: a commit that waits for a standby does not end with its
 * connection. So nothing else is sent until it is known to have ended: it is answered after all, or the server reports, on
 * one further connection, that it no longer runs it. A client thus has at most two connections to the server. Before, 20
 * members used up all 100 connections within 31 s of a standby's outage.
 *
 * Each call of a step goes before those of younger steps. If all steps took turns instead, each would take as long as all of
 * them together: on a server that is too slow to finish them in time, not one would succeed, and nor would their retries.
 */
export abstract class CallQueue<Connection extends Lent> {
  /** for messages */
  protected readonly client: unknown
  /** begins each statement */
  protected readonly mark = newMark()
  #take
  #own
  #turns: Set<Pending<Connection>> = new Set()
  #isBusy = false // whether a turn has begun, and the next one may not
  #waiting: Pending<Connection>[] = [] // the turns after it, oldest step first
  #steps = 0 // how many have begun
  #ages: WeakMap<AbortSignal, number> = new WeakMap() // of the steps, by their signals
  #kept: Connection | undefined // for the next turn, so that it need not wait for the user's pool
  #request: Request<Connection> | undefined // the pending one for a connection
  #question: { answer: Promise<unknown>; at: number } | undefined // without an answer, on a connection that cannot be closed
  #unfinished
  #isClosed = false

  /** @param own if the client is our own */
  constructor(client: unknown, take: () => Promise<Connection>, own?: Own) {
    this.client = client
    this.#take = take
    this.#own = own
    this.#unfinished = unfinishedAt(own?.address)
  }

  /** Whether the work failed with its connection, so that the server's answer is unknown. */
  protected abstract isLost(error: unknown): boolean

  /** Asks the server whether another of its sessions runs a statement that begins with one of these marks. */
  protected abstract stillRuns(connection: Connection, marks: string[]): Promise<boolean>

  protected get isOwn() {
    return this.#own !== undefined
  }

  /** Gives up the pending call and ends our own client. The user's client is left alone. */
  async close() {
    if (this.#own === undefined) return
    this.#isClosed = true
    for (const turn of this.#turns) this.#stop(turn, closedError())
    await this.#own.end()
  }

  #stop(turn: Pending<Connection>, why: Error) {
    turn.stop(why)
    this.#giveUp(turn)
  }

  /**
   * Takes a connection, works on it, and returns it: within the time limit of a call, and no longer than until `signal`
   * aborts.
   * @param isFit whether the connection is still usable after the work, which may have failed with this error
   */
  protected async inTurn<Result>(
    work: Work<Connection, Result>,
    isFit: (error: unknown) => boolean,
    signal?: AbortSignal,
  ) {
    if (this.#isClosed) throw closedError()
    if (signal?.aborted) throw givenUpError()
    const turn = newPending<Connection>(this.#ageOf(signal))
    this.#turns.add(turn)
    const result = this.#afterOthers(turn, () => this.#workOn(turn, work, isFit))
    result.catch(() => {}) // it may fail after this call
    const ignore = signal && whenAborted(signal, () => this.#stop(turn, givenUpError()))
    try {
      return await inTime(Promise.race([result, turn.stopped]), BUDGET.CALL_MS)
    } catch (error) {
      const isKeptBack = !turn.hasBegun && !this.#unfinished.isEmpty && isLate(error)
      throw isKeptBack ? stillRunsError(error) : error
    } finally {
      ignore?.()
      this.#turns.delete(turn)
      this.#stop(turn, givenUpError())
    }
  }

  /** A call without a signal is a step of its own. */
  #ageOf(signal: AbortSignal | undefined) {
    const step = signal && (steps.get(signal) ?? signal)
    const known = step && this.#ages.get(step)
    if (known !== undefined) return known
    this.#steps += 1
    if (step !== undefined) this.#ages.set(step, this.#steps)
    return this.#steps
  }

  /** Makes a call once those before it have ended or were given up. */
  async #afterOthers<Result>(turn: Pending<Connection>, call: () => Promise<Result>) {
    if (this.#isBusy) await this.#wait(turn)
    this.#isBusy = true
    turn.end = () => {
      turn.end = () => {}
      this.#beginNext()
    }
    try {
      return await call()
    } finally {
      if (this.#waiting.length === 0) this.#giveBackKept()
      turn.end()
    }
  }

  #wait(turn: Pending<Connection>) {
    const younger = this.#waiting.findIndex(({ age }) => age > turn.age)
    this.#waiting.splice(younger < 0 ? this.#waiting.length : younger, 0, turn)
    return new Promise<void>((resolve) => {
      turn.begin = resolve
    })
  }

  #beginNext() {
    const next = this.#waiting.shift()
    this.#isBusy = next !== undefined // until then, no other turn may begin
    next?.begin()
  }

  async #workOn<Result>(turn: Pending<Connection>, work: Work<Connection, Result>, isFit: (error: unknown) => boolean) {
    await this.#awaitUnfinished(turn)
    if (turn.isOver) throw givenUpError()
    const connection = this.#kept ?? (await this.#takeFor(turn))
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
      return await inTime(Promise.race([answer, turn.stopped]), BUDGET.ANSWER_MS)
    } catch (error) {
      failure = error
      if (isLate(error) || this.isLost(error)) this.#giveUp(turn)
      throw explained(error, connection)
    } finally {
      if (turn.sent !== undefined) this.#release(connection, isFit(failure))
      turn.sent = undefined
    }
  }

  /**
   * A connection for this turn. One request is pending at a time: if its turn was given up, the next turn waits for it, so that
   * a pool that is used up gets no second one. A pool may forget a request, so after some time it counts as lost.
   */
  #takeFor(turn: Pending<Connection>): Promise<Connection> {
    if (this.#request === undefined || monotonicNow() - this.#request.at > BUDGET.QUERY_MS) this.#requestOne()
    const request = this.#request as Request<Connection>
    const answer = new Promise<Connection>((resolve, reject) => {
      request.waiting = { turn, resolve, reject }
    })
    return Promise.race([answer, turn.stopped])
  }

  #requestOne() {
    const request: Request<Connection> = { at: monotonicNow() }
    this.#request = request
    const end = () => {
      if (this.#request === request) this.#request = undefined
      return request.waiting?.turn.isOver === false ? request.waiting : undefined
    }
    this.#take().then(
      (connection) => {
        const waiting = end()
        if (waiting === undefined) connection.giveBack()
        else waiting.resolve(connection)
      },
      (error) => end()?.reject(error),
    )
  }

  #giveBackKept() {
    this.#kept?.giveBack()
    this.#kept = undefined
  }

  #release(connection: Connection, isFit: boolean) {
    if (!isFit) connection.drop()
    else if (this.#waiting.length > 0) this.#kept = connection
    else connection.giveBack()
  }

  /** Its statement may still run. An answer on a connection that we closed is not the server's. */
  #giveUp(turn: Pending<Connection>) {
    turn.isOver = true
    if (turn.sent === undefined) return
    const { connection, answer } = turn.sent
    turn.sent = undefined
    const left: Left = { mark: this.mark }
    const clear = () => this.#unfinished.delete(left)
    this.#unfinished.add(left)
    if (!connection.drop()) left.settled = answer.then(clear, clear)
    turn.end()
  }

  /** Throws if a statement that was given up still runs. No answer on a connection is not an answer of the server. */
  async #awaitUnfinished(turn: Pending<Connection>) {
    while (!this.#unfinished.isEmpty && !turn.isOver) {
      if (await this.#unfinished.stillRun((marks) => this.#ask(marks, turn))) throw stillRunsError()
    }
  }

  /**
   * Whether the server still runs one of them, by its own answer; undefined if this connection does not answer. A connection
   * that cannot be closed gets no second question, unless the first one must have been lost.
   */
  async #ask(marks: string[], turn: Pending<Connection>) {
    const { stopped } = turn
    if (this.#question !== undefined && monotonicNow() - this.#question.at < BUDGET.QUERY_MS) {
      await within(Promise.race([this.#question.answer, stopped]), BUDGET.STILL_RUNS_MS)
      return undefined
    }
    const connection = await this.#takeFor(turn)
    const answer = this.stillRuns(connection, marks)
    try {
      const isRunning = await inTime(Promise.race([answer, stopped]), BUDGET.STILL_RUNS_MS)
      connection.giveBack()
      return isRunning
    } catch (error) {
      if (!connection.drop()) this.#keepQuestion(answer)
      if (isLate(error)) return undefined // another connection may answer
      throw explained(error, connection)
    }
  }

  #keepQuestion(answer: Promise<unknown>) {
    const question = { at: monotonicNow(), answer: answer.catch(() => {}) }
    this.#question = question
    question.answer.then(() => {
      if (this.#question === question) this.#question = undefined
    })
  }
}
