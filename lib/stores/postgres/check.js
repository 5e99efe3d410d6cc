'use strict'

// What every step on a group checks first. Needs `record`: the group's row, and `turn` (server.js).
// It must never write if the options differ, and never lower quiet_until.
//
// A statement sees the tables as they were when it began; only a row that it locks is read again. So if the row shows
// that something happened in between, the answer is `again`, and the step is run again from the start.

const server = require('./server')
const seen = require('./seen')

module.exports = /* sql */ `
${server},
${seen},
checked AS MATERIALIZED (
  SELECT
    server.now, server.incarnation, seen.kept,
    record.version, record.fingerprint, record.slots, record.ttl_ms, record.skew_ms, record.used, record.floor, state,
    CASE state
      -- Nothing is known about the grants of an absent group, so we assume the longest ttl.
      WHEN 'absent' THEN server.now + 60000 + :skewMs::bigint + 1
      WHEN 'changed' THEN greatest(record.quiet_until, server.now + record.ttl_ms + record.skew_ms + 1)
      ELSE record.quiet_until
    END AS quiet_until
  FROM server CROSS JOIN seen LEFT JOIN record ON true
  CROSS JOIN LATERAL (
    SELECT CASE
      WHEN record.name IS NULL THEN 'absent'
      WHEN record.destroyed THEN 'destroyed'
      WHEN (record.fingerprint, record.slots, record.ttl_ms, record.skew_ms)
        IS DISTINCT FROM (:fingerprint, :slots::integer, :ttlMs::bigint, :skewMs::bigint) THEN 'mismatch'
      WHEN record.incarnation <> server.incarnation THEN 'changed'
      WHEN seen.used IS DISTINCT FROM seen.kept AND seen.version IS DISTINCT FROM record.version THEN 'again'
      WHEN seen.used <> seen.kept THEN 'changed'
      ELSE 'known'
    END AS state
  ) AS judged
),
noted AS (
  UPDATE flakeforge_group AS g
  SET incarnation = checked.incarnation, quiet_until = checked.quiet_until, used = checked.kept
  FROM checked
  WHERE g.name = :group AND checked.state = 'changed' AND g.xmin = checked.version
  RETURNING g.name
)
`
