// Carries out one step of core/src/lease/quorum, which decides: its reads and swaps go to all stores in parallel, each within
// a quarter of the step's time, and answers come back in any order. Once a step has its answer, what is still on its way is
// only of use to others: a late store gets the value that a majority has. Once its caller has given up, nothing more is sent.

import type { QuorumAct, QuorumAnswer, QuorumStep } from '../../../src/native.d.ts'
import { whenAborted } from '../../base/abort.ts'
import { isRefusedWrite, storeError } from '../../base/errors.ts'
import { inTime } from '../../base/in-time.ts'
import { monotonicNow, setTimeout, unixNow } from '../../base/timers.ts'
import { ownOf } from '../../base/values.ts'
import type { ReadBy } from '../records.ts'
import { PART_OF_A_STORE } from '../time-budget.ts'
import type { ListedStore } from './listed-store.ts'

const { randomBytes } = process.getBuiltinModule('node:crypto')

const fresh = () => randomBytes(16).toString('hex')
const now = () => Math.floor(monotonicNow())

/** What a step works on. `ms`: how long it may take; `by`: how it reads. `isOver()`: whether the list was closed. */
export type Work = {
  group: string
  by: ReadBy
  ms: number
  signal?: AbortSignal | undefined
  stores: readonly ListedStore[]
  isOver: () => boolean
  /** a store that has to be filled */
  fill: (store: number) => void
  /** something that metrics count */
  note: (what: string) => void
}

type ActOf<Type extends QuorumAct['type']> = Extract<QuorumAct, { type: Type }>

export class RunningStep {
  #core
  #work
  #isDone = false
  #isDropped = false
  #pending: Map<Promise<void>, ListedStore> = new Map() // calls, which never fail
  #resolve: (answer: QuorumAnswer) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  /** the stores that refuse to write, and their errors */
  readonly refusals: Map<ListedStore, unknown> = new Map()

  constructor(core: QuorumStep, work: Work) {
    this.#core = core
    this.#work = work
  }

  /** What the step has seen of each store. */
  get seats() {
    return this.#core.seats()
  }

  /** The list of the group, if it is another one than this client's. */
  get newerList(): string | undefined {
    return this.#core.newerList() ?? undefined
  }

  /** The answer of the core. */
  async answer(): Promise<QuorumAnswer> {
    const { signal, ms } = this.#work
    if (signal?.aborted) throw new Error('the step was given up')
    const answer = new Promise<QuorumAnswer>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const ignore = signal && whenAborted(signal, () => this.#reject(new Error('the step was given up')))
    this.#take(() => this.#core.begin(now(), fresh()))
    try {
      return await inTime(answer, ms)
    } finally {
      ignore?.()
      this.#isDropped = !this.#isDone
    }
  }

  /** Resolves when these stores have answered, or not in time: also those that the answer did not need. */
  async settled(stores: readonly ListedStore[]) {
    const isOpen = () => [...this.#pending].filter(([, store]) => stores.includes(store)).map(([call]) => call)
    for (let open = isOpen(); open.length > 0; open = isOpen()) await Promise.all(open)
  }

  #call(store: number, done: Promise<void>) {
    this.#pending.set(done, this.#work.stores[store])
    done.then(() => this.#pending.delete(done))
  }

  /** Passes an event to the core, and carries out what follows. */
  #take(event: () => QuorumAct[]) {
    if (this.#isDropped) return
    if (this.#work.isOver()) return this.#reject(storeError('The store was closed.'))
    try {
      for (const act of event()) this.#carryOut(act)
    } catch (error) {
      this.#isDropped = true
      this.#reject(error)
    }
  }

  #carryOut(act: QuorumAct) {
    switch (act.type) {
      case 'read':
        return this.#call(act.store, this.#read(act))
      case 'swap':
        return this.#call(act.store, this.#swap(act))
      case 'names':
        return this.#call(act.store, this.#names(act))
      case 'wake':
        return this.#wake(act)
      case 'fill':
        return this.#work.fill(act.store)
      case 'note':
        return this.#work.note(act.note)
      case 'done':
        this.#isDone = true
        return this.#resolve(act.answer)
    }
  }

  get #limits() {
    const { ms, signal } = this.#work
    return { ms: Math.ceil(ms * PART_OF_A_STORE), step: signal }
  }

  async #read({ call, store, names }: ActOf<'read'>) {
    const { stores, by, group } = this.#work
    const asked = stores[store]
    // A clock of whole seconds, such as etcd's, may appear to be up to a second behind.
    const before = unixNow() - (asked.records.clockStepMs ?? 0)
    let read: Awaited<ReturnType<ListedStore['read']>>
    try {
      read = await asked.read(by, group, names, this.#limits)
    } catch {
      return this.#take(() => this.#core.failed(call, now(), fresh()))
    }
    const { now: at, identity, values, position } = read
    const look = { now: at, ...identity, values: [...values], before, after: unixNow() }
    if (position !== undefined) Object.assign(look, { position: BigInt(position) })
    this.#take(() => {
      try {
        return this.#core.read(call, look, now(), fresh())
      } catch {
        return this.#core.failed(call, now(), fresh()) // an impossible value: as good as no answer
      }
    })
  }

  /** Only a clean answer counts. */
  async #swap(act: ActOf<'swap'>) {
    const { call, store, name, from, to, history, process } = ownOf(act) as unknown as ActOf<'swap'>
    const asked = this.#work.stores[store]
    let isClean = false
    try {
      isClean = await asked.swap(this.#work.group, name, from ?? null, to, { history, process }, this.#limits)
    } catch (error) {
      if (isRefusedWrite(error)) this.refusals.set(asked, error)
    }
    this.#take(() => this.#core.swapped(call, isClean === true, now(), fresh()))
  }

  async #names({ call, store }: ActOf<'names'>) {
    let names: string[]
    try {
      names = [...(await this.#work.stores[store].names(this.#work.group, this.#limits))]
    } catch {
      return this.#take(() => this.#core.failed(call, now(), fresh()))
    }
    this.#take(() => this.#core.named(call, names, now(), fresh()))
  }

  #wake({ call, ms }: ActOf<'wake'>) {
    const timer = setTimeout(() => this.#take(() => this.#core.woke(call, now(), fresh())), ms)
    if (this.#isDone) timer.unref() // nobody waits for it
  }
}
