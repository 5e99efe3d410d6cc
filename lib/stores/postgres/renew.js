'use strict'

// Moves the end of its owner's window.
// It must never lower hi, and never raise it during the quiet period: another's grant may have been lost.
//
// The group's row is not locked, so members do not wait for each other. The lock on the slot's row decides between this
// renewal and another step that takes, releases or destroys the slot at the same time.

const enter = require('./enter')

module.exports = /* sql */ `
WITH record AS MATERIALIZED (
  SELECT xmin AS version, * FROM flakeforge_group WHERE name = :group
),
held AS MATERIALIZED (
  SELECT slot, lo, hi FROM flakeforge_slot
  WHERE group_name = :group AND slot = :slot::integer AND owner = :owner FOR UPDATE
),
turn AS MATERIALIZED (SELECT count(*) FROM held),
${enter},
renewed AS (
  UPDATE flakeforge_slot AS s
  SET
    -- A window that has ended cannot be extended, because a later grant may be lost: its owner gets a new one.
    lo = CASE WHEN s.hi < ready.now THEN ready.now ELSE s.lo END,
    hi = greatest(s.hi, ready.now + ready.ttl_ms)
  FROM ready CROSS JOIN held
  WHERE s.group_name = :group AND s.slot = held.slot
  RETURNING s.slot, s.lo, s.hi
)
SELECT json_build_object(
  'outcome', CASE
    WHEN outcome <> 'ready' THEN outcome
    WHEN renewed.slot IS NOT NULL THEN 'granted'
    -- The slot was taken while this statement waited: run again, to tell a destroyed group from a new owner.
    WHEN EXISTS (SELECT FROM flakeforge_slot WHERE group_name = :group AND slot = :slot::integer AND owner = :owner)
      THEN 'again'
    ELSE 'lost'
  END,
  'slot', renewed.slot, 'lo', renewed.lo, 'hi', renewed.hi, 'storeNow', now,
  'quietUntil', quiet_until, 'skew', skew,
  'theirs', json_build_object('fingerprint', fingerprint, 'slots', slots, 'ttlMs', ttl_ms, 'skewMs', skew_ms)
)::text
FROM entered LEFT JOIN renewed ON true
`
