// The MySQL and MariaDB store, over the user's own client or over our own for a URL. The rules are in
// the core, database.ts carries them out, and the files under mysql/ only read and swap records.

import { DatabaseStore } from './database.ts'
import { mysqlClient } from './mysql/client.ts'
import { MysqlRecords } from './mysql/records.ts'
import { openClient } from './mysql/url.ts'
import type { Store } from './store.ts'

/**
 * Slots and counters on MariaDB 10.5 or newer, or MySQL 8.0.17 or newer (which was not tested), in tables that it
 * creates on first use, or that you create with what `npx flakeforge schema mysql` prints.
 * @param client a pool or connection of mysql2 or of mariadb. Outside of a transaction, and with autocommit on
 * @throws {TypeError} `ERR_FLAKE_OPTION`: it is none of these, or an old version.
 */
export const mysqlStore = (client: unknown): Store =>
  new DatabaseStore(new MysqlRecords(mysqlClient(client))) as unknown as Store

/** A store with our own client, which `close()` ends. */
export const openMysql = (url: string) => new DatabaseStore(new MysqlRecords(openClient(url)), url)
