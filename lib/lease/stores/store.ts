// What a store is to users, whatever it keeps its records in.

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
   * above the last ID of this one, and on a server no slot is given out for 60 s + `skewMs` (durable: `ttlMs` + `skewMs`).
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
  /**
   * Where the records are: server, database, schema and prefix, without a password. It is found once and named in every
   * statement, so a session that moves elsewhere does not move the records. A `recordStore` cannot tell, so it has no such
   * function.
   */
  place?(): Promise<string>
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
