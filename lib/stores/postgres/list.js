'use strict'

// Every slot that was granted, for people to look at.
// It must never write: looking at a group must not change it.

module.exports = /* sql */ `
SELECT coalesce(
  json_agg(json_build_object('slot', slot, 'owner', owner, 'host', host, 'lo', lo, 'hi', hi) ORDER BY slot),
  '[]'
)::text
FROM flakeforge_slot WHERE group_name = :group
`
