'use strict'
// @ts-check

// Slots, windows and counters on any database that can read records and swap one of them: each call of a lease or counter
// is a step of core/src/lease/grants.rs, whose refusals become errors. step.js carries it out.
//
// It must never decide anything: the rules are in core/src/lease/grants*.

const errors = require('../../base/errors.js')
const { sleepUnlessAborted } = require('../../base/abortable-sleep.js')
const { memoryOf } = require('./memories.js')
const { StepRun, fresh } = require('./step.js')

/**
 * @import { SlotInfo } from '../../../types/stores.d.ts'
 * @import { SlotFolderConfig, Slot, StepConfig, StepTask } from '../../../target/native.d.ts'
 * @import { Kept } from '../restored.js'
 * @import { Answer, Records } from './step.js'
 */

/**
 * A slot and its window, with the store's time and what names its group. The slot of a folder has a cursor in its file.
 * @typedef {{ slot: number, lo: number, hi: number, storeNow: number, lineage: string, cursor?: Slot }} Grant
 */

/**
 * A block's first number, or where a counter continues; and what names the counter.
 * @typedef {{ number: bigint, lineage: string }} Block
 */

/**
 * What the members of a group have in common. Only the folder's store reads `scale`.
 * @typedef {StepConfig & SlotFolderConfig} Config
 */

/**
 * What a call of a store fails with. If waiting helps, it says until when, by the store's clock.
 * @typedef {Error & { code: string, retryAt?: Date, storeNow?: number, lineage?: string }} StoreError
 */

/**
 * What leases and counters call. `joins`: whether a group that is missing is made.
 * @typedef {object} SlotStore
 * @property {(group: string, config: Config, signal?: AbortSignal) => Promise<boolean>} create
 * @property {(group: string, request: { config: Config, owner: string, host: string, joins: boolean }) => Promise<Grant>} acquire
 * @property {(group: string, held: { config: Config, slot: number, owner: string, hi: number }) => Promise<Grant | 'lost' | 'destroyed'>} renew
 * @property {(group: string, held: { config: Config, slot: number, owner: string, last: number }) => Promise<void>} release
 * @property {(group: string) => Promise<void>} destroy
 * @property {(kept: Kept) => Promise<void>} [restored]
 * @property {() => Promise<Kept[] | undefined>} [everything]
 * @property {(name: string, by: bigint, init?: bigint, durable?: boolean) => Promise<Block>} advance
 * @property {(group: string) => Promise<SlotInfo[]>} list
 * @property {() => Promise<string[]>} [groups]
 * @property {() => Promise<void>} [close]
 */

/**
 * What each task is answered with, unless it is refused.
 * @typedef {{
 *   create: 'opened', join: 'granted', acquire: 'granted', renew: 'granted' | 'lost' | 'destroyed', release: 'done',
 *   destroy: 'done', restored: 'done', counterRestored: 'done', list: 'listed', exists: 'exists', advance: 'number',
 *   skipTo: 'number',
 * }} AnswerTo
 */

/**
 * @template {Answer['type']} Type
 * @typedef {Extract<Answer, { type: Type }>} AnswerOf
 */

/** The steps that swap nothing: they must not make a table either. */
const LOOKS = new Set(['list', 'exists'])

/** A wait for a new group that is longer than this needs a word. */
const LONG_WAIT_MS = 10_000

/** @param {AnswerOf<'granted'>} answer */
const grantOf = ({ slot, lo, hi, now, lineage }) => ({ slot, lo, hi, storeNow: now, lineage })

/**
 * The errors for a step's refusals, by the type of the answer. `config`: of the task, which has one if its refusal needs it.
 * @type {{ [Type in Answer['type']]?: (answer: AnswerOf<Type>, name: string, config: StepConfig) => Error }}
 */
const REFUSALS = {
  quiet: ({ until, now }, name) => errors.quietError(name, until, now),
  exhausted: ({ until, now }, name) => errors.exhaustedError(name, until, now),
  mismatch: ({ theirs }, name, config) => errors.groupMismatchError(name, theirs, config),
  durable: ({ isDurable }, name) => errors.counterMismatchError(name, isDurable),
  twoServers: ({ shown, recorded }, name) => errors.twoServersError(name, shown, recorded),
  skew: ({ by, bound }) => errors.clockSkewError(by, bound),
  ended: (_, name) => errors.destroyedError(name),
  record: ({ fault }, name) => errors.recordError(name, fault),
  gone: (_, name) => errors.counterError('gone', name),
  behind: (_, name) => errors.counterError('behind', name),
  full: ({ number }, name) => errors.counterError('full', name, number),
  config: ({ text }, _, config) => errors.optionRangeError('config', config, `one that the rules allow: ${text}`),
  nonsense: ({ text }, name) => errors.storeError(`The store of '${name}' gave an answer that cannot be: ${text}.`),
}

/** @implements {SlotStore} */
class DatabaseStore {
  #records
  #memory
  #wasDurable = false // whether the server could be vouched for once

  /**
   * @param {Records} records
   * @param {string} [address] that was opened, if one was
   */
  constructor(records, address) {
    this.#records = records
    this.#memory = memoryOf(address)
  }

  /** What it runs on. For tests, which look behind the steps. */
  get records() {
    return this.#records
  }

  /**
   * Makes a group that nobody used in the last minute, and waits until it grants slots. Returns whether it was made.
   * @type {SlotStore['create']}
   */
  async create(group, config, signal) {
    await this.#checkDurable(config.durable)
    const { isNew, until, now } = await this.#run(group, { type: 'create', config }, signal)
    if (!isNew) return false
    if (until - now > LONG_WAIT_MS) errors.warnOfLongCreate(group, until, now)
    // A clock of whole seconds shows the end of the quiet period later.
    await sleepUnlessAborted(signal, until - now + (this.#records.clockStepMs ?? 0))
    return true
  }

  /** @type {SlotStore['acquire']} */
  async acquire(group, { config, owner, host, joins }) {
    await this.#checkDurable(config.durable)
    return grantOf(await this.#run(group, { type: joins ? 'join' : 'acquire', config, owner, host }))
  }

  /** @type {SlotStore['renew']} */
  async renew(group, { config, slot, owner, hi }) {
    await this.#checkDurable(config.durable)
    const answer = await this.#run(group, { type: 'renew', config, slot, owner, hi })
    return answer.type === 'granted' ? grantOf(answer) : answer.type
  }

  /** @type {SlotStore['release']} */
  async release(group, { config, slot, owner, last }) {
    await this.#run(group, { type: 'release', config, slot, owner, last })
  }

  /** @type {SlotStore['destroy']} */
  async destroy(group) {
    await this.#run(group, { type: 'destroy' })
  }

  /**
   * Somebody says that older records were put back.
   * @param {Kept} kept
   */
  async restored(kept) {
    if ('group' in kept) await this.#run(kept.group, { type: 'restored' })
    else await this.#run(kept.name, { type: 'counterRestored' })
  }

  /**
   * All groups and counters that have a record, whatever it says; undefined if the store cannot tell.
   * @returns {Promise<Kept[] | undefined>}
   */
  async everything() {
    const names = await this.#coded('', async () => this.#records.groups?.())
    if (names === undefined) return undefined
    const kept = await Promise.all([...names].sort().map((name) => this.#kept(name)))
    return kept.flat()
  }

  /**
   * Whether there is a group of this name, a counter, or both.
   * @param {string} name
   * @returns {Promise<Kept[]>}
   */
  async #kept(name) {
    const { values } = await this.#coded(name, () => this.#records.read(name, ['group', 'counter']))
    const kept = [{ group: name }, { name }]
    return kept.filter((_, i) => values[i] !== null)
  }

  /**
   * Adds to a counter. By 0, with an init, it continues at `init` or above, whatever was lost.
   * @type {SlotStore['advance']}
   */
  async advance(name, by, init, durable = false) {
    await this.#checkDurable(durable)
    const isSkip = by === 0n && init !== undefined
    const { number, lineage } = isSkip
      ? await this.#run(name, { type: 'skipTo', place: init, durable })
      : await this.#run(name, { type: 'advance', by, ...(init !== undefined && { init }), durable })
    return { number, lineage }
  }

  /** @type {SlotStore['list']} */
  async list(group) {
    const { rows, faults } = await this.#run(group, { type: 'list' })
    if (faults.length > 0) throw errors.recordsError(group, faults, rows)
    return rows
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

  /**
   * Whether a group is alive.
   * @param {string} group
   */
  async has(group) {
    return (await this.#run(group, { type: 'exists' })).isAlive
  }

  /**
   * A group whose record cannot be read is one: whoever looks at it is told what is wrong.
   * @param {string} group
   */
  #mayLive(group) {
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
   * @param {boolean} durable whether it is to be vouched for
   */
  async #checkDurable(durable) {
    if (!durable) return
    try {
      await this.#records.checkDurable?.()
      this.#wasDurable = true
    } catch (error) {
      const { code, message } = /** @type {StoreError} */ (error)
      throw this.#wasDurable && code === 'ERR_FLAKE_OPTION' ? errors.storeError(message, error) : error
    }
  }

  /**
   * Runs a step on the group or counter of this name to its answer, or throws the refusal.
   * @template {StepTask} Wanted
   * @param {string} name
   * @param {Wanted} task
   * @param {AbortSignal} [signal]
   * @returns {Promise<AnswerOf<AnswerTo[Wanted['type']]>>}
   */
  async #run(name, task, signal) {
    const how = { looks: LOOKS.has(task.type), signal }
    const run = new StepRun(this.#records, name, this.#memory.grants.step(name, task, fresh()), how)
    const answer = await this.#coded(name, () => run.answer())
    const refusal = /** @type {((...words: unknown[]) => Error) | undefined} */ (REFUSALS[answer.type])
    if (refusal !== undefined) {
      const error = refusal(answer, name, 'config' in task ? task.config : undefined)
      throw answer.lineage === undefined ? error : Object.assign(error, { lineage: answer.lineage })
    }
    return /** @type {AnswerOf<AnswerTo[Wanted['type']]>} */ (answer)
  }

  /**
   * @template Result
   * @param {string} name
   * @param {() => Promise<Result> | Result} call
   */
  async #coded(name, call) {
    try {
      return await call()
    } catch (error) {
      throw errors.storeFailure(name, error)
    }
  }
}

module.exports = { DatabaseStore }
