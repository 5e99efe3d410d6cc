// $1 group: the names of its records.
// It must never write.

export default `
SELECT coalesce(json_agg(name ORDER BY name), '[]')::text FROM flakeforge_record WHERE group_name = $1::text
`
