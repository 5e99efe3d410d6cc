// IDs that servers made for this generator: what was fetched of them, and the calls that fetch more. It asks for more
// while half of them are left, so that few calls wait.
//
// It must never give IDs that were fetched before clear(): those made here meanwhile are newer. It must never keep asking
// servers while nobody asks it.

import { whenAborted } from '../../base/abort.ts'
import { Demand, sixteenth } from '../../base/demand.ts'
import { monotonicNow } from '../../base/timers.ts'
import { IdBuffer } from '../../remote/buffer.ts'
import { MOST, type RemoteSettings } from '../../remote/options.ts'
import type { Servers } from '../../remote/servers.ts'
import { BUDGET } from '../time-budget.ts'

export class ServerSupply {
  #servers
  #prefetch
  #onChange
  #ids
  #groups // of how many groups its IDs were so far
  #demand = new Demand(1, sixteenth)
  #fetching: AbortController | undefined // ends the call to the servers that is under way
  #failure: Error | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #lastMs = 1 // how long the last call took
  /** how many IDs it has given */
  given = 0
  /** how many IDs the last call wanted */
  wanted = 0

  /** @param onChange tries the calls again that wait */
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

  /** Whether IDs are on their way. */
  get isFetching() {
    return this.#fetching !== undefined
  }

  /** Why the last call brought none; undefined after one that brought some. */
  get failure() {
    return this.#failure
  }

  /** How many ms it may take until IDs are here. */
  get dueMs() {
    return this.#lastMs
  }

  /** How many IDs are here. */
  get left() {
    this.#ids.look() // drops those that are too old
    return this.#ids.count
  }

  /**
   * Fills `into` with IDs, 8 bytes each, and returns true. If there are not enough, it takes none and asks for more.
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

  /** Resolves when there are IDs, and rejects if no server gives any. */
  async first(signal?: AbortSignal) {
    if (this.left > 0) return
    this.clear()
    await this.#bring(this.#prefetch, signal)
  }

  /** Forgets all IDs, also those that are on their way. */
  clear() {
    this.#ids.clear()
    this.#fetching?.abort()
    this.#fetching = undefined
    this.#failedAt = Number.NEGATIVE_INFINITY
  }

  /** Asks for at least so many IDs, unless that was done a moment ago. */
  #ask(least: number) {
    const now = monotonicNow()
    if (this.#fetching !== undefined || now < this.#failedAt + BUDGET.SERVERS_PAUSE_MS) return
    const usual = Math.min(this.#prefetch * this.#demand.ask(now), MOST)
    this.#bring(Math.max(usual, least)).catch(() => {}) // the calls that wait hear of it
  }

  async #bring(n: number, signal?: AbortSignal) {
    const own = new AbortController()
    const start = monotonicNow()
    this.#fetching = own
    const ignore = signal && whenAborted(signal, () => own.abort(signal.reason))
    try {
      const bytes = await this.#servers.take(n, { signal: own.signal })
      if (this.#fetching !== own) return
      if (this.#servers.groups !== this.#groups) this.#ids.clear() // the group was made again
      this.#groups = this.#servers.groups
      this.#ids.add(bytes)
      this.#demand.came(monotonicNow(), Math.ceil(n / this.#prefetch))
      this.#failure = undefined
    } catch (error) {
      if (this.#fetching === own) this.#fail(error as Error)
      throw error
    } finally {
      ignore?.()
      this.#lastMs = monotonicNow() - start
      if (this.#fetching === own) {
        this.#fetching = undefined
        this.#onChange()
      }
    }
  }

  #fail(error: Error) {
    this.#failure = error
    this.#failedAt = monotonicNow()
  }
}
