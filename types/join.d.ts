// Generators whose node number is leased: what `FlakeId.join()` takes and returns.

import { FlakeId } from '../index.js'
import { AnyLayout, GivenFields, LayoutChoices, Unspecified } from './node-fields.js'
import { GeneratorOptions, LayoutOption, SignalOptions } from './options.js'
import { Store } from './stores.js'

/**
 * The options of `FlakeId.join()`: those of the lease, in {@link LeaseOptions}, and those of `new FlakeId()`, except `id`,
 * `shared` and `clock`.
 *
 * Node fields given by name stay fixed, and the slot fills the others. The environment is not read. All members of a group
 * must agree on layout, epoch, fixed fields, offsets, slots, `ttlMs` and `skewMs`.
 */
export type JoinOptions<L extends AnyLayout = AnyLayout> = LeaseOptions &
  GeneratorOptions &
  LayoutOption<L> &
  LayoutChoices<L> &
  Omit<GivenFields<L>, keyof LeaseOptions>

/** How a group shares its slots. */
export interface LeaseOptions {
  /** generators of one group share its slots; default `'default'` */
  group?: string | null | undefined
  /** number of slots; default: all that the free node bits allow (flake: 1 024), 65 536 at most */
  slots?: number | string | null | undefined
  /** how many ms a slot is held without a sign of life, 2 000…60 000; default 30 000 */
  ttlMs?: number | string | null | undefined
  /** how many ms the clocks of members and store may be apart; default 5 000 */
  skewMs?: number | string | null | undefined
  /**
   * How many ms `join` and `attach` wait for a free slot or for the end of a quiet period; default 90 000. They end within
   * a second after that, whatever the store does.
   */
  waitMs?: number | string | null | undefined
  /** `join` prefers the slot that this name held last; default: the host name */
  host?: string | null | undefined
  /**
   * When it aborts, `join` and `createGroup` reject with `signal.reason` (an `AbortError` by default), and nothing is held: a
   * slot that was granted meanwhile is given back. Once `join` has resolved, the signal has no effect on the generator.
   */
  signal?: AbortSignal | null | undefined
}

/**
 * Creates a group that is known to be new, so that nobody has to wait for its quiet period to end.
 * `npx flakeforge create` does the same.
 *
 * Never do this where the store may have lost the group: its members may still be making IDs.
 * @param options as for `join`; only those that all members must agree on matter
 * @returns true: it made the group; false: the group existed, and nothing was changed
 */
export function createGroup<const L extends AnyLayout = 'flake'>(
  store: Store | string | null | undefined,
  options?: JoinOptions<L> | null,
): Promise<boolean>

/** What the listeners of a lease get. */
export interface LeaseDetail {
  group: string
  slot?: number
  /** of `lost`: why. Of `detached`: why, unless `detach()` or `close()` was called. */
  cause?: Error
}

export type LeaseEvent = 'attached' | 'renewed' | 'lost' | 'detached' | 'destroyed'

export type LeaseListener<E extends LeaseEvent | 'error'> = E extends LeaseEvent
  ? (detail: LeaseDetail) => void
  : (error: Error) => void

/**
 * A generator that holds a slot. `FlakeId.join()` makes it.
 *
 * The store grants it a slot and a *window* of time, and it renews the window every third of `ttlMs`. No ID lies outside
 * its window. When the store does not answer, IDs flow until the window ends. Then `next()` throws
 * `ERR_FLAKE_LEASE_EXPIRED` (`group`, `slot`, `cause`) and `next(callback)` waits; both go on when the store is back.
 *
 * Its `state` is one of these:
 * - `'attached'`: IDs flow.
 * - `'detached'`: calls throw `ERR_FLAKE_DETACHED`. Either `detach()` or `close()` was called, or the slot was lost and no
 *   other is held yet; the error's `cause` says why.
 * - `'destroyed'`: the group was ended, and calls throw `ERR_FLAKE_DESTROYED` from then on.
 */
export class LeasedFlakeId<const L extends AnyLayout = Unspecified> extends FlakeId<L> {
  private constructor()
  readonly state: 'attached' | 'detached' | 'destroyed'
  /** the slot that is held, from 0; undefined while detached */
  readonly slot: number | undefined
  /**
   * Until when IDs can be made without another answer from the store; undefined while detached. In a folder it moves on as
   * IDs are made, and is in the past when none was made for a while.
   */
  readonly expires: Date | undefined
  /**
   * Gives the slot back. Calls that wait for an ID get `ERR_FLAKE_DETACHED`. It ends within 5 s: if the store has not
   * answered by then, it rejects with `ERR_FLAKE_STORE`, and the slot becomes free when its window is over.
   */
  detach(): Promise<void>
  /**
   * Gets a slot again. It is probably another one, and then the node number changes. It ends within a second after
   * `waitMs`, whatever the store does.
   * @param options `signal`: when it aborts, `attach` rejects with `signal.reason`, and the generator stays detached. A slot
   * that was granted meanwhile is given back.
   * @throws as `FlakeId.join`, and `ERR_FLAKE_DESTROYED`; after `close()`, `ERR_FLAKE_DETACHED`
   */
  attach(options?: SignalOptions | null): Promise<void>
  /**
   * Ends the group: every member is destroyed at its next renewal. Only a member that finds an equal group created again by
   * then joins that. A new group of the same name goes on above the last ID of the old one.
   */
  destroy(): Promise<void>
  /**
   * Gives the slot back and stops the timer for good. From then on `next()`, `attach()` and `destroy()` throw
   * `ERR_FLAKE_DETACHED`. Without `close()` the slot becomes free when the process ends, or after `ttlMs`. It ends within
   * 5 s and may reject as `detach()` does; the generator is closed all the same.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
  /**
   * - `attached`: a slot is held again, after `attach()` or a loss. The first slot has no event: `join` waits for it.
   * - `renewed`: the window was extended.
   * - `lost`: the slot is no longer held (`cause`), and a new one is being fetched.
   * - `detached`, `destroyed`: as the states. `detached` has a `cause` if nobody asked for it.
   *
   * Listeners run before the promise of the call that caused the event resolves. Otherwise this is Node's EventEmitter:
   * `events.once(flake, 'lost')` and `events.on` work too. Only `instanceof EventEmitter` is false, because a class has
   * one parent. Any other event name is `ERR_FLAKE_OPTION`; `error` may be listened to and is never emitted.
   */
  on<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  addListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  prependListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  once<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  prependOnceListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  off<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  removeListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this
  removeAllListeners(event?: LeaseEvent | 'error'): this
  emit(event: LeaseEvent, detail: LeaseDetail): boolean
  listeners<E extends LeaseEvent | 'error'>(event: E): Array<LeaseListener<E>>
  rawListeners<E extends LeaseEvent | 'error'>(event: E): Array<LeaseListener<E>>
  listenerCount<E extends LeaseEvent | 'error'>(event: E, listener?: LeaseListener<E>): number
  eventNames(): Array<LeaseEvent | 'error'>
  setMaxListeners(n: number): this
  getMaxListeners(): number
}
