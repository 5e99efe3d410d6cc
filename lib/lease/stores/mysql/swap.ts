// The statements that write. Each is one autocommit statement that compares the record's bytes and the server's identity
// and then writes, or changes nothing. They must never write inside the user's transaction.

import type { StoreIdentity } from '../record-store.ts'
import { UNDUMPED } from './schema.ts'
import { HISTORY, historyWith, isOwnRow, NAME, OWN_GROUP, OWN_NAME, PROCESS, TAKES_WRITES } from './server.ts'
import { bytes, HINTS, SETTINGS } from './text.ts'

/** @param present SQL for the history of this server */
const isServer = (
  { history, process }: StoreIdentity,
  present: string,
) => `${present} = ${bytes(history)} AND ${PROCESS} = ${bytes(process)}
  AND ${TAKES_WRITES} AND @@autocommit = 1 /*M!100100 AND @@in_transaction = 0 */`

/** A record that is there already is an error (1062), which changes nothing. */
export const insert = (group: string, name: string, to: string, identity: StoreIdentity) => `${SETTINGS}
INSERT ${HINTS} INTO flakeforge_record (group_name, name, value)
SELECT ${bytes(group)}, ${bytes(name)}, ${bytes(to)} FROM DUAL
WHERE ${isServer(identity, HISTORY)}`

/**
 * A client may count rows that were found or rows that were changed: they are the same, because the text changes. The
 * table's own row is joined: MySQL updates no table that a subquery reads.
 */
export const update = (group: string, name: string, from: string, to: string, identity: StoreIdentity) => `${SETTINGS}
UPDATE ${HINTS} flakeforge_record AS own, flakeforge_record AS record SET record.value = ${bytes(to)}
WHERE record.group_name = ${bytes(group)} AND record.name = ${bytes(name)} AND record.value = ${bytes(from)}
  AND ${bytes(from)} <> ${bytes(to)}
  AND ${isOwnRow('own')} AND ${isServer(identity, historyWith('own.value'))}`

/** Gives this run of the server its random text, unless it has one. */
export const nameProcess = (nonce: string) => `${SETTINGS}
INSERT ${HINTS} IGNORE INTO flakeforge_process (server, nonce) VALUES (CAST(${NAME} AS BINARY), ${bytes(nonce)})`

/** Gives the table its own row; and another text, if a dump brought the row that it has. */
export const nameTable = (text: string) => `${SETTINGS}
INSERT ${HINTS} INTO flakeforge_record (group_name, name, value, undumped)
VALUES (${OWN_GROUP}, ${OWN_NAME}, ${bytes(text)}, ${UNDUMPED})
ON DUPLICATE KEY UPDATE value = IF(undumped <=> ${UNDUMPED}, value, ${bytes(text)}), undumped = ${UNDUMPED}`
