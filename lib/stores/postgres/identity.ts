// The identity of a server, which must not change between a read and its swap. It is the same text for every client, whatever
// the settings of its session, and changes whenever answered writes may be missing.

import { tableIn } from './schema.ts'
import { DIFFERS, EQUALS, JOINED_TO, literal, MINUS, sql, TIMES } from './statement.ts'

/**
 * history: a new server has another identifier; a backup after point-in-time recovery, or a promoted standby, another
 * timeline; a restored dump, another database or table. The timeline is that of the write-ahead log in use:
 * pg_control_checkpoint() shows the old one for minutes after a promotion. A standby has none: there, the call fails. The
 * table is looked up when the statement runs, and is locked by then.
 * process: putting back an earlier data directory requires a start of the server.
 * position: how far the write-ahead log is on disk. A crash takes nothing of that, so it falls only if older data was put
 * back. (The insert position falls at every crash.) Without a table there is no history for it.
 * follows: whether the table gets its rows from another server, by a subscription. Then that one is the primary.
 * standbys: the standbys that a commit waits for; '' if it waits for no other server.
 */
export const serverOf = (schema: string) => sql`
SELECT
  "table"::pg_catalog.oid::pg_catalog.text AS "table",
  (SELECT system_identifier FROM pg_catalog.pg_control_system())
    ${JOINED_TO} '/' ${JOINED_TO} pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_flush_lsn()), 8)
    ${JOINED_TO} '/' ${JOINED_TO} (SELECT oid FROM pg_catalog.pg_database WHERE datname ${EQUALS} pg_catalog.current_database())
    ${JOINED_TO} '/' ${JOINED_TO} "table"::pg_catalog.oid AS history,
  CASE WHEN "table" IS NOT NULL THEN (pg_catalog.pg_current_wal_flush_lsn() ${MINUS} '0/0')::pg_catalog.text END AS position,
  (extract(epoch FROM pg_catalog.pg_postmaster_start_time()) ${TIMES} 1000000)::bigint::pg_catalog.text AS process,
  EXISTS (SELECT FROM pg_catalog.pg_subscription_rel WHERE srrelid ${EQUALS} "table") AS follows,
  pg_catalog.current_setting('synchronous_standby_names') AS standbys,
  -- A statement of its own has no transaction ID before it writes, and the usual isolation. Otherwise it is in a transaction.
  pg_catalog.txid_current_if_assigned() IS NOT NULL
    OR pg_catalog.current_setting('transaction_isolation')
      ${DIFFERS} pg_catalog.current_setting('default_transaction_isolation') AS is_in_transaction
FROM (SELECT pg_catalog.to_regclass(${literal(tableIn(schema).text)}) AS "table") AS place
`
