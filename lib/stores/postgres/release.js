'use strict'

// Gives the rest of a window back.
// It must never lower hi below lo - 1, and only ever for the owner.

const check = require('./check')

module.exports = /* sql */ `
WITH record AS MATERIALIZED (
  SELECT xmin AS version, * FROM flakeforge_group WHERE name = :group
),
held AS MATERIALIZED (
  SELECT slot FROM flakeforge_slot
  WHERE group_name = :group AND slot = :slot::integer AND owner = :owner FOR UPDATE
),
turn AS MATERIALIZED (SELECT count(*) FROM held),
${check},
released AS (
  UPDATE flakeforge_slot AS s
  SET
    owner = NULL,
    -- While grants may be lost, this row may be an old one whose end is now another's: then hi stays.
    hi = CASE WHEN now < quiet_until THEN s.hi ELSE least(s.hi, greatest(:last::bigint, s.lo - 1)) END
  FROM checked CROSS JOIN held
  WHERE s.group_name = :group AND s.slot = held.slot
    AND (state = 'known' OR state = 'changed' AND EXISTS (SELECT FROM noted))
)
SELECT json_build_object(
  'outcome', CASE
    WHEN state IN ('mismatch', 'again') THEN state
    WHEN state = 'changed' AND NOT EXISTS (SELECT FROM noted) THEN 'again'
    ELSE 'done'
  END,
  'theirs', json_build_object('fingerprint', fingerprint, 'slots', slots, 'ttlMs', ttl_ms, 'skewMs', skew_ms)
)::text
FROM checked
`
