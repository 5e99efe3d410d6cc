// The table of the PostgreSQL store. No column folds case, and no row expires.

import { isAbsent } from '../../base/check.ts'
import { optionRangeError, optionTypeError } from '../../base/errors.ts'
import { block, identifier, named, type Sql, sql } from './statement.ts'
import { failIf, grantTo, itemIn, type Owner, tableFault, useSchema } from './trust.ts'

/** The default schema of the table, whatever the role and its search_path. */
export const DEFAULT_SCHEMA = 'public'

const TABLE = 'flakeforge_record'

/** The table in a schema, as statements name it. */
export const tableIn = (schema: string) => named(schema, TABLE)

const LONGEST_NAME = 63 // bytes: PostgreSQL cuts off the rest

const isName = (text: string) => /^\P{C}+$/u.test(text) && Buffer.byteLength(text) <= LONGEST_NAME

/** The option `schema`, as it is. */
export function readSchema(schema: unknown) {
  if (isAbsent(schema)) return DEFAULT_SCHEMA
  if (typeof schema !== 'string') throw optionTypeError('schema', schema, 'the name of a schema')
  if (isName(schema) && !/^pg_|^information_schema$/.test(schema)) return schema
  const wanted = `the name of your own schema: 1 to ${LONGEST_NAME} bytes without control characters`
  throw optionRangeError('schema', schema, wanted)
}

/** The option `owner`, as it is. */
export function readOwner(owner: unknown): Owner {
  if (isAbsent(owner)) return undefined
  if (typeof owner !== 'string') throw optionTypeError('owner', owner, 'the name of a role')
  if (isName(owner)) return owner
  throw optionRangeError('owner', owner, `the name of a role: 1 to ${LONGEST_NAME} bytes without control characters`)
}

/** Where the table is, and which other role may own it and its schema. */
export type Place = { schema: string; owner?: Owner }

/** The right that a role needs for anything in a schema; in public it has it. */
export const usageOf = (schema: string): Sql[] =>
  schema === DEFAULT_SCHEMA ? [] : [sql`USAGE ON SCHEMA ${identifier(schema)}`]

/** The rights that the roles of members need. */
export const rightsOn = (schema: string): Sql[] => [
  ...usageOf(schema),
  sql`SELECT, INSERT, UPDATE ON ${tableIn(schema)}`,
]

/** What is wrong with the schema or the table: one row with NULL or a text, or none if there is no such schema. */
const faultAt = ({ schema, owner }: Place) =>
  sql`SELECT ${tableFault(schema, TABLE, owner)} FROM ${itemIn(schema, TABLE)}`

/**
 * Whether the table is there and a store may use it, by catalogs only. `fault` is a sentence. Reading a view or a table
 * with policies runs its owner's code with the reader's rights, so this comes before the first read.
 */
export const lookFor = (place: Place) => sql`
SELECT coalesce((SELECT pg_catalog.json_build_object('table', item.oid::pg_catalog.text,
  'fault', ${tableFault(place.schema, TABLE, place.owner)}
) FROM ${itemIn(place.schema, TABLE)}), '{}')::pg_catalog.text
`

/** The statement that creates the table unless it is there. `withSchema`: and its schema. `roles` get a member's rights. */
export const schemaFor = (
  schema: string,
  { owner, withSchema = false, roles = [] }: { owner?: Owner; withSchema?: boolean; roles?: readonly string[] } = {},
) => sql`
-- The table of flakeforge's PostgreSQL store (12 or later), for migrations; the store itself creates it on first use if
-- it has the rights. Members need USAGE on the schema, and SELECT, INSERT and UPDATE on the table.
-- No row may ever expire or be cleaned up: a lost record is a window that can be granted twice.
-- If there is already a table of this name that another role owns, or that is of another kind, this ends with an error.

${block(
  sql`  fault pg_catalog.text;`,
  sql`${withSchema ? useSchema(schema, owner) : failIf(faultAt({ schema, owner }))}
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
${failIf(faultAt({ schema, owner }))}${grantTo(roles, rightsOn(schema))}`,
)}
`
