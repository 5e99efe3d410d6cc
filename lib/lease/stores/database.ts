// Slots, windows and counters on any database that can read records and swap one of them: each call of a lease or counter
// is a step of core/src/lease/grants.rs, whose refusals become errors. step.ts carries it out.
// The rules are in core/src/lease/grants*.

import type { Slot, SlotFolderConfig, StepConfig, StepTask } from '../../../target/native.d.ts'
import { sleepUnlessAborted } from '../../base/abortable-sleep.ts'
import * as errors from '../../base/errors.ts'
import type { Kept } from '../restored.ts'
import { memoryOf } from './memories.ts'
import { type Answer, fresh, type ReadBy, type Records, StepRun } from './step.ts'
import type { SlotInfo } from './store.ts'

/**
 * A slot and its window, with the store's time and what names its group. The slot of a folder has a cursor in its file.
 */
export type Grant = { slot: number; lo: number; hi: number; storeNow: number; lineage: string; cursor?: Slot }

/** A block's first number, or where a counter continues; and what names the counter. */
type Block = { number: bigint; lineage: string }

/** What the members of a group have in common. Only the folder's store reads `scale`. */
export type Config = StepConfig & SlotFolderConfig

/** What a call of a store fails with. If waiting helps, it says until when, by the store's clock. */
export type StoreError = Error & { code: string; retryAt?: Date; storeNow?: number; lineage?: string }

/** Once `signal` has aborted, the store sends nothing more for the call. */
type Abortable = { config: Config; signal?: AbortSignal }

/** Who wants a slot. `joins`: whether a group that is missing is made. */
export type Wanted = Abortable & { owner: string; host: string; joins: boolean }

/** A slot whose window ends at `hi`. */
type Held = Abortable & { slot: number; owner: string; hi: number }

/** A slot that is given back: `last` is the last tick it used. */
type Left = Abortable & { slot: number; owner: string; last: number }

/** What leases and counters call. */
export interface SlotStore {
  create: (group: string, config: Config, signal?: AbortSignal) => Promise<boolean>
  acquire: (group: string, request: Wanted) => Promise<Grant>
  renew: (group: string, held: Held) => Promise<Grant | 'lost' | 'destroyed'>
  release: (group: string, left: Left) => Promise<void>
  destroy: (group: string) => Promise<void>
  restored?: (kept: Kept) => Promise<void>
  everything?: () => Promise<Kept[] | undefined>
  /** why the step under way on this group failed last, while it is still trying */
  trouble?: (group: string) => unknown
  advance: (name: string, by: bigint, init?: bigint, durable?: boolean) => Promise<Block>
  list: (group: string) => Promise<SlotInfo[]>
  groups?: () => Promise<string[]>
  place?: () => Promise<string>
  close?: () => Promise<void>
}

/** What each task is answered with, unless it is refused. */
type AnswerTo = {
  create: 'opened'
  join: 'granted'
  acquire: 'granted'
  renew: 'granted' | 'lost' | 'destroyed'
  release: 'done'
  destroy: 'done'
  restored: 'done'
  counterRestored: 'done'
  list: 'listed'
  exists: 'exists'
  advance: 'number'
  skipTo: 'number'
}

type AnswerOf<Type extends Answer['type']> = Extract<Answer, { type: Type }>

/** Only joining and creating a group, a counter or its end may create tables. */
const READS: Partial<Record<StepTask['type'], ReadBy>> = {
  list: 'look',
  exists: 'look',
  renew: 'readExisting',
  release: 'readExisting',
}

/** A wait for a new group that is longer than this needs a word. */
const LONG_WAIT_MS = 10_000

const grantOf = ({ slot, lo, hi, now, lineage }: AnswerOf<'granted'>) => ({ slot, lo, hi, storeNow: now, lineage })

/**
 * The errors for a step's refusals, by the type of the answer. `config`: of the task, which has one if its refusal needs it.
 */
const REFUSALS: { [Type in Answer['type']]?: (answer: AnswerOf<Type>, name: string, config: StepConfig) => Error } = {
  quiet: ({ until, now }, name) => errors.quietError(name, until, now),
  exhausted: ({ until, now }, name) => errors.exhaustedError(name, until, now),
  mismatch: ({ theirs }, name, config) => errors.groupMismatchError(name, theirs, config),
  durable: ({ isDurable }, name) => errors.counterMismatchError(name, isDurable),
  twoServers: ({ shown, recorded }, name) => errors.twoServersError(name, shown, recorded),
  skew: ({ by, bound }) => errors.clockSkewError(by, bound),
  ended: (_, name) => errors.destroyedError(name),
  absent: (_, name) => errors.absentError(name),
  record: ({ fault }, name) => errors.recordError(name, fault),
  gone: (_, name) => errors.counterError('gone', name),
  behind: (_, name) => errors.counterError('behind', name),
  full: ({ number }, name) => errors.counterError('full', name, number),
  config: ({ text }, _, config) => errors.optionRangeError('config', config, `one that the rules allow: ${text}`),
  nonsense: ({ text }, name) => errors.storeError(`The store of '${name}' gave an answer that cannot be: ${text}.`),
}

export class DatabaseStore implements SlotStore {
  #records
  #memory
  #wasDurable = false // whether the server could be vouched for once
  #running: Set<StepRun> = new Set()

  /** @param address that was opened, if one was */
  constructor(records: Records, address?: string) {
    this.#records = records
    this.#memory = memoryOf(address)
  }

  /** What it runs on. For tests, which look behind the steps. */
  get records() {
    return this.#records
  }

  /**
   * Makes a group that nobody used in the last minute, and waits until it grants slots. Returns whether it was made.
   */
  async create(group: string, config: Config, signal?: AbortSignal) {
    await this.#checkDurable(group, config.durable)
    const { isNew, until, now } = await this.#run(group, { type: 'create', config }, signal)
    const isLong = until - now > LONG_WAIT_MS
    if (!isNew) {
      if (isLong) errors.warnOfQuietGroup(group, until, now)
      return false
    }
    if (isLong) errors.warnOfLongCreate(group, until, now)
    // A clock of whole seconds shows the end of the quiet period later.
    await sleepUnlessAborted(signal, until - now + (this.#records.clockStepMs ?? 0))
    return true
  }

  async acquire(group: string, { config, owner, host, joins, signal }: Wanted) {
    await this.#checkDurable(group, config.durable)
    return grantOf(await this.#run(group, { type: joins ? 'join' : 'acquire', config, owner, host }, signal))
  }

  async renew(group: string, { config, slot, owner, hi, signal }: Held) {
    await this.#checkDurable(group, config.durable)
    const answer = await this.#run(group, { type: 'renew', config, slot, owner, hi }, signal)
    return answer.type === 'granted' ? grantOf(answer) : answer.type
  }

  async release(group: string, { config, slot, owner, last, signal }: Left) {
    await this.#run(group, { type: 'release', config, slot, owner, last }, signal)
  }

  async destroy(group: string) {
    await this.#run(group, { type: 'destroy' })
  }

  /** Somebody says that older records were put back. */
  async restored(kept: Kept) {
    if ('group' in kept) await this.#run(kept.group, { type: 'restored' })
    else await this.#run(kept.name, { type: 'counterRestored' })
  }

  /** All groups and counters that have a record, whatever it says; undefined if the store cannot tell. */
  async everything(): Promise<Kept[] | undefined> {
    const names = await this.#coded('', async () => this.#records.groups?.())
    if (names === undefined) return undefined
    const kept = await Promise.all([...names].sort().map((name) => this.#kept(name)))
    return kept.flat()
  }

  /** Whether there is a group of this name, a counter, or both. */
  async #kept(name: string): Promise<Kept[]> {
    const { values } = await this.#coded(name, () => this.#records.read(name, ['group', 'counter']))
    const kept = [{ group: name }, { name }]
    return kept.filter((_, i) => values[i] !== null)
  }

  /** Adds to a counter. By 0, with an init, it continues at `init` or above, whatever was lost. */
  async advance(name: string, by: bigint, init?: bigint, durable = false) {
    await this.#checkDurable(name, durable)
    const isSkip = by === 0n && init !== undefined
    const { number, lineage } = isSkip
      ? await this.#run(name, { type: 'skipTo', place: init, durable })
      : await this.#run(name, { type: 'advance', by, ...(init !== undefined && { init }), durable })
    return { number, lineage }
  }

  async list(group: string) {
    const { rows, faults } = await this.#run(group, { type: 'list' })
    if (faults.length > 0) throw errors.recordsError(group, faults, rows)
    return rows
  }

  trouble(group: string) {
    return [...this.#running].find((run) => run.name === group && run.failure !== undefined)?.failure
  }

  /** Where the records are: server, database, schema and prefix; undefined if the store cannot tell. */
  get place() {
    const records = this.#records
    const { place } = records
    return place === undefined ? undefined : () => this.#coded('', () => place.call(records))
  }

  /** The names of all groups; undefined if the store cannot tell. */
  get groups() {
    const records = this.#records
    const { groups } = records
    if (groups === undefined) return undefined
    return async () => {
      const names = await this.#coded('', () => groups.call(records))
      const living = await Promise.all(names.map((name) => this.#mayLive(name)))
      return names.filter((_, i) => living[i]).sort()
    }
  }

  /** Whether a group is alive. */
  async has(group: string) {
    return (await this.#run(group, { type: 'exists' })).isAlive
  }

  /** A group whose record cannot be read is one: whoever looks at it is told what is wrong. */
  #mayLive(group: string) {
    return this.has(group).catch((error) => {
      if (error.code === 'ERR_FLAKE_RECORD') return true
      throw error
    })
  }

  async close() {
    this.#memory.close()
    await this.#records.close?.()
  }

  /**
   * Asks the server whether it may be vouched for: before each step, because its settings may change. Who was told that
   * it may is not refused for good: what is wrong may be put right.
   * @param durable whether it is to be vouched for
   */
  async #checkDurable(name: string, durable: boolean) {
    if (!durable) return
    try {
      await this.#coded(name, async () => this.#records.checkDurable?.())
      this.#wasDurable = true
    } catch (error) {
      const { code, message } = error as StoreError
      throw this.#wasDurable && code === 'ERR_FLAKE_OPTION' ? errors.storeError(message, error) : error
    }
  }

  /** Runs a step on the group or counter of this name to its answer, or throws the refusal. */
  async #run<Wanted extends StepTask>(
    name: string,
    task: Wanted,
    signal?: AbortSignal,
  ): Promise<AnswerOf<AnswerTo[Wanted['type']]>> {
    const how = { reads: READS[task.type] ?? 'read', signal }
    const run = new StepRun(this.#records, name, this.#memory.grants.step(name, task, fresh()), how)
    this.#running.add(run)
    const answer = await this.#coded(name, () => run.answer()).finally(() => this.#running.delete(run))
    const refusal = REFUSALS[answer.type] as ((...words: unknown[]) => Error) | undefined
    if (refusal !== undefined) {
      const error = refusal(answer, name, 'config' in task ? task.config : undefined)
      throw answer.lineage === undefined ? error : Object.assign(error, { lineage: answer.lineage })
    }
    return answer as AnswerOf<AnswerTo[Wanted['type']]>
  }

  /** Every call of the records goes through here: what fails without a code of ours gets one. */
  async #coded<Result>(name: string, call: () => Promise<Result> | Result) {
    try {
      return await call()
    } catch (error) {
      throw errors.storeFailure(name, error)
    }
  }
}
