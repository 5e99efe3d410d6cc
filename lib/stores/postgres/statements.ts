// The statements of the store, each of which answers with JSON as text. Only the swap writes.

import { BUDGET } from '../time-budget.ts'
import { MARK_START } from './function.ts'
import { serverOf } from './identity.ts'
import { lookFor, type Place, tableIn } from './schema.ts'
import { DIFFERS, EQUALS, JOINED_TO, literal, type Sql, sql, TIMES } from './statement.ts'

/**
 * Whether there are physical standbys, which could be promoted. Backups and archives stream the log too, and a role may lack
 * the right to read all columns. A separate statement, because planning it takes longer than a whole read.
 */
export const REPLICAS = sql`
SELECT pg_catalog.json_build_object('areThere', EXISTS (
  SELECT FROM pg_catalog.pg_stat_replication AS sender
  WHERE application_name ${DIFFERS} ALL (ARRAY['pg_basebackup', 'pg_receivewal', 'pg_recvlogical']) AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_replication_slots WHERE active_pid ${EQUALS} sender.pid AND slot_type ${EQUALS} 'logical'
  )
))::pg_catalog.text
`

/**
 * $1 marks as a JSON array, each of which begins a client's statements: whether another process of the server runs one of
 * them, in any database. The server shows a role its own statements. With track_activities off it shows none, so they may all
 * be ours.
 */
export const STILL_RUNS = sql`
SELECT pg_catalog.json_build_object('isRunning', EXISTS (
  SELECT FROM pg_catalog.pg_stat_activity
  WHERE pid ${DIFFERS} pg_catalog.pg_backend_pid() AND (
    state ${EQUALS} 'disabled' AND usename ${EQUALS} session_user AND datname ${EQUALS} pg_catalog.current_database()
    OR state ${DIFFERS} 'idle' AND EXISTS (
      SELECT FROM pg_catalog.json_array_elements_text($1::pg_catalog.text::pg_catalog.json) AS mark WHERE pg_catalog.starts_with(query, mark)
    )
  )
))::pg_catalog.text
`

/** The standbys that commits wait for now. */
export const STANDBYS = sql`
SELECT pg_catalog.json_build_object('now', pg_catalog.current_setting('synchronous_standby_names'))::pg_catalog.text
`

/** The server and its database. A socket of the machine has no address. */
export const PLACE = sql`
SELECT pg_catalog.json_build_object(
  'server', coalesce(pg_catalog.host(pg_catalog.inet_server_addr()), 'this machine') ${JOINED_TO} ':' ${JOINED_TO}
    coalesce(pg_catalog.inet_server_port()::pg_catalog.text, pg_catalog.current_setting('port')),
  'database', pg_catalog.current_database()
)::pg_catalog.text
`

/** The functions of `flakeforge schema --function` in this database, in any schema: names, and the marks in their bodies. */
export const FUNCTIONS = sql`
SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
  nspname ${JOINED_TO} '.' ${JOINED_TO} proname, pg_catalog.substr(pg_catalog.split_part(prosrc, ${literal('\n')}, 2), 4)
) ORDER BY nspname, proname), '[]')::pg_catalog.text
FROM pg_catalog.pg_proc JOIN pg_catalog.pg_namespace ON pg_namespace.oid ${EQUALS} pronamespace
WHERE pg_catalog.starts_with(prosrc, ${literal(MARK_START)})
`

/** If another transaction holds a lock for longer, the swap ends. The wait for the table itself has no limit. */
const LOCK_TIMEOUT = `${BUDGET.LOCK_MS}ms`

/** Two statements of one transaction return the same time; two separate ones never do. */
export const BEGAN = sql`SELECT pg_catalog.now()::pg_catalog.text`

/** The statements on the table at a place. */
export function statementsFor(place: Place) {
  const { schema } = place
  const table = tableIn(schema)
  const server = serverOf(schema)

  const read = (values: Sql, elsewhere = sql`NULL`) => sql`
SELECT pg_catalog.json_build_object(
  'now', pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) ${TIMES} 1000)::bigint,
  'identity', pg_catalog.json_build_object('history', coalesce(history, ''), 'process', process),
  'values', ${values},
  'elsewhere', ${elsewhere},
  'table', "table",
  'position', position,
  'follows', follows,
  'standbys', standbys,
  'isFollowed', EXISTS (SELECT FROM pg_catalog.pg_stat_get_wal_senders()),
  'isInTransaction', is_in_transaction
)::pg_catalog.text
FROM (${server}) AS server
`

  return {
    /** Whether there is a table, and what is wrong with it. */
    lookFor: lookFor(place),

    /** $1 group: the names of its records. */
    names: sql`
SELECT coalesce(pg_catalog.json_agg(name ORDER BY name), '[]')::pg_catalog.text FROM ${table} WHERE group_name ${EQUALS} $1::pg_catalog.text
`,

    /** The names of all groups that have a record. */
    groups: sql`
SELECT coalesce(pg_catalog.json_agg(DISTINCT group_name ORDER BY group_name), '[]')::pg_catalog.text FROM ${table}
`,

    /** The settings of this server that may lose an answered write without a sign of it. */
    durable: sql`
SELECT pg_catalog.json_build_object(
  'fsync', pg_catalog.current_setting('fsync'),
  'full_page_writes', pg_catalog.current_setting('full_page_writes'),
  'isLogged', (SELECT relpersistence ${EQUALS} 'p' FROM pg_catalog.pg_class WHERE oid ${EQUALS} pg_catalog.to_regclass(${literal(table.text)}))
)::pg_catalog.text
`,

    /**
     * $1 group, $2 names as a JSON array: the values of these records as one snapshot, null for an absent one, with the
     * server's clock and identity. The time is never from before the snapshot, which one statement takes when it begins.
     *
     * Each name is looked up separately. In a join, the planner might read the whole table, as its statistics are often old.
     * The JSON is sent as text: postgres.js would encode it a second time.
     */
    read: read(sql`(
    SELECT coalesce(pg_catalog.json_agg((
      SELECT value FROM ${table} WHERE group_name ${EQUALS} $1::pg_catalog.text AND name ${EQUALS} wanted.name
    ) ORDER BY place), '[]')
    FROM pg_catalog.json_array_elements_text($2::pg_catalog.text::pg_catalog.json) WITH ORDINALITY AS wanted (name, place)
  )`),

    /**
     * The same if the table is missing: $1 names as a JSON array. `elsewhere` is the schema of our table that the session's
     * search_path leads to.
     */
    readNothing: read(
      sql`(SELECT coalesce(pg_catalog.json_agg(NULL::pg_catalog.text), '[]') FROM pg_catalog.json_array_elements($1::pg_catalog.text::pg_catalog.json))`,
      sql`(
    SELECT nspname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_namespace.oid ${EQUALS} relnamespace
    WHERE pg_class.oid ${EQUALS} pg_catalog.to_regclass('flakeforge_record')
  )`,
    ),

    /**
     * $1 group, $2 name, $3 from (NULL: absent), $4 to, $5 history, $6 process: writes the record if it has exactly the value
     * `from` and the server is the one that was read from. It answers once the write is on disk, here and on the standbys
     * that the server waits for.
     *
     * After a wait for another transaction, the update compares the row's new value (READ COMMITTED) or fails with 40001.
     * Nothing equals NULL, so the update has no effect if `from` is absent. No update adds a row, and no insert changes one.
     *
     * The settings apply to this statement only, and hold until its commit has ended. synchronous_commit: neither a crash nor
     * a promotion may undo the commit, whatever the database's default. client_min_messages: a commit that was not replicated
     * after all causes a warning.
     */
    swap: sql`
WITH server AS MATERIALIZED (
  SELECT
    history ${EQUALS} $5::pg_catalog.text AND process ${EQUALS} $6::pg_catalog.text AND NOT follows AND NOT is_in_transaction AS is_same,
    standbys,
    pg_catalog.set_config('synchronous_commit', CASE
      WHEN pg_catalog.current_setting('synchronous_commit') ${EQUALS} 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true) AS synchronous_commit,
    pg_catalog.set_config('client_min_messages', 'warning', true) AS client_min_messages,
    pg_catalog.set_config('lock_timeout', ${literal(LOCK_TIMEOUT)}, true) AS lock_timeout
  FROM (${server}) AS present
),
updated AS (
  UPDATE ${table} SET value = $4::pg_catalog.text
  WHERE group_name ${EQUALS} $1::pg_catalog.text AND name ${EQUALS} $2::pg_catalog.text AND value ${EQUALS} $3::pg_catalog.text AND (SELECT is_same FROM server)
  RETURNING name
),
inserted AS (
  INSERT INTO ${table} (group_name, name, value)
  SELECT $1::pg_catalog.text, $2::pg_catalog.text, $4::pg_catalog.text FROM server WHERE is_same AND $3::pg_catalog.text IS NULL
  ON CONFLICT DO NOTHING
  RETURNING name
)
SELECT pg_catalog.json_build_object(
  'isWritten', EXISTS (SELECT FROM updated UNION ALL SELECT FROM inserted),
  'standbys', (SELECT standbys FROM server)
)::pg_catalog.text
`,
  }
}
