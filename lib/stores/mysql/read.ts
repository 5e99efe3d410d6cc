// The statements that read. They change nothing, and read the clock after the records.

import { COMMENT_START } from '../database-function.ts'
import { historyOf, OWN_GROUP, processOf, STATE } from './identity.ts'
import type { Tables } from './place.ts'
import { bytes, HINTS, SETTINGS } from './statement.ts'

/** The server and the records of a group that have these names, as one snapshot. */
export const readRecords = (tables: Tables, group: string, names: readonly string[]) => `${SETTINGS}
SELECT ${HINTS} ${bytes('server')}, ${historyOf(tables)}, ${processOf(tables)}, ${STATE}
UNION ALL
SELECT ${bytes('record')}, name, value, NULL FROM ${tables.record}
WHERE group_name = ${bytes(group)} AND name IN (${names.map(bytes).join(', ')})`

/**
 * The server's clock as Unix ms, for a statement after the one that reads; on MySQL also as STATE has it. NOW() and UTC_TIMESTAMP() return when a statement
 * began, perhaps long before it had the locks that it waited for; so does SYSDATE() on some servers.
 */
export const CLOCK = `${SETTINGS}
SELECT ${HINTS} TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', SYSDATE(6)) DIV 1000 /*!80000 , SYSDATE(6) */`

export const readNames = ({ record }: Tables, group: string) => `${SETTINGS}
SELECT ${HINTS} name FROM ${record} WHERE group_name = ${bytes(group)}`

export const readGroups = ({ record }: Tables) => `${SETTINGS}
SELECT ${HINTS} DISTINCT group_name FROM ${record} WHERE group_name <> ${OWN_GROUP}`

/** The functions of `flakeforge schema --function` in the tables' database that the user may call or see. */
export const readFunctions = ({ database }: Tables) => `${SETTINGS}
SELECT ${HINTS} CAST(CONCAT(ROUTINE_SCHEMA, '.', ROUTINE_NAME) AS BINARY), CAST(ROUTINE_COMMENT AS BINARY)
FROM information_schema.ROUTINES
WHERE ROUTINE_SCHEMA = ${database} AND ROUTINE_COMMENT LIKE CONCAT(CONVERT(${bytes(COMMENT_START)} USING utf8mb4), '%')`
