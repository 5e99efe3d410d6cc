// The records of several stores that know nothing of each other, as those of one: each record is agreed on by a majority of
// them. core/src/lease/quorum decides; step.ts carries its steps out, and listed-store.ts asks one store.

import type { QuorumAnswer, QuorumSeat, QuorumStep } from '../../../src/native.d.ts'
import * as errors from '../../base/errors.ts'
import { monotonicNow, sleep } from '../../base/timers.ts'
import native from '../../native/index.ts'
import type { ClientError } from '../clients.ts'
import type { DatabaseFunction } from '../database-function.ts'
import type { ReadBy, Records, StepLimits, StoreIdentity, StoreState } from '../records.ts'
import { BUDGET, PART_OF_A_STORE } from '../time-budget.ts'
import { note, quorums } from './counts.ts'
import { comingOf } from './list.ts'
import type { ListedStore } from './listed-store.ts'
import { RunningStep } from './step.ts'

/** The part of a call in which the core decides. The rest is for the last answers. */
const PART_OF_THE_CORE = 1 - PART_OF_A_STORE

/** The part of a step in which one call has to end: its error is more informative than that of the step. */
const PART_OF_A_CALL = BUDGET.CALL_MS / BUDGET.STEP_MS

/** For how many calls a change of the list waits until a store is filled. */
const CALLS_OF_A_FILL = 3

/** How many names one read has at most. */
const MOST_NAMES = 1000

type AnswerOf<Type extends QuorumAnswer['type']> = Extract<QuorumAnswer, { type: Type }>

/** What all steps of one list share. Several stores of a thread may share it: it is closed with the last of them. */
export class List {
  readonly stores: ListedStore[]
  readonly memory
  /** the stores that are being filled, with their groups, and the last of these fills */
  readonly filling: Set<string> = new Set()
  lastFill: Promise<unknown> = Promise.resolve()
  /** how many stores share it */
  users = 1

  /** whether this client changes the list, and so knows that it has an earlier one */
  readonly isChanging

  readonly #onEnd

  /**
   * @param coming how many of the last ones are to come, for a change of the list
   * @param onEnd called when its last user leaves
   */
  constructor(stores: ListedStore[], { coming = 0, onEnd = () => {} }: { coming?: number; onEnd?: () => void } = {}) {
    this.#onEnd = onEnd
    this.isChanging = coming > 0
    this.stores = stores
    this.memory = new native.QuorumMemory(
      stores.map(({ label }) => label),
      coming,
    )
    quorums.add(this)
  }

  get majority() {
    return Math.floor(this.stores.length / 2) + 1
  }

  get isClosed() {
    return this.users === 0
  }

  /** Ends it for one of its users, and its clients with the last one. */
  async leave() {
    this.users -= 1
    if (!this.isClosed) return
    this.#onEnd()
    await Promise.all(this.stores.map((store) => store.close()))
  }
}

export class QuorumRecords implements Records {
  #list
  #callMs
  #skewMs
  #use
  groups: (() => Promise<string[]>) | undefined

  /** @param use that of other records, whose steps have other limits */
  constructor(list: List, { ms, skewMs }: StepLimits = {}, use: { isOver: boolean } = { isOver: false }) {
    this.#list = list
    this.#use = use
    this.#callMs = Math.min(BUDGET.CALL_MS, Math.floor((ms ?? BUDGET.STEP_MS) * PART_OF_A_CALL))
    this.#skewMs = skewMs ?? BUDGET.USUAL_SKEW_MS
    // A group is on a majority, of which a majority of the stores has to tell.
    const telling = this.#list.stores.filter(({ records }) => records.groups !== undefined)
    if (telling.length >= this.#list.majority) this.groups = () => this.#groups(telling)
  }

  /** A renewal has less time, and clocks may be as far apart as the group allows. */
  forStep(limits: StepLimits): QuorumRecords {
    return new QuorumRecords(this.#list, limits, this.#use)
  }

  /** A clock of whole seconds may be the one that counts. */
  get clockStepMs() {
    return Math.max(...this.#list.stores.map(({ records }) => records.clockStepMs ?? 0))
  }

  read(group: string, names: readonly string[], signal?: AbortSignal) {
    return this.#read('read', group, names, signal)
  }

  /** Changes nothing, also not in a store that lost its records. */
  look(group: string, names: readonly string[], signal?: AbortSignal) {
    return this.#read('look', group, names, signal)
  }

  readExisting(group: string, names: readonly string[], signal?: AbortSignal) {
    return this.#read('readExisting', group, names, signal)
  }

  async #read(by: ReadBy, group: string, names: readonly string[], signal?: AbortSignal) {
    const core = this.#list.memory.read(group, [...names], by, this.#bounds)
    const step = new RunningStep(core, this.#work({ group, by, signal }))
    const { now, history, values } = await this.#answerOf(step, 'read', group)
    this.#sawStores(step, group)
    return { now, identity: { history, process: '' }, values: values.map((value) => value ?? null) }
  }

  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    { history, process }: StoreIdentity,
    signal?: AbortSignal,
  ) {
    if (process !== '') return false // no composite has one
    const step = this.#list.memory.swap(group, name, from, to, history, this.#bounds)
    const { isClean } = await this.#run(step, 'swapped', { group, by: 'readExisting', signal })
    return isClean
  }

  /** Those with a value: a record of which only promises are left is none. */
  async names(group: string, signal?: AbortSignal) {
    const step = this.#list.memory.names(group, this.#bounds)
    const { names } = await this.#run(step, 'names', { group, by: 'look', signal })
    const kept: string[] = []
    for (let i = 0; i < names.length; i += MOST_NAMES) {
      const some = names.slice(i, i + MOST_NAMES)
      const { values } = await this.look(group, some, signal)
      kept.push(...some.filter((_, k) => values[k] !== null))
    }
    return kept
  }

  async #groups(telling: ListedStore[]) {
    const listed = await this.#ofMajority('groups', telling, async ({ records }) => records.groups?.() ?? [])
    const names = [...new Set(listed.flat())]
    const used = await Promise.all(names.map((name) => this.names(name)))
    return names.filter((_, i) => used[i].length > 0)
  }

  /** Where each store is. */
  async place() {
    const { stores } = this.#list
    const places = stores.map(async (store) => {
      const { records, label } = store
      return (await store.ask(async () => records.place?.(), this.#answerMs).catch(() => undefined)) ?? label
    })
    return (await Promise.all(places)).join('; ')
  }

  /** A minority may lose its data, so a majority has to keep what it acknowledges. */
  async checkDurable() {
    try {
      await this.#ofMajority('durable', this.#list.stores, async ({ records }) => records.checkDurable?.())
    } catch (error) {
      const { cause } = error as ClientError
      throw cause?.code === 'ERR_FLAKE_OPTION' ? cause : error // the settings of a store contradict
    }
  }

  /** The functions of all databases in the list that answer. */
  async functions(signal?: AbortSignal): Promise<DatabaseFunction[]> {
    const asked = this.#list.stores.map((store) =>
      store.ask(async (records) => records.functions?.(signal) ?? [], this.#answerMs),
    )
    const found = await Promise.allSettled(asked)
    return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
  }

  /** Changes the list of a group to that of `next`, and fills the stores that are new in it. */
  async changeTo(next: QuorumRecords, group: string) {
    const present = this.#list.stores
    const coming = comingOf(present, next.#list.stores)
    const list = new List([...present, ...coming], { coming: coming.length })
    try {
      await new QuorumRecords(list).#change(
        group,
        next.#list.stores.map(({ label }) => label),
      )
    } finally {
      list.users = 0 // its stores are those of the two lists
    }
  }

  async #change(group: string, to: string[]) {
    const step = new RunningStep(
      this.#list.memory.change(group, to, this.#bounds),
      this.#work({ group, by: 'readExisting' }),
    )
    await this.#answerOf(step, 'changed', group)
    const { stores } = this.#list
    for (const label of to) {
      const store = stores.findIndex((each) => each.label === label)
      await this.#untilFilled(group, store)
    }
  }

  /** Members may be at it: their claim is left alone for as long as a fill may take. */
  async #untilFilled(group: string, store: number) {
    const end = monotonicNow() + CALLS_OF_A_FILL * this.#callMs
    for (;;) {
      const core = this.#list.memory.fill(group, store, this.#bounds)
      const step = new RunningStep(core, this.#work({ group, by: 'readExisting' }))
      const { isFilled } = await this.#answerOf(step, 'filled', group)
      if (isFilled) return
      if (monotonicNow() > end) throw errors.notFilledError(group, this.#list.stores[store].label)
      await sleep(BUDGET.FILL_AGAIN_MS)
    }
  }

  /** How each store takes part in a group. */
  async storeStates(group: string): Promise<StoreState[]> {
    const core = this.#list.memory.read(group, ['group'], 'look', this.#bounds)
    const step = new RunningStep(core, this.#work({ group, by: 'look' }))
    await step.answer().catch(() => {}) // the states say why
    await step.settled(this.#list.stores)
    return step.seats.map(({ store, state, aheadMs }) => {
      const { label, error } = this.#list.stores[store]
      return { store: label, state, aheadMs, error }
    })
  }

  async close() {
    if (this.#use.isOver) return
    this.#use.isOver = true
    await this.#list.leave()
  }

  get #bounds() {
    return { ms: Math.floor(this.#callMs * PART_OF_THE_CORE), skewMs: this.#skewMs }
  }

  get #answerMs() {
    return Math.ceil(this.#callMs * PART_OF_A_STORE)
  }

  /** The answers of a majority of these stores, as soon as there are enough. */
  async #ofMajority<Result>(what: string, asked: ListedStore[], call: (store: ListedStore) => Promise<Result>) {
    const { stores, majority } = this.#list
    const failed: { label: string; error: unknown }[] = []
    const results: Result[] = []
    await new Promise<void>((resolve, reject) => {
      for (const store of asked) {
        store
          .ask(() => call(store), this.#answerMs)
          .then(
            (result) => {
              if (results.push(result) === majority) resolve()
            },
            (error) => {
              failed.push({ label: store.label, error })
              if (asked.length - failed.length < majority)
                reject(errors.fewStoresError(what, { needed: majority, size: stores.length, silent: failed }))
            },
          )
      }
    })
    return results
  }

  #work(given: { group: string; by: ReadBy; signal?: AbortSignal | undefined }) {
    const { stores } = this.#list
    return {
      ...given,
      ms: this.#callMs,
      stores,
      isOver: () => this.#use.isOver,
      fill: (store: number) => this.#fill(given.group, store),
      note,
    }
  }

  /**
   * In the background, one after the other: two fills of one group would undo each other's work. What fails is tried again by the
   * next step of any member.
   */
  #fill(group: string, store: number) {
    const list = this.#list
    const which = `${store} ${group}`
    if (list.filling.has(which)) return
    list.filling.add(which)
    list.lastFill = list.lastFill.then(() => this.#fillNow(group, store)).finally(() => list.filling.delete(which))
  }

  /** A renewal that has met the empty store may have little time, so this has the usual one. */
  async #fillNow(group: string, store: number) {
    const unhurried = new QuorumRecords(this.#list, { skewMs: this.#skewMs }, this.#use)
    const core = this.#list.memory.fill(group, store, unhurried.#bounds)
    await new RunningStep(core, unhurried.#work({ group, by: 'read' })).answer().catch(() => {})
  }

  #run<Type extends 'swapped' | 'names'>(
    core: QuorumStep,
    type: Type,
    given: { group: string; by: ReadBy; signal?: AbortSignal | undefined },
  ) {
    return this.#answerOf(new RunningStep(core, this.#work(given)), type, given.group)
  }

  /** The answer of a step, or the error for its refusal. */
  async #answerOf<Type extends QuorumAnswer['type']>(
    step: RunningStep,
    _type: Type,
    group: string,
  ): Promise<AnswerOf<Type>> {
    let answer: QuorumAnswer
    try {
      answer = await step.answer()
    } catch (error) {
      if ((error as ClientError).code !== 'ETIMEDOUT') throw error
      throw errors.noAgreementError(group, this.#callMs, this.#silent(step.seats))
    }
    if (answer.type !== 'read') this.#sawStores(step, group)
    const refusal = this.#refusalOf(answer, step, group)
    if (refusal !== undefined) throw refusal
    return answer as AnswerOf<Type>
  }

  #sawStores(step: RunningStep, group: string) {
    const { newerList } = step
    if (newerList !== undefined && !this.#list.isChanging) errors.warnOfNewerList(group, newerList)
    for (const seat of step.seats) {
      if (seat.state === 'silent' || seat.state === 'unlisted') continue
      const { store, state, aheadMs } = seat
      const listed = this.#list.stores[store]
      listed.saw('record', state === 'damaged' ? this.#damage(seat, group) : undefined)
      if (aheadMs === undefined) continue
      listed.saw('clock', state === 'skewed' ? errors.clockSkewError(-aheadMs, this.#skewMs) : undefined)
    }
  }

  #damage({ store, fault }: QuorumSeat, group: string) {
    const { label } = this.#list.stores[store]
    if (fault !== undefined) return errors.listedRecordError(group, label, fault)
    return errors.storeError(`The store ${label} gave an impossible answer.`)
  }

  #refusalOf(answer: QuorumAnswer, step: RunningStep, group: string) {
    const { stores, majority } = this.#list
    const refusing = [...step.refusals].map(([{ label }, error]) => ({ label, error }))
    const isRefused = stores.length - refusing.length < majority
    if (isRefused && (answer.type === 'unknown' || (answer.type === 'swapped' && !answer.isClean)))
      return errors.refusedMajorityError(group, refusing)
    const silent = () => this.#silent(step.seats)
    switch (answer.type) {
      case 'noMajority':
        return errors.fewStoresError(group, { needed: majority, size: stores.length, silent: silent() })
      case 'torn':
      case 'unknown':
        return errors.noAgreementError(group, this.#callMs, silent())
      case 'list':
        return errors.otherListError(stores[answer.store].label, answer.theirs, this.#labels)
      case 'label':
        return errors.otherLabelError(stores[answer.store].label, answer.theirs)
      case 'skew':
        return errors.clockSkewError(answer.by, answer.bound)
      case 'record':
        return errors.listedRecordError(group, stores[answer.store].label, answer.fault)
      case 'nonsense':
        return errors.storeError(`The store ${stores[answer.store].label} gave an impossible answer: ${answer.text}.`)
      case 'change':
        return errors.listChangeError(this.#labels)
      case 'newcomer':
        return errors.newcomerError(stores[answer.store].label, stores[answer.store].error)
      case 'spent':
        return errors.storeError(`The records of '${group}' have no ballot left.`)
    }
  }

  get #labels() {
    return this.#list.stores
      .map(({ label }) => label)
      .sort()
      .join(' ')
  }

  /** The stores that cannot be counted, and why. */
  #silent(seats: QuorumSeat[]) {
    return seats
      .filter(({ state }) => state !== 'votes' && state !== 'behind')
      .map(({ store, state }) => {
        const { label, error } = this.#list.stores[store]
        return { label, error: error ?? WHY[state] }
      })
  }
}

/** Why a store that answers does not count. */
const WHY: Partial<Record<QuorumSeat['state'], string>> = {
  silent: 'it has not answered in time',
  unlisted: 'it is not in the list of the group',
  skewed: 'its clock is wrong',
  damaged: 'a record of it cannot be read',
  empty: 'it has no records of this group yet',
  lost: 'it has lost its records',
  fills: 'it is being filled',
  starts: 'it has just begun',
  apart: 'its records are those of another time',
}
