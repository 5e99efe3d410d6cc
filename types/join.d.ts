// Generators whose node number is leased: what `FlakeId.join()` takes and returns.

import { FlakeId } from '../index.js'
import { AnyLayout, GivenFields, LayoutChoices, Unspecified } from './node-fields.js'
import { GeneratorOptions, LayoutOption, SignalOptions, Stats } from './options.js'
import { RemoteOptions } from './remote.js'
import { Store } from './stores.js'

/**
 * The options of `FlakeId.join()`: those of the lease, in {@link LeaseOptions}, and those of `new FlakeId()`, except `id`,
 * `shared` and `clock`.
 *
 * Node fields given by name stay fixed, and the slot fills the others. The environment is not read. All members of a group
 * must agree on layout, epoch, fixed fields, offsets, slots, `ttlMs`, `skewMs` and `durable`.
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
  /** how many ms a slot stays held without a renewal, 2 000…60 000; default 30 000 */
  ttlMs?: number | string | null | undefined
  /** how many ms the clocks of the members and the store may differ; default 5 000 */
  skewMs?: number | string | null | undefined
  /**
   * Vouches that the store never loses what it acknowledged, default false. Then a new group needs no quiet period, and a
   * restart of the server stops nobody. `fileStore` ignores it. All members must agree on it.
   *
   * It is right for a PostgreSQL, MySQL or MariaDB with its default settings, for etcd, and for a single Redis without
   * replicas and with `appendfsync always`. `join` asks the server for settings that contradict it, and refuses them
   * with `ERR_FLAKE_OPTION`. It cannot see everything, such as a disk that only pretends to write.
   */
  durable?: boolean | null | undefined
  /**
   * How many ms `join` and `attach` wait for a free slot or for the end of a quiet period; default 90 000. Both end at
   * most a second after that, whatever the store does.
   */
  waitMs?: number | string | null | undefined
  /** `join` prefers a free slot that a process of this name held last, if it finds one; default: the host name */
  host?: string | null | undefined
  /**
   * When it aborts, `join` and `createGroup` reject with `signal.reason` (an `AbortError` by default), and no slot is
   * kept: one that was granted in the meantime is given back. After `join` has resolved, the signal has no effect on
   * the generator.
   */
  signal?: AbortSignal | null | undefined
  /**
   * URLs of flakeforge-server, from which IDs come while no slot gives any: none is free within `waitMs`, the store cannot
   * be reached, a quiet period lasts too long, or the window ended without a renewal. Then `join` and `attach` resolve all
   * the same, `state` is what the slot is, and `source` is `'server'`. A slot is sought meanwhile, and taken when there is
   * one.
   *
   * The servers must serve this group, on this store. An answer with another layout is refused with
   * `ERR_FLAKE_CONFIG_MISMATCH`, and so is a server whose slots are not on this store, as far as that can be seen: see
   * {@link ElseFrom}. If nobody gives IDs, there is one error that names the reason of the store (its `cause`) and of each
   * server (`failures`): `ERR_FLAKE_REMOTE`, or the code with which a server refused.
   *
   * `createGroup` ignores it.
   * @example
   * const flake = await FlakeId.join('redis://localhost', {
   *   group: 'orders',
   *   waitMs: 5_000,
   *   elseFrom: ['http://ids-1:8080', 'http://ids-2:8080'],
   * })
   * flake.source // 'slot', or 'server' if none was free within 5 s
   */
  elseFrom?: string | URL | ReadonlyArray<string | URL> | ElseFrom | null | undefined
}

/**
 * Where IDs come from while no slot gives any, with options of `RemoteFlakeId.connect()`. `name` is that of the group on the
 * servers; default: the group's own.
 *
 * What is compared: each answer's layout, always; and once for each server, whether one of its slots is in the store under
 * the same owner. That is done when `join` has a result, and before IDs of a server are used. While the server or the store
 * does not answer, nothing can be said, and the layout alone decides. A server of another store is a warning at the start
 * (`FLAKEFORGE_ELSE_FROM`), and an error when its IDs are needed.
 */
export interface ElseFrom extends Omit<RemoteOptions, 'name' | 'signal'> {
  urls: string | URL | ReadonlyArray<string | URL>
  name?: string | null | undefined
}

/** The counts of a leased generator; each slot begins new ones. */
export interface LeasedStats extends Stats {
  /** how many IDs came from servers since `join`; they are not in `ids`. Only with `elseFrom`. */
  fromServers?: number
}

/**
 * Creates a group that you know to be new, so that its members need not wait for a quiet period of 60 s + `skewMs`.
 * `npx flakeforge create` does the same. On a server it waits 1 s + `skewMs`, which is the end of the quiet period of a
 * group made this way, so that nobody else has to. If a group of this name was destroyed a moment ago, or the server
 * was restarted meanwhile, it waits up to 60 s + `skewMs` and warns (`FLAKEFORGE_QUIET`).
 *
 * This is right only if no process used the group in the last minute. Never do it if the store may have lost the group:
 * its members may still be making IDs.
 * @param options as for `join`. Only the options that all members must agree on matter, and `signal`: it ends the wait
 * @returns true if it created the group; false if the group already existed: then nothing was changed
 * @throws as `FlakeId.join`, except for what concerns slots and waiting
 */
export function createGroup<const L extends AnyLayout = 'flake'>(
  store: Store | string | null | undefined,
  options?: JoinOptions<L> | null,
): Promise<boolean>

/**
 * Says that older records were put back on a store: a backup, a snapshot, a copy of the data's folder. The store may show
 * nothing of that, and then only this keeps IDs from being made again. Call it when the server is up, before members can
 * reach it. `npx flakeforge restored` does the same.
 *
 * A group then grants no slots for 60 s + `skewMs`, and has another `lineage`. A counter stands still until `skipTo`.
 * @param what a group's name, or `{ name }` of a counter. Without it, all groups and counters that the store knows: name
 * those that were made after the backup was taken
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: nothing is named, and the store cannot list what it has, as
 * Redis; or the store is a folder.
 * @throws {Error} `ERR_FLAKE_STORE`: the store failed. `ERR_FLAKE_RECORD`: a record cannot be read. The others were told.
 * @example
 * await restored('postgres://localhost/app')
 */
export function restored(
  store: Store | string | null | undefined,
  what?: string | { name: string } | null,
): Promise<void>

/** What listeners for a lease's events get. */
export interface LeaseDetail {
  group: string
  slot?: number
  /** why, for `renewal-failed` and `lost`; and for `detached`, unless `detach()` or `close()` was called */
  cause?: Error
  /** for `renewal-failed`: IDs can be made until then, unless a later renewal works */
  expires?: Date
}

export type LeaseEvent = 'attached' | 'renewed' | 'renewal-failed' | 'lost' | 'detached' | 'destroyed'

export type LeaseListener<E extends LeaseEvent | 'error'> = E extends LeaseEvent
  ? (detail: LeaseDetail) => void
  : (error: Error) => void

/**
 * A generator that holds a slot. `FlakeId.join()` makes one.
 *
 * The store grants it a slot and a *window* of time. It renews the window every third of `ttlMs`, and every ID lies
 * inside it. If the store does not answer, IDs can be made until the window ends. Then `next()` throws
 * `ERR_FLAKE_LEASE_EXPIRED` (`group`, `slot`, `cause`) and `next(callback)` waits. Both work again when the store is
 * back.
 *
 * Its `state` is one of these:
 * - `'attached'`: it makes IDs.
 * - `'detached'`: calls throw `ERR_FLAKE_DETACHED`. Either `detach()` or `close()` was called, or the slot was lost and
 *   it has no other yet; the error's `cause` says why. With `elseFrom`, the calls give IDs of servers while a slot is
 *   sought. Until it has its first slot, its `id` is undefined.
 * - `'destroyed'`: the group was ended, and calls throw `ERR_FLAKE_DESTROYED` from then on.
 */
export class LeasedFlakeId<const L extends AnyLayout = Unspecified> extends FlakeId<L> {
  private constructor()
  /**
   * What the members of a group must have in common for their IDs to be unique and in the order of time together: epoch,
   * tick, where timestamp and counter are, and node fields that stay fixed, as text to compare. IDs of generators with
   * different texts must never be mixed.
   */
  readonly fingerprint: string
  /**
   * Names the group, as 16 hex digits: random bits that the store was given when the group was made. Groups of one name on
   * two stores have different ones, and so has a group that is made again after `destroy()` or a loss of all records.
   * Undefined until it had its first slot, or its store said that none is free.
   */
  readonly lineage: string | undefined
  readonly state: 'attached' | 'detached' | 'destroyed'
  /**
   * Who makes the next ID: its own slot, or with `elseFrom` a server; undefined if nobody does, because it was detached,
   * closed or destroyed. Without `elseFrom` it is `'slot'` while attached.
   *
   * IDs of servers were fetched ahead: `next()` and `take(n)` give what is here, and throw `ERR_FLAKE_OVERFLOW`
   * (`retryAfterMs`) if that is too little; the calls that wait fetch more. When a slot is there again, what is left of
   * them is dropped. So where the source changes, IDs may be lower than those before by what the clocks differ (`skewMs`)
   * and by how long they were here (`validityMs`); none comes twice.
   */
  readonly source: 'slot' | 'server' | undefined
  readonly stats: LeasedStats
  /** the slot that it holds, from 0; undefined while detached */
  readonly slot: number | undefined
  /**
   * How long IDs can be made without another answer from the store; undefined while detached. With a folder as the
   * store it moves on as IDs are made, and is in the past if none was made for a while.
   */
  readonly expires: Date | undefined
  /**
   * Gives the slot back, and ends the use of servers. Calls that are waiting for an ID get `ERR_FLAKE_DETACHED`. It takes at most 5 s: if the store
   * has not answered by then, it rejects with `ERR_FLAKE_STORE`, and the slot becomes free when its window ends.
   */
  detach(): Promise<void>
  /**
   * Gets a slot again: probably another one, and then the node number changes. It ends at most a second after `waitMs`,
   * whatever the store does. With `elseFrom` it resolves like `join` where servers give IDs.
   * @param options `signal`: when it aborts, `attach` rejects with `signal.reason`, and the generator stays detached. A
   * slot that was granted in the meantime is given back.
   * @throws as `FlakeId.join`, and `ERR_FLAKE_DESTROYED`; after `close()`, `ERR_FLAKE_DETACHED`
   */
  attach(options?: SignalOptions | null): Promise<void>
  /**
   * Ends the group: every member is destroyed at its next renewal. But if an equal group has been created again by
   * then, the member joins that one. A new group of the same name continues above the last ID of the old one. On a
   * server it grants nothing for 60 s + `skewMs` (durable: `ttlMs` + `skewMs`).
   */
  destroy(): Promise<void>
  /**
   * Gives the slot back and stops the timer for good. From then on `next()`, `attach()` and `destroy()` throw
   * `ERR_FLAKE_DETACHED`. Without `close()` the slot becomes free when the process ends, or after `ttlMs`. It takes at
   * most 5 s and may reject like `detach()`; the generator is closed even then.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
  /**
   * - `attached`: it holds a slot again, after `attach()` or a loss. The first slot causes no event if `join` waited for
   *   it; with `elseFrom` it may come later, and then it does.
   * - `renewed`: the window was extended.
   * - `renewal-failed`: it was not (`cause`), and IDs can be made until `expires`. It is tried again, and the next event is
   *   `renewed`, `lost` or one of the ends: an outage has one such event. The first one in a process is also a warning
   *   (`FLAKEFORGE_RENEWAL`).
   * - `lost`: it no longer holds the slot (`cause`) and is getting a new one.
   * - `detached`, `destroyed`: the state of that name begins. `detached` has a `cause` unless you asked for it.
   *
   * Listeners run before the promise of the call that caused the event resolves. Otherwise this is Node's EventEmitter:
   * `events.once(flake, 'lost')` and `events.on` work too. Only `instanceof EventEmitter` is false, because a class has
   * one parent. Other event names throw `ERR_FLAKE_OPTION`. You may listen to `error`, which is never emitted.
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
