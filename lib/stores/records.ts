// The interface of a database for steps: it reads records, and swaps one of them if it is unchanged. Each database's folder
// has a class for it, and record-store.ts checks the answers of a user's own database.

import type { DatabaseFunction } from './database-function.ts'

/**
 * The interface to your own database: it reads records, and swaps one of them. The rules about slots and windows stay in
 * flakeforge. https://github.com/flakeforge/flakeforge/blob/main/docs/store/your-own-database.md describes what each function
 * must guarantee, and `npx flakeforge-check-store ./my-store.mjs` checks it.
 *
 * A record is text of up to 2,200 bytes with any Unicode. It is part of a group (1 to 128 characters without braces and
 * control characters) and has a name: `group`, `counter`, `past`, or a word and digits, at most 26 characters, such as
 * `slot0000000042`. No record may ever expire.
 */
export interface RecordStore {
  /**
   * One snapshot of up to 1,100 records, from the server that takes writes. It shows every swap that was answered before the
   * read began.
   * @returns `values`: in the order of `names`, null for an absent record. `now`: that server's clock in Unix ms, read after
   * the snapshot. `position`, if the database has one: a number from 0 to 2^64 - 1 that never falls while nothing is lost.
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
   * @returns true only for a confirmed write: it is durable, and every server that could be promoted has it. False if the swap
   * did not take place, or may not have. An error means that the outcome is unknown. After either, flakeforge reads again, and
   * writes a new text until a write is confirmed.
   */
  swap(group: string, name: string, from: string | null, to: string, identity: StoreIdentity): Promise<boolean>
  /** the names of a group's records, in any order */
  names(group: string): Promise<readonly string[]>
  /** the names of all groups that have a record; leave it out if the database cannot list them */
  groups?(): Promise<readonly string[]>
  /** closes what the client has opened; `FlakeId.join` never calls it */
  close?(): Promise<void>
}

/**
 * Texts that change when acknowledged writes may be missing, the same for all clients. '' means that this part is unknown: a
 * loss of that kind then goes unnoticed. At least one of the two must not be empty.
 */
export interface StoreIdentity {
  /** the data: a different text after it was restored, dropped, or replaced by another server's */
  history: string
  /** the run of the server; '' if a restart loses nothing */
  process: string
}

/**
 * The store a step reads and writes: a RecordStore, with additions that only our own stores have.
 *
 * - `swap()` returns true only for a confirmed write: the server says that enough replicas have it. It returns
 *   false if nothing was written, and throws if the outcome is unknown, or with `refusedWriteError()` if the server
 *   refused.
 * - `look()` reads and changes nothing: if tables or the server's names are missing, its identity means nothing.
 * - `readExisting()` reads as `read()` does, but creates no tables: if they are missing, it returns no records.
 * - `place()` names the server, database, schema and prefix of the records, without a password.
 * - `server`: where the user's client leads, without a password; undefined if it does not show that.
 * - `clockStepMs`: how far the server's clock is rounded down.
 * - `failure`: why the client has had no connection since its last answer, for a step that ends before its call does.
 * - `functions()` finds the functions of `flakeforge schema --function` in the database of the records.
 * - `checkDurable()` throws if the server may lose acknowledged writes.
 * - `forStep()` returns the same records for a step with these limits.
 * - `storeStates()` tells how each store of a list takes part in a group.
 *
 * Once a call's `signal` has aborted, it sends nothing more, and fails.
 */
export type Records = Omit<RecordStore, 'read' | 'swap' | 'names'> & {
  read(...args: [...Parameters<RecordStore['read']>, signal?: AbortSignal]): ReturnType<RecordStore['read']>
  swap(...args: [...Parameters<RecordStore['swap']>, signal?: AbortSignal]): ReturnType<RecordStore['swap']>
  names(...args: [...Parameters<RecordStore['names']>, signal?: AbortSignal]): ReturnType<RecordStore['names']>
  readonly server?: string | undefined
  readonly clockStepMs?: number
  readonly failure?: unknown
  look?: Records['read']
  readExisting?: Records['read']
  place?(): Promise<string>
  functions?(signal?: AbortSignal): Promise<DatabaseFunction[]>
  checkDurable?(): Promise<void>
  forStep?(limits: StepLimits): Records
  storeStates?(group: string): Promise<StoreState[]>
}

/** How long a step may take, and how far apart clocks may be; undefined: as usual. */
export type StepLimits = { ms?: number | undefined; skewMs?: number | undefined }

/** A store of a list, for operators. `aheadMs`: how far its clock is ahead of this machine's; `error`: why it does not take part. */
export type StoreState = { store: string; state: string; aheadMs?: number | undefined; error?: unknown }

/** How a step reads: changing nothing, creating no tables, or creating what is missing. */
export type ReadBy = 'look' | 'readExisting' | 'read'
