// The store of a PostgreSQL server: the steps of ./database.ts over the records of ./postgres/records.ts. Nothing is
// decided here.

import { DatabaseStore } from './database.ts'
import { postgresClient } from './postgres/client.ts'
import { PostgresRecords } from './postgres/records.ts'
import { openClient } from './postgres/url.ts'
import type { Store } from './store.ts'

/**
 * Slots and counters on PostgreSQL 12 or newer, in a table that it creates on first use, or that you create with what
 * `npx flakeforge schema` prints.
 * @param pool a Pool or Client of pg, or the `sql` function of postgres
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or it is in a transaction.
 */
export const postgresStore = (pool: unknown): Store =>
  new DatabaseStore(new PostgresRecords(postgresClient(pool))) as unknown as Store

/** A store with our own client, which `close()` ends. */
export const openPostgres = (url: string) => new DatabaseStore(new PostgresRecords(openClient(url)), url)
