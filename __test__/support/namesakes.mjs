// A schema in which everything of pg_catalog has a namesake of the same kind and signature, which fails when it is used. With it
// first in the search_path, SQL works only if it names the schema of every function, operator, type and relation.

const ALL = {
  // any_in() fails whatever it gets, and an internal function may have any signature.
  functions: `SELECT format('CREATE FUNCTION %s.%I(%s) RETURNS %s%s LANGUAGE internal AS ''any_in''', $1, proname,
      pg_get_function_identity_arguments(p.oid), CASE WHEN proretset THEN 'SETOF ' ELSE '' END, prorettype::regtype)
    FROM pg_proc p WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind <> 'p'`,
  operators: `SELECT format('CREATE OPERATOR %s.%s (FUNCTION = %s.%I%s%s)', $1, oprname, $1, proname,
      ', LEFTARG = ' || nullif(oprleft, 0)::regtype, ', RIGHTARG = ' || nullif(oprright, 0)::regtype)
    FROM pg_operator JOIN pg_proc p ON p.oid = oprcode WHERE oprnamespace = 'pg_catalog'::regnamespace`,
  types: `SELECT format('CREATE DOMAIN %s.%I AS pg_catalog.%I NOT NULL CHECK (false)', $1, typname, typname)
    FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typelem = 0`,
  relations: `SELECT format('CREATE TABLE %s.%I ()', $1, relname)
    FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v')`,
}

/** Creates the schema by a superuser's `query`. Returns how many namesakes of each kind there are. */
export async function makeNamesakes(query, schema = 'evil') {
  await query(`CREATE SCHEMA ${schema}`)
  const counts = {}
  for (const [kind, text] of Object.entries(ALL)) {
    const statements = (await query(text.replaceAll('$1', `'${schema}'`))).map(({ format }) => format)
    await query(`DO $do$ DECLARE made text; BEGIN
      FOREACH made IN ARRAY ARRAY[${statements.map((made) => `'${made.replaceAll("'", "''")}'`).join(', ')}] LOOP
        BEGIN EXECUTE made; EXCEPTION WHEN OTHERS THEN NULL; END; -- some have signatures that only initdb may give
      END LOOP; END $do$`)
    counts[kind] = statements.length
  }
  return counts
}
