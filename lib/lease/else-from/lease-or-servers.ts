// A lease whose generator gets IDs from servers while no slot gives any. To the generator and to its user it is a lease
// like any other.
//
// It must never use servers after detach(), close() or destroy(), nor where the lease can never get a slot: that is a
// mistake which somebody has to see.

import { throwIfAborted } from '../../base/abort.ts'
import { noSourceError } from '../../base/errors/else-from.ts'
import { fetchedUsedUpError } from '../../base/errors/remote.ts'
import type { LayoutFacts } from '../../codec/facts.ts'
import { STATUS } from '../../native/hot.ts'
import type { Lease } from '../lease.ts'
import { ASKED, Elsewhere } from './elsewhere.ts'
import type { ServerSupply } from './server-supply.ts'

/** Why there is no slot now, though there may be one later. */
const PASSING = ['ERR_FLAKE_EXHAUSTED', 'ERR_FLAKE_QUIET', 'ERR_FLAKE_STORE', 'ERR_FLAKE_CLOCK_SKEW']

export class LeaseOrServers {
  elsewhere

  #lease
  #supply
  #name
  #onClose

  /** @param options `name`: of the group, on the servers */
  constructor(
    lease: Lease,
    supply: ServerSupply,
    { facts, name, onClose }: { facts: LayoutFacts; name: string; onClose: () => void },
  ) {
    this.#lease = lease
    this.#supply = supply
    this.#name = name
    this.#onClose = onClose
    this.elsewhere = new Elsewhere(lease, supply, facts)
  }

  get group() {
    return this.#lease.group
  }

  get fingerprint() {
    return this.#lease.fingerprint
  }

  get lineage() {
    return this.#lease.lineage
  }

  get state() {
    return this.#lease.state
  }

  get slot() {
    return this.#lease.slot
  }

  get expires() {
    return this.#lease.expires
  }

  get isWanted() {
    return this.#lease.isWanted
  }

  get isClosed() {
    return this.#lease.isClosed
  }

  get isOnFile() {
    return this.#lease.isOnFile
  }

  /** Who makes the next ID; undefined if nobody does. */
  get source() {
    return this.#lease.isOut ? 'server' : this.#lease.source
  }

  /** How many IDs came from servers. */
  get fromServers() {
    return this.#supply.given
  }

  /**
   * Resolves when a slot is held. If there is none, it resolves when servers give IDs, and a slot is sought all the same.
   */
  async attach(signal?: AbortSignal) {
    try {
      await this.#lease.attach(signal)
    } catch (thrown) {
      const error = thrown as Error & { code?: string }
      throwIfAborted(signal)
      if (!PASSING.includes(String(error.code))) throw error
      await this.#goOnWithServers(error, signal)
    }
  }

  detach() {
    this.#supply.clear()
    return this.#lease.detach()
  }

  close() {
    this.#onClose()
    this.#supply.clear()
    return this.#lease.close()
  }

  destroy() {
    return this.#lease.destroy()
  }

  settled() {
    return this.#lease.settled()
  }

  isComing(status: number) {
    return status === ASKED ? this.#supply.isFetching : this.#lease.isComing(status)
  }

  error(status: number) {
    return status === ASKED ? this.#errorOfServers() : this.#lease.error(status)
  }

  /** @param reason why there is no slot */
  async #goOnWithServers(reason: Error, signal?: AbortSignal) {
    try {
      await this.#supply.first(signal)
    } catch (error) {
      throwIfAborted(signal)
      if (this.#lease.isWanted) throw noSourceError(this.group, reason, error as Error)
    }
    if (!this.#lease.seek()) throw this.#lease.error(STATUS.NO_GENERATOR)
  }

  /** For a call that does not wait, or has waited in vain. */
  #errorOfServers() {
    const { failure, left: here, dueMs: retryAfterMs } = this.#supply
    const { refusal, wanted } = this.elsewhere
    if (failure === undefined) return fetchedUsedUpError(this.#name, { wanted, here, retryAfterMs })
    const refused = this.#lease.error(refusal) as Error
    // That the generator is detached says little: the last answer of the store says why.
    const reason = refusal === STATUS.NO_GENERATOR && refused.cause instanceof Error ? refused.cause : refused
    return noSourceError(this.group, reason, failure)
  }
}
