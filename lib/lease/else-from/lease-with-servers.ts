// A lease with servers behind its slot: they supply IDs while there is no slot. It uses no servers after detach(), close() or
// destroy(), nor if the lease can never get a slot: that is a mistake which the user has to see.

import { throwIfAborted } from '../../base/abort.ts'
import { warn } from '../../base/errors/foreign.ts'
import { fetchedUsedUpError, noSourceError } from '../../base/errors/remote.ts'
import { ASKED } from '../../generator/other-source.ts'
import { STATUS } from '../../native/hot.ts'
import type { RemoteSettings } from '../../remote/options.ts'
import { Servers } from '../../remote/servers.ts'
import type { SlotStore } from '../../stores/store.ts'
import { Lease, type LeaseSettings } from '../lease.ts'
import type { SlotGenerator } from '../slot-generator.ts'
import { ServerSupply } from './server-supply.ts'

/** Codes of temporary reasons why there is no slot. */
const TEMPORARY = ['ERR_FLAKE_EXHAUSTED', 'ERR_FLAKE_QUIET', 'ERR_FLAKE_STORE', 'ERR_FLAKE_CLOCK_SKEW']

export class LeaseWithServers extends Lease {
  #servers
  #supply
  #name
  #over = new AbortController() // ends pure comparisons
  #windows = 0 // how many windows the lease had when the IDs here were fetched
  #refusal = STATUS.OK // why the slot refused the last ID

  constructor(
    store: SlotStore,
    generator: SlotGenerator,
    settings: LeaseSettings,
    elseFrom: RemoteSettings, // its name is the group's on the servers
  ) {
    super(store, generator, settings)
    const own = () => ({ name: this.group, layout: this.fingerprint, group: this.lineage })
    this.#servers = new Servers(elseFrom, own)
    this.#supply = new ServerSupply(this.#servers, elseFrom, () => generator.wake())
    this.#name = elseFrom.name
  }

  override get source() {
    return this.isOut ? 'server' : super.source
  }

  override get fromServers() {
    return this.#supply.given
  }

  /** Resolves when a slot is held. If none is free, it resolves when servers supply IDs, and the search for a slot continues. */
  override async attach(signal?: AbortSignal) {
    try {
      await super.attach(signal)
    } catch (thrown) {
      const error = thrown as Error & { code?: string }
      throwIfAborted(signal)
      if (!TEMPORARY.includes(String(error.code))) throw error
      await this.#continueWithServers(error, signal)
    }
  }

  override detach() {
    this.#supply.clear()
    return super.detach()
  }

  override close() {
    this.#over.abort()
    return super.close()
  }

  override after(status: number) {
    if (!this.lacks(status)) return undefined
    this.#dropOlder()
    this.#refusal = status
    return this.#supply
  }

  override isComing(status: number) {
    return status === ASKED ? this.#supply.isFetching : super.isComing(status)
  }

  override error(status: number) {
    return status === ASKED ? this.#errorOfServers() : super.error(status)
  }

  /** Warns of servers of a different group before they are needed. */
  override async compare() {
    const strangers = await this.#servers.strangers(this.#over.signal)
    for (const { message } of strangers) warn('FLAKEFORGE_ELSE_FROM', message)
  }

  /** Drops IDs that were fetched before the last window: its slot has generated newer ones. */
  #dropOlder() {
    if (this.windows !== this.#windows) this.#supply.clear()
    this.#windows = this.windows
  }

  /** @param reason why there is no slot */
  async #continueWithServers(reason: Error, signal?: AbortSignal) {
    this.#dropOlder()
    try {
      await this.#supply.first(signal)
    } catch (error) {
      throwIfAborted(signal)
      if (this.isWanted) throw noSourceError(this.group, reason, error as Error)
    }
    if (!this.seek()) throw super.error(STATUS.NO_GENERATOR)
  }

  /** For a call that does not wait, or whose wait failed. */
  #errorOfServers() {
    const { failure, left: here, dueMs: retryAfterMs, wanted } = this.#supply
    if (failure === undefined) return fetchedUsedUpError(this.#name, { wanted, here, retryAfterMs })
    const refused = super.error(this.#refusal) as Error
    // That the generator is detached is not informative: the store's last answer is the reason.
    const reason = this.#refusal === STATUS.NO_GENERATOR && refused.cause instanceof Error ? refused.cause : refused
    return noSourceError(this.group, reason, failure)
  }
}
