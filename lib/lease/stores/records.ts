// The interface of a database for steps: it reads records, and swaps one of them if it is unchanged. Each database's folder
// has a class for it, and record-store.ts checks the answers of a user's own database.

import type { DatabaseFunction } from './database-function.ts'
import type { RecordStore } from './record-store.ts'

/** A server's identity, as its records show it. */
export type Identity = Awaited<ReturnType<RecordStore['read']>>['identity']

/**
 * The store a step reads and writes: a RecordStore, with additions that only our own stores have.
 *
 * - `swap()` returns true only for a clean answer: the server confirms that enough replicas have this very write. It returns
 *   false if nothing was written, and throws if the outcome is unknown, or with `refusedWriteError()` if the server
 *   refused.
 * - `look()` reads and changes nothing: if tables or the server's names are missing, its identity means nothing.
 * - `readExisting()` reads as `read()` does, but creates no tables: if they are missing, it returns no records.
 * - `place()` names the server, database, schema and prefix of the records, without a password.
 * - `server`: where the user's client leads, without a password; undefined if it does not show that.
 * - `clockStepMs`: how far the server's clock is rounded down.
 * - `functions()` finds the functions of `flakeforge schema --function` in the database of the records.
 * - `checkDurable()` throws if the server may lose acknowledged writes.
 *
 * Once a call's `signal` has aborted, it sends nothing more, and fails.
 */
export type Records = Omit<RecordStore, 'read' | 'swap' | 'names'> & {
  read(...args: [...Parameters<RecordStore['read']>, signal?: AbortSignal]): ReturnType<RecordStore['read']>
  swap(...args: [...Parameters<RecordStore['swap']>, signal?: AbortSignal]): ReturnType<RecordStore['swap']>
  names(...args: [...Parameters<RecordStore['names']>, signal?: AbortSignal]): ReturnType<RecordStore['names']>
  readonly server?: string | undefined
  readonly clockStepMs?: number
  look?: Records['read']
  readExisting?: Records['read']
  place?(): Promise<string>
  functions?(signal?: AbortSignal): Promise<DatabaseFunction[]>
  checkDurable?(): Promise<void>
}

/** How a step reads: changing nothing, creating no tables, or creating what is missing. */
export type ReadBy = 'look' | 'readExisting' | 'read'
