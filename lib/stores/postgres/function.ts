// The function that generates IDs in PostgreSQL, as `DEFAULT flake_id()`. PL/pgSQL without an extension, for managed clouds too.
//
// The last position is a sequence, because a sequence is not rolled back, and its log precedes the commit of any row that has
// the number. A session that moves it forward to the present tick could move it back, if others have taken numbers since it
// looked. So it counts its moves in a second sequence, to an odd number before it looks and to an even one afterwards, and a
// number that was taken while a move began, lasted or ended is not used. The model is
// core/tests/model/database_function.rs.
//
// One session moves at a time. The lock for that is on an empty table, which only its owner may lock, and the function runs with
// the owner's rights. (Any role may take an advisory lock, and pg_locks shows its key to all.) It is taken in a subtransaction.
// Rolling this back releases it at once: neither the length of the transaction nor a cancelled statement keeps it. Sequences and
// variables are not rolled back. The subtransaction writes no rows, so it needs no transaction ID. The lock's mode does not
// conflict with readers, such as pg_dump. Autovacuum finds nothing to do in the table.
//
// Almost all calls only read the count, take a number, and read the count again: 2.9 µs of CPU, where a shared lock in a
// subtransaction took 4.5 µs, and 6.8 µs in 8 sessions at once.
//
// Nothing here sleeps, because pg_sleep() ends at a time of day: if the clock is set back by an hour meanwhile, the call takes an
// hour longer.

import { COMMENT_START, type FunctionPlan } from '../database-function.ts'
import { usageOf } from './schema.ts'
import { block, dollarQuoted, joined, literal, named, oneLine, type Sql, sql } from './statement.ts'
import { failIf, grantTo, type Owner, useSchema } from './trust.ts'

const US_IN_NS = 1000
const MS_IN_NS = 1_000_000
/** The highest number of a bigint. */
const MOST_MOVES = 2n ** 63n - 1n

/** The name of a function in a schema as statements show it. */
export const functionIn = (schema: string, name: string) => sql`${named(schema, name)}()`

/** The mark is the first line of the function's body, which a dump keeps even without comments. */
const markOf = (comment: string) => `\n-- ${comment}\n`

/** The beginning of the bodies of all such functions. */
export const MARK_START = `\n-- ${COMMENT_START}`

/** The rights that callers need. */
export const rightsOn = (schema: string, name: string): Sql[] => [
  ...usageOf(schema),
  sql`EXECUTE ON FUNCTION ${functionIn(schema, name)}`,
]

/**
 * The present tick: whole units since the epoch. date_part() returns a double, which is exact to a microsecond. extract()
 * returns a numeric from PostgreSQL 14 on, which takes 0.2 µs longer.
 */
function tickSql({ epoch, tickNs }: FunctionPlan) {
  const ms = sql`date_part('epoch', clock_timestamp()) * 1000`
  if (tickNs === MS_IN_NS) return sql`floor(${ms}) - ${epoch}`
  return sql`floor((${ms} - ${epoch}) * ${MS_IN_NS} / ${tickNs})`
}

const idSql = ({ counterBits, counterShift, tickShift, nodeBits }: FunctionPlan) =>
  sql`(place >> ${counterBits} << ${tickShift}) | ('${nodeBits}')::bigint | ((place & ${2 ** counterBits - 1}) << ${counterShift})`

/** The objects that a function's state consists of. */
const stateOf = (schema: string, name: string) => ({
  last: named(schema, `${name}_last`),
  moves: named(schema, `${name}_moves`),
  lock: named(schema, `${name}_lock`),
})

/** The body of the function, whose search_path is pg_catalog. */
function bodyOf(schema: string, name: string, plan: FunctionPlan) {
  const { counterBits, lastTick, tickNs, comment } = plan
  const { last, moves, lock } = stateOf(schema, name)
  const [lastText, movesText, shown] = [last.text, moves.text, `${schema}.${name}()`].map(literal)
  const movesNow = sql`pg_sequence_last_value(${movesText}::regclass)`
  const start = sql`tick << ${counterBits}` // the tick's first place
  const isAhead = sql`place >= (tick + 1) << ${counterBits} AND place & ${2 ** counterBits - 1} = 0` // and begins a tick
  return sql`
-- ${oneLine(comment)}
DECLARE
  moves bigint := ${movesNow};
  tick bigint := ${tickSql(plan)};
  place bigint := nextval(${lastText});
  began timestamptz;
BEGIN
  IF (${movesNow} = moves AND moves & 1 = 0) IS NOT TRUE THEN
    place := -1;  -- it may come again: a session was moving the sequence meanwhile
  ELSIF tick >= 0 AND tick <= ${lastTick} AND place >= ${start} AND NOT (${isAhead}) THEN
    RETURN ${idSql(plan)};
  END IF;
  BEGIN
    IF current_setting('exit_on_error') <> 'off' THEN  -- the error that ends this block must not end the session
      PERFORM set_config('exit_on_error', 'off', true);
    END IF;
    IF current_setting('client_min_messages') NOT IN ('notice', 'warning', 'error') THEN
      PERFORM set_config('client_min_messages', 'notice', true);  -- or a client that reads none keeps the lock
    END IF;
    LOCK TABLE ${lock} IN SHARE ROW EXCLUSIVE MODE;  -- alone
    tick := ${tickSql(plan)};  -- again: the wait for the lock may have taken longer than a tick
    IF tick < 0 OR tick > ${lastTick} THEN
      RAISE EXCEPTION '%: the server''s clock (%) is outside of the layout''s time', ${shown}, clock_timestamp()
        USING ERRCODE = '22003', HINT = 'Set the clock, or use a layout or an epoch that has this time.';
    END IF;
    IF (pg_sequence_parameters(${lastText}::regclass)).cache_size <> 1 THEN
      RAISE EXCEPTION '%: a session would keep numbers of the sequence for later, and IDs would repeat', ${shown}
        USING ERRCODE = '55000', HINT = ${literal(`Run: ALTER SEQUENCE ${last} CACHE 1`)};
    END IF;
    moves := setval(${movesText}, coalesce(${movesNow}, 0) | 1);  -- odd already, if a move was cancelled
    IF place < ${start} THEN
      place := nextval(${lastText});
      IF place < ${start} THEN
        place := setval(${lastText}, ${start});
      END IF;
    END IF;
    IF ${isAhead} THEN  -- no tick is used faster than it lasts
      began := clock_timestamp();
      WHILE clock_timestamp() BETWEEN began AND began + interval '${Math.ceil(tickNs / US_IN_NS)} microseconds' LOOP
      END LOOP;
    END IF;
    moves := setval(${movesText}, moves + 1);
    RAISE SQLSTATE 'FLAKE';  -- releases the lock
  EXCEPTION WHEN SQLSTATE 'FLAKE' THEN
    NULL;
  END;
  RETURN ${idSql(plan)};
END
`
}

/** With the same node, a second function would generate equal IDs. */
const OTHER_NAME = 'Choose another name and another node for the function, or drop it if nothing uses it.'

/** The condition that another role owns what is there, and its text. */
const ownerFault = (what: string, owner: Sql) => sql`
    WHEN pg_get_userbyid(${owner}) <> current_user THEN
      concat(${literal(`${what} belongs to the role `)}, quote_ident(pg_get_userbyid(${owner})),
        '. If it is yours, run this as that role. Otherwise choose another name and another node for the function.')`

/** What is wrong with a function of this name: NULL, if it is the one that this plan makes. */
const functionFault = (
  schema: string,
  name: string,
  { comment }: FunctionPlan,
) => sql`SELECT CASE${ownerFault(`The function ${schema}.${name}()`, sql`proowner`)}
    WHEN NOT starts_with(prosrc, ${literal(markOf(comment))}) THEN
      ${literal(`There is another function ${schema}.${name}(). ${OTHER_NAME}`)}
  END FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
  WHERE nspname = ${literal(schema)} AND proname = ${literal(name)} AND pronargs = 0`

/**
 * What is wrong with a part of the state that is there: NULL, if this plan made it. By its comment, which the variable `state` is,
 * it belongs to these IDs. `kindFault` is about what else makes it ours.
 */
const itemFault = (
  what: string,
  kind: Sql,
  item: Sql,
  kindFault: Sql,
) => sql`SELECT CASE${ownerFault(what, sql`relowner`)}${kindFault}
    WHEN comment IS NULL THEN
      concat(${literal(`${what} has no comment that says whose IDs it belongs to, as after pg_dump --no-comments. If it comes from the database of this function, run: COMMENT ON ${kind} ${item} IS `)}, quote_literal(state))
    WHEN comment <> state THEN
      concat(${literal(`${what} belongs to other IDs, by its comment: "`)}, comment, ${literal(`". ${OTHER_NAME}`)})
  END FROM pg_class LEFT JOIN pg_sequence ON seqrelid = oid, obj_description(oid, 'pg_class') AS comment
  WHERE oid = to_regclass(${literal(item.text)})`

/** @param most the highest number */
const sequenceKindFault = (what: string, item: Sql, most: bigint) => sql`
    WHEN relkind <> 'S' OR relpersistence <> 'p' THEN ${literal(`${what} is not a permanent sequence. ${OTHER_NAME}`)}
    WHEN seqcache <> 1 THEN
      concat(${literal(`${what} has CACHE `)}, seqcache, ${literal(`: sessions would keep numbers for later, and IDs would repeat. Run: ALTER SEQUENCE ${item} CACHE 1`)})
    WHEN concat_ws(' ', seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcycle) <> ${literal(`bigint 0 1 0 ${most} f`)} THEN
      ${literal(`${what} is not the one of this layout: its type, start, increment, bounds or cycle differ. ${OTHER_NAME}`)}`

const lockKindFault = (what: string) => sql`
    WHEN relkind <> 'r' OR relhassubclass OR relispartition THEN ${literal(`${what} is not a plain table. ${OTHER_NAME}`)}`

/** Default privileges may have given other roles rights on what a script makes. */
const revokeAll = (items: readonly Sql[]) => sql`
  FOR granted IN
    SELECT DISTINCT oid::regclass AS item, CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, grantee
    FROM pg_class, aclexplode(relacl) WHERE grantee <> relowner AND oid = ANY (ARRAY[${joined(items, sql`, `)}]::regclass[])
  LOOP
    EXECUTE format('REVOKE ALL ON %s %s FROM %s CASCADE', granted.kind, granted.item,
      CASE granted.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(granted.grantee)) END);
  END LOOP;
`

/** The statement that creates the function and its state. `withSchema`: and the schema. `roles` may call it. */
export function functionFor(
  schema: string,
  name: string,
  plan: FunctionPlan,
  { owner, withSchema = false, roles = [] }: { owner?: Owner; withSchema?: boolean; roles?: readonly string[] } = {},
) {
  const fn = functionIn(schema, name)
  const { last, moves, lock } = stateOf(schema, name)
  const { lastPosition, comment, stateComment } = plan
  const [lastText, movesText, lockText] = [last, moves, lock].map(({ text }) => literal(text))
  const [sequence, count, table] = [
    `sequence ${schema}.${name}_last`,
    `sequence ${schema}.${name}_moves`,
    `table ${schema}.${name}_lock`,
  ].map((what) => `The ${what}`)
  return sql`
-- A function of this name that generates other IDs stays as it is, and so do a sequence and a table that are another's: this ends
-- with an error then. It is one statement, which is done as a whole or not at all.

${block(
  sql`  state CONSTANT pg_catalog.text := ${literal(stateComment)};
  fault pg_catalog.text;
  granted pg_catalog.record;`,
  sql`${withSchema ? useSchema(schema, owner) : sql``}${failIf(functionFault(schema, name, plan))}
  -- The position of the last ID. Never set it back.
  IF to_regclass(${lastText}) IS NULL THEN
    CREATE SEQUENCE ${last} AS bigint MINVALUE 0 START 0 MAXVALUE ${lastPosition} INCREMENT 1 CACHE 1 NO CYCLE;
    COMMENT ON SEQUENCE ${last} IS ${literal(stateComment)};
    IF nextval(${lastText}) <> (SELECT last_value FROM ${last}) THEN
      RAISE EXCEPTION 'In this database, sessions keep numbers of a sequence for later, in spite of CACHE 1: IDs would repeat. Make them in your application.'
        USING ERRCODE = 'feature_not_supported';
    END IF;
  END IF;
${failIf(itemFault(sequence, sql`SEQUENCE`, last, sequenceKindFault(sequence, last, lastPosition)))}
  -- How often a session began or ended to move that position. Never set it back either.
  IF to_regclass(${movesText}) IS NULL THEN
    CREATE SEQUENCE ${moves} AS bigint MINVALUE 0 START 0 INCREMENT 1 CACHE 1 NO CYCLE;
    COMMENT ON SEQUENCE ${moves} IS ${literal(stateComment)};
  END IF;
${failIf(itemFault(count, sql`SEQUENCE`, moves, sequenceKindFault(count, moves, MOST_MOVES)))}
  -- Whoever moves it locks this table, which stays empty.
  IF to_regclass(${lockText}) IS NULL THEN
    CREATE TABLE ${lock} ();
    COMMENT ON TABLE ${lock} IS ${literal(stateComment)};
  END IF;
${failIf(itemFault(table, sql`TABLE`, lock, lockKindFault(table)))}
  -- Callers need no right on them, and whoever has one could repeat IDs or stop all calls.${revokeAll([lastText, movesText, lockText])}
  CREATE OR REPLACE FUNCTION ${fn} RETURNS bigint
  LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp  -- pg_temp last: it comes first if it is not named
  AS ${dollarQuoted(bodyOf(schema, name, plan))};
  COMMENT ON FUNCTION ${fn} IS ${literal(comment)};
${failIf(functionFault(schema, name, plan)) /* another role may have made it meanwhile, and would still own it */}  REVOKE ALL ON FUNCTION ${fn} FROM PUBLIC;${grantTo(roles, rightsOn(schema, name))}
`,
)}
`
}
