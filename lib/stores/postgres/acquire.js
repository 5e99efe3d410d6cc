'use strict'

// Grants a slot and a window of it.
// It must never grant a slot whose end is not in the past, or a window that touches an earlier one of the slot.
//
// The lock on the group's row admits one acquire at a time. A slot that is being renewed or released right now is
// locked, so it is skipped. A slot that was renewed since the statement began is read again when it is locked, and then
// does not match.

const enter = require('./enter')

module.exports = /* sql */ `
WITH record AS MATERIALIZED (
  SELECT xmin AS version, * FROM flakeforge_group WHERE name = :group FOR UPDATE
),
turn AS MATERIALIZED (SELECT count(*) FROM record),
${enter},
-- If the same owner asks again, its answer was lost. It gets the same grant, or nobody would use that slot.
own AS MATERIALIZED (
  SELECT slot, lo, hi FROM flakeforge_slot
  WHERE group_name = :group AND owner = :owner AND hi >= (SELECT now FROM ready)
  ORDER BY slot LIMIT 1 FOR UPDATE
),
-- First the slot that this host held last.
homely AS MATERIALIZED (
  SELECT slot FROM flakeforge_slot
  WHERE group_name = :group AND host = :host AND hi < (SELECT now FROM ready)
    AND slot < (SELECT slots FROM ready) AND NOT EXISTS (SELECT FROM own)
  ORDER BY hi, slot LIMIT 1 FOR UPDATE SKIP LOCKED
),
-- Then one that nobody ever held: its end is the end of the destroyed group before this one.
unused AS MATERIALIZED (
  SELECT used AS slot FROM ready
  WHERE used < slots AND floor < now AND NOT EXISTS (SELECT FROM own) AND NOT EXISTS (SELECT FROM homely)
),
-- Then the one that has been free for longest.
oldest AS MATERIALIZED (
  SELECT slot FROM flakeforge_slot
  WHERE group_name = :group AND hi < (SELECT now FROM ready) AND slot < (SELECT slots FROM ready)
    AND NOT EXISTS (SELECT FROM own) AND NOT EXISTS (SELECT FROM homely) AND NOT EXISTS (SELECT FROM unused)
  ORDER BY hi, slot LIMIT 1 FOR UPDATE SKIP LOCKED
),
taken AS (
  UPDATE flakeforge_slot AS s
  SET owner = :owner, host = :host, lo = greatest(s.hi + 1, ready.now), hi = ready.now + ready.ttl_ms
  FROM (SELECT slot FROM homely UNION ALL SELECT slot FROM oldest) AS free CROSS JOIN ready
  WHERE s.group_name = :group AND s.slot = free.slot
  RETURNING s.slot, s.lo, s.hi
),
added AS (
  INSERT INTO flakeforge_slot (group_name, slot, owner, host, lo, hi)
  SELECT :group, unused.slot, :owner, :host, greatest(floor + 1, now), now + ttl_ms FROM unused CROSS JOIN ready
  ON CONFLICT DO NOTHING
  RETURNING slot, lo, hi
),
counted AS (
  UPDATE flakeforge_group SET used = used + 1 WHERE name = :group AND EXISTS (SELECT FROM added)
),
granted AS MATERIALIZED (
  SELECT * FROM own UNION ALL SELECT * FROM taken UNION ALL SELECT * FROM added
),
-- The end that comes next, if none was free.
soonest AS MATERIALIZED (
  SELECT least(
    (SELECT hi FROM flakeforge_slot WHERE group_name = :group AND slot < ready.slots ORDER BY hi LIMIT 1),
    CASE WHEN used < slots THEN floor END
  ) AS hi
  FROM ready WHERE NOT EXISTS (SELECT FROM granted)
)
SELECT json_build_object(
  'outcome', CASE
    WHEN outcome <> 'ready' THEN outcome
    WHEN granted.slot IS NOT NULL THEN 'granted'
    -- A free slot that was locked, or slots that changed hands while this statement waited: the group may not be full.
    WHEN soonest.hi < now OR entered.version IS DISTINCT FROM seen.version THEN 'again'
    ELSE 'exhausted'
  END,
  'slot', granted.slot, 'lo', granted.lo, 'hi', granted.hi, 'storeNow', now,
  'quietUntil', quiet_until, 'skew', skew, 'retryAt', soonest.hi + 1,
  'theirs', json_build_object('fingerprint', fingerprint, 'slots', slots, 'ttlMs', ttl_ms, 'skewMs', skew_ms)
)::text
FROM entered CROSS JOIN seen LEFT JOIN granted ON true LEFT JOIN soonest ON true
`
