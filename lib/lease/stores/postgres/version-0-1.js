'use strict'
// @ts-check

// What version 0.1 left: its tables are flakeforge_group, flakeforge_slot and flakeforge_counter. It must never make
// them, and never change them except to end a group.

/** Which of its tables are here: where it was never used there are none, and a statement that names them fails. */
const tables = /* sql */ `
SELECT json_build_object(
  'group', to_regclass('flakeforge_group') IS NOT NULL,
  'counter', to_regclass('flakeforge_counter') IS NOT NULL
)::text
`

/** $1 group: whether it is live. */
const group = /* sql */ `
SELECT to_json(EXISTS (SELECT FROM flakeforge_group WHERE name = $1::text AND NOT destroyed))::text
`

/** $1 counter: its value, or null. As text: JSON's numbers are doubles for JavaScript. */
const counter = /* sql */ `
SELECT coalesce(to_json((SELECT value::text FROM flakeforge_counter WHERE name = $1::text)), 'null')::text
`

/**
 * $1 group: its members hear of the end at their next renewal. Its slots keep their rows. A 0.1 that makes the group
 * again, with whatever layout, waits for every window that the old one may have granted: none is longer than 60 s.
 */
const end = /* sql */ `
WITH ended AS (
  UPDATE flakeforge_group
  SET
    destroyed = true,
    quiet_until = greatest(quiet_until,
      floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 60000 + skew_ms + 1)
  WHERE name = $1::text AND NOT destroyed
  RETURNING name
)
SELECT to_json(EXISTS (SELECT FROM ended))::text
`

module.exports = { tables, group, counter, end }
