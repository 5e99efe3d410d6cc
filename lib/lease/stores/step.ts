// One step of core/src/lease/grants.rs on a database: reads and swaps the records that the step asks for, within the time
// that join() promises, until it has its answer. The step decides. Once its caller has given up, it swaps nothing.

import type { GrantStep, StepAnswer, StepAsk } from '../../../target/native.d.ts'
import { whenAborted } from '../../base/abort.ts'
import * as errors from '../../base/errors.ts'
import { inTime } from '../../base/in-time.ts'
import { monotonicNow, sleep, unixNow } from '../../base/timers.ts'
import type { ClientError } from './clients.ts'
import { STEP_MS } from './limits.ts'
import type { RecordStore } from './record-store.ts'

const { randomBytes } = process.getBuiltinModule('node:crypto')

/** What names a server, as its records show it. */
export type Identity = Awaited<ReturnType<RecordStore['read']>>['identity']

/**
 * The store a step reads and writes: a RecordStore, and what only our own stores can do.
 *
 * - `swap()` returns true only for a clean answer: the server says that this very write is where a promotion will find it.
 *   It returns false if nothing was written, and throws if it cannot tell, or with `refusedWriteError()` if the server refused.
 * - `look()` reads and changes nothing: where tables or the server's names are missing, its identity means nothing.
 * - `readExisting()` reads as `read()` does, but creates no tables: where they are missing, it shows no records.
 * - `place()` names the server, database, schema and prefix of the records, without a password.
 * - `clockStepMs`: how far the server's clock is rounded down.
 * - `checkDurable()` throws if the server may lose what it acknowledged.
 *
 * Once a call's `signal` has aborted, it sends nothing more, and fails.
 */
export type Records = Omit<RecordStore, 'read' | 'swap' | 'names'> & {
  read(...args: [...Parameters<RecordStore['read']>, signal?: AbortSignal]): ReturnType<RecordStore['read']>
  swap(...args: [...Parameters<RecordStore['swap']>, signal?: AbortSignal]): ReturnType<RecordStore['swap']>
  names(...args: [...Parameters<RecordStore['names']>, signal?: AbortSignal]): ReturnType<RecordStore['names']>
  readonly clockStepMs?: number
  look?: Records['read']
  readExisting?: Records['read']
  place?(): Promise<string>
  checkDurable?(): Promise<void>
}

/** How a step reads: changing nothing, creating no tables, or creating what is missing. */
export type ReadBy = 'look' | 'readExisting' | 'read'

/** An answer, and what names the group or counter that it is about. */
export type Answer = StepAnswer & { lineage: string }

/** Others may be faster again and again: after the second swap, a step waits for up to 4, 8, 16 … ms, and reads again. */
const [PATIENCE, LONGEST_PAUSE_MS] = [2, 250]
/** A connection that died unnoticed fails within this time; a server that does not answer takes longer. */
const QUICK_MS = 1000
/** No step needs more clean swaps: such a store does not show what it says it wrote. */
const ENOUGH = 5

/** 32 random hex digits, as the addon asks for them. */
export const fresh = () => randomBytes(16).toString('hex')

const givenUpError = () => new Error('the step was given up')

/** One step under way. */
export class StepRun {
  #records
  #name
  #step
  #reads
  #signal
  #over = new AbortController() // gives up its calls
  #readCount = 0
  #swaps = 0
  #failure: unknown // why the last read or swap failed

  /** @param how how it reads; what gives it up */
  constructor(
    records: Records,
    name: string,
    step: GrantStep,
    { reads = 'read', signal }: { reads?: ReadBy; signal?: AbortSignal | undefined } = {},
  ) {
    this.#records = records
    this.#name = name
    this.#step = step
    this.#reads = reads
    this.#signal = signal
  }

  get name() {
    return this.#name
  }

  /** Why the last read or swap failed, while the step is still trying. */
  get failure() {
    return this.#failure
  }

  async answer() {
    const signal = this.#signal
    if (signal?.aborted) throw givenUpError()
    const ignore = signal && whenAborted(signal, () => this.#over.abort())
    try {
      return await inTime(this.#go(), STEP_MS)
    } catch (error) {
      const { code } = error as ClientError
      if (code !== 'ETIMEDOUT' || error === this.#failure) throw error
      throw errors.unfinishedError(this.#name, STEP_MS, this.#swaps, this.#failure ?? error)
    } finally {
      ignore?.()
      this.#over.abort()
    }
  }

  async #go() {
    let ask = this.#step.begin()
    while (ask.type !== 'done') ask = await this.#carryOut(ask)
    return { ...ask.answer, lineage: ask.lineage } as Answer
  }

  /** Does what the step asks for, and tells it what came of it. */
  #carryOut(ask: Exclude<StepAsk, { type: 'done' }>) {
    switch (ask.type) {
      case 'read':
        return this.#read(ask.names)
      case 'swap':
        return this.#swap(ask)
      case 'names':
        return this.#names()
    }
  }

  async #read(names: string[]) {
    // A clock of whole seconds, such as etcd's, may seem to be behind by all of one.
    const before = unixNow() - (this.#records.clockStepMs ?? 0)
    const { now, identity, values, position } = await this.#answered(names)
    const look = { now, ...identity, values: [...values], before, after: unixNow() }
    if (position !== undefined) Object.assign(look, { position: BigInt(position) })
    return this.#step.read(look, fresh())
  }

  /**
   * An idle connection may have died unnoticed, which shows at once. So the first read of a step is tried on another
   * connection as well.
   */
  async #answered(names: string[]) {
    this.#readCount += 1
    const start = monotonicNow()
    try {
      return await this.#ask(names)
    } catch (error) {
      this.#failure = error
      const isQuick = monotonicNow() - start < QUICK_MS
      if (this.#readCount > 1 || !isQuick || !(error as ClientError).cause || errors.isRefusedWrite(error)) throw error
      return this.#ask(names)
    }
  }

  #ask(names: string[]) {
    const records = this.#records
    return (records[this.#reads] ?? records.read).call(records, this.#name, names, this.#over.signal)
  }

  /**
   * Unless the server refused for certain, the next read shows what became of it. What that shows counts only after a
   * clean answer.
   */
  async #swap({ name, from, to, history, process }: Extract<StepAsk, { type: 'swap' }>) {
    const { signal } = this.#over
    if (signal.aborted) throw givenUpError() // which reaches no caller: they no longer wait
    this.#swaps += 1
    let isClean = false
    try {
      isClean = await this.#records.swap(this.#name, name, from ?? null, to, { history, process }, signal)
    } catch (error) {
      this.#failure = error
      if (signal.aborted || errors.isRefusedWrite(error)) throw error
    }
    // Never between a read and its swap: by then another would have swapped the record.
    if (this.#swaps >= (isClean === true ? ENOUGH : PATIENCE)) {
      await sleep(Math.random() * Math.min(2 ** this.#swaps, LONGEST_PAUSE_MS))
    }
    return this.#step.swapped(isClean === true, fresh())
  }

  async #names() {
    return this.#step.named([...(await this.#records.names(this.#name, this.#over.signal))], fresh())
  }
}
