// A store, whatever holds its records: `Store` as users see it, and `SlotStore` as leases and counters call it.

import type { Slot, SlotFolderConfig, StepConfig } from '../../src/native.d.ts'
import type { CounterInfo } from '../base/counter-info.ts'
import type { SlotInfo } from '../base/slot-info.ts'
import type { DatabaseFunction } from './database-function.ts'

/** Only flakeforge creates stores: your own objects are rejected. */
export declare const madeByFlakeforge: unique symbol

/**
 * Keeps slots and counters. `fileStore`, `redisStore`, `postgresStore`, `mysqlStore` and `etcdStore` return a store;
 * `recordStore` creates one for your own database. Pass it to `FlakeId.join`, `createGroup` and `SegmentId.open`, as often as
 * you like. A store never closes a client that you passed in.
 */
export interface Store {
  readonly [madeByFlakeforge]: true
  /**
   * Destroys a group: in a folder, every member is destroyed within 250 ms; on a server, at its next renewal, within 37 % of
   * `ttlMs`. A group of the same name that is created later continues above the last ID of this one, and on a server no slot
   * is granted for 60 s + `skewMs` (durable: `ttlMs` + `skewMs`).
   */
  destroy(group: string): Promise<void>
  /** A counter of `SegmentId`; undefined if there is none of this name. Looking changes nothing. */
  counter(name: string): Promise<CounterInfo | undefined>
  /** All `SegmentId` counters, by name. Redis cannot list counters, so a `redisStore` lacks this function. */
  counters?(): Promise<CounterInfo[]>
  /**
   * Destroys a counter of `SegmentId`, if there is one. Its members hand out the numbers that they hold, then get
   * `ERR_FLAKE_DESTROYED`. The next `SegmentId.open()` with this name starts anew, at 0 or at its `init`, and so repeats
   * numbers of the old counter.
   */
  destroyCounter(name: string): Promise<void>
  /**
   * All slots of a group that have ever been held. Listing changes nothing.
   * @throws {Error} `ERR_FLAKE_RECORD` (`group`, `record`), or `ERR_FLAKE_FILE` (`path`) from `fileStore`: some slots cannot
   * be read. The error's `slots` lists the readable ones, and its `faults` says what is wrong with each of the others.
   */
  list(group: string): Promise<SlotInfo[]>
  /** The names of all groups. Redis cannot list groups, so a `redisStore` lacks this function. */
  groups?(): Promise<string[]>
  /**
   * Where the records are: server, database, schema and prefix, without a password. The place is determined once and named in
   * every statement, so a session that moves elsewhere does not move the records. A `recordStore` cannot determine the place,
   * so it lacks this function.
   */
  place?(): Promise<string>
  /**
   * Closes the connections that the store itself has opened; for a `recordStore`, it calls your `close`. Close the store's
   * generators first.
   */
  close?(): Promise<void>
}

/** A slot and its window, with the store's time and the group's lineage. The slot of a folder has a cursor in its file. */
export type Grant = { slot: number; lo: number; hi: number; storeNow: number; lineage: string; cursor?: Slot }

/** A block's first number, or where a counter continues; and the counter's lineage. */
type Block = { number: bigint; lineage: string }

/** The settings that a group's members share. Only the folder's store reads `scale`. */
export type Config = StepConfig & SlotFolderConfig

/** The error of a call to a store. If waiting helps, `retryAt` is until when, by the store's clock. */
export type StoreError = Error & { code: string; retryAt?: Date; storeNow?: number; lineage?: string }

/** Once `signal` has aborted, the store sends nothing more for the call. */
type Abortable = { config: Config; signal?: AbortSignal }

/** For a slot. `joins`: whether a missing group is created. */
export type AcquireRequest = Abortable & { owner: string; host: string; joins: boolean }

/** For more time in a slot, whose window ends at `hi`. */
export type RenewRequest = Abortable & { slot: number; owner: string; hi: number }

/** For the end of a slot: `last` is the last tick it used. */
export type ReleaseRequest = Abortable & { slot: number; owner: string; last: number }

/** For `by` numbers of the counter `record`, which a group of this lineage keeps for past times. */
export type PastRequest = { record: string; by: bigint; lineage: string; durable: boolean }

/** What an operator can put back: a group, or a counter by its name. */
export type GroupOrCounter = { group: string } | { name: string }

/** The calls of leases and counters, which every store of ours has. */
export interface SlotStore extends Store {
  create: (group: string, config: Config, signal?: AbortSignal) => Promise<boolean>
  acquire: (group: string, request: AcquireRequest) => Promise<Grant>
  renew: (group: string, request: RenewRequest) => Promise<Grant | 'lost' | 'destroyed'>
  release: (group: string, request: ReleaseRequest) => Promise<void>
  restored?: (what: GroupOrCounter) => Promise<void>
  everything?: () => Promise<GroupOrCounter[] | undefined>
  has?: (group: string) => Promise<boolean>
  /** the last failure of the pending step on this group, while it is still trying */
  trouble?: (group: string) => unknown
  /** the error with where this store is, and what to check there */
  located?: <Kind extends Error>(error: Kind) => Kind
  advance: (name: string, by: bigint, init?: bigint, durable?: boolean) => Promise<Block>
  /**
   * Numbers for a past time, from the group's counter of this name. Fails unless the group on the store has this lineage.
   */
  past: (group: string, request: PastRequest) => Promise<{ number: bigint }>
  /**
   * Until when these slots, or their nodes, may have been used, in any group of this name; undefined if none ever was. Fails
   * unless the group on the store has this lineage.
   */
  usedUntil: (group: string, slots: number[], lineage: string) => Promise<number | undefined>
  functions?: (signal?: AbortSignal) => Promise<DatabaseFunction[]>
}
