// The table of the PostgreSQL store. No column folds case, and no row expires.

import { isAbsent } from '../../../base/check.ts'
import { optionRangeError, optionTypeError } from '../../../base/errors.ts'

/** The default schema of the table, whatever the role and its search_path. */
export const DEFAULT_SCHEMA = 'public'

/** The table in a schema, as statements name it. */
export const tableIn = (schema: string) => `${schema === DEFAULT_SCHEMA ? schema : `"${schema}"`}.flakeforge_record`

const LONGEST_NAME = 63 // bytes: PostgreSQL cuts off the rest

/** The option `schema`, as it is. A name with quotes or backslashes would need other rules in each statement. */
export function readSchema(schema: unknown) {
  if (isAbsent(schema)) return DEFAULT_SCHEMA
  if (typeof schema !== 'string') throw optionTypeError('schema', schema, 'the name of a schema')
  const isPlain = /^[^"'\\\p{C}]+$/u.test(schema) && Buffer.byteLength(schema) <= LONGEST_NAME
  if (isPlain && !/^pg_|^information_schema$/.test(schema)) return schema
  const wanted = `the name of your own schema: 1 to ${LONGEST_NAME} bytes without quotes or backslashes`
  throw optionRangeError('schema', schema, wanted)
}

/** The statements that create the table. A role that may not create schemas can use an existing one. */
export const schemaFor = (schema: string) => `
-- The table of flakeforge's PostgreSQL store (12 or later), for migrations; the store itself creates it on first use if
-- it has the rights. Members need USAGE on the schema, and SELECT, INSERT and UPDATE on the table.
-- No row may ever expire or be cleaned up: a lost record is a window that can be granted twice.

CREATE TABLE IF NOT EXISTS ${tableIn(schema)} (
  group_name text COLLATE "C" NOT NULL,  -- "C" compares bytes
  name text COLLATE "C" NOT NULL,        -- group, counter, or slot and ten digits
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (group_name, name)
) WITH (
  fillfactor = 50,                       -- room on the page, so that an update need not touch the index
  -- Every renewal leaves a dead row behind: sweep early.
  autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.1
);
`
