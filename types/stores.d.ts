// Stores keep the slots of `FlakeId.join()` and the counters of `SegmentId`.

/** A slot and the window [lo, hi] of Unix ms, both included, in which its holder may make IDs. */
export interface Grant {
  slot: number
  lo: number
  hi: number
  /** the store's clock, Unix ms */
  storeNow: number
}

/**
 * Keeps slots and counters. Each call is one atomic step. `fileStore`, `redisStore`, `postgresStore` and `etcdStore`
 * make a store. A store of your own must follow the rules in core/src/grants.rs. A store that wraps another must pass
 * its grants on unchanged.
 */
export interface Store {
  /**
   * Creates the group if it is missing. Rejects with `ERR_FLAKE_CONFIG_MISMATCH` if it was created with another
   * configuration. `join()` fills in `scale`, which says how ticks become numbers; only `fileStore` needs it. Resolves
   * to true if it created the group; `createGroup` returns that to its caller.
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
  ): Promise<unknown>
  acquire(group: string, request: { owner: string; host: string; clientNow: number }): Promise<Grant>
  renew(
    group: string,
    request: { slot: number; owner: string; clientNow: number },
  ): Promise<Grant | 'lost' | 'destroyed'>
  /** `last`: the Unix ms of the last ID made, rounded up; −1 if none was made */
  release(group: string, request: { slot: number; owner: string; last: number }): Promise<void>
  destroy(group: string): Promise<void>
  /**
   * Adds `by` to a named counter and returns its value before that. A missing counter starts at `init`; without `init`
   * it is an error. With `by` 0 and `init`, the counter continues at `init` or above, whatever was lost.
   */
  advance(name: string, by: bigint, init?: bigint): Promise<bigint>
  /**
   * All slots that were ever held. If `fileStore` finds damaged files, it rejects with `ERR_FLAKE_FILE`; the error's
   * `slots` has the other slots, and its `faults` says what is wrong with each file.
   */
  list(group: string): Promise<SlotInfo[]>
  /** the names of all groups, if the store can tell */
  groups?(): Promise<string[]>
  close?(): Promise<void>
}

/** A slot, as `list` returns it. */
export interface SlotInfo {
  slot: number
  /** the holder's token; absent while nobody holds it */
  owner?: string
  host?: string
  lo: number
  hi: number
  /** file store: the holder's process number */
  pid?: number
  /** file store: when the holder got the slot */
  since?: Date
  /** file store: when the holder's last ID was made */
  last?: Date
}

/**
 * Slots and counters in a folder, for the processes of one machine. It needs no server. A slot's lock ends with the
 * process that holds it.
 * @param directory default: `flakeforge` in `$XDG_STATE_HOME`, else in `~/.local/state`
 * @throws {TypeError} `ERR_FLAKE_OPTION`: no directory is named and there is no default, because this is a container or
 * there is no home folder.
 */
export function fileStore(directory?: string | null): Store & { readonly folder: string }

/**
 * Slots and counters on Redis 6 or newer, or Valkey.
 * @param client a connected client of ioredis or of redis (node-redis): a single server, Sentinel, a cluster or a pool.
 * flakeforge never closes it.
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or it is in a MULTI.
 */
export function redisStore(client: unknown): Store

/**
 * Slots and counters on PostgreSQL, in tables that it creates on first use, or that you create with what
 * `npx flakeforge schema` prints.
 * @param pool a Pool or Client of pg, or the `sql` function of postgres. flakeforge never closes it.
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or it is in a transaction.
 */
export function postgresStore(pool: unknown): Store

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
