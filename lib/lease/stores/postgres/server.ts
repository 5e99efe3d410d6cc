// Which server this is: what must be the same for a swap to happen. It must be the same text for every client, whatever
// the settings of its session, and it must change whenever writes that were answered may be missing.
//
// history: a new server has another identifier; a backup that is brought up to a point in time, or a standby that is
// promoted, another timeline; a dump that is restored, another database or table. The timeline is that of the
// write-ahead log in use: pg_control_checkpoint() shows the old one for minutes after a promotion. A standby has none:
// there, the call fails. The table is looked up when the statement runs, and is locked by then.
// process: a data directory that was put back as it was earlier needs a start of the server.
// position: how far the write-ahead log is on disk. No crash takes anything of that, so it falls only where older data was
// put back. (What was only inserted falls at every crash.) Without a table there is no history that it could belong to.
// follows: whether the table gets its rows from another server, by a subscription. Then that one is the primary.

export default `
SELECT
  (SELECT system_identifier FROM pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
    || '/' || to_regclass('flakeforge_record')::oid AS history,
  CASE WHEN to_regclass('flakeforge_record') IS NOT NULL THEN (pg_current_wal_flush_lsn() - '0/0')::text END AS position,
  (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text AS process,
  EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = to_regclass('flakeforge_record')) AS follows,
  -- A statement of its own has no transaction ID before it writes, and the usual isolation. Otherwise it is in a transaction.
  txid_current_if_assigned() IS NOT NULL
    OR current_setting('transaction_isolation') <> current_setting('default_transaction_isolation') AS is_in_transaction
`
