// A lease's calls to its store, with the lease's group and options. failureOf() names an error as the holder's state
// machine does. Subscribers of diagnostics channels see each call, and metrics count renewals.
// lease.ts limits the waits, and core/src/lease.rs decides what follows from a failure.

import type { LeaseFailure } from '../../target/native.d.ts'
import { traced } from '../base/channels.ts'
import { isPassing } from '../base/errors.ts'
import { monotonicNow } from '../base/timers.ts'
import { type Result, renewalEnded } from './census.ts'
import type { JoinSettings } from './join-options.ts'
import type { Grant, SlotStore, StoreError } from './stores/database.ts'

/** What the store's refusals are to the machine. Any other error means that the store failed. */
const FAILURES: Record<string, LeaseFailure['why']> = {
  ERR_FLAKE_QUIET: 'quiet',
  ERR_FLAKE_EXHAUSTED: 'exhausted',
  ERR_FLAKE_CLOCK_SKEW: 'skew',
  ERR_FLAKE_CONFIG_MISMATCH: 'fatal',
  ERR_FLAKE_OPTION: 'fatal',
  ERR_FLAKE_FILE: 'fatal',
  ERR_FLAKE_RECORD: 'fatal',
}

/**
 * A failure as the machine takes it. `retryAt`: when a quiet period ends or a slot may be free, by the store's clock.
 */
export function failureOf(error: StoreError): LeaseFailure {
  const { code, retryAt, storeNow } = error
  if (isPassing(error)) return { why: 'passing' }
  const why = FAILURES[code] ?? 'store'
  if (why !== 'quiet' && why !== 'exhausted') return { why }
  if (retryAt === undefined || storeNow === undefined) return { why: 'store' }
  return { why, retryAt: retryAt.getTime(), storeNow }
}

const resultOf = (answer: Grant | string) => (typeof answer === 'string' ? answer : 'renewed') as Result

export class StoreCalls {
  #store
  #group
  #config
  #host
  #joins = true // until the first slot: only who joins may make the group
  #over = new AbortController() // gives up what is under way

  constructor(store: SlotStore, { group, config, host }: Pick<JoinSettings, 'group' | 'config' | 'host'>) {
    this.#store = store
    this.#group = group
    this.#config = config
    this.#host = host
  }

  /** A slot and its window. */
  async acquire(owner: string) {
    const request = { ...this.#shared, owner, host: this.#host, joins: this.#joins }
    const call = () => this.#store.acquire(this.#group, request)
    const grant = await traced('lease.acquire', this.#context(), call, ({ slot }, context) => {
      context.slot = slot
      return 'granted'
    })
    this.#joins = false
    return grant
  }

  /**
   * The next window of a slot, 'lost' or 'destroyed'.
   * @param hi the last ms that was answered before
   */
  async renew(owner: string, slot: number, hi: number) {
    const since = monotonicNow()
    const ended = (result: Result) => renewalEnded(this.#group, result, (monotonicNow() - since) / 1000)
    const call = () => this.#store.renew(this.#group, { ...this.#shared, slot, owner, hi })
    try {
      const answer = await traced('lease.renew', this.#context(slot), call, resultOf)
      ended(resultOf(answer))
      return answer
    } catch (error) {
      ended('failed')
      throw error
    }
  }

  /**
   * Whether the store knows that the slot is no longer used. If the call fails, the slot becomes free after the ttl.
   * @param last Unix ms of the slot's last ID, or −1
   */
  async isReleased(owner: string, slot: number, last: number) {
    const call = () => this.#store.release(this.#group, { ...this.#shared, slot, owner, last })
    try {
      await traced('lease.release', this.#context(slot), call, () => 'released')
      return true
    } catch {
      return false
    }
  }

  destroy() {
    return this.#store.destroy(this.#group)
  }

  /** Gives up what is under way, so that it does not keep the process alive. */
  giveUp() {
    this.#over.abort()
  }

  get #shared() {
    return { config: this.#config, signal: this.#over.signal }
  }

  /** What subscribers of a channel see; not the owner, which is a secret. */
  #context(slot?: number): { group: string; slot?: number | undefined } {
    return { group: this.#group, slot }
  }
}
