// Applies a lease to its generator: each slot gets a new generator of the addon, which shares nothing with those before. All
// of this happens within a step of the lease, so none of it may call the lease.

import { unlessProblem } from '../base/check.ts'
import { problemError } from '../base/errors.ts'
import { look } from '../generator/clock-steps.ts'
import { attach, detach, type FlakeId, wake } from '../generator/flake-id.ts'
import { knobsOf, noGenerator, OpenedGenerator, type SlotHolder } from '../generator/opened-generator.ts'
import type { Settings } from '../generator/options.ts'
import { lookAhead } from '../layout/horizon.ts'
import { generators, nativeLayout } from '../native/hot.ts'
import type { Grant } from '../stores/store.ts'
import type { LeaseDetail, LeaseEvent } from './events.ts'
import type { JoinSettings } from './join-options.ts'

/** The addon's generator for a grant. Throws if its node number is already in use in this process. */
function openGrant(options: JoinSettings, { slot, lo, hi, cursor }: Grant) {
  const own = { ...options, ...options.nodeOf(slot) }
  const [handle, knobs] = [nativeLayout(options.facts), knobsOf(own)]
  const opened =
    cursor === undefined ? generators.openWindow(handle, knobs, lo, hi) : generators.openSlot(handle, knobs, cursor)
  return new OpenedGenerator(own, unlessProblem(opened, `node ${own.node}`))
}

/** A generator with listeners: a LeasedFlakeId. */
type Listened = FlakeId & { emit(event: LeaseEvent, detail: LeaseDetail): boolean }

export class SlotGenerator {
  #options
  #layout
  #opened: OpenedGenerator | undefined // generates the IDs of the present slot, or generated those of the last one
  #leased: Listened | undefined // the user's generator

  constructor(options: JoinSettings) {
    this.#options = options
    this.#layout = nativeLayout(options.facts)
  }

  /** What the user's generator begins with. If IDs come from servers at first, there may be no slot yet. */
  openedWith(lease: SlotHolder) {
    const { options, native } = this.#opened ?? this.#withoutSlot()
    return new OpenedGenerator(options, native, lease)
  }

  /** From now on the slot's IDs are those of this generator. */
  serve(leased: Listened) {
    this.#leased = leased
  }

  /** The ms in which the first tick at or after `lo` begins. */
  firstMs(lo: number) {
    return this.#layout.firstMs(lo)
  }

  /**
   * Generates IDs of this slot and window from now on, or returns an error that names the other user of the slot's node number in
   * this process.
   */
  open(grant: Grant): Error | undefined {
    try {
      this.#opened = openGrant(this.#options, grant)
    } catch (error) {
      return error as Error
    }
    lookAhead(this.#options.facts)
    if (this.#leased !== undefined) attach(this.#leased, this.#opened)
  }

  /** The window now ends at `hi`, and a new window begins at `lo`. */
  raise({ lo, hi }: { lo: number; hi: number }) {
    const { native, options } = this.#present
    native.raise(lo, hi)
    lookAhead(options.facts)
    look(native, options)
  }

  /** Generates no more IDs; returns the Unix ms of the last one, or −1 without one. */
  retire() {
    if (this.#leased !== undefined) detach(this.#leased)
    return this.#present.native.retire()
  }

  /** The fault of the slot's file, if it has one. */
  fault() {
    const problem = this.#opened?.native.fault()
    return problem ? problemError(problem) : undefined
  }

  /**
   * Whether its files show that the group was destroyed. A fault of a file names the file, and the only other fault is this.
   */
  get isDestroyed() {
    return this.#opened?.native.fault()?.path === null
  }

  /** Notifies the listeners. Waiting calls are retried first: what they wait for may have come, or can no longer come. */
  tell(event: LeaseEvent, detail: LeaseDetail) {
    this.wake()
    this.#leased?.emit(event, detail)
  }

  /** Retries the waiting calls. */
  wake() {
    if (this.#leased !== undefined) wake(this.#leased)
  }

  /** Only the fixed node fields are known. */
  #withoutSlot() {
    const settings = { ...this.#options, nodes: { ...this.#options.fixed }, node: undefined }
    return new OpenedGenerator(settings as unknown as Settings, noGenerator())
  }

  /** Only valid once a slot was opened. */
  get #present() {
    return this.#opened as OpenedGenerator
  }
}
