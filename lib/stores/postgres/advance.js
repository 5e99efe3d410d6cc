'use strict'

// Adds to a named counter of 0 to 2^64 - 1 and gives the value before.
// It must never hand out a block twice: if writes may be lost, it refuses until somebody says where to continue.
//
// A counter gets a new lineage each time it is created. If a client knows another one (`known`, '' for none), the
// counter that it knew was lost and created again. The lineage is settled once somebody has said where to continue.

const server = require('./server')

module.exports = /* sql */ `
WITH counter AS MATERIALIZED (
  SELECT name, value, incarnation, lineage, settled FROM flakeforge_counter WHERE name = :name FOR UPDATE
),
turn AS MATERIALIZED (SELECT count(*) FROM counter),
${server},
-- Taking 0 from a counter, with an init, means: continue from there, whatever was lost.
asked AS MATERIALIZED (
  SELECT
    by, init, server.incarnation, counter.name IS NULL AS is_absent, skips,
    coalesce(counter.lineage, :fresh) AS lineage, coalesce(counter.settled, false) OR skips AS settled,
    counter.incarnation <> server.incarnation AND NOT skips AS is_behind,
    :known NOT IN ('', counter.lineage) AND NOT counter.settled AND NOT skips AS is_another,
    CASE
      WHEN counter.name IS NULL THEN init
      WHEN skips THEN greatest(counter.value, init)
      ELSE counter.value
    END AS value
  FROM (SELECT :by::numeric AS by, nullif(:init, '')::numeric AS init) AS given
  CROSS JOIN LATERAL (SELECT by = 0 AND init IS NOT NULL AS skips) AS wish
  CROSS JOIN server LEFT JOIN counter ON true
),
granted AS MATERIALIZED (
  SELECT * FROM asked WHERE value + by <= 18446744073709551615 AND is_behind IS NOT TRUE AND is_another IS NOT TRUE
),
updated AS (
  UPDATE flakeforge_counter AS c
  SET value = granted.value + by, incarnation = granted.incarnation, settled = granted.settled
  FROM granted WHERE c.name = :name AND NOT is_absent
  RETURNING granted.value
),
made AS (
  INSERT INTO flakeforge_counter (name, value, incarnation, lineage, settled)
  SELECT :name, value + by, incarnation, lineage, settled FROM granted WHERE is_absent
  ON CONFLICT DO NOTHING
  RETURNING name
)
SELECT json_build_object(
  'outcome', CASE
    WHEN is_absent AND init IS NULL THEN 'gone'
    WHEN is_behind THEN 'behind'
    WHEN is_another THEN 'gone'
    WHEN NOT EXISTS (SELECT FROM granted) THEN 'full'
    WHEN is_absent AND NOT EXISTS (SELECT FROM made) THEN 'again'
    ELSE 'advanced'
  END,
  -- As text: JSON's numbers are doubles for JavaScript.
  'value', value::text, 'lineage', lineage
)::text
FROM asked
`
