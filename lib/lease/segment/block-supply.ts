// The numbers that a member can hand out: the blocks that it holds, and the calls to the counter that bring more. It requests
// the next block while the present one lasts, so that no call waits for the store. If the store may have lost a block, it
// stops: only skipTo() sets where to continue.

import { Demand, sixteenth } from '../../base/demand.ts'
import { blocksUsedUpError, closedError } from '../../base/errors.ts'
import { within } from '../../base/in-time.ts'
import { monotonicNow, sleep } from '../../base/timers.ts'
import type { SlotStore, StoreError } from '../../stores/store.ts'
import { BUDGET } from '../../stores/time-budget.ts'
import { failureOf } from '../failures.ts'
import { Blocks } from './blocks.ts'
import { Counter } from './counter.ts'

/** Whether the counter may have lost blocks, or has no more. */
const isStandstill = (error: (StoreError & { counter?: string }) | undefined) => error?.counter !== undefined

/**
 * Whether waiting does not help: the member was closed, or an operator has to act, by calling skipTo() on any member or by
 * repairing a record or a folder. A store that only refuses may take writes again a moment later.
 */
const isFinal = (error: StoreError | undefined) =>
  error !== undefined &&
  (error.code === 'ERR_FLAKE_DETACHED' ||
    error.code === 'ERR_FLAKE_DESTROYED' ||
    isStandstill(error) ||
    failureOf(error).why === 'fatal')

export class BlockSupply {
  #name
  #block
  #onChange
  #counter
  #demand = new Demand(1, sixteenth)
  #hand = new Blocks()
  #fetchAt = 0 // when fewer IDs than this are left of the last block, the next one is requested
  #isLate = false // whether a block ever came too late, because half a block did not last until the store answered
  #isFetching = false // whether a call that brings blocks is pending, or failed a moment ago
  #failure: StoreError | undefined // why the last call brought no block; undefined while another call is pending
  #mayInit = false // whether we have the counter's first block, have used no ID of it, and requested no other
  #hasEnded = false // whether end() has stopped waiting: a block that comes now is too late
  /** whether end() was called */
  isClosed = false
  /** how many numbers the counter granted */
  taken = 0

  /** @param onChange retries the waiting calls */
  constructor(
    store: SlotStore,
    { name, block, durable }: { name: string; block: number; durable: boolean },
    onChange: () => void,
  ) {
    this.#name = name
    this.#block = block
    this.#onChange = onChange
    this.#counter = new Counter(store, name, durable)
  }

  get name() {
    return this.#name
  }

  /** Identifies the counter; undefined before its first answer. */
  get lineage() {
    return this.#counter.lineage
  }

  /** How many IDs are left. */
  get left() {
    return this.#hand.total
  }

  /** How many were handed out. */
  get given() {
    return this.#hand.given
  }

  /**
   * Takes the first block.
   * @param init a counter that does not exist yet begins after this
   */
  async begin(init: bigint | undefined) {
    try {
      const start = await this.#take(this.#block, init === undefined ? 0n : init + 1n)
      this.#mayInit = init === undefined && start === 0n
      this.#use(start, this.#block)
    } catch (thrown) {
      const error = thrown as StoreError
      if (!isStandstill(error)) throw error
      this.#failure = error // calls throw it, until skipTo()
    }
  }

  /** The next ID, or an error. */
  next() {
    if (this.#hand.left === 0) this.#insist(1)
    const id = this.#hand.next()
    this.#given()
    return id
  }

  /** Fills `ids` completely or throws: then the remaining IDs stay for other calls. */
  fill(ids: BigUint64Array) {
    if (ids.length === 0) return ids
    this.#insist(ids.length)
    for (let rest = this.#hand.fill(ids); rest.length > 0; rest = this.#hand.fill(rest)) this.#turn()
    this.#given()
    return ids
  }

  /** Whether n IDs are left. Requests the missing ones. */
  has(n: number) {
    const missing = n - this.#hand.total
    if (missing <= 0) return true
    this.#isLate = true
    this.#mayInit = false
    this.#request(missing)
    return false
  }

  /** If too few IDs are left: in how many ms to check again; throws if waiting does not help. */
  lack() {
    const reason = this.#reason()
    if (isFinal(reason)) throw reason
    return BUDGET.COUNTER_RETRY_MS // a block that comes earlier wakes us
  }

  /** Begins at `first`, if no ID was used or requested yet. Returns whether it does. */
  async init(first: bigint) {
    this.#assertOpen()
    if (!this.#mayInit) return false
    this.#mayInit = false
    const left = BigInt(this.#block) - first
    if (left > 0n) {
      this.#use(first, Number(left))
      return true
    }
    this.#hand.clear() // at once: calls from here on wait for the answer
    return this.#alone(() => this.#beginBeyond(first))
  }

  /** Makes all members continue at `first` or above. */
  async skipTo(first: bigint) {
    this.#assertOpen()
    this.#mayInit = false
    await this.#alone(() => this.#goOnAt(first))
  }

  /** Supplies no more IDs. Waits for a pending call to the store. */
  async end() {
    this.isClosed = true
    await within(this.#counter.idle, BUDGET.COUNTER_END_MS)
    this.#hasEnded = true
    this.#hand.clear()
    this.#onChange()
  }

  /** Makes sure that n IDs are left, the first of them in the present block; or throws. */
  #insist(n: number) {
    const reason = this.#reason() // before it is requested again
    if (!this.has(n)) throw reason ?? blocksUsedUpError(this.#name, this.#block, n, this.#hand.total)
    if (this.#hand.left === 0) this.#turn()
  }

  #turn() {
    this.#hand.turn()
    const size = Math.max(this.#hand.left, this.#block)
    this.#fetchAt = this.#isLate ? size : size / 2
  }

  /** Called after IDs were handed out. */
  #given() {
    this.#mayInit = false
    if (this.#hand.left < this.#fetchAt && this.#hand.isLast) this.#request(0)
  }

  /** Why there is no ID, and none is requested. */
  #reason() {
    return this.isClosed ? closedError(this.#name) : (this.#counter.lost ?? this.#failure)
  }

  #assertOpen() {
    if (this.isClosed) throw closedError(this.#name)
  }

  /** Does this work in turn, but only for an open member: it may have been closed while the work waited. */
  async #alone<T>(work: () => Promise<T>) {
    try {
      return await this.#counter.inTurn(() => {
        this.#assertOpen()
        return work()
      })
    } finally {
      this.#onChange()
    }
  }

  /** The counter continues at `first` or above, and so do we. Earlier blocks are dropped. */
  async #goOnAt(first: bigint) {
    this.#hand.clear()
    await this.#counter.raise(first)
    this.#use(await this.#take(this.#block), this.#block)
  }

  /** The counter continues at `first`; but if another member has used it already, nothing changes. */
  async #beginBeyond(first: bigint) {
    let isFirst = false
    try {
      isFirst = (await this.#counter.raise(first)) === first
    } finally {
      if (!isFirst) this.#use(0n, this.#block) // the whole block, which init() had put aside
    }
    if (isFirst) this.#use(await this.#take(this.#block), this.#block)
    return isFirst
  }

  /** Continues with this block, and drops all others. */
  #use(first: bigint, count: number) {
    if (this.#hasEnded) return
    this.#hand.clear()
    this.#hand.add(first, count)
    this.#turn()
  }

  /** Fetches at least this many IDs. Only one call runs at a time, and after a failed one the next has to wait. */
  #request(least: number) {
    if (this.#isFetching || this.isClosed) return
    this.#isFetching = true
    if (!isFinal(this.#failure)) this.#failure = undefined // the fault may be over
    this.#counter
      .inTurn(() => this.#bring(least))
      .finally(() => {
        this.#isFetching = false
        this.#onChange()
      })
  }

  /** Takes this many numbers from the counter, and clears earlier failures. */
  async #take(count: number, init?: bigint) {
    const first = await this.#counter.take(count, init)
    this.#failure = undefined
    this.taken += count
    return first
  }

  async #bring(least: number) {
    try {
      const wanted = Math.max(this.#demand.ask(monotonicNow()), Math.ceil(least / this.#block))
      const blocks = Math.max(1, Math.min(wanted, Math.floor(this.#counter.room / this.#block)))
      const count = blocks * this.#block
      const first = await this.#take(count)
      if (this.#hasEnded) return
      this.#hand.add(first, count)
      this.#demand.came(monotonicNow(), blocks)
    } catch (error) {
      this.#failure = error as StoreError
      await sleep(BUDGET.COUNTER_RETRY_MS)
    }
  }
}
