// The statements of the store, each of which answers with JSON as text. Only SWAP writes.

import server from './server.ts'

/** $1 group: the names of its records. */
export const NAMES = `
SELECT coalesce(json_agg(name ORDER BY name), '[]')::text FROM flakeforge_record WHERE group_name = $1::text
`

/** The names of all groups that have a record. */
export const GROUPS = `
SELECT coalesce(json_agg(DISTINCT group_name ORDER BY group_name), '[]')::text FROM flakeforge_record
`

/** What of this server's configuration may lose a write that was answered, without a sign of it. */
export const DURABLE = `
SELECT json_build_object(
  'fsync', current_setting('fsync'),
  'full_page_writes', current_setting('full_page_writes'),
  'isLogged', (SELECT relpersistence = 'p' FROM pg_class WHERE oid = to_regclass('flakeforge_record'))
)::text
`

const read = (values: string) => /* sql */ `
SELECT json_build_object(
  'now', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  'identity', json_build_object('history', coalesce(history, ''), 'process', process),
  'values', ${values},
  'position', position,
  'follows', follows,
  'isInTransaction', is_in_transaction
)::text
FROM (${server}) AS server
`

/**
 * $1 group, $2 names as a JSON array: the values of these records as one snapshot, null for one that is absent, with the
 * server's clock and identity. The time is never from before the snapshot, which one statement takes when it begins.
 *
 * Each name is looked up on its own. In a join, the planner might read the whole table, as its statistics are often old.
 * The JSON is sent as text: postgres.ts would make JSON of it a second time.
 */
export const READ = read(`(
    SELECT coalesce(json_agg((
      SELECT value FROM flakeforge_record WHERE group_name = $1::text AND name = wanted.name
    ) ORDER BY place), '[]')
    FROM json_array_elements_text($2::text::json) WITH ORDINALITY AS wanted (name, place)
  )`)

/** The same where the table is missing: $1 names as a JSON array. */
export const READ_NOTHING = read(
  `(SELECT coalesce(json_agg(NULL::text), '[]') FROM json_array_elements($1::text::json))`,
)

/**
 * $1 group, $2 name, $3 from (NULL: absent), $4 to, $5 history, $6 process: writes the record if it has exactly the
 * value `from` and the server is the one that was read from. It must never write without comparing both, nor answer before
 * the write is on disk.
 *
 * After a wait for another transaction, the update compares the row's new value (READ COMMITTED) or fails with 40001.
 * Nothing equals NULL, so the update does nothing where `from` is absent. No update adds a row, and no insert changes one.
 */
export const SWAP = `
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

/**
 * $1 the mark that begins a client's statements: whether another process of the server runs one of them. The server shows
 * a role its own statements. With track_activities off it shows none, so they may all be ours.
 */
export const STILL_RUNS = `
SELECT pg_catalog.json_build_object('isRunning', EXISTS (
  SELECT FROM pg_catalog.pg_stat_activity
  WHERE pid <> pg_catalog.pg_backend_pid() AND datname = pg_catalog.current_database()
    AND (state = 'disabled' AND usename = session_user OR state <> 'idle' AND pg_catalog.starts_with(query, $1::text))
))::text
`
