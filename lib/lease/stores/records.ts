// What a database does for a step: it reads records, and swaps one of them if it is unchanged. Each database's folder has a
// class that does this, and record-store.ts checks what a user's own database answers.

import type { RecordStore } from './record-store.ts'

/** What names a server, as its records show it. */
export type Identity = Awaited<ReturnType<RecordStore['read']>>['identity']

/**
 * The store a step reads and writes: a RecordStore, and what only our own stores can do.
 *
 * - `swap()` returns true only for a clean answer: the server says that this very write is where a promotion will find it.
 *   It returns false if nothing was written, and throws if it cannot tell, or with `refusedWriteError()` if the server refused.
 * - `look()` reads and changes nothing: where tables or the server's names are missing, its identity means nothing.
 * - `readExisting()` reads as `read()` does, but creates no tables: where they are missing, it shows no records.
 * - `place()` names the server, database, schema and prefix of the records, without a password.
 * - `clockStepMs`: how far the server's clock is rounded down.
 * - `checkDurable()` throws if the server may lose what it acknowledged.
 *
 * Once a call's `signal` has aborted, it sends nothing more, and fails.
 */
export type Records = Omit<RecordStore, 'read' | 'swap' | 'names'> & {
  read(...args: [...Parameters<RecordStore['read']>, signal?: AbortSignal]): ReturnType<RecordStore['read']>
  swap(...args: [...Parameters<RecordStore['swap']>, signal?: AbortSignal]): ReturnType<RecordStore['swap']>
  names(...args: [...Parameters<RecordStore['names']>, signal?: AbortSignal]): ReturnType<RecordStore['names']>
  readonly clockStepMs?: number
  look?: Records['read']
  readExisting?: Records['read']
  place?(): Promise<string>
  checkDurable?(): Promise<void>
}

/** How a step reads: changing nothing, creating no tables, or creating what is missing. */
export type ReadBy = 'look' | 'readExisting' | 'read'
