// The statements that write. Each is one autocommit statement that compares the record's bytes and the server's identity and
// then writes, or changes nothing. None writes inside the user's transaction.

import type { StoreIdentity } from '../records.ts'
import { historyOf, historyWith, isOwnRow, NAME, OWN_GROUP, OWN_NAME, processOf, TAKES_WRITES } from './identity.ts'
import type { Tables } from './place.ts'
import { UNDUMPED } from './schema.ts'
import { bytes, HINTS, SETTINGS } from './statement.ts'

/** The record to write, and the server's identity. */
export interface Swap {
  group: string
  name: string
  to: string
  identity: StoreIdentity
}

/** @param present SQL for the history of this server */
const isServer = (
  tables: Tables,
  { history, process }: StoreIdentity,
  present: string,
) => `${present} = ${bytes(history)} AND ${processOf(tables)} = ${bytes(process)}
  AND ${TAKES_WRITES} AND @@autocommit = 1 /*M!100100 AND @@in_transaction = 0 */`

/** An existing record is an error (1062), which changes nothing. */
export const insert = (tables: Tables, { group, name, to, identity }: Swap) => `${SETTINGS}
INSERT ${HINTS} INTO ${tables.record} (group_name, name, value)
SELECT ${bytes(group)}, ${bytes(name)}, ${bytes(to)} FROM DUAL
WHERE ${isServer(tables, identity, historyOf(tables))}`

/**
 * A client may count rows that were found or rows that were changed: the numbers are equal, because the text changes. The
 * table's own row is joined: MySQL updates no table that a subquery reads.
 */
export const update = (tables: Tables, { group, name, from, to, identity }: Swap & { from: string }) => `${SETTINGS}
UPDATE ${HINTS} ${tables.record} AS own, ${tables.record} AS record SET record.value = ${bytes(to)}
WHERE record.group_name = ${bytes(group)} AND record.name = ${bytes(name)} AND record.value = ${bytes(from)}
  AND ${bytes(from)} <> ${bytes(to)}
  AND ${isOwnRow('own')} AND ${isServer(tables, identity, historyWith(tables, 'own.value'))}`

/** Gives this run of the server its random text, unless it has one. */
export const nameProcess = (tables: Tables, nonce: string) => `${SETTINGS}
INSERT ${HINTS} IGNORE INTO ${tables.process} (server, nonce) VALUES (CAST(${NAME} AS BINARY), ${bytes(nonce)})`

/** Gives the table its own row; or a new text, if a dump brought the row that it has. */
export const nameTable = (tables: Tables, text: string) => `${SETTINGS}
INSERT ${HINTS} INTO ${tables.record} (group_name, name, value, undumped)
VALUES (${OWN_GROUP}, ${OWN_NAME}, ${bytes(text)}, ${UNDUMPED})
ON DUPLICATE KEY UPDATE value = IF(undumped <=> ${UNDUMPED}, value, ${bytes(text)}), undumped = ${UNDUMPED}`
