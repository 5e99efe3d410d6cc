'use strict'

// The server's clock, and which server this is. Needs `turn`: one row, which appears when the step holds its locks. It
// must never give a time from before it held a lock: a window that ended during the wait would seem to be still
// running.

module.exports = /* sql */ `
server AS MATERIALIZED (
  SELECT
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
    -- A new server has another identifier; a backup that is brought up to a point in time, or a standby that is
    -- promoted, another timeline. The timeline is that of the write-ahead log in use: pg_control_checkpoint() shows the
    -- old one for minutes after a promotion. Nothing shows that a disk was put back as it was earlier.
    (SELECT system_identifier FROM pg_control_system())::text
      || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) AS incarnation,
    -- We need commits that a crash cannot undo, whatever the database's default. The setting is read at commit, so it
    -- applies to this statement, and only to this one.
    set_config('synchronous_commit',
      replace(current_setting('synchronous_commit'), 'off', 'on'), true) AS synchronous_commit
  FROM turn
)
`
