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

/** The counts of a leased generator; they start anew with each slot. */
interface LeasedStats extends Stats {
  /** how many IDs came from servers since `join`; `ids` does not include these. Only with `elseFrom`. */
  fromServers?: number;
}
interface LeasedFlakeId<L extends AnyLayout> {
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
   * Identifies the group, as 16 hex digits: random bits that the store recorded when the group was created. Groups with the
   * same name on two stores have different digits, and so has a group that is recreated after `destroy()` or a loss of all
   * records. Undefined until the generator has had its first slot, or the store has answered that none is free.
   */
  get lineage(): string | undefined;
  get state(): 'attached' | 'detached' | 'destroyed';
  /** The number of the slot that the generator holds, from 0. Undefined while detached. */
  get slot(): number | undefined;
  /**
   * When the window ends: IDs can be generated until then even if the store is down. Undefined while detached. With a folder
   * as the store, this time advances as IDs are generated, and lies in the past if none has been generated for a while.
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
   * Acquires a slot again, probably a different one with another node number. The call returns at most a second after
   * `waitMs`, whatever the store does. With `elseFrom`, it resolves without a slot if servers supply IDs, as `join` does.
   * @param options `signal`: when it aborts, `attach` rejects with `signal.reason`, and the generator stays detached. A slot
   * that was granted in the meantime is released.
   * @throws the errors of `FlakeId.join`; `ERR_FLAKE_DESTROYED`; and after `close()`, `ERR_FLAKE_DETACHED`
   */
  attach(options?: SignalOptions | null, ...more: never[]): Promise<void>;
  /**
   * Destroys the group. Members in this process are destroyed at once. Others follow within 250 ms in a folder, or at their
   * next renewal on a server, within 37 % of `ttlMs`. From then on, calls throw `ERR_FLAKE_DESTROYED`. A member without a slot
   * at that time may join a group with the same name and options that was created meanwhile. A new group of the same name
   * continues above the last ID of the old one. On a server no slot is granted for 60 s + `skewMs` (durable: `ttlMs` +
   * `skewMs`).
   */
  destroy(): Promise<void>;
  /**
   * Releases the slot and stops the timer permanently; with `share`, the last holder's call does. From then on `next()`,
   * `attach()` and `destroy()` throw `ERR_FLAKE_DETACHED`. Without `close()`, the slot becomes free when the process ends, or
   * after `ttlMs`. The promise settles within 5 s and may reject as that of `detach()` does; the generator is closed even
   * then.
   */
  close(): Promise<void>;
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
  nextAt(date: Date | number | bigint | {
    readonly epochNanoseconds: bigint;
  }, ...more: never[]): Promise<Buffer>;
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * What console.log shows. Without a slot, the generator has no node number: another member may now have the previous one.
   */
  toJSON(): object;
  removeAllListeners(event?: LeaseEvent | 'error'): this;
  emit(event: LeaseEvent, detail: LeaseDetail): boolean;
}
/**
 * Changes the list of stores of a group while its members run: one store is replaced, or two are added to three. When the call
 * returns, the new stores have a vote, and one that was replaced has none, even if it comes back. Then restart the members with
 * the new list, one after another. The other stores of the list must run; if too many are away, nothing is changed. If the call
 * fails on the way, repeat it. `npx flakeforge stores` does the same for addresses.
 * @param from the list as the members have it: addresses, or the result of `quorumStore()`, which may have stores of your own.
 * The store that is replaced may be gone
 * @param to the list as it will be. A store keeps its label
 * @param what a group's name, or `{ name }` of a counter. Default: all that the stores can list; Redis can list none
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: one of them is not a list, or no such group exists.
 * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the group has another list than `from`. `ERR_FLAKE_STORE`: too few stores
 * answered, or the two lists differ in more than one store.
 * @example
 * const [a, b, c, d] = pools.map((pool) => postgresStore(pool))
 * const from = quorumStore([a, b, c], { labels: ['a', 'b', 'c'] })
 * const to = quorumStore([a, b, d], { labels: ['a', 'b', 'd'] })
 * await changeStores(from, to, 'orders')
 */
declare function changeStores(from: Store | string | readonly string[] | null | undefined, to: Store | string | readonly string[], what?: string | {
  name: string;
} | null): Promise<void>;
/**
 * Reports that older records were restored on a store, from a backup, a snapshot, or a copy of the data folder. The store may
 * show no sign of this, and then only this call prevents repeated IDs. Call it when the server is up, before members can reach
 * the server. `npx flakeforge restored` does the same.
 *
 * A group then grants no slots for 60 s + `skewMs`, and gets another `lineage`. A counter grants no block until `skipTo`.
 * @param what a group's name, or `{ name }` of a counter. Default: all groups and counters that the store knows. Name those
 * that were created after the backup was taken
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
 * Generates small consecutive numbers as 8-byte IDs, as Hazelcast's IdGenerator does. A counter on the store grows by a block
 * at a time. Each member hands out numbers from its own block, and fetches the next block before that one is used up. A member
 * that uses up a block within a few ms takes several at a time: enough for about 20 ms, but at most a sixteenth of all that it
 * has taken before.
 *
 * The calls for bytes, bigints and text, and `for await`, are those of `FlakeId`. There is no `nextNumber()`, `takeNumbers()`
 * or `decode()`, because the numbers have no layout and may exceed 2^53.
 *
 * @example
 * const invoices = await SegmentId.open('redis://localhost', { name: 'invoices' })
 * invoices.nextBigInt() // 0n, and in the next member 10000n
 * invoices.takeBigInts(3) // BigUint64Array(3) [ 1n, 2n, 3n ]
 */
declare class SegmentId {
  #private;
  /**
   * Opens a counter and takes the first block. If the store may have lost blocks, the promise still resolves, but calls throw
   * until `skipTo` sets where to continue.
   * @param options `name`: the counter's name. `block`: how many IDs to take at a time, 1…2^32, default 10,000; a member that
   * ends loses the IDs that it still holds, up to twice what it takes at a time. `init`: a counter that does not exist yet
   * begins after this value. `durable`: your promise that the store never loses acknowledged writes, as in `LeaseOptions`,
   * default false. A restart of the server then does not stop the counter. All members must agree on this option.
   * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of bounds, or the server contradicts `durable`.
   * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the counter was created with a different value of `durable` (`theirs`,
   * `ours`).
   * @throws {Error} `ERR_FLAKE_STORE`: the store failed (`cause`), or refuses, as a read-only server does.
   * @throws {Error} `ERR_FLAKE_RECORD`: the counter's record cannot be read, or was written by a newer version of flakeforge
   * (`group`: the counter's name, `record`). Nothing was written over it.
   */
  static open(store: Store | string | readonly string[] | null | undefined, options: {
    name: string;
    block?: number | string | null | undefined;
    init?: bigint | number | null | undefined;
    durable?: boolean | null | undefined;
  }, ...more: never[]): Promise<SegmentId>;
  private constructor();
  /**
   * Identifies the counter, as 16 hex digits: random bits that the store recorded when the counter was created or `skipTo` was
   * called. Counters with the same name on two stores have different digits. Undefined until the member has had its first
   * block.
   */
  get lineage(): string | undefined;
  /**
   * One ID: 8 bytes, big-endian.
   * @throws {Error} `ERR_FLAKE_OVERFLOW`: the fetched blocks are used up, and the event loop has to run before the next one
   * can arrive.
   * @throws {Error} `ERR_FLAKE_STORE`: the last call to the store failed (`cause`) or was refused, and no other call is
   * pending; or the store may have lost blocks, and their IDs could be repeated: see `skipTo`. With files it is
   * `ERR_FLAKE_FILE` (`path`).
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  next(): Buffer;
  next(callback: null | undefined): Buffer;
  /** One ID for a callback. It waits for a block if none is left. The callback gets an error only if waiting does not help. */
  next(callback: NextCallback<Buffer>): void;
  /** Like `next(callback)`, as a promise. */
  nextAsync(options?: SignalOptions | null, ...more: never[]): Promise<Buffer>;
  /** Like `next()`, as a bigint: the fastest form of an ID. */
  nextBigInt(): bigint;
  /**
   * `n` IDs in order, 8 bytes each, big-endian: all of them, or an error if the member holds fewer. After an error, the member
   * keeps its IDs for other calls and fetches the missing ones, so that a later call succeeds.
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
  takeAsync(n: number, options?: SignalOptions | null, ...more: never[]): Promise<Buffer>;
  /** An endless series of IDs, until the signal aborts. Each step waits as `nextAsync()` does. */
  ids(options?: IterationOptions | null, ...more: never[]): AsyncIterableIterator<Buffer>;
  /** An endless series of IDs. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer>;
  /** Counts of this member: numbers taken, IDs handed out, and how long calls waited for blocks. */
  get stats(): SegmentStats;
  /**
   * Sets where the counter starts: the next ID is `value` + 1. Call it at most once, before any ID. Resolves to false if it
   * was called too late; then nothing changes. Until it resolves, calls for IDs wait, or throw `ERR_FLAKE_OVERFLOW`.
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  init(value: bigint | number, ...more: never[]): Promise<boolean>;
  /**
   * Lets all members continue at `value` or above. If the store has lost blocks, pass a value above all IDs that were ever
   * handed out.
   * @throws {Error} `ERR_FLAKE_DETACHED`: the member was closed.
   */
  skipTo(value: bigint | number, ...more: never[]): Promise<void>;
  /** Closes the member: the rest of its block is lost. The call waits at most 5 s for a store that does not answer. */
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
 * Keeps slots and counters in a folder, for the processes of one machine, without a server. A slot is free again when the
 * process that holds it ends.
 * @param directory its absolute path; default: `flakeforge` in `$XDG_STATE_HOME`, else in `~/.local/state`
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the path is relative; or no directory is given and there is no
 * default, because this is a container or there is no home folder.
 */
declare function fileStore(directory?: string | null, ...more: never[]): FolderStore;
/**
 * The interface to your own database: it reads records, and swaps one of them. The rules about slots and windows stay in
 * flakeforge. https://github.com/flakeforge/flakeforge/blob/main/docs/store/your-own-database.md describes what each function
 * must guarantee, and `npx flakeforge-check-store ./my-store.mjs` checks it.
 *
 * A record is text of up to 2,200 bytes with any Unicode. It is part of a group (1 to 128 characters without braces and
 * control characters) and has a name: `group`, `counter`, `past`, or a word and digits, at most 26 characters, such as
 * `slot0000000042`. No record may ever expire.
 */
interface RecordStore {
  /**
   * One snapshot of up to 1,100 records, from the server that takes writes. It shows every swap that was answered before the
   * read began.
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
   * @returns true only for a confirmed write: it is durable, and every server that could be promoted has it. False if the swap
   * did not take place, or may not have. An error means that the outcome is unknown. After either, flakeforge reads again, and
   * writes a new text until a write is confirmed.
   */
  swap(group: string, name: string, from: string | null, to: string, identity: StoreIdentity): Promise<boolean>;
  /** the names of a group's records, in any order */
  names(group: string): Promise<readonly string[]>;
  /** the names of all groups that have a record; leave it out if the database cannot list them */
  groups?(): Promise<readonly string[]>;
  /** closes what the client has opened; `FlakeId.join` never calls it */
  close?(): Promise<void>;
}
/**
 * Texts that change when acknowledged writes may be missing, the same for all clients. '' means that this part is unknown: a
 * loss of that kind then goes unnoticed. At least one of the two must not be empty.
 */
interface StoreIdentity {
  /** the data: a different text after it was restored, dropped, or replaced by another server's */
  history: string;
  /** the run of the server; '' if a restart loses nothing */
  process: string;
}
/** The options of a store on MySQL or MariaDB. */
interface MysqlOptions {
  /**
   * the database that contains the tables (default: the client's current database at the first call). All members of a group
   * need the same one
   */
  database?: string;
}
/**
 * Slots and counters on MariaDB 10.5 or newer, or MySQL 8.0.17 or newer, in tables that it creates on first use, or that you
 * create with the output of `npx flakeforge schema mysql`.
 * @param client a pool or connection of mysql2 or of mariadb, outside of a transaction and with autocommit on
 * @throws {TypeError | RangeError} `ERR_FLAKE_OPTION`: the argument is not such a client, or the client is too old; or an
 * option is invalid.
 */
declare function mysqlStore(client: unknown, options?: MysqlOptions): Store;
/**
 * Slots and counters on etcd 3.4 or newer, over its JSON gateway.
 *
 * For your own certificate authority set `NODE_EXTRA_CA_CERTS=ca.pem`, or pass a `fetch` that trusts it (likewise for a proxy
 * or a client certificate). That `fetch` must respect `signal`, or a request may never end. etcd keeps every old revision by
 * default: run it with `--auto-compaction-retention=1h` or similar, like any etcd with many writes.
 *
 * @param options `endpoints`: one or more, such as `'http://127.0.0.1:2379'`; if one fails, the store tries the next.
 * `username` and `password`: both or none, of a user whose role may read and write the prefix `flakeforge/`; `fetch`: your
 * own, for a proxy or a CA
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
   * another role that is trusted to own the table and its schema, in addition to a superuser, the owner of the database and
   * the client's own role
   */
  owner?: string;
}
/**
 * Slots and counters on PostgreSQL 12 or newer, in a table that it creates on first use, or that you create with the output
 * of `npx flakeforge schema`. A Pool gets a listener for `'error'`, because without one a restart of the server would end the
 * process.
 * @param pool a Pool or Client of pg, or the `sql` function of postgres
 * @throws {TypeError | RangeError} `ERR_FLAKE_OPTION`: the argument is not such a client, or the client is in a transaction;
 * or an option is invalid.
 */
declare function postgresStore(pool: unknown, options?: PostgresOptions): Store;
/** The options of `quorumStore()`. */
interface QuorumOptions {
  /**
   * the name of each store, in the order of `stores`: 1 to 128 bytes without white space or invisible characters, the same for
   * all members. Default: the address without user, password and options. A store without an address needs a label
   */
  labels?: readonly string[] | null | undefined;
}
/**
 * Keeps slots and counters in your own database. Every answer of your functions is checked: an invalid answer causes
 * `ERR_FLAKE_STORE`, and so does one that takes longer than 9 s, or in a renewal longer than a third of `ttlMs`.
 * @returns the store. To test your database, call the functions in its `records`: these are yours, with the checks.
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
 * @throws {TypeError} `ERR_FLAKE_OPTION`: the argument is not such a client, or the client is in a MULTI.
 */
declare function redisStore(client: unknown, ...more: never[]): Store;
/**
 * Opens the store of an address, as `FlakeId.join()` and `SegmentId.open()` do. Use it to share one store among many groups,
 * or to list slots with `list`. The store has its own client, which connects at the first call and which `close()` closes;
 * close the generators first.
 * @param address default: the store in the environment variable `FLAKEFORGE_STORE`, else the default folder. A list of three
 * or five addresses is one store, as with `quorumStore()`; in a string, separate them by spaces
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the argument is not the address of a store.
 * @throws {Error} `ERR_FLAKE_STORE`: the client package for this store is not installed.
 * @example
 * const store = openStore('redis://localhost')
 * const [orders, users] = await Promise.all(['orders', 'users'].map((group) => FlakeId.join(store, { group })))
 * console.log(await store.list('orders'))
 */
declare function openStore(address?: string | readonly string[] | null, ...more: never[]): Store;
/**
 * Combines three or five stores into one: servers of any kind that know nothing of each other, each on a separate machine. A
 * majority of the servers agrees on every record, so one of three, or two of five, may stop or lose all their data without
 * affecting a member. https://github.com/flakeforge/flakeforge/blob/main/docs/store/quorum.md says what this costs.
 * `FlakeId.join`, `createGroup` and `SegmentId.open` also take the addresses themselves.
 *
 * All members must list the same stores; the order does not matter. `close()` closes all of them.
 * @param stores addresses; results of `redisStore()`, `postgresStore()`, `mysqlStore()`, `etcdStore()` or `recordStore()`; or
 * databases of your own, as for `recordStore()`
 * @param options `labels`: the name of each store, needed for those that have no address
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: there are not three or five stores, two have the same label, or one is
 * not a server.
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
  changeStores,
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
