// The names of all groups that have a record.
// It must never write.

export default `
SELECT coalesce(json_agg(DISTINCT group_name ORDER BY group_name), '[]')::text FROM flakeforge_record
`
