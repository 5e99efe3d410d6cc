'use strict'

// Makes the group if there is none, or else compares its options.
// It must never change a group that is there, and never let anything but `create` skip the wait for lost grants.

const check = require('./check')

module.exports = /* sql */ `
WITH record AS MATERIALIZED (
  SELECT xmin AS version, * FROM flakeforge_group WHERE name = :group
),
turn AS MATERIALIZED (SELECT count(*) FROM record),
${check},
made AS (
  INSERT INTO flakeforge_group (name, fingerprint, slots, ttl_ms, skew_ms, incarnation, quiet_until, used)
  SELECT
    :group, :fingerprint, :slots::integer, :ttlMs::bigint, :skewMs::bigint, incarnation,
    CASE WHEN :create = 'true' THEN 0 ELSE quiet_until END, kept
  FROM checked WHERE state = 'absent'
  ON CONFLICT DO NOTHING
  RETURNING name
),
-- The tombstone's floor keeps the new group above all that the old one granted. But a tombstone of another
-- incarnation may be older than a group that was made after it and is lost.
remade AS (
  UPDATE flakeforge_group AS g
  SET
    destroyed = false, used = checked.kept, incarnation = checked.incarnation,
    fingerprint = :fingerprint, slots = :slots::integer, ttl_ms = :ttlMs::bigint, skew_ms = :skewMs::bigint,
    quiet_until = CASE
      WHEN g.incarnation = checked.incarnation THEN g.quiet_until
      ELSE greatest(g.quiet_until, checked.now + 60000 + :skewMs::bigint + 1)
    END
  FROM checked
  WHERE g.name = :group AND checked.state = 'destroyed' AND g.xmin = checked.version
  RETURNING g.name
)
SELECT json_build_object(
  'outcome', CASE
    WHEN state IN ('mismatch', 'again') THEN state
    WHEN state = 'known' THEN 'done'
    WHEN EXISTS (SELECT FROM made UNION ALL SELECT FROM remade UNION ALL SELECT FROM noted) THEN 'done'
    ELSE 'again'
  END,
  'made', EXISTS (SELECT FROM made UNION ALL SELECT FROM remade),
  'theirs', json_build_object('fingerprint', fingerprint, 'slots', slots, 'ttlMs', ttl_ms, 'skewMs', skew_ms)
)::text
FROM checked
`
