// IDs that servers generated for this generator: those that were fetched, and the requests for more. It requests more while half
// of them are left, so that few calls wait. IDs from before clear() are dropped: those generated here meanwhile are newer.
// Requests stop when no call needs IDs.

import { unlessAborted } from '../../base/abort.ts'
import { Demand, sixteenth } from '../../base/demand.ts'
import { monotonicNow } from '../../base/timers.ts'
import { IdBuffer } from '../../remote/buffer.ts'
import { MOST, type RemoteSettings } from '../../remote/options.ts'
import type { Servers } from '../../remote/servers.ts'
import { BUDGET } from '../../stores/time-budget.ts'

export class ServerSupply {
  #servers
  #prefetch
  #onChange
  #ids
  #groups // how many groups its IDs were of so far
  #demand = new Demand(1, sixteenth)
  #fetching: AbortController | undefined // ends the pending call to the servers
  #first: { brought: Promise<void>; waiting: number } | undefined // that call, if first() made it, and how many wait for it
  #failure: Error | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #lastMs = 1 // how long the last call took
  /** how many IDs it has supplied */
  given = 0
  /** how many IDs the last call wanted */
  wanted = 0

  /** @param onChange retries the waiting calls */
  constructor(
    servers: InstanceType<typeof Servers>,
    { prefetch, validityMs }: Pick<RemoteSettings, 'prefetch' | 'validityMs'>,
    onChange: () => void,
  ) {
    this.#servers = servers
    this.#groups = servers.groups
    this.#prefetch = prefetch
    this.#onChange = onChange
    this.#ids = new IdBuffer({ validityMs })
  }

  /** Whether a request for IDs is pending. */
  get isFetching() {
    return this.#fetching !== undefined
  }

  /** Why the last request brought no IDs; undefined after a successful one. */
  get failure() {
    return this.#failure
  }

  /** In how many ms IDs may arrive. */
  get dueMs() {
    return this.#lastMs
  }

  /** How many IDs are buffered. */
  get left() {
    this.#ids.look() // drops those that are too old
    return this.#ids.count
  }

  /**
   * Fills `into` with IDs, 8 bytes each, and returns true. If there are too few, it takes none, requests more and returns
   * false.
   */
  take(into: Uint8Array) {
    this.wanted = into.length / 8
    if (!this.#ids.take(into)) {
      this.#ask(into.length / 8 - this.#ids.count)
      return false
    }
    this.given += into.length / 8
    if (this.#ids.count * 2 < this.#prefetch) this.#ask(0)
    return true
  }

  /**
   * Resolves when there are IDs, and rejects if no server supplies any. Calls at the same time share one request, which ends
   * when none of them waits any more.
   */
  async first(signal?: AbortSignal) {
    if (this.left > 0) return
    if (this.#first === undefined) {
      this.clear()
      this.#first = { brought: this.#bring(this.#prefetch), waiting: 0 }
      this.#first.brought.catch(() => {}) // the user's fetch may abort the call itself
    }
    const first = this.#first
    first.waiting++
    try {
      await unlessAborted(signal, first.brought, () => true)
    } finally {
      first.waiting--
      if (first.waiting === 0 && first === this.#first) this.clear()
    }
  }

  /** Drops all IDs, and those of a pending request. */
  clear() {
    this.#ids.clear()
    this.#fetching?.abort()
    this.#fetching = undefined
    this.#first = undefined
    this.#failedAt = Number.NEGATIVE_INFINITY
  }

  /** Requests at least this many IDs, unless that was done a moment ago. */
  #ask(least: number) {
    const now = monotonicNow()
    if (this.#fetching !== undefined || now < this.#failedAt + BUDGET.SERVERS_PAUSE_MS) return
    const usual = Math.min(this.#prefetch * this.#demand.ask(now), MOST)
    this.#bring(Math.max(usual, least)).catch(() => {}) // waiting calls get the error
  }

  async #bring(n: number) {
    const own = new AbortController()
    const start = monotonicNow()
    this.#fetching = own
    try {
      const bytes = await this.#servers.take(n, { signal: own.signal })
      if (this.#fetching !== own) return
      if (this.#servers.groups !== this.#groups) this.#ids.clear() // the group was recreated
      this.#groups = this.#servers.groups
      this.#ids.add(bytes)
      this.#demand.came(monotonicNow(), Math.ceil(n / this.#prefetch))
      this.#failure = undefined
    } catch (error) {
      if (this.#fetching === own) this.#fail(error as Error)
      throw error
    } finally {
      this.#lastMs = monotonicNow() - start
      if (this.#fetching === own) {
        this.#fetching = undefined
        this.#first = undefined
        this.#onChange()
      }
    }
  }

  #fail(error: Error) {
    this.#failure = error
    this.#failedAt = monotonicNow()
  }
}
