// $1 group, $2 name, $3 from (NULL: absent), $4 to, $5 history, $6 process: writes the record if it has exactly the
// value `from` and the server is the one that was read from.
// It must never write without comparing both, nor answer before the write is on disk.
//
// After a wait for another transaction, the update compares the row's new value (READ COMMITTED) or fails with 40001.
// Nothing equals NULL, so the update does nothing where `from` is absent. No update adds a row, and no insert changes one.

import server from './server.ts'

export default `
WITH server AS MATERIALIZED (
  SELECT
    history = $5::text AND process = $6::text AND NOT follows AND NOT is_in_transaction AS is_same,
    -- A crash must not undo the commit, whatever the database's default. The setting is read at the commit, so it
    -- applies to this statement, and only to this one.
    set_config('synchronous_commit',
      replace(current_setting('synchronous_commit'), 'off', 'on'), true) AS synchronous_commit
  FROM (${server}) AS present
),
updated AS (
  UPDATE flakeforge_record SET value = $4::text
  WHERE group_name = $1::text AND name = $2::text AND value = $3::text AND (SELECT is_same FROM server)
  RETURNING name
),
inserted AS (
  INSERT INTO flakeforge_record (group_name, name, value)
  SELECT $1::text, $2::text, $4::text FROM server WHERE is_same AND $3::text IS NULL
  ON CONFLICT DO NOTHING
  RETURNING name
)
SELECT json_build_object('isWritten', EXISTS (SELECT FROM updated UNION ALL SELECT FROM inserted))::text
`
