// Stores keep the slots of `FlakeId.join()` and the counters of `SegmentId`.

/** Only flakeforge makes stores: an object of your own is none. */
declare const madeByFlakeforge: unique symbol

/**
 * Keeps slots and counters. `fileStore`, `redisStore`, `postgresStore`, `mysqlStore` and `etcdStore` make one, and
 * `recordStore` makes one from a database of your own. Pass it to `FlakeId.join`, `createGroup` and `SegmentId.open`,
 * as often as you like. It never ends a client that you gave it.
 */
export interface Store {
  readonly [madeByFlakeforge]: true
  /**
   * Ends a group: every member is destroyed at its next renewal. A group of the same name that is made later continues
   * above the last ID of this one, and on a server it grants nothing for 60 s + `skewMs` (durable: `ttlMs` + `skewMs`).
   */
  destroy(group: string): Promise<void>
  /**
   * All slots of a group that were ever held. Looking changes nothing.
   * @throws {Error} `ERR_FLAKE_RECORD` (`group`, `record`), or `ERR_FLAKE_FILE` (`path`) from `fileStore`: some slots
   * cannot be read. The error's `slots` has the others, and its `faults` says what is wrong with each.
   */
  list(group: string): Promise<SlotInfo[]>
  /** The names of all groups. Redis cannot tell, so `redisStore` has no such function. */
  groups?(): Promise<string[]>
  /** Ends what the store holds open by itself; that of `recordStore` calls your `close`. Close its generators first. */
  close?(): Promise<void>
}

/** A slot, as `list` returns it. Its holder makes IDs in the window [lo, hi] only. */
export interface SlotInfo {
  /** from 0 */
  slot: number
  /** the holder's token; absent while nobody holds it */
  owner?: string
  /** the host of the holder, or of the last one */
  host?: string
  /** Unix ms by the store's clock: the first of the window */
  lo: number
  /** Unix ms by the store's clock: the last of the window */
  hi: number
  /** file store: the holder's process number */
  pid?: number
  /** file store: when the holder got the slot */
  since?: Date
  /** file store: when the holder's last ID was made */
  last?: Date
}

/**
 * What a database of your own has to do: read records, and swap one of them. The rules about slots and windows stay in
 * flakeforge. docs/lease/your-own-database.md says what each function must guarantee, and
 * `npx flakeforge-check-store ./my-store.mjs` checks it.
 *
 * A record is text of up to 2 000 bytes with any Unicode. It belongs to a group (1 to 128 characters without braces and
 * control characters) and has a name: `group`, `counter`, or `slot` and ten digits. None may ever expire.
 */
export interface RecordStore {
  /**
   * One snapshot of up to 1 100 records, from the server that takes writes. It shows every swap that was answered before.
   * @returns `values`: in the order of `names`, null for an absent record. `now`: that server's clock in Unix ms, read
   * after the snapshot. `position`, if the database has one: a number from 0 to 2^64 - 1 that never falls while
   * nothing is lost.
   */
  read(
    group: string,
    names: readonly string[],
  ): Promise<{
    now: number
    identity: StoreIdentity
    values: ReadonlyArray<string | null>
    position?: number | bigint | undefined
  }>
  /**
   * In one atomic step: writes `to` if the record is `from` (null: absent), byte for byte, and the server is `identity`.
   * @returns true only once the write is durable; false if it was not made, or perhaps not. An error means that nobody
   * knows; flakeforge then reads again.
   */
  swap(group: string, name: string, from: string | null, to: string, identity: StoreIdentity): Promise<boolean>
  /** the names of a group's records, in any order */
  names(group: string): Promise<readonly string[]>
  /** the names of all groups that have a record; leave it out if the database cannot tell */
  groups?(): Promise<readonly string[]>
  /** ends what the client has opened; `FlakeId.join` never calls it */
  close?(): Promise<void>
}

/**
 * Texts that change when acknowledged writes may be missing, the same for all clients. '' means unknown, and then such
 * a loss is not noticed. One of the two must be a text.
 */
export interface StoreIdentity {
  /** which data: another text once it was restored, dropped, or replaced by that of another server */
  history: string
  /** which run of the server; '' if a restart loses nothing */
  process: string
}

/**
 * Slots and counters in a folder, for the processes of one machine. It needs no server. A slot's lock ends with the
 * process that holds it.
 * @param directory its absolute path; default: `flakeforge` in `$XDG_STATE_HOME`, else in `~/.local/state`
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the path is relative. Or no directory is named and there is no default, because this is a container or
 * there is no home folder.
 */
export function fileStore(directory?: string | null): Store & {
  readonly folder: string
  groups(): Promise<string[]>
}

/**
 * Slots and counters on Redis 6 or newer, or Valkey.
 * @param client a connected client of ioredis or of redis (node-redis): a single server, Sentinel, a cluster or a pool
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or it is in a MULTI.
 */
export function redisStore(client: unknown): Store

/**
 * Slots and counters on PostgreSQL 12 or newer, in a table that it creates on first use, or that you create with what
 * `npx flakeforge schema` prints.
 * @param pool a Pool or Client of pg, or the `sql` function of postgres
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or it is in a transaction.
 */
export function postgresStore(pool: unknown): Store

/**
 * Slots and counters on MariaDB 10.5 or newer, or MySQL 8.0.17 or newer (which was not tested), in tables that it
 * creates on first use, or that you create with what `npx flakeforge schema mysql` prints.
 * @param client a pool or connection of mysql2 or of mariadb. Outside of a transaction, and with autocommit on
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or an old version.
 */
export function mysqlStore(client: unknown): Store

/**
 * Slots and counters on etcd 3.4 or newer, over its JSON gateway.
 * @param options `endpoints`: one or more, such as `'http://127.0.0.1:2379'`; `username` and `password`: both or none;
 * `fetch`: your own, for a proxy or a CA
 * @throws {TypeError} `ERR_FLAKE_OPTION`: an option is missing, of the wrong type, or unknown. No message shows a
 * password.
 */
export function etcdStore(options: {
  endpoints: string | readonly string[]
  username?: string | undefined
  password?: string | undefined
  fetch?: typeof fetch | undefined
}): Store

/**
 * Slots and counters in a database of your own. Every answer of its functions is checked: a wrong one is
 * `ERR_FLAKE_STORE`, and so is one that takes longer than 9 s.
 * @throws {TypeError} `ERR_FLAKE_OPTION`: `read`, `swap` or `names` is missing.
 * @example
 * const flake = await FlakeId.join(recordStore(myStore), { group: 'orders' })
 */
export function recordStore(store: RecordStore): Store

/**
 * The store that `FlakeId.join()` and `SegmentId.open()` open for an address: for a program that uses one store for many
 * groups, or looks at its slots with `list`. It has a client of its own, which connects at the first call and which
 * `close()` ends; close the generators first.
 * @param address default: the store that the environment variable `FLAKEFORGE_STORE` names, else the default folder
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: it is not the address of a store.
 * @throws {Error} `ERR_FLAKE_STORE`: the client package for it is not installed.
 * @example
 * const store = openStore('redis://localhost')
 * const [orders, users] = await Promise.all(['orders', 'users'].map((group) => FlakeId.join(store, { group })))
 * console.log(await store.list('orders'))
 */
export function openStore(address?: string | null): Store
