// A generator with a leased node number, as users see it: a FlakeId that changes its node number with its slot, and emits
// events about that. The lease handles the slot.

import { type SignalOptions, signalOf } from '../base/abort.ts'
import * as errors from '../base/errors.ts'
import { refuseMore } from '../base/values.ts'
import type { AnyLayout, Unspecified } from '../codec/node-fields.ts'
import { end, FlakeId, type Stats, shownOf } from '../generator/flake-id.ts'
import { OpenedGenerator } from '../generator/opened-generator.ts'
import { EVENTS, type LeaseDetail, type LeaseEvent, type LeaseListener } from './events.ts'
import type { Lease } from './lease.ts'
import { noBackfillError, type PastIds } from './past-ids.ts'

const { EventEmitter } = process.getBuiltinModule('node:events')

/** It is never emitted, but events.once() and events.on() listen to it. */
const ERROR = 'error'

/** Methods of EventEmitter that take an event's name first. */
const NAMED = [
  'on',
  'addListener',
  'prependListener',
  'once',
  'prependOnceListener',
  'off',
  'removeListener',
  'listeners',
  'rawListeners',
  'listenerCount',
]
const OTHERS = ['eventNames', 'setMaxListeners', 'getMaxListeners']

/** EventEmitter's state in the object: not enumerable here, or it would appear in JSON. */
const EMITTER_STATE = ['_events', '_eventsCount', '_maxListeners']

/** The counts of a leased generator; they start anew with each slot. */
export interface LeasedStats extends Stats {
  /** how many IDs came from servers since `join`; `ids` does not include these. Only with `elseFrom`. */
  fromServers?: number
}

// The methods of EventEmitter, which are added below.
// biome-ignore lint/correctness/noUnusedVariables: the class has it
export interface LeasedFlakeId<L extends AnyLayout> {
  /**
   * - `attached`: the generator holds a slot again, after `attach()` or a loss. The first slot causes no event if `join`
   *   waited for it. With `elseFrom`, the first slot may come later, and then causes one.
   * - `renewed`: the window was extended.
   * - `renewal-failed`: a renewal failed (`cause`), and IDs can be generated until `expires`. The renewal is retried, and the
   *   next event is `renewed`, `lost`, `detached` or `destroyed`, so each outage emits `renewal-failed` once. The first one in
   *   a process also emits a warning (`FLAKEFORGE_RENEWAL`).
   * - `lost`: the generator no longer holds the slot (`cause`) and is getting a new one.
   * - `detached`, `destroyed`: the generator has entered the state of that name. `detached` has a `cause` unless you called
   *   `detach()` or `close()`.
   *
   * Listeners run before the promise of the call that caused the event resolves. The generator has all methods of Node's
   * EventEmitter, and works with `events.once` and `events.on`, but is not an `instanceof EventEmitter`. Other event names
   * throw `ERR_FLAKE_OPTION`. `error` is allowed and never emitted.
   */
  on<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  addListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  prependListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  once<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  prependOnceListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  off<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  removeListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  listeners<E extends LeaseEvent | 'error'>(event: E): Array<LeaseListener<E>>
  rawListeners<E extends LeaseEvent | 'error'>(event: E): Array<LeaseListener<E>>
  listenerCount<E extends LeaseEvent | 'error'>(event: E, listener?: LeaseListener<E>): number
  eventNames(): Array<LeaseEvent | 'error'>
  setMaxListeners(n: number): this
  getMaxListeners(): number
}

/** What join() makes one with. Users cannot reach it: only the class can make them. */
export let leasedFlakeId: (opened: OpenedGenerator, parts: LeasedParts) => LeasedFlakeId

interface LeasedParts {
  /** for nextAt(); undefined without `backfill` */
  past: PastIds | undefined
  onClose: () => Promise<void>
  /** asked at each close() whether the generator has no other holder; undefined if it is not shared */
  isLast: (() => boolean) | undefined
}

/**
 * A generator that holds a slot. `FlakeId.join()` creates one.
 *
 * The store grants it a slot and a *window* of time, which it renews in the background. Every ID lies inside the window. If
 * the store does not answer, IDs can be generated until the window ends. After that, `next()` throws `ERR_FLAKE_LEASE_EXPIRED`
 * (`group`, `slot`, `cause`) and `next(callback)` waits, until the store is back.
 *
 * Its `state` is one of these:
 * - `'attached'`: it generates IDs.
 * - `'detached'`: calls throw `ERR_FLAKE_DETACHED`. Either `detach()` or `close()` was called, or the slot was lost and the
 *   search for another is still running; the error's `cause` is the reason. With `elseFrom`, calls return IDs of servers in
 *   the meantime. Before the first slot, `id` is undefined.
 * - `'destroyed'`: the group was destroyed, and all calls throw `ERR_FLAKE_DESTROYED`.
 */
export class LeasedFlakeId<const L extends AnyLayout = Unspecified> extends FlakeId<L> {
  #lease
  #parts

  static {
    leasedFlakeId = (opened, parts) => new LeasedFlakeId(opened, parts)
  }

  /** @param opened with a lease */
  private constructor(opened: OpenedGenerator, parts: LeasedParts) {
    if (!(opened instanceof OpenedGenerator)) {
      throw errors.optionError(
        TypeError,
        'options',
        opened,
        'A LeasedFlakeId is created by await FlakeId.join(store, options)',
      )
    }
    super(opened as never)
    for (const state of EMITTER_STATE) Object.defineProperty(this, state, { value: undefined, writable: true })
    Reflect.apply(EventEmitter, this, [])
    this.#lease = opened.lease as Lease
    this.#parts = parts
  }

  /**
   * The settings that the members of a group must share for their IDs to be unique and ordered by time together: epoch, tick,
   * the positions of timestamp and counter, and fixed node fields, as text to compare. Never mix IDs of generators with
   * different texts.
   */
  get fingerprint(): string {
    return this.#lease.fingerprint
  }

  /**
   * Identifies the group, as 16 hex digits: random bits that the store recorded when the group was created. Groups with the
   * same name on two stores have different digits, and so has a group that is recreated after `destroy()` or a loss of all
   * records. Undefined until the generator has had its first slot, or the store has answered that none is free.
   */
  get lineage(): string | undefined {
    return this.#lease.lineage
  }

  get state(): 'attached' | 'detached' | 'destroyed' {
    return this.#lease.state as LeasedFlakeId['state']
  }

  /** The number of the slot that the generator holds, from 0. Undefined while detached. */
  get slot(): number | undefined {
    return this.#lease.slot
  }

  /**
   * When the window ends: IDs can be generated until then even if the store is down. Undefined while detached. With a folder
   * as the store, this time advances as IDs are generated, and lies in the past if none has been generated for a while.
   */
  get expires(): Date | undefined {
    return this.#lease.expires
  }

  /**
   * The source of the next ID: `'slot'` while attached, or `'server'` with `elseFrom`. Undefined after `detach()`, `close()`
   * and `destroy()`.
   *
   * IDs of servers are fetched ahead. `next()` and `take(n)` return the buffered ones, and throw `ERR_FLAKE_OVERFLOW`
   * (`retryAfterMs`) if there are too few; calls that wait fetch more. Once there is a slot again, the rest of the buffer is
   * dropped. After a change of source, IDs may be lower than earlier ones, by the difference between the clocks (`skewMs`)
   * plus the age of the buffered IDs (`validityMs`). None occurs twice.
   */
  get source(): 'slot' | 'server' | undefined {
    return this.#lease.source
  }

  get stats(): LeasedStats {
    const stats = super.stats
    const { fromServers } = this.#lease
    return fromServers === undefined ? stats : { ...stats, fromServers }
  }

  /**
   * Releases the slot, and stops using servers. Calls that are waiting for an ID get `ERR_FLAKE_DETACHED`. The promise settles
   * within 5 s: if the store has not answered by then, it rejects with `ERR_FLAKE_STORE`, and the slot becomes free when its
   * window ends.
   */
  detach(): Promise<void> {
    return this.#lease.detach()
  }

  /**
   * Acquires a slot again, probably a different one with another node number. The call returns at most a second after
   * `waitMs`, whatever the store does. With `elseFrom`, it resolves without a slot if servers supply IDs, as `join` does.
   * @param options `signal`: when it aborts, `attach` rejects with `signal.reason`, and the generator stays detached. A slot
   * that was granted in the meantime is released.
   * @throws the errors of `FlakeId.join`; `ERR_FLAKE_DESTROYED`; and after `close()`, `ERR_FLAKE_DETACHED`
   */
  async attach(options?: SignalOptions | null, ...more: never[]): Promise<void> {
    refuseMore('attach', more, 'only options')
    await this.#lease.attach(signalOf(options))
  }

  /**
   * Destroys the group. Members in this process are destroyed at once. Others follow within 250 ms in a folder, or at their
   * next renewal on a server, within 37 % of `ttlMs`. From then on, calls throw `ERR_FLAKE_DESTROYED`. A member without a slot
   * at that time may join a group with the same name and options that was created meanwhile. A new group of the same name
   * continues above the last ID of the old one. On a server no slot is granted for 60 s + `skewMs` (durable: `ttlMs` +
   * `skewMs`).
   */
  destroy(): Promise<void> {
    return this.#lease.destroy()
  }

  /**
   * Releases the slot and stops the timer permanently; with `share`, the last holder's call does. From then on `next()`,
   * `attach()` and `destroy()` throw `ERR_FLAKE_DETACHED`. Without `close()`, the slot becomes free when the process ends, or
   * after `ttlMs`. The promise settles within 5 s and may reject as that of `detach()` does; the generator is closed even
   * then.
   */
  async close(): Promise<void> {
    if (this.#parts.isLast?.() === false) return
    try {
      await this.#lease.close()
    } finally {
      end(this)
      await this.#parts.onClose()
    }
  }

  /**
   * A unique ID of a past time, for rows that are older than their IDs. The ID has one of the node numbers that the option
   * `backfill` reserves. The store remembers which IDs were generated, so no member repeats one, even after a restart.
   *
   * The time is exact to the layout's tick, or to the millisecond where ticks are shorter. IDs that one member generates for
   * the same time are in the order of the calls, up to half of what one node has (2,048 per ms). With `backfill: 4`, there are
   * at least 14,336 per ms in the default layout.
   *
   * Most calls need no request to the store: a member gets numbers for several past hours at once.
   * @param date a Date, Unix ms, Unix ns as a bigint, or a Temporal.Instant; not later than now
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the time is before the epoch, later than now, or in another unit.
   * @throws {RangeError} `ERR_FLAKE_BACKFILL`: all IDs of this time are used; or an earlier group of this name may have
   * used the reserved nodes then (`timestamp`, `group`).
   * @throws {RangeError} `ERR_FLAKE_OPTION`: `backfill` is not set.
   * @throws {Error} `ERR_FLAKE_STORE`: the store failed, or may have lost the record of which IDs were generated.
   * @throws otherwise the errors of `nextAsync()`, because this call also needs a slot
   * @example
   * const flake = await FlakeId.join(store, { group: 'orders', backfill: 4, durable: true })
   * const id = toSigned(await flake.nextAt(order.createdAt))
   */
  async nextAt(
    date: Date | number | bigint | { readonly epochNanoseconds: bigint },
    ...more: never[]
  ): Promise<Buffer> {
    refuseMore('nextAt', more, 'only a date')
    if (this.#parts.past === undefined) throw noBackfillError()
    return this.#parts.past.next(date)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /**
   * What console.log shows. Without a slot, the generator has no node number: another member may now have the previous one.
   */
  override toJSON(): object {
    const { group, state, slot, expires } = this.#lease
    const source = this.source === 'server' ? 'server' : undefined
    const { layout, node, ...others } = shownOf(this)
    const ofSlot = state === 'attached' ? node : {}
    return { group, state, source, slot, expires, layout, ...ofSlot, ...others }
  }

  removeAllListeners(event?: LeaseEvent | 'error'): this
  removeAllListeners(...events: any[]) {
    for (const event of events) checkEvent(event)
    return Reflect.apply(EventEmitter.prototype.removeAllListeners, this, events)
  }

  emit(event: LeaseEvent, detail: LeaseDetail): boolean
  emit(event: string, ...details: unknown[]): boolean {
    checkEvent(event)
    return Reflect.apply(EventEmitter.prototype.emit, this, [event, ...details])
  }
}

function define(method: string, value: Function) {
  Object.defineProperty(LeasedFlakeId.prototype, method, { value, writable: true, configurable: true })
}

// For users this is an ordinary EventEmitter except for its class: a class has one parent, which is FlakeId.
for (const method of OTHERS) define(method, Reflect.get(EventEmitter.prototype, method))
for (const method of NAMED) {
  const inherited = Reflect.get(EventEmitter.prototype, method)
  define(method, function (this: LeasedFlakeId, event: string, ...args: unknown[]) {
    checkEvent(event)
    return Reflect.apply(inherited, this, [event, ...args])
  })
}

function checkEvent(event: string) {
  if ((EVENTS as readonly string[]).includes(event) || event === ERROR) return
  throw errors.optionRangeError('event', event, `one of ${EVENTS.join(', ')}`)
}
