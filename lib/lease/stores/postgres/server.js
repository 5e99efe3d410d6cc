'use strict'
// @ts-check

// Which server this is: what must be the same for a swap to happen. It must be the same text for every client, whatever
// the settings of its session, and it must change whenever writes that were answered may be missing.
//
// history: a new server has another identifier; a backup that is brought up to a point in time, or a standby that is
// promoted, another timeline; a dump that is restored, another database or table. The timeline is that of the
// write-ahead log in use: pg_control_checkpoint() shows the old one for minutes after a promotion. A standby has none:
// there, the call fails. The table is looked up when the statement runs, and is locked by then.
// process: a data directory that was put back as it was earlier needs a start of the server.

module.exports = /* sql */ `
SELECT
  (SELECT system_identifier FROM pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
    || '/' || to_regclass('flakeforge_record')::oid AS history,
  (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text AS process
`
