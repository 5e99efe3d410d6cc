// The types of flakeforge, and its reference: an editor shows what stands here.
//
// `export =` with a merged namespace, because that is what require('flakeforge') gives: the class, with every other
// export as a property of it. It serves `import X = require()`, default and named imports alike.
/// <reference types="node" />

/**
 * Makes 64-bit IDs that are unique and ordered by time, without asking anybody.
 *
 * An ID holds the time, a node number and a counter. In the default layout, `flake`, that is 42 bits of milliseconds since
 * the epoch, 5 bits each of datacenter and worker, and 12 bits of counter: 4 096 IDs per millisecond; `layout` takes the
 * layout of another system, or your own. Give each process its own node number; within a process any number of
 * generators, in worker threads too, share what they need to and never make an ID twice.
 *
 * @example
 * const FlakeId = require('flakeforge')
 * const flake = new FlakeId({ datacenter: 9, worker: 7 })
 * flake.next()       // <Buffer 68 7e 48 89 89 12 70 00>
 * flake.nextString() // '7529535382561648640'
 */
declare class FlakeId implements AsyncIterable<Buffer> {
  /**
   * Generators with the same options share all but the object itself, so one for each request costs about a microsecond;
   * not so with `clock` or `shared`.
   *
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of its bounds, of another type, or none at
   * all. Nothing is masked: a worker 32 is an error, not a worker 0.
   */
  constructor(options?: FlakeId.FlakeIdOptions | null)

  /**
   * One ID: 8 bytes, big-endian, in an ArrayBuffer of its own. The time is read at the call.
   * A call that throws has used up no number.
   *
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: this millisecond's counter is used up, for longer than `maxWaitMs`.
   * @throws {Error} `ERR_FLAKE_CLOCK_BACKWARDS`: the clock is behind the last ID, for longer than `maxWaitMs`.
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the clock is before the epoch or past the layout's last tick.
   */
  next(): Buffer
  next(callback: null | undefined): Buffer
  /**
   * One ID for a callback: `(null, id)`, always asynchronously (by `process.nextTick`) and in the order of the calls.
   * Overflow and a clock step of any length are waited out, and the process stays alive meanwhile. The callback gets
   * an error only where waiting does not help (`ERR_FLAKE_TIME_RANGE`), or when an own `clock` threw one.
   *
   * Where callbacks take longer than about a millisecond, as where each calls again, the rest run after the event loop
   * has turned, so that timers, sockets and signals have their time.
   *
   * @throws {TypeError} `ERR_FLAKE_OPTION`: the callback is no function. No number is taken.
   */
  next(callback: (error: Error | null, id: Buffer) => void): void
  /** As `next(callback)`, for a promise. */
  nextAsync(): Promise<Buffer>
  /** As `next()`, as a bigint from 0 to 2^64 − 1: the cheapest form of an ID. */
  nextBigInt(): bigint
  /**
   * As `next()`, as text: the same as `format(next(), base)`.
   * @param base default `'dec'`; `'base32'` is Crockford's, 13 characters, and sorts as the ID does
   */
  nextString(base?: FlakeId.Base): string

  /**
   * `n` IDs in order, 8 bytes each, big-endian: a fiftieth of what `n` calls of `next()` cost.
   *
   * Blocks as long as `n` IDs need at the layout's rate (1 ms for every 4 096), and up to `maxWaitMs` longer. A call
   * that throws has used up the numbers it took: they are lost, never repeated.
   *
   * @param n 0 or more
   * @throws as `next()`
   */
  take(n: number): Buffer
  /** As `take(n)`, as bigints. */
  takeBigInts(n: number): BigUint64Array
  /** As `take(n)`, but waits as `next(callback)` does instead of blocking. */
  takeAsync(n: number): Promise<Buffer>

  /**
   * IDs without end; each step is a `nextAsync()`, and waits as it does.
   *
   * `return()` of the iterator never waits: calls of its `next()` that still do resolve as done, and take no number.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer>

  /** 0…31; undefined when `id` was given, or when the layout has no such field. */
  readonly datacenter: number | undefined
  /** 0…31; undefined when `id` was given, or when the layout has no such field. */
  readonly worker: number | undefined
  /** The whole node number, `nodeOffset` included: all node fields joined; flake: `datacenter << 5 | worker`, 0…1023. */
  readonly id: number
  /** Unix ms that timestamps count from. */
  readonly epoch: number
  /** What the bits mean, and until when they suffice. */
  readonly layout: FlakeId.Layout
  /**
   * What was made and waited for in this thread: by this generator and those with the same layout, node number and options
   * (but `maxWaitMs`).
   */
  readonly stats: FlakeId.Stats
  /**
   * What an ID says, read with this generator's layout and epoch.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID.
   */
  decode(id: FlakeId.IdLike): FlakeId.Parts

  /**
   * A generator whose node number nobody has to assign: it holds a *slot* of its group for as long as it lives, and no two
   * living generators of a group hold the same. Resolves once it can make IDs.
   *
   * @param store where slots are kept. For many machines `'redis://…'`, `'postgres://…'` or `'etcd://…'` (a URL loads the
   * client package that you have installed), or your own client in `redisStore`, `postgresStore`, `etcdStore`; for the
   * processes of one machine `'file:DIR'`. Default: what `FLAKEFORGE_STORE` in the environment names, else the folder
   * `flakeforge` in `$XDG_STATE_HOME`, else in `~/.local/state`.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of its bounds or does not belong here (`id`,
   * `shared`, `clock`); or no store is named in a container, where each would have a default folder of its own, or where
   * there is no home folder.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the group was made for another layout, epoch or number of slots (`theirs`,
   * `ours`).
   * @throws {Error} `ERR_FLAKE_EXHAUSTED`: no slot gets free within `waitMs` (`retryAt`). A slot whose node number another
   * generator of this process uses is left to others, and another slot taken; the `cause` says so where there is none.
   * @throws {Error} `ERR_FLAKE_QUIET`: the store is new, or may have lost what it granted, and `waitMs` ends before the time
   * in which that could do harm (`retryAt`). See `createGroup`.
   * @throws {Error} `ERR_FLAKE_CLOCK_SKEW`: this machine's clock and the store's are further apart than `skewMs`,
   * or the window begins after the end of `waitMs` by this machine's clock.
   * @throws {Error} `ERR_FLAKE_STORE`: the store cannot be reached, failed (`cause`), or has not answered within a second
   * after `waitMs`.
   * @throws {Error} `ERR_FLAKE_FILE`: a file or the folder cannot be used (`path`).
   * @example
   * const flake = await FlakeId.join()
   * flake.next()
   * await flake.close() // at the end: gives the slot back at once
   */
  static join(
    store?: FlakeId.Store | string | null,
    options?: FlakeId.JoinOptions | null,
  ): Promise<FlakeId.LeasedFlakeId>
}

declare namespace FlakeId {
  export { FlakeId, FlakeId as default }

  /**
   * An ID as it comes in anywhere: 8 big-endian bytes, a bigint, or text (`'123'` decimal, `'0x7b'` hex, `'0b1111011'`
   * binary). Never a number: 64 bits do not fit.
   */
  export type IdLike = Uint8Array | bigint | string

  /**
   * The layouts of other systems. `flakeforge layouts` prints the table.
   *
   * | name | epoch | tick | fields (bits) | system |
   * |---|---|---|---|---|
   * | `flake` | 1970 | 1 ms | timestamp 42, datacenter 5, worker 5, counter 12 | flake-idgen |
   * | `hazelcast` | 2018 | 1 ms | zero 1, timestamp 41, counter 6, node 16 | Hazelcast FlakeIdGenerator |
   * | `snowcast` | 2014 | 1 ms | timestamp 41, node 13…7, counter 10…16 | snowcast; `nodes` says how many |
   * | `uniqueid` | 1970 | 1 ms | timestamp 42, counter 6, generator 3, mode 1, generator 8, cluster 4 | java-uniqueid; `mode` |
   * | `chronicle` | 1970 | 100 ns | decimal: Unix ns, its last two digits the host, 0…99 | Chronicle |
   * | `chronicle-micros` | 1970 | 100 µs | decimal: Unix µs, its last two digits the host | Chronicle |
   * | `twitter` | 2010-11-04 | 1 ms | zero 1, timestamp 41, datacenter 5, worker 5, counter 12 | Twitter Snowflake |
   * | `discord` | 2015 | 1 ms | timestamp 42, worker 5, process 5, counter 12 | Discord |
   * | `instagram` | 2011-08-24 | 1 ms | timestamp 41, shard 13, counter 10 | Instagram |
   * | `sonyflake` | 2014-09-01 | 10 ms | zero 1, timestamp 39, counter 8, machine 16 | Sonyflake |
   */
  export type LayoutName =
    | 'flake'
    | 'hazelcast'
    | 'snowcast'
    | 'uniqueid'
    | 'chronicle'
    | 'chronicle-micros'
    | 'twitter'
    | 'discord'
    | 'instagram'
    | 'sonyflake'

  /** A layout of your own. */
  export interface LayoutSpec {
    /** default `'custom'`; what messages call it */
    name?: string | undefined
    /** Unix ms of tick 0, default 0 */
    epoch?: number | Date | undefined
    /** length of a tick in ms, default 1; whole nanoseconds */
    tickMs?: number | undefined
    /**
     * Names and widths in bits (1…63), the most significant first: exactly one `'timestamp'`, at most one `'counter'`,
     * `'zero'` for unused bits, all others are parts of the node number (53 bits at most). 64 bits in all. Names of
     * options and of `Parts` are taken.
     */
    fields: ReadonlyArray<readonly [name: string, bits: number]>
  }

  /** What some layouts can be made with. */
  export interface LayoutOptions {
    /** Unix ms of tick 0; default: the layout's own */
    epoch?: number | string | Date | null | undefined
    /** snowcast: how many nodes, 128…8192, rounded up to a power of two; default 8192 */
    nodes?: number | string | null | undefined
    /** uniqueid: `'spread'` (the default: the timestamp's bits reversed) or `'sequential'` */
    mode?: 'spread' | 'sequential' | null | undefined
    /** added to every ID, −2^63…2^63 − 1; times at which an ID would then not fit 64 bits are out of range */
    idOffset?: bigint | null | undefined
  }

  /** Integers may also come as decimal text (`'7'`), as environment variables do. `null` and `undefined` mean absent. */
  export interface FlakeIdOptions extends LayoutOptions {
    /** 0…31, default 0, or `FLAKEFORGE_DATACENTER` of the environment */
    datacenter?: number | string | null | undefined
    /** 0…31, default 0, or `FLAKEFORGE_WORKER` of the environment */
    worker?: number | string | null | undefined
    /**
     * Instead of the node fields: the whole node number, all fields joined, the most significant first; flake: 0…1023.
     * `'ordinal'`: the number at the end of the host name, as a StatefulSet gives it. When neither this nor a node field
     * is given, `FLAKEFORGE_ID` of the environment counts.
     */
    id?: number | string | null | undefined
    /** Unix ms that timestamps count from, or a Date; not in the future; default: the layout's */
    epoch?: number | string | Date | null | undefined
    /** the largest counter to use: 1, 3, 7 … what the layout holds (the default); a smaller one makes fewer IDs per tick */
    seqMask?: number | string | null | undefined
    /** a dialect's name (default `'flake'`), a layout, or the fields of your own */
    layout?: LayoutName | LayoutSpec | Layout | null | undefined
    /** added to the node number: Hazelcast's node-id-offset */
    nodeOffset?: number | string | null | undefined
    /**
     * How many ms IDs may run ahead of the clock before overflow and a clock step count as such; may be Infinity. Default:
     * the system's own (hazelcast 15 000, chronicle Infinity, all others 0). What is borrowed dies with the process: after
     * a restart with the same node number, make no ID before the clock has passed the last one.
     */
    maxAheadMs?: number | string | null | undefined
    /**
     * How many ms a synchronous call may block before it throws; it throws at once if it cannot succeed. Default: the
     * system's own (hazelcast, snowcast and uniqueid 1 000, all others 0).
     */
    maxWaitMs?: number | string | null | undefined
    /**
     * Hazelcast's prefetch: numbers are claimed `count` (1…100 000, default 100) at a time and handed out for `validityMs`
     * (default 600 000; 0: for ever). `true` takes the defaults, a number is the count.
     */
    prefetch?: boolean | number | { count?: number; validityMs?: number } | null | undefined
    /**
     * The time, as Unix ms or as a bigint of Unix ns, instead of the system's: for tests and back-fills. Such a
     * generator shares its numbers with no other, so its IDs can equal another's; its epoch may be in the future.
     */
    clock?: (() => number | bigint) | null | undefined
    /**
     * The path of a file: all generators, of all processes and threads on this machine, that name it share one cursor, so
     * they may have the same node number. The file is made where it is missing; it remembers the last ID over restarts,
     * `kill -9` and crashes of the machine, so a clock that was set back cannot repeat one. On a local file system only;
     * never delete it, cut it short or write over it while it is in use. Refused together with `clock`.
     */
    shared?: string | null | undefined
    /**
     * The layout's node fields by name: node, generator, cluster, host, shard, machine, process, or your own; each may
     * come from the environment as `FLAKEFORGE_` and the name in capitals. Any other key is an error when the generator
     * is made.
     */
    [field: string]: unknown
  }

  /**
   * Node fields given by name stay fixed, the slot fills the others. `id`, `shared` and `clock` are refused, and the
   * environment is not read. All members of a group must agree on layout, epoch, fixed fields, offsets and slots.
   */
  export interface JoinOptions extends FlakeIdOptions {
    /** generators of one group share its slots; default `'default'` */
    group?: string | null | undefined
    /** how many; default: all that the free node bits allow (flake: 1 024), 65 536 at most */
    slots?: number | string | null | undefined
    /** 2 000…60 000, default 30 000: how long a slot is held without a sign of life */
    ttlMs?: number | string | null | undefined
    /** how far the clocks of members and store may be apart, in ms; default 5 000 */
    skewMs?: number | string | null | undefined
    /**
     * how long `join` and `attach` wait for a free slot or the end of a quiet period, in ms; default 90 000. Whatever the
     * store does, they end within a second after it.
     */
    waitMs?: number | string | null | undefined
    /** the slot that this name held last is preferred; default: the host name */
    host?: string | null | undefined
  }

  /** What the events of a lease tell. */
  export interface LeaseDetail {
    group: string
    slot?: number
    /** of `lost`: why; of `detached`: why, where nobody called `detach()` or `close()` */
    cause?: Error
  }

  /**
   * A generator that holds a slot; `FlakeId.join()` makes them.
   *
   * It holds a slot and a *window* of time that the store granted, which it has renewed every third of `ttlMs`; no ID lies
   * outside. When the store does not answer, IDs flow until the window ends; then `next()` throws
   * `ERR_FLAKE_LEASE_EXPIRED` (`group`, `slot`, `cause`), `next(callback)` waits, and both go on when the store is back.
   *
   * Its `state` is `'attached'` (IDs flow), `'detached'` (`ERR_FLAKE_DETACHED`: `detach()` or `close()` was called, or the
   * slot was lost and another is being fetched or cannot be had, which the error's `cause` tells) or `'destroyed'` (the
   * group was ended: `ERR_FLAKE_DESTROYED`, for good).
   */
  export class LeasedFlakeId extends FlakeId {
    private constructor()
    readonly state: 'attached' | 'detached' | 'destroyed'
    /** the slot held, from 0; undefined while detached */
    readonly slot: number | undefined
    /**
     * until when IDs can be made without another word from the store; undefined while detached. In a folder it goes on as
     * IDs are made, and is past where none were for a while.
     */
    readonly expires: Date | undefined
    /**
     * Gives the slot back. Calls that wait for an ID get `ERR_FLAKE_DETACHED`. It ends within 5 s: where the store has not
     * answered by then, it is `ERR_FLAKE_STORE`, and the slot gets free when its window is over.
     */
    detach(): Promise<void>
    /**
     * Gets a slot again, probably another: then the node number changes. It ends soon after `waitMs`, within a second,
     * whatever the store does.
     * @throws as `FlakeId.join`, and `ERR_FLAKE_DESTROYED`; `ERR_FLAKE_DETACHED` after `close()`
     */
    attach(): Promise<void>
    /**
     * Ends the group: every member is destroyed at its next renewal, but one that finds an equal group made anew by then,
     * which it joins. A new group of that name goes on above the last ID of the old one.
     */
    destroy(): Promise<void>
    /**
     * Gives the slot back and stops the timer, for good: from then on `next()`, `attach()` and `destroy()` throw
     * `ERR_FLAKE_DETACHED`. Without it the slot gets free when the process ends, or after the ttl. It ends within 5 s and
     * may throw as `detach()` does; it is closed all the same.
     */
    close(): Promise<void>
    [Symbol.asyncDispose](): Promise<void>
    /**
     * - `attached`: a slot is held again, after `attach()` or a loss; nobody can hear of the first, which `join` waits for
     * - `renewed`: the window was extended
     * - `lost`: the slot is no longer this member's (`cause`); a new one is being fetched
     * - `detached`, `destroyed`: as the states; `detached` has a `cause` where nobody asked for it
     *
     * An event is told before the promise of the call that brought it about resolves. The rest is Node's EventEmitter:
     * `events.once(flake, 'lost')` and `events.on` work too, and only `instanceof EventEmitter` is false, since a class has
     * one parent. Another event is `ERR_FLAKE_OPTION`; `error` may be listened to and is never emitted.
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
  export type LeaseEvent = 'attached' | 'renewed' | 'lost' | 'detached' | 'destroyed'
  export type LeaseListener<E extends LeaseEvent | 'error'> = E extends LeaseEvent
    ? (detail: LeaseDetail) => void
    : (error: Error) => void

  /** A slot and the window [lo, hi] of Unix ms, both included, in which its holder may make IDs. */
  export interface Grant {
    slot: number
    lo: number
    hi: number
    /** the store's clock, Unix ms */
    storeNow: number
  }

  /**
   * What keeps slots: each call is one atomic step. `fileStore` makes one; one of your own follows the rules in
   * core/src/grants.rs. A store that wraps another hands its grants on as they are.
   */
  export interface Store {
    /**
     * Makes the group where it is missing; `ERR_FLAKE_CONFIG_MISMATCH` where it was made for something else. `scale`, how
     * ticks become numbers, is filled in by `join()`; `fileStore` needs it, other stores do not.
     */
    open(
      group: string,
      config: {
        fingerprint: string
        slots: number
        ttlMs: number
        skewMs: number
        create: boolean
        scale?: { epochMs: number; tickNs: number; counterBits: number }
      },
    ): Promise<void>
    acquire(group: string, request: { owner: string; host: string; clientNow: number }): Promise<Grant>
    renew(
      group: string,
      request: { slot: number; owner: string; clientNow: number },
    ): Promise<Grant | 'lost' | 'destroyed'>
    /** `last`: the Unix ms of the last ID made, rounded up; −1 when there was none. */
    release(group: string, request: { slot: number; owner: string; last: number }): Promise<void>
    destroy(group: string): Promise<void>
    /**
     * Adds `by` to a named counter and returns the value before. An absent counter is made with the value `init`, or is an
     * error where that is not given. `by` 0 with `init`: the counter goes on at `init` at least, whatever was lost.
     */
    advance(name: string, by: bigint, init?: bigint): Promise<bigint>
    /**
     * The slots that were ever held. Where `fileStore` finds files that are damaged, it throws `ERR_FLAKE_FILE`, with the
     * other slots as `slots`, and what is wrong with each file as `faults`.
     */
    list(group: string): Promise<SlotInfo[]>
    /** The names of all groups, where the store can tell. */
    groups?(): Promise<string[]>
    close?(): Promise<void>
  }

  /** A slot, as `list` tells. The file store also knows who holds it. */
  export interface SlotInfo {
    slot: number
    /** the holder's token; absent while nobody holds it */
    owner?: string
    host?: string
    lo: number
    hi: number
    /** file store: process number of the holder, since when it holds the slot, and when its last ID was made */
    pid?: number
    since?: Date
    last?: Date
  }

  /**
   * Slots and counters in a folder, for the processes of one machine: no server. A slot's lock goes with its process.
   * @param directory default: `flakeforge` in `$XDG_STATE_HOME`, else in `~/.local/state`
   * @throws {TypeError} `ERR_FLAKE_OPTION`: no directory is named, and there is no default: in a container, or without a home
   */
  export function fileStore(directory?: string | null): Store & { readonly folder: string }
  /**
   * Slots and counters on Redis 6 or newer, or Valkey.
   * @param client a connected client of ioredis or of redis (node-redis): a single server, Sentinel, a cluster or a pool.
   * It stays yours: nothing here closes it.
   * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or in a MULTI.
   */
  export function redisStore(client: unknown): Store
  /**
   * Slots and counters on PostgreSQL, in tables that are made on first use, or by `schema.sql`.
   * @param pool a Pool or Client of pg, or the `sql` function of postgres. It stays yours: nothing here closes it.
   * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or in a transaction.
   */
  export function postgresStore(pool: unknown): Store
  /**
   * Slots and counters on etcd 3.4 or newer, by its JSON gateway.
   * @param options `endpoints`: one or more, as `'http://127.0.0.1:2379'`; `username` and `password`: both or none;
   * `fetch`: your own, for a proxy or a CA
   * @throws {TypeError} `ERR_FLAKE_OPTION`: one is missing, of the wrong type, or unknown; no message shows a password.
   */
  export function etcdStore(options: {
    endpoints: string | readonly string[]
    username?: string | undefined
    password?: string | undefined
    fetch?: typeof fetch | undefined
  }): Store

  /**
   * Makes a group that is known to be new, so that nobody waits out its quiet period; what `npx flakeforge create` does.
   * Never where the store may have lost the group: its members may still be making IDs.
   * @param options as for `join`: those that the members have to agree on
   */
  export function createGroup(store: Store | string | null | undefined, options?: JoinOptions | null): Promise<void>

  /**
   * Small dense numbers as 8-byte IDs: Hazelcast's IdGenerator. A counter on the store grows by a block at a time; each
   * member hands its block out by itself, and fetches the next one before that ends. A member that uses a block up within
   * some ms takes several at a time: what lasts about 20 ms, but no more than a sixteenth of all that it took before.
   *
   * @example
   * const invoices = await SegmentId.open('redis://localhost', { name: 'invoices' })
   * invoices.nextBigInt() // 0n, and in the next member 10000n
   * invoices.takeBigInts(3) // BigUint64Array(3) [ 1n, 2n, 3n ]
   */
  export class SegmentId {
    private constructor()
    /**
     * Takes the first block. Where the store may have lost blocks, it resolves all the same, and the calls throw until
     * `skipTo` says where to go on.
     * @param options `name` of the counter; `block`: IDs taken at a time, 1…2^32, default 10 000. What a member holds when it
     * ends is lost, up to twice what it takes at a time. `init`: a counter that is not there begins after this value
     * @throws {Error} `ERR_FLAKE_STORE`: the store failed (`cause`)
     */
    static open(
      store: Store | string | null | undefined,
      options: { name: string; block?: number | null; init?: bigint | number | null },
    ): Promise<SegmentId>
    /**
     * One ID, 8 bytes, big-endian.
     * @throws {Error} `ERR_FLAKE_OVERFLOW`: the blocks are used up faster than the event loop lets new ones come.
     * @throws {Error} `ERR_FLAKE_STORE`: the last call to the store failed (`cause`) and no other is on its way, or the store
     * may have lost blocks, whose IDs could come again: see `skipTo`. On files it is `ERR_FLAKE_FILE` (`path`).
     * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
     */
    next(): Buffer
    next(callback: null | undefined): Buffer
    /** Waits for a block where there is none; gets an error only where waiting does not help. */
    next(callback: (error: Error | null, id: Buffer) => void): void
    nextAsync(): Promise<Buffer>
    /** As `next()`, as a bigint: the cheapest form of an ID. */
    nextBigInt(): bigint
    /**
     * `n` IDs in order, 8 bytes each, big-endian: all, or none where fewer are here. Those stay for other calls then, and
     * what is missing is asked for, so that a later try succeeds.
     * @param n 0 or more
     * @throws as `next()`
     */
    take(n: number): Buffer
    /** As `take(n)`, as bigints. */
    takeBigInts(n: number): BigUint64Array
    /** As `take(n)`, but waits as `next(callback)` does. A call that fails has used up no ID. */
    takeAsync(n: number): Promise<Buffer>
    /**
     * Once, before any ID: the next one is `value` + 1. False when it came too late, and changed nothing. IDs that are asked
     * for meanwhile wait for the answer, or throw `ERR_FLAKE_OVERFLOW`.
     * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
     */
    init(value: bigint | number): Promise<boolean>
    /**
     * Goes on at `value` or above: after the store lost blocks, above all that was ever handed out. For all members.
     * @throws {Error} `ERR_FLAKE_DETACHED`: it was closed.
     */
    skipTo(value: bigint | number): Promise<void>
    /** No more IDs: the rest of the block is lost. It waits 5 s at most for a store that does not answer. */
    close(): Promise<void>
    [Symbol.asyncDispose](): Promise<void>
  }

  /**
   * What an ID says. `JSON.stringify` writes `tick` as text. For Node's `assert.deepStrictEqual`, which compares prototypes
   * too, `{ ...parts }` is a plain object.
   */
  export interface Parts {
    /** Unix ms; has a fraction where the tick is finer */
    timestamp: number
    /** the same as a Date, in whole ms */
    date: Date
    /** ticks since the epoch */
    tick: bigint
    /** counter inside the tick */
    counter: number
    /** the whole node number */
    id: number
    /** uniqueid: the mode that the ID was made in */
    mode?: 'spread' | 'sequential'
    /** the node fields under their own names: flake's `datacenter` and `worker`, for example */
    [field: string]: unknown
  }

  /**
   * What the 64 bits mean.
   *
   * @example
   * const { Layout, layouts } = require('flakeforge')
   * layouts.discord.decode('175928847299117063').date // 2016-04-30T11:18:25.796Z
   * const mine = new Layout({ epoch: 1577836800000, fields: [['timestamp', 41], ['shard', 13], ['counter', 10]] })
   * mine.encode({ timestamp: new Date(), shard: 5 })
   */
  export class Layout {
    /**
     * @param spec a dialect's name, the fields of your own, or a layout to make another choice of
     * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: it is impossible; the message says which field and why.
     */
    constructor(spec: LayoutSpec | LayoutName | Layout, options?: LayoutOptions | null)
    readonly name: string
    /** Unix ms of tick 0 */
    readonly epoch: number
    /** names and widths in bits, the most significant first; empty for the chronicle layouts, which are decimal */
    readonly fields: ReadonlyArray<readonly [name: string, bits: number]>
    /** the first instant that the layout can no longer express; flake with epoch 0: 2109-05-15 */
    readonly end: Date
    /**
     * The first instant at which IDs no longer fit a signed 64-bit column; flake with epoch 0: 2039-09-07. The epoch or
     * just after it, where that depends on the node or on a reversed bit and not on time.
     */
    readonly signedEnd: Date
    /**
     * The ID of these parts, the inverse of `decode`: what `decode` gave can be given back.
     * @param parts the time as `tick`, or else as `timestamp` (Unix ms, a Date, or Unix ns as a bigint); `counter`
     * (default 0); the node as `id` or by its fields (default 0); `mode`
     * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: a part does not fit its field.
     * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time.
     */
    encode(parts: {
      timestamp?: number | bigint | Date
      tick?: bigint
      counter?: number
      id?: number
      [field: string]: unknown
    }): Buffer
    /**
     * What an ID says.
     * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID, or none of this layout: a bit that is always 0 is set.
     */
    decode(id: IdLike): Parts
    /**
     * The smallest and the largest ID of an instant, or of all from one to another, both included, whatever the node: the
     * bounds of `WHERE id BETWEEN …`.
     * @throws {RangeError} `ERR_FLAKE_OPTION`: IDs of this layout are not in the order of time.
     * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time.
     */
    range(from: number | Date, to?: number | Date): { min: Buffer; max: Buffer }
    /**
     * chronicle layouts: the ID as a time with nine digits, `2021-12-28T14:07:02.954100128`, in which the host is readable.
     * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID.
     */
    toText(id: IdLike): string
    /**
     * The ID of such a text.
     * @throws {TypeError} `ERR_FLAKE_ID`: it is none.
     */
    fromText(text: string): Buffer
  }
  /** Every dialect with its own epoch and choices. */
  export const layouts: Readonly<Record<LayoutName, Layout>>

  export interface Stats {
    /** IDs made */
    ids: number
    /** batches they were made in, by `take` and its like and by prefetch; single calls do not count */
    batches: number
    /** attempts that found the counter used up */
    overflows: number
    /** times the clock was seen to step back */
    clockSteps: number
    /** waits, blocking or not */
    waits: number
    /** ms they took together */
    waitedMs: number
    /** how many ms the last ID is ahead of the clock now; 0 when it is not */
    aheadMs: number
    /** since when all this is counted */
    since: Date
  }

  /** Decimal, hexadecimal, binary, octal, and Crockford's base 32. */
  export type Base = 'dec' | 'hex' | 'bin' | 'oct' | 'base32'

  export interface FormatOptions {
    /** put in front of all but decimal text */
    prefix?: string | undefined
    /** digits in a group, counted from the end */
    groupsize?: number | undefined
    /** what stands between groups; default a space */
    delimiter?: string | undefined
    /** what fills the text up at its front, repeated and cut to `size` */
    padstr?: string | undefined
    /** length to fill up to, prefix included; longer text stays as it is */
    size?: number | undefined
    /** binary only: without leading zeros */
    trim?: boolean | undefined
    /** byte order of the input; default `'BE'` */
    format?: 'BE' | 'LE' | undefined
  }

  /**
   * Bytes of any length as text, with the call of biguint-format.
   *
   * Decimal, hex and octal have no leading zeros; binary has 8 digits a byte; base 32 has as many as the bytes need (13
   * for an ID). Text is an ID like any other here: `'0x50dd'` is hex, `'50'` decimal. The input is not changed.
   *
   * @param id bytes, an array of bytes, a bigint, or text
   * @param base default `'dec'`
   * @throws {TypeError} `ERR_FLAKE_ID`: it is no number.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an unknown base or option.
   * @example
   * format(id, 'hex', { prefix: '0x' })                   // '0x687e488989127000'
   * format(id, 'bin', { groupsize: 8, delimiter: '_' })   // '01101000_01111110_01001000_…'
   */
  export function format(
    id: IdLike | readonly number[],
    base?: Base | null,
    options?: Readonly<FormatOptions> | null,
  ): string
  /**
   * The 8 bytes that a text without options stands for: the inverse of `format(id, base)`. Letters of either case.
   * @param base default `'dec'`
   * @throws {TypeError} `ERR_FLAKE_ID`: a character that is no digit, no digits, or more than 64 bits.
   */
  export function parse(text: string, base?: Base | null): Buffer
  /**
   * The ID as a bigint from 0 to 2^64 − 1.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID.
   */
  export function toBigInt(id: IdLike): bigint
  /**
   * The ID as a signed 64-bit column stores it: from 2^63 on it is negative.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is no ID.
   */
  export function toSigned(id: IdLike): bigint
  /**
   * The ID of a signed 64-bit value, −2^63…2^63 − 1.
   * @throws {TypeError} `ERR_FLAKE_ID`: it is none.
   */
  export function fromSigned(value: bigint): Buffer
  /**
   * −1, 0 or 1, by unsigned value: what `sort` wants, and what `Buffer.compare` gives.
   * @throws {TypeError} `ERR_FLAKE_ID`: one of them is no ID.
   */
  export function compare(a: IdLike, b: IdLike): -1 | 0 | 1
}

export = FlakeId
