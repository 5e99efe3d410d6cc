// Whose objects a store or a script may use. A name says nothing about that: whoever may create objects in a schema can be
// there first, with a table whose triggers and policies then run with the rights of each member.

import { useAnother } from '../../base/errors.ts'
import { DIFFERS, EQUALS, identifier, joined, literal, type Sql, sql } from './statement.ts'

/** The role that the option `owner` names, if any. */
export type Owner = string | undefined

/**
 * Whether a role, given by its OID, has power over this database or this session anyway: it is a superuser, owns the database,
 * is the session's own role, or was named. Membership does not count, because the other role may have granted it.
 */
const isTrusted = (oid: Sql, owner: Owner) => sql`EXISTS (
    SELECT FROM pg_catalog.pg_roles AS role, pg_catalog.pg_database AS base
    WHERE role.oid ${EQUALS} ${oid} AND base.datname ${EQUALS} pg_catalog.current_database() AND (
      role.rolsuper OR role.oid ${EQUALS} base.datdba OR role.rolname ${EQUALS} 'pg_database_owner'
      OR role.rolname ${EQUALS} current_user${owner === undefined ? sql`` : sql` OR role.rolname ${EQUALS} ${literal(owner)}`}
    )
  )`

const OTHER_SCHEMA = useAnother('schema')
const WAY_OUT = `Only a superuser, the owner of the database, this session's own role, and the role that the option owner names may own it. If its owner is right, use that option, in an address as ?owner=. Otherwise ${OTHER_SCHEMA}.`

/** A sentence about the owner of an object, such as `The table ids.x belongs to the role y.` */
const belongs = (
  what: string,
  oid: Sql,
) => sql`pg_catalog.format(${literal('%s belongs to the role %I. %s')}, ${literal(what)},
      pg_catalog.pg_get_userbyid(${oid}), ${literal(WAY_OUT)})`

/** OID of the schema public, which is made with each database. */
const PUBLIC_SCHEMA = 2200

/** A condition and its text, for CASE, with the row of the schema in pg_namespace: its owner is not one to trust. */
export const schemaFault = (schema: string, owner: Owner) => sql`
  WHEN space.oid ${DIFFERS} ${PUBLIC_SCHEMA} AND NOT ${isTrusted(sql`space.nspowner`, owner)} THEN
    ${belongs(`The schema '${schema}'`, sql`space.nspowner`)}`

/** The same for an object in it, with its row in pg_class. Whoever owns the schema can replace the object. */
export const ownerFault = (what: string, owner: Owner) => sql`
  WHEN item.relowner ${DIFFERS} space.nspowner AND NOT ${isTrusted(sql`item.relowner`, owner)} THEN
    ${belongs(what, sql`item.relowner`)}`

/** OIDs of the type text and of the collation "C". */
const [TEXT, C] = [25, 950]
const COLUMNS = ['group_name', 'name', 'value'].map((name) => `${name} ${TEXT} ${C} t`).join(', ')

/** What keeps an object from being a table that stores exactly what is written. */
const kindFault = (what: string) => sql`
  WHEN item.relkind ${DIFFERS} 'r' THEN ${literal(`${what} is not a plain table. Rename it, or ${OTHER_SCHEMA}.`)}
  WHEN item.relrowsecurity OR EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid ${EQUALS} item.oid)
    OR EXISTS (SELECT FROM pg_catalog.pg_rewrite WHERE ev_class ${EQUALS} item.oid)
    OR EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhrelid ${EQUALS} item.oid OR inhparent ${EQUALS} item.oid)
  THEN ${literal(`${what} has a trigger, a rule, row security, or a parent or child table, and a store needs a table that keeps what is written. Remove that, or ${OTHER_SCHEMA}.`)}
  WHEN (
    SELECT pg_catalog.string_agg(pg_catalog.format('%s %s %s %s', attname, atttypid, attcollation, attnotnull), ', ' ORDER BY attnum)
    FROM pg_catalog.pg_attribute WHERE attrelid ${EQUALS} item.oid AND attnum OPERATOR(pg_catalog.>) 0 AND NOT attisdropped
  ) ${DIFFERS} ${literal(COLUMNS)} OR NOT EXISTS (
    SELECT FROM pg_catalog.pg_index WHERE indrelid ${EQUALS} item.oid AND indisprimary AND indkey::pg_catalog.text ${EQUALS} '1 2'
  ) THEN ${literal(`${what} has other columns or another primary key than the SQL of \`npx flakeforge schema\` gives it. Rename it, or ${OTHER_SCHEMA}.`)}`

/** The schema and an object in it, by catalogs only: reading a view or a table with policies would run its owner's code. */
export const itemIn = (
  schema: string,
  name: string,
) => sql`pg_catalog.pg_namespace AS space LEFT JOIN pg_catalog.pg_class AS item
  ON item.relnamespace ${EQUALS} space.oid AND item.relname ${EQUALS} ${literal(name)}
WHERE space.nspname ${EQUALS} ${literal(schema)}`

/** An expression: what is wrong with the schema and the store's table in it; NULL if nothing is, or there is no table. */
export function tableFault(schema: string, name: string, owner: Owner) {
  const what = `The table ${schema}.${name}`
  return sql`CASE ${schemaFault(schema, owner)}
  WHEN item.oid IS NULL THEN NULL${ownerFault(what, owner)}${kindFault(what)} END`
}

/** Statements of a block that create a schema unless it is there, and end with an error if its owner is not to be trusted. */
export const useSchema = (schema: string, owner: Owner) => sql`
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname ${EQUALS} ${literal(schema)}) THEN
    CREATE SCHEMA ${identifier(schema)};
  END IF;
${failIf(sql`SELECT CASE ${schemaFault(schema, owner)} END FROM pg_catalog.pg_namespace AS space WHERE nspname ${EQUALS} ${literal(schema)}`)}`

/** Statements of a block: an error with the text that a query returns, unless that is NULL. The block has a variable `fault`. */
export const failIf = (query: Sql) => sql`
  fault := (${query});
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION USING MESSAGE = fault, ERRCODE = 'wrong_object_type';
  END IF;
`

/** Grants of a block, for each role. */
export const grantTo = (roles: readonly string[], rights: readonly Sql[]) =>
  joined(
    roles.flatMap((role) =>
      rights.map(
        (right) => sql`
  GRANT ${right} TO ${identifier(role)};`,
      ),
    ),
  )
