// A store as users see it, whatever holds its records.

import type { SlotInfo } from '../../base/errors/codes.ts'

export type { SlotInfo }

/** Only flakeforge makes stores: objects of your own are refused. */
declare const madeByFlakeforge: unique symbol

/**
 * Keeps slots and counters. `fileStore`, `redisStore`, `postgresStore`, `mysqlStore` and `etcdStore` make one, and
 * `recordStore` makes one from a database of your own. Pass it to `FlakeId.join`, `createGroup` and `SegmentId.open`, as
 * often as you like. It never ends a client that you gave it.
 */
export interface Store {
  readonly [madeByFlakeforge]: true
  /**
   * Destroys a group: every member is destroyed at its next renewal. A group of the same name that is created later continues
   * above the last ID of this one, and on a server no slot is granted for 60 s + `skewMs` (durable: `ttlMs` + `skewMs`).
   */
  destroy(group: string): Promise<void>
  /**
   * All slots of a group that were ever held. Listing changes nothing.
   * @throws {Error} `ERR_FLAKE_RECORD` (`group`, `record`), or `ERR_FLAKE_FILE` (`path`) from `fileStore`: some slots cannot
   * be read. The error's `slots` has the others, and its `faults` the fault of each bad one.
   */
  list(group: string): Promise<SlotInfo[]>
  /** The names of all groups. Redis cannot list them, so `redisStore` has no such function. */
  groups?(): Promise<string[]>
  /**
   * Where the records are: server, database, schema and prefix, without a password. It is determined once and named in every
   * statement, so a session that moves elsewhere does not move the records. A `recordStore` cannot determine it, so it has no
   * such function.
   */
  place?(): Promise<string>
  /** Ends what the store itself holds open; that of `recordStore` calls your `close`. Close its generators first. */
  close?(): Promise<void>
}
