'use strict'

// Ends the group and leaves a tombstone, which tells a new group of this name where to start. It must never leave
// nothing behind: an absent group cannot say how far its slots were granted.

const server = require('./server')
const seen = require('./seen')

module.exports = /* sql */ `
WITH record AS MATERIALIZED (
  SELECT xmin AS version, * FROM flakeforge_group WHERE name = :group FOR UPDATE
),
turn AS MATERIALIZED (SELECT count(*) FROM record),
${server},
${seen},
found AS MATERIALIZED (
  SELECT
    server.now, server.incarnation,
    CASE
      WHEN record.name IS NULL THEN 'absent'
      WHEN record.destroyed THEN 'destroyed'
      -- Slots that were first used while this statement waited would stay unseen, and their ends would be forgotten.
      WHEN record.version IS DISTINCT FROM seen.version THEN 'again'
      ELSE 'alive'
    END AS state,
    -- Lost grants are in no row: the next group waits until they are over.
    CASE
      WHEN record.incarnation <> server.incarnation OR seen.used <> seen.kept
        THEN greatest(record.quiet_until, server.now + record.ttl_ms + record.skew_ms + 1)
      ELSE record.quiet_until
    END AS quiet_until
  FROM server CROSS JOIN seen LEFT JOIN record ON true
),
-- If there was a renewal at the same time, this is the later end: a row is read again when it is deleted.
gone AS (
  DELETE FROM flakeforge_slot WHERE group_name = :group AND (SELECT state FROM found) = 'alive' RETURNING hi
),
ended AS (
  UPDATE flakeforge_group AS g
  SET
    destroyed = true, used = 0, incarnation = found.incarnation, quiet_until = found.quiet_until,
    floor = greatest(g.floor, found.now, (SELECT max(hi) FROM gone))
  FROM found WHERE g.name = :group AND found.state = 'alive'
),
-- Nothing is known about the grants of an absent group, so we assume the longest ttl and the default skew.
made AS (
  INSERT INTO flakeforge_group
    (name, fingerprint, slots, ttl_ms, skew_ms, incarnation, quiet_until, destroyed, floor)
  SELECT :group, '', 0, 0, 0, incarnation, 0, true, now + 60000 + 5000 FROM found WHERE state = 'absent'
  ON CONFLICT DO NOTHING
  RETURNING name
)
SELECT json_build_object(
  'outcome', CASE
    WHEN state = 'again' OR state = 'absent' AND NOT EXISTS (SELECT FROM made) THEN 'again'
    ELSE 'done'
  END
)::text
FROM found
`
