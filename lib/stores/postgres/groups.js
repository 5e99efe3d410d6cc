'use strict'

// The names of all groups, for people to look at.
// It must never write.

module.exports = /* sql */ `
SELECT coalesce(json_agg(name ORDER BY name), '[]')::text FROM flakeforge_group WHERE NOT destroyed
`
