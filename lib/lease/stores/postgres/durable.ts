// What of this server's configuration may lose a write that was answered, without a sign of it.
// It must never write.

export default `
SELECT json_build_object(
  'fsync', current_setting('fsync'),
  'full_page_writes', current_setting('full_page_writes'),
  'isLogged', (SELECT relpersistence = 'p' FROM pg_class WHERE oid = to_regclass('flakeforge_record'))
)::text
`
