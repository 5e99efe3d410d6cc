'use strict'

// check.js, plus what acquire and renew need: an absent group is created, the clocks must agree, and there must be no
// quiet period. It must never let a step continue while a forgotten grant may still run.

const check = require('./check')

module.exports = /* sql */ `
${check},
made AS (
  INSERT INTO flakeforge_group (name, fingerprint, slots, ttl_ms, skew_ms, incarnation, quiet_until, used)
  SELECT :group, :fingerprint, :slots::integer, :ttlMs::bigint, :skewMs::bigint, incarnation, quiet_until, kept
  FROM checked WHERE state = 'absent'
  ON CONFLICT DO NOTHING
  RETURNING name
),
entered AS MATERIALIZED (
  SELECT
    checked.*,
    CASE
      WHEN state IN ('destroyed', 'mismatch', 'again') THEN state
      WHEN state = 'absent' AND NOT EXISTS (SELECT FROM made) THEN 'again'
      WHEN state = 'changed' AND NOT EXISTS (SELECT FROM noted) THEN 'again'
      WHEN abs(skew) > :skewMs::bigint THEN 'skew'
      WHEN now < quiet_until THEN 'quiet'
      ELSE 'ready'
    END AS outcome,
    skew
  FROM checked CROSS JOIN LATERAL (SELECT :clientNow::bigint - now AS skew) AS clocks
),
-- One row, or none if the answer is already known.
ready AS MATERIALIZED (SELECT * FROM entered WHERE outcome = 'ready')
`
