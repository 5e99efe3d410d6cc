// Why a lease supplies no IDs: keeps the last failure, and makes the errors about it. It does not change the lease, and
// ignores failures of requests that were given up.

import type { Call, LeaseMachine } from '../../src/native.d.ts'
import {
  closedLeaseError,
  destroyedError,
  detachedError,
  inUseError,
  isPassing,
  leaseExpiredError,
  lostError,
  unansweredError,
  windowEndError,
} from '../base/errors.ts'
import { unixNow } from '../base/timers.ts'
import { STATUS } from '../native/hot.ts'
import type { SlotStore, StoreError } from '../stores/store.ts'
import { BUDGET } from '../stores/time-budget.ts'
import type { LeaseEvent } from './events.ts'

export class LeaseErrors {
  #group
  #machine
  #store: Pick<SlotStore, 'trouble' | 'located'>
  #cause: Error | undefined // the last failure, or why the slot was lost
  #inUse: Error | undefined // the user of a node number whose slot this search skipped
  /** whether the user has called detach() or close(), which is then the only cause */
  isUnwanted = false
  /** whether the user has called close() */
  isClosed = false

  constructor(group: string, machine: LeaseMachine, store: Pick<SlotStore, 'trouble' | 'located'>) {
    this.#group = group
    this.#machine = machine
    this.#store = store
  }

  /** Whether it was closed; a destroyed group takes precedence. */
  get isOver() {
    return this.isClosed && this.#machine.state !== 'destroyed'
  }

  /** The store answered this owner, and neither failed nor took the slot away. */
  answered(asked: Call, owner: string) {
    this.#learn(asked, owner, undefined)
  }

  /** A request failed. */
  failed(asked: Call, owner: string, error: StoreError) {
    const inUse = this.#inUse
    const isFull = error.code === 'ERR_FLAKE_EXHAUSTED' && inUse !== undefined
    this.#learn(asked, owner, isFull ? inUseError(this.#group, inUse, error) : error)
    if (asked === 'acquire') this.#inUse = undefined
  }

  /**
   * Another member has the slot, by the store's records.
   * @param fault the fault of the slot's file
   */
  lost(owner: string, slot: number, fault: Error | undefined) {
    this.#learn('renew', owner, lostError(this.#group, slot, fault ?? this.#cause))
  }

  /**
   * A slot was opened, or its node number is in use.
   * @param inUse the user of it
   */
  opened(inUse: Error | undefined) {
    this.#inUse = inUse
    if (inUse !== undefined) this.#cause = inUseError(this.#group, inUse)
  }

  /** The error for a call that the generator refused; undefined if the refusal has nothing to do with the lease. */
  ofStatus(status: number) {
    if (status === STATUS.WINDOW_END) return this.#windowError()
    if (this.#machine.state === 'destroyed') return destroyedError(this.#group)
    return status === STATUS.NO_GENERATOR ? this.#detachedError() : undefined
  }

  /**
   * The error for the calls of attach() when the search has ended.
   * @param why the machine's reason
   */
  ofSearch(why: string) {
    if (why === 'destroyed') return destroyedError(this.#group)
    if (why === 'detached') return this.#detachedError()
    // A store that has already refused a slot may need long for another look.
    const isKnown = this.#code === 'ERR_FLAKE_EXHAUSTED' || isPassing(this.#cause)
    const isSilent = why === 'late' && !this.#machine.isSettled && !isKnown
    return isSilent ? this.#unanswered('a slot') : this.#cause
  }

  /** The cause of this event, unless the user asked for it. */
  ofEvent(event: LeaseEvent) {
    const isTrouble = event === 'lost' || (event === 'detached' && !this.isUnwanted)
    if (event === 'renewal-failed') return this.#cause ?? this.#unanswered('a renewal')
    return isTrouble ? this.#cause : undefined
  }

  /** Keeps the failure of a request, if the machine still awaits its answer. */
  #learn(asked: Call, owner: string, cause: Error | undefined) {
    if (this.#cause !== cause && this.#machine.awaits(asked, owner)) this.#cause = cause
  }

  #unanswered(what: string) {
    const error = unansweredError(this.#group, what, this.#cause ?? this.#store.trouble?.(this.#group))
    return this.#store.located?.(error) ?? error
  }

  get #code() {
    return (this.#cause as StoreError | undefined)?.code
  }

  #windowError() {
    const slot = this.#machine.slot ?? undefined
    return this.#machine.renewalsFail(unixNow())
      ? leaseExpiredError(this.#group, slot, this.#cause ?? this.#unanswered('a renewal'))
      : windowEndError(this.#group, slot, BUDGET.POLL_MS)
  }

  #detachedError() {
    if (this.isClosed) return closedLeaseError(this.#group)
    return detachedError(this.#group, this.#machine.isRecovering, this.isUnwanted ? undefined : this.#cause)
  }
}
