// $1 group, $2 names as a JSON array: the values of these records as one snapshot, null for one that is absent, with
// the server's clock and identity.
// It must never give a time from before the snapshot, which one statement takes when it begins.
//
// Each name is looked up on its own. In a join, the planner might read the whole table, as its statistics are often old.
// The JSON is sent as text: postgres.ts would make JSON of it a second time.

import server from './server.ts'

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
