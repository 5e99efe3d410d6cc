// Written by `npm run dist` from lib/entries/lease.ts.

/// <reference types="node" />
/// <reference lib="esnext.disposable" />
import {
  AnyLayout,
  Base,
  CounterInfo,
  ElseFrom,
  FlakeError,
  FlakeErrorClass,
  FlakeErrorCode,
  FlakeId,
  IterationOptions,
  JoinOptions,
  LeaseDetail,
  LeaseEvent,
  LeaseListener,
  LeaseOptions,
  NextCallback,
  PrefixOptions,
  SignalOptions,
  SlotInfo,
  Stats,
  Store,
  Unspecified,
} from "./index.js";

/** The counts of a leased generator; each slot starts new ones. */
interface LeasedStats extends Stats {
  /** how many IDs came from servers since `join`; they are not in `ids`. Only with `elseFrom`. */
  fromServers?: number;
}
interface LeasedFlakeId<L extends AnyLayout> {
  /**
   * - `attached`: it holds a slot again, after `attach()` or a loss. The first slot causes no event if `join` waited for it;
   *   with `elseFrom` it may come later, and then it does.
   * - `renewed`: the window was extended.
   * - `renewal-failed`: a renewal failed (`cause`), and IDs can be generated until `expires`. It is retried, and the next
   *   event is `renewed`, `lost`, `detached` or `destroyed`: an outage has one such event. The first one in a process is also
   *   a warning (`FLAKEFORGE_RENEWAL`).
   * - `lost`: it no longer holds the slot (`cause`) and is getting a new one.
   * - `detached`, `destroyed`: the state of that name begins. `detached` has a `cause` unless you asked for it.
   *
   * Listeners run before the promise of the call that caused the event resolves. The generator has all methods of Node's
   * EventEmitter, and works with `events.once` and `events.on`, but is not an `instanceof EventEmitter`. Other event names
   * throw `ERR_FLAKE_OPTION`. `error` is allowed and never emitted.
   */
  on<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this;
  addListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this;
  prependListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this;
  once<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this;
  prependOnceListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this;
  off<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this;
  removeListener<E extends LeaseEvent | 'error'>(event: E, listener: LeaseListener<E>): this;
  listeners<E extends LeaseEvent | 'error'>(event: E): Array<LeaseListener<E>>;
  rawListeners<E extends LeaseEvent | 'error'>(event: E): Array<LeaseListener<E>>;
  listenerCount<E extends LeaseEvent | 'error'>(event: E, listener?: LeaseListener<E>): number;
  eventNames(): Array<LeaseEvent | 'error'>;
  setMaxListeners(n: number): this;
  getMaxListeners(): number;
}
/**
 * A generator that holds a slot. `FlakeId.join()` creates one.
 *
 * The store grants it a slot and a *window* of time, which it renews in the background. Every ID lies inside the window. If the
 * store does not answer, IDs can be generated until the window ends. Then `next()` throws
 * `ERR_FLAKE_LEASE_EXPIRED` (`group`, `slot`, `cause`) and `next(callback)` waits. Both work again when the store is back.
 *
 * Its `state` is one of these:
 * - `'attached'`: it generates IDs.
 * - `'detached'`: calls throw `ERR_FLAKE_DETACHED`. Either `detach()` or `close()` was called, or the slot was lost and the
 *   search for another is still running; the error's `cause` is the reason. With `elseFrom`, calls return IDs of servers in
 *   the meantime. Before the first slot, `id` is undefined.
 * - `'destroyed'`: the group was destroyed, and all calls throw `ERR_FLAKE_DESTROYED`.
 */
declare class LeasedFlakeId<const L extends AnyLayout = Unspecified> extends FlakeId<L> {
  #private;
  /** @param opened with a lease */
  private constructor();
  /**
   * The settings that the members of a group must share for their IDs to be unique and ordered by time together: epoch, tick,
   * the positions of timestamp and counter, and fixed node fields, as text to compare. Never mix IDs of generators with
   * different texts.
   */
  get fingerprint(): string;
  /**
   * Identifies the group, as 16 hex digits: random bits that the store recorded when the group was created. Groups of one
   * name on two stores have different ones, and so has a group that is recreated after `destroy()` or a loss of all records.
   * Undefined until it had its first slot, or its store answered that none is free.
   */
  get lineage(): string | undefined;
  get state(): 'attached' | 'detached' | 'destroyed';
  /** The number of the slot that the generator holds, from 0. Undefined while detached. */
  get slot(): number | undefined;
  /**
   * When the window ends: IDs can be generated until then even if the store is down. Undefined while detached. With a folder
   * as the store, it advances as IDs are generated, and is in the past if none was generated for a while.
   */
  get expires(): Date | undefined;
  /**
   * The source of the next ID: `'slot'` while attached, or `'server'` with `elseFrom`. Undefined after `detach()`, `close()`
   * and `destroy()`.
   *
   * IDs of servers are fetched ahead. `next()` and `take(n)` return the buffered ones, and throw `ERR_FLAKE_OVERFLOW`
   * (`retryAfterMs`) if there are too few; calls that wait fetch more. Once there is a slot again, the rest of the buffer is
   * dropped. After a change of source, IDs may be lower than earlier ones, by the difference between the clocks (`skewMs`)
   * plus the age of the buffered IDs (`validityMs`). None occurs twice.
   */
  get source(): 'slot' | 'server' | undefined;
  get stats(): LeasedStats;
  /**
   * Releases the slot, and stops using servers. Calls that are waiting for an ID get `ERR_FLAKE_DETACHED`. The promise settles
   * within 5 s: if the store has not answered by then, it rejects with `ERR_FLAKE_STORE`, and the slot becomes free when its
   * window ends.
   */
  detach(): Promise<void>;
  /**
   * Acquires a slot again: probably a different one, and then the node number changes. It ends at most a second after
   * `waitMs`, whatever the store does. With `elseFrom` it resolves like `join` if servers supply IDs.
   * @param options `signal`: when it aborts, `attach` rejects with `signal.reason`, and the generator stays detached. A slot
   * that was granted in the meantime is released.
   * @throws as `FlakeId.join`, and `ERR_FLAKE_DESTROYED`; after `close()`, `ERR_FLAKE_DETACHED`
   */
  attach(options?: SignalOptions | null): Promise<void>;
  /**
   * Destroys the group. Its members in this process are destroyed at once, and the others in a folder within 250 ms, on a
   * server at their next renewal, within 37 % of `ttlMs`: from then on, calls throw `ERR_FLAKE_DESTROYED`. A member that has
   * no slot at that time may join an equal group that was created meanwhile. A new group of the same name continues above the
   * last ID of the old one. On a server no slot is granted for 60 s + `skewMs` (durable: `ttlMs` + `skewMs`).
   */
  destroy(): Promise<void>;
  /**
   * Releases the slot and stops the timer permanently; with `share`, the last holder's call does. From then on `next()`, `attach()` and `destroy()` throw
   * `ERR_FLAKE_DETACHED`. Without `close()` the slot becomes free when the process ends, or after `ttlMs`. It takes at most 5
   * s and may reject like `detach()`; the generator is closed even then.
   */
  close(): Promise<void>;
  /**
   * A unique ID of a past time, for rows that are older than their IDs. It has one of the node numbers that the option
   * `backfill` keeps free, and the store remembers what was given, so that no member makes it again, after a restart either.
   *
   * The time is exact to the layout's tick, or to the millisecond where ticks are shorter. IDs of one time that one member
   * makes are in the order of the calls, up to half of what one node has (2,048 per ms). With `backfill: 4` there are at least
   * 14,336 per ms in the default layout.
   *
   * Most calls need no answer of the store: a member gets numbers for hours of the past at once.
   * @param date a Date, Unix ms, Unix ns as a bigint, or a Temporal.Instant; not later than now
   * @throws {RangeError} `ERR_FLAKE_TIME_RANGE`: the time is before the epoch, later than now, or in another unit.
   * @throws {RangeError} `ERR_FLAKE_BACKFILL`: all IDs of this time are used; or an earlier group of this name may have
   * used the kept nodes then (`timestamp`, `group`).
   * @throws {RangeError} `ERR_FLAKE_OPTION`: `backfill` is not set.
   * @throws {Error} `ERR_FLAKE_STORE`: the store failed, or may have lost which IDs were given.
   * @throws otherwise as `nextAsync()`: it needs a slot too
   * @example
   * const flake = await FlakeId.join(store, { group: 'orders', backfill: 4, durable: true })
   * const id = toSigned(await flake.nextAt(order.createdAt))
   */
  nextAt(date: Date | number | bigint | {
    readonly epochNanoseconds: bigint;
  }): Promise<Buffer>;
  [Symbol.asyncDispose](): Promise<void>;
  /** What console.log shows. Without a slot there is no node number: another member may have the last one by now. */
  toJSON(): object;
  removeAllListeners(event?: LeaseEvent | 'error'): this;
  emit(event: LeaseEvent, detail: LeaseDetail): boolean;
}
/**
 * Reports that older records were put back on a store: from a backup, a snapshot, or a copy of the data's folder. The store
 * may show no sign of that, and then only this call prevents repeated IDs. Call it when the server is up, before members can
 * reach it. `npx flakeforge restored` does the same.
 *
 * A group then grants no slots for 60 s + `skewMs`, and has another `lineage`. A counter grants no block until `skipTo`.
 * @param what a group's name, or `{ name }` of a counter. Without it, all groups and counters that the store knows: name
 * those that were created after the backup was taken
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: `what` is absent, and the store cannot list its contents, as Redis; or
 * the store is a folder.
 * @throws {Error} `ERR_FLAKE_STORE`: the store failed. `ERR_FLAKE_RECORD`: a record cannot be read. The others were
 * processed.
 * @example
 * await restored('postgres://localhost/app')
 */
declare function restored(store: Store | string | readonly string[] | null | undefined, what?: string | {
  name: string;
} | null): Promise<void>;
/** Counts of a member. */
interface SegmentStats {
  /** IDs handed out */
  ids: number;
  /** numbers taken from the counter, in blocks */
  taken: number;
  /** IDs that can be handed out without the store */
  buffered: number;
  /** numbers taken but never handed out: skipped by `init` or `skipTo`, or left over by `close` */
  dropped: number;
  /** how often calls waited for a block */
  waits: number;
  /** the total duration of all waits, in ms */
  waitedMs: number;
  /** when this count began */
  since: Date;
}
/**
 * Small dense numbers as 8-byte IDs: Hazelcast's IdGenerator. A counter on the store grows by a block at a time. Each member
 * hands out its own block, and fetches the next one before that block ends. A member that uses up a block within a few ms
 * takes several at a time: enough for about 20 ms, but at most a sixteenth of all that it has taken before.
 *
 * It has the calls of `FlakeId` for bytes, bigints and text, and `for await`. There is no `nextNumber()`, `takeNumbers()` or
 * `decode()`, because the numbers have no layout and may exceed 2^53.
 *
 * @example
 * const invoices = await SegmentId.open('redis://localhost', { name: 'invoices' })
 * invoices.nextBigInt() // 0n, and in the next member 10000n
 * invoices.takeBigInts(3) // BigUint64Array(3) [ 1n, 2n, 3n ]
 */
declare class SegmentId {
  #private;
  /**
   * Takes the first block. If the store may have lost blocks, it still resolves, but calls throw until `skipTo` sets where to
   * continue.
   * @param options `name`: the counter's name. `block`: how many IDs to take at a time, 1…2^32, default 10,000; the IDs that
   * a member still holds when it ends are lost, up to twice what it takes at a time. `init`: a counter that does not exist
   * yet begins after this value. `durable`: your promise that the store never loses acknowledged writes, as in
   * `LeaseOptions`, default false; with it, a restart of Redis, MySQL or MariaDB does not stop the counter. All members must
   * agree on it.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of bounds, or the server contradicts `durable`.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the counter was created with the other `durable` (`theirs`, `ours`).
   * @throws {Error} `ERR_FLAKE_STORE`: the store failed (`cause`), or refuses, as a read-only server does.
   * @throws {Error} `ERR_FLAKE_RECORD`: the counter's record cannot be read, or was written by a newer version of flakeforge
   * (`group`: the counter's name, `record`). Nothing was written over it.
   */
  static open(store: Store | string | readonly string[] | null | undefined, options: {
    name: string;
    block?: number | string | null | undefined;
    init?: bigint | number | null | undefined;
    durable?: boolean | null | undefined;
  }): Promise<SegmentId>;
  private constructor();
  /**
   * Identifies the counter, as 16 hex digits: random bits that the store recorded when the counter was created or `skipTo`
   * was called. Counters of one name on two stores have different ones. Undefined until it had its first block.
   */
  get lineage(): string | undefined;
  /**
   * One ID: 8 bytes, big-endian.
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: the blocks are used up faster than the event loop lets new ones in.
   * @throws {Error} `ERR_FLAKE_STORE`: the last call to the store failed (`cause`) or was refused, and no other is pending;
   * or the store may have lost blocks, and their IDs could be repeated: see `skipTo`. With files it is `ERR_FLAKE_FILE`
   * (`path`).
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  next(): Buffer;
  next(callback: null | undefined): Buffer;
  /** One ID for a callback. It waits for a block if none is left. The callback gets an error only if waiting does not help. */
  next(callback: NextCallback<Buffer>): void;
  /** Like `next(callback)`, as a promise. */
  nextAsync(options?: SignalOptions | null): Promise<Buffer>;
  /** Like `next()`, as a bigint: the fastest form of an ID. */
  nextBigInt(): bigint;
  /**
   * `n` IDs in order, 8 bytes each, big-endian: all of them, or an error if the member holds fewer. After an error it keeps
   * those for other calls and fetches the missing ones, so that a later call succeeds.
   * @param n 0 or more
   * @throws as `next()`
   */
  take(n: number): Buffer;
  /** Like `take(n)`, as bigints. */
  takeBigInts(n: number): BigUint64Array;
  /**
   * Like `next()`, as text: the same as `format(next(), base)`.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of the text, as in `format`
   * @throws as `next()`
   * @example
   * invoices.nextString('dec', { prefix: 'inv_' }) // 'inv_4711'
   */
  nextString(base?: Base | null, options?: Readonly<PrefixOptions> | null): string;
  /**
   * Like `take(n)`, as text.
   * @param base default `'dec'`
   * @param options `prefix`: the beginning of each text, as in `format`
   */
  takeStrings(n: number, base?: Base | null, options?: Readonly<PrefixOptions> | null): string[];
  /** Like `take(n)`, but waits as `next(callback)` does. A call that fails uses up no ID. */
  takeAsync(n: number, options?: SignalOptions | null): Promise<Buffer>;
  /** An endless series of IDs, until the signal aborts. Each step waits as `nextAsync()` does. */
  ids(options?: IterationOptions | null): AsyncIterableIterator<Buffer>;
  /** An endless series of IDs. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer>;
  /** Counts of this member: numbers taken, IDs handed out, and how long calls waited for blocks. */
  get stats(): SegmentStats;
  /**
   * May be called once, before any ID: the next ID is `value` + 1. Resolves to false if it was called too late; then nothing
   * changes. Until it resolves, calls for IDs wait, or throw `ERR_FLAKE_OVERFLOW`.
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  init(value: bigint | number): Promise<boolean>;
  /**
   * Makes all members continue at `value` or above. If the store has lost blocks, pass a value above all IDs that were ever
   * handed out.
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  skipTo(value: bigint | number): Promise<void>;
  /** Closes the member: the rest of its block is lost. Waits at most 5 s for a store that does not answer. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /** What console.log shows, for logs. */
  toJSON(): object;
}
/** The store of a folder, as `fileStore` returns it. */
interface FolderStore extends Store {
  readonly folder: string;
  groups(): Promise<string[]>;
}
/**
 * Slots and counters in a folder, for the processes of one machine. It needs no server. A slot's lock ends with the process
 * that holds it.
 * @param directory its absolute path; default: `flakeforge` in `$XDG_STATE_HOME`, else in `~/.local/state`
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the path is relative; or no directory is given and there is no
 * default, because this is a container or there is no home folder.
 */
declare function fileStore(directory?: string | null, ...more: never[]): FolderStore;
/**
 * The interface of your own database: it reads records, and swaps one of them. The rules about slots and windows stay in
 * flakeforge. https://github.com/flakeforge/flakeforge/blob/main/docs/store/your-own-database.md describes what each function
 * must guarantee, and `npx flakeforge-check-store ./my-store.mjs` checks it.
 *
 * A record is text of up to 2,200 bytes with any Unicode. It is part of a group (1 to 128 characters without braces and
 * control characters) and has a name: `group`, `counter`, `past`, or a word and digits, at most 26 characters, such as
 * `slot0000000042`. No record may ever expire.
 */
interface RecordStore {
  /**
   * One snapshot of up to 1,100 records, from the server that takes writes. It shows every swap that was answered before.
   * @returns `values`: in the order of `names`, null for an absent record. `now`: that server's clock in Unix ms, read after
   * the snapshot. `position`, if the database has one: a number from 0 to 2^64 - 1 that never falls while nothing is lost.
   */
  read(group: string, names: readonly string[]): Promise<{
    now: number;
    identity: StoreIdentity;
    values: ReadonlyArray<string | null>;
    position?: number | bigint | undefined;
  }>;
  /**
   * In one atomic step: writes `to` if the record is `from` (null: absent), byte for byte, and the server is `identity`.
   * @returns true only for a confirmed write: it is durable, and every server that could be promoted has it. False if the
   * swap was not made, or perhaps not. An error means that the outcome is unknown. After either, flakeforge reads again, and
   * writes a new text until a write is confirmed.
   */
  swap(group: string, name: string, from: string | null, to: string, identity: StoreIdentity): Promise<boolean>;
  /** the names of a group's records, in any order */
  names(group: string): Promise<readonly string[]>;
  /** the names of all groups that have a record; leave it out if the database cannot list them */
  groups?(): Promise<readonly string[]>;
  /** ends what the client has opened; `FlakeId.join` never calls it */
  close?(): Promise<void>;
}
/**
 * Texts that change when acknowledged writes may be missing, the same for all clients. '' means unknown, and such a loss then
 * goes unnoticed. At least one of the two must not be empty.
 */
interface StoreIdentity {
  /** the data: a different text after it was restored, dropped, or replaced by another server's */
  history: string;
  /** the run of the server; '' if a restart loses nothing */
  process: string;
}
/** The options of a store on MySQL or MariaDB. */
interface MysqlOptions {
  /** the database of the tables (default: the client's at the first call). All members of a group need the same one */
  database?: string;
}
/**
 * Slots and counters on MariaDB 10.5 or newer, or MySQL 8.0.17 or newer (which was not tested), in tables that it creates on
 * first use, or that you create with the output of `npx flakeforge schema mysql`.
 * @param client a pool or connection of mysql2 or of mariadb, outside of a transaction and with autocommit on
 * @throws {TypeError | RangeError} `ERR_FLAKE_OPTION`: it is not such a client, or an old version; or an option is invalid.
 */
declare function mysqlStore(client: unknown, options?: MysqlOptions): Store;
/**
 * Slots and counters on etcd 3.4 or newer, over its JSON gateway.
 *
 * For your own certificate authority set `NODE_EXTRA_CA_CERTS=ca.pem`, or pass a `fetch` that trusts it (likewise for a proxy
 * or a client certificate). That `fetch` must obey `signal`, or a request may never end. etcd keeps every old revision by
 * default: run it with `--auto-compaction-retention=1h` or similar, like any etcd with many writes.
 *
 * @param options `endpoints`: one or more, such as `'http://127.0.0.1:2379'`; if one fails, the next one is asked. `username`
 * and `password`: both or none, of a user whose role may read and write the prefix `flakeforge/`; `fetch`: your own, for a
 * proxy or a CA
 * @throws {TypeError} `ERR_FLAKE_OPTION`: an option is missing, of the wrong type, or unknown. No message shows a password.
 */
declare function etcdStore(options: {
  endpoints: string | readonly string[];
  username?: string | undefined;
  password?: string | undefined;
  fetch?: typeof fetch | undefined;
}, ...more: never[]): Store;
/** The options of a store on PostgreSQL. */
interface PostgresOptions {
  /**
   * the schema of the table (default 'public', whatever the role and its search_path). All members of a group need the same
   * one
   */
  schema?: string;
  /**
   * another role that may own the table and its schema. Otherwise only a superuser, the owner of the database and the client's
   * own role may
   */
  owner?: string;
}
/**
 * Slots and counters on PostgreSQL 12 or newer, in a table that it creates on first use, or that you create with the output
 * of `npx flakeforge schema`. A Pool gets a listener for `'error'`, because without one a restart of the server would end the
 * process.
 * @param pool a Pool or Client of pg, or the `sql` function of postgres
 * @throws {TypeError | RangeError} `ERR_FLAKE_OPTION`: it is not such a client, or it is in a transaction; or an option is
 * invalid.
 */
declare function postgresStore(pool: unknown, options?: PostgresOptions): Store;
/** The options of `quorumStore()`. */
interface QuorumOptions {
  /**
   * the name of each store, in the order of `stores`: 1 to 128 characters without white space, the same for all members.
   * Default: the address without user, password and options. A store that was not given by an address needs one
   */
  labels?: readonly string[] | null | undefined;
}
/**
 * Slots and counters in a database of your own. Every answer of its functions is checked: an invalid one is
 * `ERR_FLAKE_STORE`, and so is one that takes longer than 9 s, or in a renewal longer than a third of `ttlMs`.
 * @returns the store. Its `records` are your functions with these checks, for tests of your database.
 * @throws {TypeError} `ERR_FLAKE_OPTION`: `read`, `swap` or `names` is missing.
 * @example
 * const flake = await FlakeId.join(recordStore(myStore), { group: 'orders' })
 */
declare function recordStore(store: RecordStore, ...more: never[]): Store & {
  readonly records: RecordStore;
};
/**
 * Slots and counters on Redis 6 or newer, or Valkey.
 * @param client a connected client of ioredis, iovalkey, redis (node-redis) or @valkey/valkey-glide: a single server,
 * Sentinel, a cluster or a pool
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is not such a client, or it is in a MULTI.
 */
declare function redisStore(client: unknown, ...more: never[]): Store;
/**
 * The store that `FlakeId.join()` and `SegmentId.open()` open for an address: for a program that uses one store for many
 * groups, or lists its slots with `list`. It has its own client, which connects at the first call and which `close()` ends;
 * close the generators first.
 * @param address default: the store in the environment variable `FLAKEFORGE_STORE`, else the default folder. A list of three
 * or five addresses is one store, as with `quorumStore()`; in a text, spaces separate them
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: it is not the address of a store.
 * @throws {Error} `ERR_FLAKE_STORE`: the client package for it is not installed.
 * @example
 * const store = openStore('redis://localhost')
 * const [orders, users] = await Promise.all(['orders', 'users'].map((group) => FlakeId.join(store, { group })))
 * console.log(await store.list('orders'))
 */
declare function openStore(address?: string | readonly string[] | null, ...more: never[]): Store;
/**
 * One store out of three or five that know nothing of each other: servers of any kinds, each on a machine of its own. A majority
 * of them agrees on every record. So one of three, or two of five, may stop or lose all its data, and no member of a group
 * notices. https://github.com/flakeforge/flakeforge/blob/main/docs/store/quorum.md says what that costs. `FlakeId.join`, `createGroup` and
 * `SegmentId.open` also take the addresses themselves.
 *
 * All members must list the same stores; the order does not matter. `close()` closes all of them.
 * @param stores addresses; results of `redisStore()`, `postgresStore()`, `mysqlStore()`, `etcdStore()` or `recordStore()`; or
 * databases of your own, as for `recordStore()`
 * @param options `labels`: the name of each store, needed for those that have no address
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: there are not three or five stores, two have one label, or one is no
 * server.
 * @example
 * const store = quorumStore(['redis://a', 'redis://b', 'postgres://c/app'])
 * const flake = await FlakeId.join(store, { group: 'orders' })
 */
declare function quorumStore(stores: ReadonlyArray<string | Store | RecordStore>, options?: QuorumOptions | null): Store & {
  readonly records: RecordStore;
};
export {
  CounterInfo,
  ElseFrom,
  FlakeError,
  FlakeErrorClass,
  FlakeErrorCode,
  FolderStore,
  JoinOptions,
  LeaseDetail,
  LeaseEvent,
  LeaseListener,
  LeaseOptions,
  LeasedFlakeId,
  LeasedStats,
  MysqlOptions,
  PostgresOptions,
  PrefixOptions,
  QuorumOptions,
  RecordStore,
  SegmentId,
  SegmentStats,
  SlotInfo,
  Store,
  StoreIdentity,
  etcdStore,
  fileStore,
  mysqlStore,
  openStore,
  postgresStore,
  quorumStore,
  recordStore,
  redisStore,
  restored,
};
