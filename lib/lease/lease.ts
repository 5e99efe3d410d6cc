// The holder of a lease: acquires, renews and releases a slot. core/src/lease.rs decides when, and what a refusal means; this
// file calls the store, keeps one timer, and notifies the generator.

import type { Call, MachineAction, MachineEvent, MachineFailure } from '../../src/native.d.ts'
import { throwIfAborted } from '../base/abort.ts'
import { publishSoon, traced } from '../base/channels.ts'
import { aheadError, closedLeaseError, unreleasedError } from '../base/errors.ts'
import { within } from '../base/in-time.ts'
import { clearTimeout, LONGEST_TIMER_MS, monotonicNow, setTimeout, unixNow } from '../base/timers.ts'
import { WeakList } from '../base/weak-list.ts'
import type { OtherSource } from '../generator/other-source.ts'
import { STATUS } from '../native/hot.ts'
import native from '../native/index.ts'
import type { Grant, SlotStore, StoreError } from '../stores/store.ts'
import { BUDGET, secondsOf } from '../stores/time-budget.ts'
import { AttachCalls } from './attach-calls.ts'
import { type Acquisition, acquisitionEnded, type Result, renewalEnded } from './counts-for-metrics.ts'
import { type LeaseEvent, NewsQueue } from './events.ts'
import { failureOf } from './failures.ts'
import type { JoinSettings } from './join-options.ts'
import { LeaseErrors } from './lease-errors.ts'
import type { SlotGenerator } from './slot-generator.ts'
import { warnOfQuiet, warnOfRenewal, warnOfWait } from './warnings.ts'

const { randomBytes } = process.getBuiltinModule('node:crypto')

/** Events that do not change the state, so they are not published as changes. */
const OF_WINDOW = ['renewed', 'renewal-failed']

const NO_ID = -1

/** The result of a renewal, for metrics and subscribers. */
const resultOf = (answer: Grant | string) => (typeof answer === 'string' ? answer : 'renewed') as Result

/** The result of an acquisition that failed, for metrics. */
const FAILED: Record<string, Acquisition> = {
  ERR_FLAKE_EXHAUSTED: 'exhausted',
  ERR_FLAKE_QUIET: 'quiet',
  ERR_FLAKE_DESTROYED: 'destroyed',
}
const acquisitionOf = ({ code }: StoreError) => FAILED[code] ?? 'failed'

/** `howToCreate` returns the command that makes a new group without a quiet period. */
export type LeaseSettings = Pick<JoinSettings, 'group' | 'host' | 'config' | 'waitMs'> & { howToCreate: () => string }

/** This thread's leases, for destroy(). */
const members: WeakList<Lease> = new WeakList()

/** What subscribers see of an acquisition. */
function granted({ slot }: Grant, context: { slot?: number | undefined }) {
  context.slot = slot
  return 'granted'
}

export class Lease {
  #machine
  #slot: number | undefined
  #errors
  #store
  #generator
  #group
  #host
  #config
  #joins = true // until the first slot: only joining creates a group
  #over = new AbortController() // gives up calls to the store
  #waitMs
  #howToCreate
  #events: MachineEvent[] = [] // those that arrived during a step
  #isStepping = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #watching: ReturnType<typeof setTimeout> | undefined // of a slot in a folder
  #attaching: AttachCalls | undefined // set while calls wait for a slot
  #calls: Set<Promise<void>> = new Set() // calls that the store has not answered yet; they never fail
  #releases: Set<Promise<void>> = new Set() // detach() waits for these
  #news = new NewsQueue()
  #ending: Promise<void> | undefined // destroy() waits for it
  #offer: Grant | undefined // the last grant, as the store returned it
  #grant: Grant | undefined // the open grant, or the last one
  lineage: string | undefined // identifies the group, by the store's last answer
  #last = NO_ID // Unix ms of the last ID of the slot that was just retired
  /** how many windows the generator has had */
  windows = 0

  constructor(store: SlotStore, generator: SlotGenerator, { group, host, config, waitMs, howToCreate }: LeaseSettings) {
    this.#machine = new native.LeaseMachine({ ttlMs: config.ttlMs, waitMs })
    this.#errors = new LeaseErrors(group, this.#machine, store)
    this.#store = store
    this.#host = host
    this.#config = config
    this.#generator = generator
    this.#group = group
    this.#waitMs = waitMs
    this.#howToCreate = howToCreate
    members.add(this)
  }

  get group() {
    return this.#group
  }

  /** The settings that a group's members share: IDs with equal fingerprints can be mixed. */
  get fingerprint() {
    return this.#config.fingerprint
  }

  get state() {
    return this.#machine.state
  }

  /** how many slots the group has */
  get slots() {
    return this.#config.slots
  }

  get slot() {
    return this.#slot
  }

  /** Whether the user still wants IDs of it: neither detach() nor close() was called, and the group was not destroyed. */
  get isWanted() {
    return !this.#errors.isUnwanted && this.state !== 'destroyed'
  }

  get isClosed() {
    return this.#errors.isClosed
  }

  /** Whether the slot is a file, which is held until it is released, and needs no renewal to generate IDs. */
  get isOnFile() {
    return this.#grant?.cursor !== undefined
  }

  get expires() {
    const { hi } = this.#machine
    if (hi === null) return undefined
    return new Date(this.#grant?.cursor?.window?.hi ?? hi) // a file's window advances as IDs are generated
  }

  /** The source of the next ID; undefined without one. */
  get source(): 'slot' | 'server' | undefined {
    return this.state === 'attached' ? 'slot' : undefined
  }

  /** How many IDs came from servers; undefined without servers behind the slot. */
  get fromServers(): number | undefined {
    return undefined
  }

  /** Whether IDs are wanted, but no slot supplies any at present. */
  get isOut() {
    const { expires } = this
    const isOver = expires !== undefined && expires.getTime() < unixNow()
    return this.#machine.isRecovering || (isOver && this.#machine.renewalsFail(unixNow()))
  }

  /**
   * Resolves when a slot is held and the clock is in its window. It ends soon after waitMs, and at once if the signal aborts,
   * whatever the store does.
   */
  async attach(signal?: AbortSignal) {
    this.#assertOpen()
    throwIfAborted(signal)
    this.#errors.isUnwanted = false
    if (this.#attaching === undefined) this.#publishJoining()
    this.#attaching ??= new AttachCalls(this.#waitMs, () => this.#step({ type: 'giveUp' }))
    const attaching = this.#attaching
    this.#step({ type: 'attach' })
    await attaching.wait(signal)
  }

  /** Seeks a slot until one is held, without waiting. Returns whether one is still wanted. */
  seek() {
    if (this.isWanted) this.#step({ type: 'seek' })
    return this.isWanted
  }

  /**
   * Releases the slot. Resolves when the store has recorded it, or when the call to the store has failed: then the slot
   * becomes free after the ttl. If the store does not answer in time, it rejects.
   */
  async detach() {
    this.#errors.isUnwanted = true
    this.#step({ type: 'detach' })
    await Promise.all([this.#news.told(), ...this.#releases])
  }

  /** Releases the slot permanently: the client may be closed once this has `settled`. */
  async close() {
    this.#errors.isClosed = true
    await this.detach()
  }

  /** After close(): gives up calls that the store has still not answered, so that they do not keep the process alive. */
  giveUp() {
    this.#over.abort()
  }

  /**
   * Resolves when no call to the store is pending. A slot that was granted after the end has been released by then. Never
   * rejects.
   */
  async settled() {
    while (this.#calls.size > 0) await Promise.all(this.#calls)
  }

  /** Destroys the group for all members. */
  async destroy() {
    this.#assertOpen()
    this.#ending = undefined
    this.#step({ type: 'destroy' })
    await this.#ending
  }

  /**
   * Whether the generator refused with this status because it has no slot, or one whose window ended without a renewal, and
   * not because the user wants no IDs.
   */
  lacks(status: number) {
    if (status === STATUS.WINDOW_END) return this.#machine.renewalsFail(unixNow())
    return status === STATUS.NO_GENERATOR && this.#machine.isRecovering
  }

  /** The source of IDs after the generator refused with this status. There is none behind the slot, except in else-from/. */
  after(_status: number): OtherSource | undefined {
    return undefined
  }

  /** Throws unless it holds a slot whose window contains this time, Unix ms. */
  assertHolds(now: number) {
    this.#lookForEnd()
    if (this.state !== 'attached') throw this.#errors.ofStatus(STATUS.NO_GENERATOR)
    const { hi } = this.#machine
    if (!this.isOnFile && hi !== null && now > hi) throw this.error(STATUS.WINDOW_END)
  }

  /** Compares the group with that of the other sources, and warns of a difference. */
  async compare() {}

  /** Whether waiting may help after the generator refused with this status. */
  isComing(status: number) {
    if (status === STATUS.FILE) return this.#isLookedAt() && this.state !== 'destroyed'
    this.#look(status)
    return status === STATUS.WINDOW_END || (status === STATUS.NO_GENERATOR && this.#machine.isRecovering)
  }

  /**
   * The slot's file failed. If it was removed, the next renewal brings another slot, so we renew at once. If the store still
   * lists the slot as held, the file cannot be written, and waiting does not help.
   */
  #isLookedAt() {
    this.#step({ type: 'renewNow' }) // closes the file, whatever it finds
    if (this.#generator.isDestroyed) this.#step({ type: 'ended' })
    return this.#isStepping || this.#machine.isRenewing
  }

  /** Renews a window that is over, if that is due: our timer stands still while the machine is suspended. */
  #look(status: number) {
    if (status === STATUS.WINDOW_END && !this.#machine.isRenewing) this.#step({ type: 'time' })
  }

  /** The error for a call that the generator refused; undefined if the refusal has nothing to do with the lease. */
  error(status: number): unknown {
    this.#look(status)
    return this.#errors.ofStatus(status)
  }

  #assertOpen() {
    if (this.#errors.isOver) throw closedLeaseError(this.#group)
  }

  /** Passes an event to the machine. Events that arrive while another is handled are queued. */
  #step(event: MachineEvent) {
    this.#events.push(event)
    if (this.#isStepping) return
    this.#isStepping = true
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) this.#take(next)
    } finally {
      this.#isStepping = false
    }
  }

  #take(event: MachineEvent) {
    const actions = this.#machine.step(event, unixNow(), randomBytes(16).toString('hex'))
    this.#slot = this.#machine.slot ?? undefined // servers show it with each answer: this avoids a call of the addon
    clearTimeout(this.#timer) // a step that waits for something sets it again
    for (const action of actions) this.#carryOut(action)
  }

  #carryOut(action: MachineAction) {
    switch (action.type) {
      case 'acquire':
        return this.#call(this.#acquire(action.owner))
      case 'renew':
        return this.#call(this.#renew(action.owner, action.slot, action.hi))
      case 'retire':
        this.#last = this.#generator.retire()
        return
      case 'release':
        return this.#giveBack(action.owner, action.slot, this.#last)
      case 'giveBack':
        return this.#giveBack(action.owner, action.slot, NO_ID)
      case 'end':
        this.#ending = this.#end()
        return
      case 'open':
        // Its result comes before any other event.
        this.#events.unshift(this.#open(action))
        return
      case 'raise':
        this.windows++
        return this.#generator.raise(action)
      case 'wait':
        return this.#wakeAt(action.at)
      case 'resolve':
        return this.#settle((attaching) => attaching.resolve())
      case 'reject':
        return this.#reject(this.#reason(action.why))
      case 'tell':
        return this.#tell(action.event as LeaseEvent)
    }
  }

  /** A pending call; `settled` waits for it. */
  async #call(done: Promise<void>) {
    this.#calls.add(done)
    await done
    this.#calls.delete(done)
  }

  /** Returns the event with the result. */
  #open({ owner, lo, hi }: { owner: string; lo: number; hi: number }): MachineEvent {
    const grant = { ...(this.#offer as Grant), lo, hi }
    const inUse = this.#generator.open(grant)
    this.#errors.opened(inUse)
    if (inUse !== undefined) return { type: 'inUse', owner }
    this.#grant = grant
    this.lineage = grant.lineage
    this.windows++
    this.#watch()
    return { type: 'opened', owner }
  }

  async #acquire(owner: string) {
    const wanted = { ...this.#shared, owner, host: this.#host, joins: this.#joins }
    let grant
    try {
      grant = await traced('lease.acquire', this.#context(), () => this.#store.acquire(this.#group, wanted), granted)
    } catch (error) {
      acquisitionEnded(this.#group, acquisitionOf(error as StoreError))
      return this.#failed('acquire', owner, error as StoreError)
    }
    this.#joins = false
    acquisitionEnded(this.#group, 'granted')
    this.#errors.answered('acquire', owner)
    this.#offer = grant
    this.#step({ type: 'granted', owner, ...this.#windowOf(grant) })
  }

  async #renew(owner: string, slot: number, hi: number) {
    const held = { ...this.#shared, slot, owner, hi }
    const since = monotonicNow()
    const ended = (result: Result) => renewalEnded(this.#group, result, secondsOf(monotonicNow() - since))
    let answer
    try {
      answer = await traced('lease.renew', this.#context(slot), () => this.#store.renew(this.#group, held), resultOf)
      ended(resultOf(answer))
    } catch (error) {
      ended('failed')
      return this.#failed('renew', owner, error as StoreError)
    }
    if (answer === 'lost') this.#errors.lost(owner, slot, this.#generator.fault())
    else this.#errors.answered('renew', owner)
    if (answer === 'lost') return this.#step({ type: 'lost', owner })
    if (answer === 'destroyed') return this.#step({ type: 'destroyed', asked: 'renew', owner })
    this.lineage = answer.lineage
    this.#step({ type: 'renewed', owner, ...this.#windowOf(answer) })
  }

  /** The common arguments of all calls to the store. */
  get #shared() {
    return { config: this.#config, signal: this.#over.signal }
  }

  /** What subscribers of a channel see; without the owner, which is a secret. */
  #context(slot?: number): { group: string; slot?: number | undefined } {
    return { group: this.#group, slot }
  }

  /** The part of a grant that the machine needs. */
  #windowOf({ slot, lo, hi }: Grant) {
    return { slot, lo: this.#generator.firstMs(lo), hi }
  }

  #failed(asked: Call, owner: string, error: StoreError) {
    this.#errors.failed(asked, owner, error)
    this.lineage = error.lineage ?? this.lineage // a store without a free slot names the group
    if (error.code === 'ERR_FLAKE_DESTROYED') return this.#step({ type: 'destroyed', asked, owner })
    const failure = failureOf(error)
    if (this.#attaching !== undefined) this.#warnOfDelay(failure, error)
    this.#step({ type: 'failed', asked, owner, failure })
  }

  /** Warns if waiting calls have to wait longer. */
  #warnOfDelay(failure: MachineFailure, error: Error) {
    if (failure.why === 'quiet') warnOfQuiet(this.#group, failure, this.#howToCreate)
    if (failure.why === 'passing') warnOfWait(this.#group, this.#waitMs, error)
  }

  #giveBack(owner: string, slot: number, last: number) {
    const released = this.#release(owner, slot, last)
    const over = released.catch(() => {}) // detach() passes the error on
    this.#call(over)
    this.#releases.add(released)
    over.then(() => this.#releases.delete(released))
  }

  async #release(owner: string, slot: number, last: number) {
    const isReleased = await within(this.#isReleased({ owner, slot, last }), BUDGET.RELEASE_MS)
    this.#step(
      isReleased ? { type: 'released', owner } : { type: 'failed', asked: 'release', owner, failure: { why: 'store' } },
    )
    if (isReleased !== undefined) return
    const error = unreleasedError(this.#group, slot, BUDGET.RELEASE_MS)
    throw this.#store.located?.(error) ?? error
  }

  /** Whether the store has recorded that the slot is free. If the call fails, the slot becomes free after the ttl. */
  async #isReleased(given: { owner: string; slot: number; last: number }) {
    const left = { ...this.#shared, ...given }
    const call = () => this.#store.release(this.#group, left)
    try {
      await traced('lease.release', this.#context(given.slot), call, () => 'released')
      return true
    } catch {
      return false
    }
  }

  async #end() {
    await this.#store.destroy(this.#group)
    this.#step({ type: 'ended' })
    for (const other of members.living) if (other.lineage === this.lineage) other.#lookNow()
  }

  /** Another lease of this process has destroyed the group. */
  #lookNow() {
    this.#lookForEnd()
    this.#step({ type: 'renewNow' })
  }

  /** The group's page in a folder shows its end at once. */
  #lookForEnd() {
    if (this.state === 'attached' && this.#grant?.cursor?.isDestroyed) this.#step({ type: 'ended' })
  }

  /** A member in a folder notices the end of its group even if it generates no IDs; there is no server to ask. */
  #watch() {
    clearTimeout(this.#watching)
    if (!this.isOnFile) return
    this.#watching = setTimeout(() => {
      if (this.state !== 'attached') return
      this.#lookForEnd()
      this.#watch()
    }, BUDGET.FOLDER_LOOK_MS)
    this.#watching.unref()
  }

  #wakeAt(at: number) {
    const ms = Math.min(Math.max(at - unixNow(), 0), LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => this.#step({ type: 'time' }), ms)
    // A lease does not keep the process alive; a call that waits for a slot does.
    if (this.#attaching === undefined) this.#timer.unref()
  }

  #settle(how: (attaching: AttachCalls) => void) {
    const attaching = this.#attaching
    if (attaching === undefined) return
    attaching.end()
    this.#attaching = undefined
    this.#news.add(() => how(attaching)) // after the listeners
  }

  #reject(error: Error | undefined) {
    this.#settle((attaching) => attaching.reject(error))
  }

  /**
   * The error for the waiting calls.
   * @param why the machine's reason
   */
  #reason(why: string) {
    if (why !== 'ahead') return this.#errors.ofSearch(why)
    return aheadError(this.#group, this.#windowOf(this.#offer as Grant).lo - unixNow())
  }

  #tell(event: LeaseEvent) {
    const cause = this.#errors.ofEvent(event)
    const detail = { group: this.#group, slot: this.#grant?.slot, ...(cause && { cause }) }
    if (event === 'renewal-failed') warnOfRenewal(Object.assign(detail, { expires: this.expires }))
    if (!OF_WINDOW.includes(event)) publishSoon('lease.state', () => ({ ...detail, state: this.state, event }))
    this.#news.add(() => this.#generator.tell(event, detail))
  }

  #publishJoining() {
    if (this.state !== 'detached') return
    publishSoon('lease.state', () => ({ group: this.#group, slot: undefined, state: 'detached', event: 'joining' }))
  }
}
