// One store of a list: its calls, each within a time limit, and whether it takes part at present. A store that is away costs
// nothing while a majority answers, so without a warning nobody would know.

import { publishSoon } from '../../base/channels.ts'
import * as errors from '../../base/errors.ts'
import { inTime, within } from '../../base/in-time.ts'
import { monotonicNow } from '../../base/timers.ts'
import { belongsTo } from '../call-queue.ts'
import type { ClientError } from '../clients.ts'
import type { ReadBy, Records, StoreIdentity } from '../records.ts'
import { BUDGET } from '../time-budget.ts'
import type { Listed } from './list.ts'

/** What a store can fail at. One that is read-only still answers reads. */
type Deed = 'read' | 'swap' | 'clock' | 'record'

/** How long a call may take, and the signal of its step. */
type Limits = { ms: number; step?: AbortSignal | undefined }

/** A store is away after this many failures in a row: a single one may be a connection that was idle for too long. */
const AWAY_AFTER = 2

/** The stores of this thread's lists that are away, by label: however many lists have one, there is one warning. */
const away: Map<string, Set<ListedStore>> = new Map()

/** A client whose call was given up may know why there was no answer, such as that it gets no connection. */
async function ownReason(answer: Promise<unknown>, late: unknown) {
  const reason = await within(
    answer.catch((error) => error),
    BUDGET.POLL_MS,
  )
  return reason instanceof Error ? reason : late
}

export class ListedStore {
  readonly label
  readonly server
  readonly records
  #failures: Map<Deed, { error: unknown; count: number }> = new Map()
  #isAway = false
  #isClosed = false

  constructor({ label, server, records }: Listed) {
    this.label = label
    this.server = server
    this.records = records
  }

  /** Whether a warning has said that it does not take part. */
  get isAway() {
    return this.#isAway
  }

  /** Its last failure, unless it has answered since. */
  get error(): unknown {
    return [...this.#failures.values()].at(-1)?.error
  }

  /** An idle connection may have died unnoticed, which fails at once: then the read is tried on a second one. */
  async read(by: ReadBy, group: string, names: readonly string[], limits: Limits) {
    const { ms } = limits
    const read = this.records[by] ?? this.records.read
    const ask = () => this.#inTime('read', (signal) => read.call(this.records, group, names, signal), limits)
    const start = monotonicNow()
    try {
      return await ask()
    } catch (error) {
      const isQuick = monotonicNow() - start < Math.min(BUDGET.DEAD_CONNECTION_MS, ms / 2)
      const isFirst = this.#failures.get('read')?.count === 1
      if (!isFirst || !isQuick || !(error as ClientError).cause) throw error
      return ask()
    }
  }

  swap(group: string, name: string, from: string | null, to: string, identity: StoreIdentity, limits: Limits) {
    return this.#inTime('swap', (signal) => this.records.swap(group, name, from, to, identity, signal), limits)
  }

  names(group: string, limits: Limits) {
    return this.#inTime('read', (signal) => this.records.names(group, signal), limits)
  }

  async close() {
    this.#isClosed = true // what fails from here on is no news
    away.get(this.label)?.delete(this)
    await this.records.close?.()
  }

  /** A call that is not about a record. */
  ask<Result>(call: (records: Records, signal: AbortSignal) => Promise<Result>, ms: number) {
    return this.#inTime('read', (signal) => call(this.records, signal), { ms })
  }

  /**
   * What a step has seen of its clock or its records.
   * @param error why the store does not count
   */
  saw(deed: 'clock' | 'record', error: Error | undefined) {
    if (error === undefined) this.#succeeded(deed)
    else this.#failed(deed, error)
  }

  /** Once a call was given up, its store sends nothing more for it. */
  async #inTime<Result>(deed: Deed, call: (signal: AbortSignal) => Promise<Result>, { ms, step }: Limits) {
    const before = this.#countOf(deed)
    const over = new AbortController()
    if (step !== undefined) belongsTo(step, over.signal)
    const answer = call(over.signal)
    try {
      const result = await inTime(answer, ms)
      this.#succeeded(deed)
      return result
    } catch (thrown) {
      over.abort(thrown)
      const error = await ownReason(answer, thrown)
      this.#failed(deed, error, before)
      throw error
    }
  }

  #countOf(deed: Deed) {
    return this.#failures.get(deed)?.count ?? 0
  }

  #succeeded(deed: Deed) {
    this.#failures.delete(deed)
    if (!this.#isAway || this.#failures.size > 0) return
    this.#isAway = false
    const others = away.get(this.label)
    others?.delete(this)
    if (others?.size !== 0) return
    errors.warnOfStoreBack(this.label)
    publishSoon('store.state', () => ({ store: this.label, isAway: false }))
  }

  /**
   * @param before how many failures in a row there were when the call began: calls that fail together, with one connection, are
   * one failure
   */
  #failed(deed: Deed, error: unknown, before: number = this.#countOf(deed)) {
    const count = Math.max(this.#countOf(deed), before + 1)
    this.#failures.delete(deed) // so that the last one is the last of the map
    this.#failures.set(deed, { error, count })
    if (this.#isAway || this.#isClosed || count < AWAY_AFTER) return
    this.#isAway = true
    const others = away.get(this.label) ?? new Set()
    away.set(this.label, others.add(this))
    if (others.size > 1) return
    errors.warnOfStoreAway(this.label, error)
    publishSoon('store.state', () => ({ store: this.label, isAway: true, cause: error }))
  }
}
