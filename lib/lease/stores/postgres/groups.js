'use strict'
// @ts-check

// The names of all groups that have a record.
// It must never write.

module.exports = /* sql */ `
SELECT coalesce(json_agg(DISTINCT group_name ORDER BY group_name), '[]')::text FROM flakeforge_record
`
