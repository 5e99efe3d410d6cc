// The MySQL and MariaDB store, over the user's own client or over ours for a URL. The core has the rules, database.ts carries
// them out, and the files in mysql/ only read and swap records.

import { checkKeys } from '../base/check.ts'
import { DatabaseStore } from './database.ts'
import { readAddress } from './mysql/address.ts'
import { mysqlClient } from './mysql/client.ts'
import { readDatabase } from './mysql/place.ts'
import { MysqlRecords } from './mysql/records.ts'
import { openClient } from './mysql/url.ts'
import type { Store } from './store.ts'

/** The options of a store on MySQL or MariaDB. */
export interface MysqlOptions {
  /**
   * the database that contains the tables (default: the client's current database at the first call). All members of a group
   * need the same one
   */
  database?: string
}

/**
 * Slots and counters on MariaDB 10.5 or newer, or MySQL 8.0.17 or newer, in tables that it creates on first use, or that you
 * create with the output of `npx flakeforge schema mysql`.
 * @param client a pool or connection of mysql2 or of mariadb, outside of a transaction and with autocommit on
 * @throws {TypeError | RangeError} `ERR_FLAKE_OPTION`: the argument is not such a client, or the client is too old; or an
 * option is invalid.
 */
export function mysqlStore(client: unknown, options?: MysqlOptions): Store {
  const given = { ...checkKeys('options', options, ['database']) } // its own properties
  const records = new MysqlRecords(mysqlClient(client), readDatabase(given.database))
  return new DatabaseStore(records)
}

/** A store with our own client, which `close()` ends. */
export function openMysql(url: string) {
  const { database } = readAddress(url)
  return new DatabaseStore(new MysqlRecords(openClient(url), database), url)
}
