// The store of a PostgreSQL server: the steps of ./database.ts over the records of ./postgres/records.ts. It has no rules.

import { checkKeys } from '../base/check.ts'
import { DatabaseStore } from './database.ts'
import { readAddress } from './postgres/address.ts'
import { postgresClient } from './postgres/client.ts'
import { PostgresRecords } from './postgres/records.ts'
import { readOwner, readSchema } from './postgres/schema.ts'
import { openClient } from './postgres/url.ts'
import type { Store } from './store.ts'

/** The options of a store on PostgreSQL. */
export interface PostgresOptions {
  /**
   * the schema of the table (default 'public', whatever the role and its search_path). All members of a group need the same
   * one
   */
  schema?: string
  /**
   * another role that is trusted to own the table and its schema, in addition to a superuser, the owner of the database and
   * the client's own role
   */
  owner?: string
}

/**
 * Slots and counters on PostgreSQL 12 or newer, in a table that it creates on first use, or that you create with the output
 * of `npx flakeforge schema`. A Pool gets a listener for `'error'`, because without one a restart of the server would end the
 * process.
 * @param pool a Pool or Client of pg, or the `sql` function of postgres
 * @throws {TypeError | RangeError} `ERR_FLAKE_OPTION`: the argument is not such a client, or the client is in a transaction;
 * or an option is invalid.
 */
export function postgresStore(pool: unknown, options?: PostgresOptions): Store {
  const given = { ...checkKeys('options', options, ['schema', 'owner']) } // its own properties
  const client = postgresClient(pool)
  return new DatabaseStore(
    new PostgresRecords(client, { schema: readSchema(given.schema), owner: readOwner(given.owner) }),
  )
}

/** A store with our own client, which `close()` ends. */
export function openPostgres(url: string) {
  const { schema, owner } = readAddress(url)
  return new DatabaseStore(new PostgresRecords(openClient(url), { schema, owner }), url)
}
