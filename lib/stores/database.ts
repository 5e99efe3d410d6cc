// The store of all databases. Each call of a lease or counter is one step of core/src/lease/grants.rs, which decides: a step
// reads and swaps records until it has its answer, within the time that join() promises. Once its caller has given up, it
// swaps nothing.

import type { GrantStep, StepAnswer, StepAsk, StepConfig, StepTask } from '../../src/native.d.ts'
import { whenAborted } from '../base/abort.ts'
import { sleepUnlessAborted } from '../base/abortable-sleep.ts'
import * as errors from '../base/errors.ts'
import { inTime } from '../base/in-time.ts'
import { monotonicNow, sleep, unixNow } from '../base/timers.ts'
import { ownOf } from '../base/values.ts'
import { shownAddress } from './address.ts'
import type { ClientError } from './clients.ts'
import type { DatabaseFunction } from './database-function.ts'
import type { ReadBy, Records } from './records.ts'
import { memoryOf } from './step-memory.ts'
import type {
  AcquireRequest,
  Config,
  GroupOrCounter,
  madeByFlakeforge,
  PastRequest,
  ReleaseRequest,
  RenewRequest,
  SlotStore,
  StoreError,
} from './store.ts'
import { BUDGET, renewalStepMs } from './time-budget.ts'

const { randomBytes } = process.getBuiltinModule('node:crypto')

/** An answer, and the lineage of its group or counter. */
type Answer = StepAnswer & { lineage: string }

type AnswerOf<Type extends Answer['type']> = Extract<Answer, { type: Type }>

/** The errors for a step's refusals, by the type of the answer. `config`: the task's, present if its refusal needs it. */
const REFUSALS: { [Type in Answer['type']]?: (answer: AnswerOf<Type>, name: string, config: StepConfig) => Error } = {
  quiet: ({ until, now }, name) => errors.quietError(name, until, now),
  exhausted: ({ until, now }, name) => errors.exhaustedError(name, until, now),
  mismatch: ({ theirs }, name, config) => errors.groupMismatchError(name, theirs, config),
  durable: ({ isDurable }, name) => errors.counterMismatchError(name, isDurable),
  twoServers: ({ shown, recorded }, name) => errors.twoServersError(name, shown, recorded),
  skew: ({ by, bound }) => errors.clockSkewError(by, bound),
  ended: (_, name) => errors.destroyedError(name),
  absent: (_, name) => errors.absentError(name),
  otherGroup: (_, name) => errors.anotherGroupError(name),
  record: ({ fault }, name) => errors.recordError(name, fault),
  gone: (_, name) => errors.counterError('gone', name),
  counterEnded: (_, name) => errors.destroyedCounterError(name),
  behind: (_, name) => errors.counterError('behind', name),
  full: ({ number }, name) => errors.counterError('full', name, number),
  config: ({ text }, _, config) => errors.optionRangeError('config', config, `a valid one: ${text}`),
  nonsense: ({ text }, name) => errors.storeError(`The store of '${name}' gave an impossible answer: ${text}.`),
}

/**
 * The error for an answer that refuses; undefined for any other answer.
 * @param name of the group or counter
 */
function refusalOf(answer: Answer, name: string, config: StepConfig | undefined) {
  const refusal = REFUSALS[answer.type] as ((...words: unknown[]) => Error) | undefined
  const error = refusal?.(answer, name, config)
  return error !== undefined && answer.lineage !== undefined ? Object.assign(error, { lineage: answer.lineage }) : error
}

/** The answer to each task, unless it is refused. */
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
  counter: 'counter'
  destroyCounter: 'done'
  past: 'number'
  pastRestored: 'done'
  used: 'used'
}

/** Only joining and creating a group, a counter or its end may create tables. */
const READS: Partial<Record<StepTask['type'], ReadBy>> = {
  list: 'look',
  exists: 'look',
  counter: 'look',
  used: 'readExisting',
  renew: 'readExisting',
  release: 'readExisting',
}

const grantOf = ({ slot, lo, hi, now, lineage }: AnswerOf<'granted'>) => ({ slot, lo, hi, storeNow: now, lineage })

/** Other clients may be faster repeatedly: after the second swap, a step waits for up to 4, 8, 16 … ms, and reads again. */
const PATIENCE = 2
/** No step needs more clean swaps: a store with more does not show what it claims to have written. */
const ENOUGH = 5

/** 32 random hex digits, as the addon requests them. */
const fresh = () => randomBytes(16).toString('hex')

const givenUpError = () => new Error('the step was given up')

export class DatabaseStore implements SlotStore {
  declare readonly [madeByFlakeforge]: true
  #records
  #address
  #memory
  #wasDurable = false // whether the server once supported `durable`
  #running: Set<Step> = new Set()

  /** @param address from which the store was opened, if any */
  constructor(records: Records, address?: string) {
    this.#records = records
    this.#address = address
    this.#memory = memoryOf(address)
  }

  /** The store's records. For tests, which look behind the steps. */
  get records() {
    return this.#records
  }

  /** Creates a group that was not used in the last minute, and waits until it grants slots. Returns whether it was created. */
  async create(group: string, config: Config, signal?: AbortSignal) {
    await this.#checkDurable(group, config.durable)
    const { isNew, until, now } = await this.#run(group, { type: 'create', config }, { signal })
    const isLong = until - now > BUDGET.LONG_CREATE_MS
    if (isLong && !isNew) {
      errors.warnOfQuietGroup(group, until, now)
      return false
    }
    if (isLong) errors.warnOfLongCreate(group, until, now)
    if (until <= now) return isNew
    // Also for a group that exists: another create may be waiting, or may have been interrupted.
    // A clock of whole seconds shows the end of the quiet period later.
    await sleepUnlessAborted(signal, until - now + (optional(this.#records, 'clockStepMs') ?? 0))
    return isNew
  }

  async acquire(group: string, { config, owner, host, joins, signal }: AcquireRequest) {
    await this.#checkDurable(group, config.durable)
    return grantOf(await this.#run(group, { type: joins ? 'join' : 'acquire', config, owner, host }, { signal }))
  }

  async renew(group: string, { config, slot, owner, hi, signal }: RenewRequest) {
    await this.#checkDurable(group, config.durable)
    const answer = await this.#run(
      group,
      { type: 'renew', config, slot, owner, hi },
      { signal, ms: renewalStepMs(config.ttlMs) },
    )
    return answer.type === 'granted' ? grantOf(answer) : answer.type
  }

  async release(group: string, { config, slot, owner, last, signal }: ReleaseRequest) {
    await this.#run(group, { type: 'release', config, slot, owner, last }, { signal })
  }

  async destroy(group: string) {
    await this.#run(group, { type: 'destroy' })
  }

  /** Called after an operator restored older records. */
  async restored(what: GroupOrCounter) {
    if ('group' in what) {
      await this.#run(what.group, { type: 'pastRestored' }) // first: if the second fails, the user repeats both
      await this.#run(what.group, { type: 'restored' })
    } else await this.#run(what.name, { type: 'counterRestored' })
  }

  /** All groups and counters that have a record, readable or not; undefined if the store cannot list them. */
  async everything(): Promise<GroupOrCounter[] | undefined> {
    const names = await this.#coded('', async () => this.#records.groups?.())
    if (names === undefined) return undefined
    const kept = await Promise.all([...names].sort().map((name) => this.#kept(name)))
    return kept.flat()
  }

  /** Whether there is a group of this name, a counter, or both. */
  async #kept(name: string): Promise<GroupOrCounter[]> {
    const { values } = await this.#coded(name, () => this.#records.read(name, ['group', 'counter']))
    const kept = [{ group: name }, { name }]
    return kept.filter((_, i) => values[i] !== null)
  }

  /** Adds to a counter. With `by` 0 and an init, it continues at `init` or above, whatever was lost. */
  async advance(name: string, by: bigint, init?: bigint, durable = false) {
    await this.#checkDurable(name, durable)
    const isSkip = by === 0n && init !== undefined
    const { number, lineage } = isSkip
      ? await this.#run(name, { type: 'skipTo', place: init, durable })
      : await this.#run(name, { type: 'advance', by, ...(init !== undefined && { init }), durable })
    return { number, lineage }
  }

  /** Takes numbers for a past time. */
  async past(group: string, { record, by, lineage, durable }: PastRequest) {
    await this.#checkDurable(group, durable)
    const { number } = await this.#run(group, { type: 'past', record, by, lineage: BigInt(`0x${lineage}`) })
    return { number }
  }

  async usedUntil(group: string, slots: number[], lineage: string) {
    const answer = await this.#run(group, { type: 'used', slots, lineage: BigInt(`0x${lineage}`) })
    return Object.hasOwn(answer, 'until') ? (answer.until ?? undefined) : undefined
  }

  async counter(name: string) {
    const answer = await this.#run(name, { type: 'counter' })
    const counter = Object.hasOwn(answer, 'counter') ? answer.counter : undefined
    return counter ? { name, lineage: answer.lineage, ...counter } : undefined
  }

  /** All counters; undefined if the store cannot list them. */
  get counters() {
    const records = this.#records
    const { groups } = records
    if (groups === undefined) return undefined
    return async () => {
      const names = await this.#coded('', () => groups.call(records))
      const found = await Promise.all([...names].sort().map((name) => this.counter(name)))
      return found.filter((counter) => counter !== undefined)
    }
  }

  async destroyCounter(name: string) {
    await this.#run(name, { type: 'destroyCounter' })
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

  /** How each store of a list takes part in a group; undefined if this is a single one. */
  get storeStates() {
    const records = this.#records
    const { storeStates } = records
    if (storeStates === undefined) return undefined
    return (group: string) => this.#coded(group, () => storeStates.call(records, group))
  }

  /** The functions in the store's database that generate IDs. A database without such functions has none. */
  async functions(signal?: AbortSignal): Promise<DatabaseFunction[]> {
    return this.#coded('', async () => (await this.#records.functions?.(signal)) ?? [])
  }

  /** The names of all groups; undefined if the store cannot list them. */
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

  /** A group whose record cannot be read counts as alive: a look at it reports the fault. */
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
   * Checks that the server's settings allow `durable`: before each step, because they may change. A server that passed this
   * check before may pass it again, so this failure is not permanent.
   * @param durable whether the caller requires it
   */
  async #checkDurable(name: string, durable: boolean) {
    if (!durable) return
    try {
      await this.#coded(name, async () => this.#records.checkDurable?.())
      this.#wasDurable = true
    } catch (error) {
      const { code, message } = error as StoreError
      throw this.#wasDurable && code === 'ERR_FLAKE_OPTION' ? this.located(errors.storeError(message, error)) : error
    }
  }

  /** Runs a step on the group or counter of this name to its answer, or throws the refusal. */
  async #run<Task extends StepTask>(
    name: string,
    task: Task,
    limits: { signal?: AbortSignal | undefined; ms?: number } = {},
  ): Promise<AnswerOf<AnswerTo[Task['type']]>> {
    const skew = 'config' in task ? { skewMs: task.config.skewMs } : {}
    const how = { reads: READS[task.type] ?? 'read', ...limits, ...skew }
    const run = new Step(this.#records, name, this.#memory.core.step(name, task, fresh()), how)
    this.#running.add(run)
    let answer
    try {
      answer = await run.answer()
    } catch (error) {
      throw this.located(errors.storeFailure(name, error))
    } finally {
      this.#running.delete(run)
    }
    const refusal = refusalOf(answer, name, 'config' in task ? task.config : undefined)
    if (refusal !== undefined) throw this.located(refusal)
    return answer as AnswerOf<AnswerTo[Task['type']]>
  }

  /** Only from here do errors of a store leave it: in a join(), a renewal, a block, a list, or a command. */
  located<Kind extends Error>(error: Kind): Kind {
    return errors.locatedError(error, this.#where)
  }

  get #where() {
    if (this.#address !== undefined) return `'${shownAddress(this.#address)}'`
    const server = optional(this.#records, 'server')
    return server === undefined ? undefined : `at ${server}`
  }

  /** A call of the records outside of a step: errors without one of our codes get one. */
  async #coded<Result>(name: string, call: () => Promise<Result> | Result) {
    try {
      return await call()
    } catch (error) {
      throw this.located(errors.storeFailure(name, error))
    }
  }
}

/** What the addon leaves out must not be inherited from Object.prototype. */
const ownAsk = (ask: StepAsk) => ownOf(ask) as unknown as StepAsk

/** What a store may leave out, whose own class may have it: not from Object.prototype, which is the program's. */
const optional = <Name extends keyof Records>(records: Records, name: Name): Records[Name] | undefined =>
  records[name] === (Object.prototype as Partial<Records>)[name] ? undefined : records[name]

/** A pending step. */
class Step {
  #records
  #name
  #step
  #readBy
  #signal
  #ms
  #over = new AbortController() // gives up its calls
  #reads = 0
  #swaps = 0
  #failure: unknown // the failure of the last read or swap

  /** @param how how it reads; what gives it up; how long it may take; how far apart clocks may be */
  constructor(
    records: Records,
    name: string,
    step: GrantStep,
    how: { reads?: ReadBy; signal?: AbortSignal | undefined; ms?: number; skewMs?: number } = {},
  ) {
    const { reads = 'read', signal, ms = BUDGET.STEP_MS, skewMs } = ownOf(how) as typeof how
    this.#records = optional(records, 'forStep')?.call(records, { ms, skewMs }) ?? records
    this.#name = name
    this.#step = step
    this.#readBy = optional(this.#records, reads) ?? records.read
    this.#signal = signal
    this.#ms = ms
  }

  get name() {
    return this.#name
  }

  /** The failure of the last read or swap, while the step is still trying. */
  get failure() {
    return this.#failure
  }

  async answer() {
    const signal = this.#signal
    if (signal?.aborted) throw givenUpError()
    const ignore = signal && whenAborted(signal, () => this.#over.abort())
    try {
      return await inTime(this.#go(), this.#ms)
    } catch (error) {
      const { code } = error as ClientError
      if (code !== 'ETIMEDOUT' || error === this.#failure) throw error
      throw errors.unfinishedError(
        this.#name,
        this.#ms,
        this.#swaps,
        this.#failure ?? optional(this.#records, 'failure') ?? error,
      )
    } finally {
      ignore?.()
      this.#over.abort()
    }
  }

  /** Does what the step asks for, and passes it the results, until it has its answer. */
  async #go() {
    let ask = ownAsk(this.#step.begin())
    while (ask.type !== 'done') {
      if (this.#over.signal.aborted) throw givenUpError() // nothing is sent for a caller that no longer waits
      if (ask.type === 'read') ask = ownAsk(await this.#read(ask.names))
      else if (ask.type === 'swap') ask = ownAsk(await this.#swap(ask))
      else ask = ownAsk(await this.#names())
    }
    return { ...ask.answer, lineage: ask.lineage } as Answer
  }

  /**
   * An idle connection may have died unnoticed, which fails at once. So the first read of a step is tried on a second
   * connection as well.
   */
  async #read(names: string[]) {
    const isFirst = this.#reads === 0
    this.#reads += 1
    // A clock of whole seconds, such as etcd's, may appear to be up to a second behind.
    const before = unixNow() - (optional(this.#records, 'clockStepMs') ?? 0)
    const start = monotonicNow()
    let read
    try {
      read = await this.#readBy.call(this.#records, this.#name, names, this.#over.signal)
    } catch (error) {
      this.#failure = error
      const isQuick = monotonicNow() - start < BUDGET.DEAD_CONNECTION_MS
      const isOver = this.#over.signal.aborted || errors.isRefusedWrite(error)
      if (isOver || !isFirst || !isQuick || !(error as ClientError).cause) throw error
      read = await this.#readBy.call(this.#records, this.#name, names, this.#over.signal)
    }
    const { now, identity, values, position } = read
    const look = { now, ...identity, values: [...values], before, after: unixNow() }
    if (position !== undefined) Object.assign(look, { position: BigInt(position) })
    return this.#step.read(look, fresh())
  }

  /** Unless the server definitely refused, the next read shows the result. It counts only after a confirmed write. */
  async #swap({ name, from, to, history, process }: Extract<StepAsk, { type: 'swap' }>) {
    const { signal } = this.#over
    this.#swaps += 1
    let isClean = false
    try {
      isClean = await this.#records.swap(this.#name, name, from ?? null, to, { history, process }, signal)
    } catch (error) {
      this.#failure = error
      if (signal.aborted || errors.isRefusedWrite(error)) throw error
    }
    // Never between a read and its swap: by then another client would have swapped the record.
    if (this.#swaps >= (isClean === true ? ENOUGH : PATIENCE)) {
      await sleep(Math.random() * Math.min(2 ** this.#swaps, BUDGET.STEP_PAUSE_MS))
    }
    return this.#step.swapped(isClean === true, fresh())
  }

  async #names() {
    return this.#step.named([...(await this.#records.names(this.#name, this.#over.signal))], fresh())
  }
}
