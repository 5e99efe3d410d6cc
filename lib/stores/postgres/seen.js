'use strict'

// The group and its slots as they were when the statement began, whatever was locked since. It must never count rows
// one by one: slots are first used in order, so the last one shows how many there are.

module.exports = /* sql */ `
before AS MATERIALIZED (
  SELECT
    (SELECT xmin FROM flakeforge_group WHERE name = :group) AS version,
    (SELECT used FROM flakeforge_group WHERE name = :group) AS used
),
seen AS MATERIALIZED (
  SELECT
    version, used,
    CASE
      WHEN used = 0 OR EXISTS (SELECT FROM flakeforge_slot WHERE group_name = :group AND slot = used - 1) THEN used
      ELSE coalesce((SELECT max(slot) + 1 FROM flakeforge_slot WHERE group_name = :group), 0)
    END AS kept
  FROM before
)
`
