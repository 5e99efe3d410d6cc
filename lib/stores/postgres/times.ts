// Functions that read the time of an ID in PostgreSQL, and give the IDs of a time. They are immutable, so an index, a generated
// column and the bounds of a partition may use them, and a condition with them uses the index of the IDs.
//
// They calculate in numeric where 53 or 63 bits are too few: no step rounds. A division of numerics does, so there is none.
// Nothing depends on the session: a time goes in and out as UTC.

import { endingsOf, MOST, MOST_SIGNED, NUMBERS, type TimesPlan } from '../database-times.ts'
import { usageOf } from './schema.ts'
import { block, dollarQuoted, joined, literal, named, oneLine, type Sql, sql } from './statement.ts'
import { failIf, grantTo, type Owner, useSchema } from './trust.ts'

const NS_PER_US = 1000n
const US_PER_DAY = 86_400_000_000n
/** In µs, later than any time of PostgreSQL. */
const FOREVER = 10n ** 20n
const MOST_BITS = 62 // of a tick that is a bigint

/** Each function, by its ending: its argument, whose type has this OID in every PostgreSQL, and its result. */
const SIGNATURES: Record<string, { argument: Sql; type: Sql; oid: number; returns: Sql }> = {
  time: { argument: sql`id`, type: sql`bigint`, oid: 20, returns: sql`timestamptz` },
  min: { argument: sql`moment`, type: sql`timestamptz`, oid: 1184, returns: sql`bigint` },
  max: { argument: sql`moment`, type: sql`timestamptz`, oid: 1184, returns: sql`bigint` },
}

/** The rights that callers need. PUBLIC has those on functions by default. */
export const rightsOn = (schema: string, name: string, plan: TimesPlan): Sql[] => [
  ...usageOf(schema),
  ...endingsOf(plan).map(
    (ending) => sql`EXECUTE ON FUNCTION ${named(schema, `${name}_${ending}`)}(${SIGNATURES[ending].type})`,
  ),
]

/** The mark is the first line of a function's body, which a dump keeps even without comments. */
const markOf = (comment: string) => `\n-- ${comment}\n`

const HINT = 'IDs of another layout or epoch need functions of their own, from: flakeforge schema --times'

/** A mask of 64 bits as a bigint. */
const mask = (bits: bigint) => sql`('${BigInt.asIntN(64, bits)}')::bigint`

/** A numeric without a sign as the bigint with the same 64 bits, and the other way round. */
const signed = (number: Sql) =>
  sql`(${number} - CASE WHEN ${number} > ${MOST_SIGNED} THEN ${NUMBERS} ELSE 0 END)::bigint`
const unsigned = (number: Sql) => sql`(${number} + CASE WHEN ${number} < 0 THEN ${NUMBERS} ELSE 0 END)`

/** Ends a function with an error about its argument. */
const raise = (
  shown: string,
  value: Sql,
  is: string,
) => sql`RAISE EXCEPTION '%: % is % of this layout', ${literal(shown)}, ${value}, ${literal(is)}
      USING ERRCODE = '22003', HINT = ${literal(HINT)};`

/** The tick in `bits`, of an ID without offset. `plain` is the same as a numeric without a sign. */
function tickSql({ bits, orderBit }: TimesPlan) {
  if ('divisor' in bits) return sql`div(plain, ${bits.divisor})`
  const { shift, width } = bits
  const forwards = sql`(bits >> ${shift}) & ${mask((1n << BigInt(width)) - 1n)}`
  if (orderBit === undefined) return forwards
  const backwards = sql`reverse((bits >> ${shift})::bit(${width})::text)::bit(${width})::bigint`
  return sql`CASE WHEN bits & ${mask(orderBit)} = 0 THEN ${backwards} ELSE ${forwards} END`
}

/** The Unix µs of a tick's start, rounded down. */
function microseconds({ epochNs, tickNs }: TimesPlan) {
  const epoch = epochNs / NS_PER_US
  if (tickNs % NS_PER_US === 0n) return sql`tick * ${tickNs / NS_PER_US} + (${epoch})`
  return sql`floor(tick * ${tickNs} * 0.001) + (${epoch})`
}

function timeBody(shown: string, plan: TimesPlan) {
  const { bits, firstTick, highestTick, offset, tickNs, zeros } = plan
  const isWide = 'divisor' in bits || bits.width > MOST_BITS || tickNs % NS_PER_US !== 0n
  const isPlain = offset === 0n ? sql`true` : sql`plain >= 0 AND plain <= ${MOST}`
  return sql`
DECLARE
  plain CONSTANT numeric := ${unsigned(sql`id`)} - (${offset});  -- without a sign
  bits bigint;
  tick ${isWide ? sql`numeric` : sql`bigint`};
  us bigint;
BEGIN
  IF ${isPlain} THEN
    bits := ${offset === 0n ? sql`id` : signed(sql`plain`)};
    IF bits & ${mask(zeros)} = 0 THEN
      tick := ${tickSql(plan)};
    END IF;
  END IF;
  IF (tick >= ${firstTick} AND tick <= ${highestTick}) IS NOT TRUE THEN
    ${raise(shown, sql`id`, 'not an ID')}
  END IF;
  us := ${microseconds(plan)};
  RETURN timezone('UTC', timestamp '1970-01-01 00:00:00' + make_interval(
    days => (us / ${US_PER_DAY})::integer, secs => (us % ${US_PER_DAY})::double precision / 1000000));
END
`
}

/** The Unix ns of a time, which is whole µs. */
const nanoseconds = sql`CASE
    WHEN isfinite(utc) THEN date_part('epoch', date_trunc('second', utc))::bigint::numeric * 1000000
      + date_part('microseconds', utc)::bigint % 1000000
    WHEN utc > timestamp '1970-01-01 00:00:00' THEN ${FOREVER}
    ELSE -${FOREVER}
  END * 1000`

/** The ID of a tick, as a bigint. */
const idSql = (tick: Sql, size: bigint, rest: bigint) => sql`
  id := ${tick} * ${size} + (${rest});
  RETURN ${signed(sql`id`)};`

function boundBody(ending: string, shown: string, plan: TimesPlan) {
  const { epochNs, firstTick, lastTick, order, tickNs } = plan
  const { size, lowest, highest } = order as NonNullable<TimesPlan['order']>
  const [isOutside, what, of, rest] =
    ending === 'min'
      ? [
          sql`ns >= ${(lastTick + 1n) * tickNs}`,
          'past the last time',
          sql`greatest(div(ns, ${tickNs}), ${firstTick})`,
          lowest,
        ]
      : [sql`ns < ${firstTick * tickNs}`, 'before the first time', sql`least(div(ns, ${tickNs}), ${lastTick})`, highest]
  return sql`
DECLARE
  utc CONSTANT timestamp := timezone('UTC', moment);
  ns CONSTANT numeric := ${nanoseconds} - (${epochNs})${ending === 'max' ? sql` + 999 /* the end of the microsecond */` : sql``};
  id numeric;
BEGIN
  IF ${isOutside} THEN
    ${raise(shown, sql`moment`, what)}
  END IF;${idSql(of, size, rest)}
END
`
}

/** What is wrong with a function of this name: NULL, if a script made it for the same layout. */
function functionFault(schema: string, name: string, ending: string, { comment }: TimesPlan) {
  const what = `${schema}.${name}_${ending}()`
  return sql`SELECT CASE
    WHEN pg_get_userbyid(proowner) <> current_user THEN
      concat(${literal(`The function ${what} belongs to the role `)}, quote_ident(pg_get_userbyid(proowner)),
        '. If it is yours, run this as that role. Otherwise choose another name with --times.')
    WHEN NOT starts_with(prosrc, ${literal(markOf(comment))}) THEN
      ${literal(`There is another function ${what}, or one for another layout. Choose another name with --times, or drop it if no index, column or query uses it.`)}
  END FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
  WHERE nspname = ${literal(schema)} AND proname = ${literal(`${name}_${ending}`)}
    AND proargtypes = ${literal(String(SIGNATURES[ending].oid))}::oidvector`
}

/** The statements of a block that create one of the functions. */
function create(schema: string, name: string, ending: string, plan: TimesPlan) {
  const { argument, type, returns } = SIGNATURES[ending]
  const full = `${name}_${ending}`
  const shown = `${schema}.${full}()`
  const body = ending === 'time' ? timeBody(shown, plan) : boundBody(ending, shown, plan)
  return sql`${failIf(functionFault(schema, name, ending, plan))}
  CREATE OR REPLACE FUNCTION ${named(schema, full)}(${argument} ${type}) RETURNS ${returns}
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SECURITY INVOKER
  SET search_path = pg_catalog, pg_temp  -- pg_temp last: it comes first if it is not named
  AS ${dollarQuoted(sql`
-- ${oneLine(plan.comment)}${body}`)};
${failIf(functionFault(schema, name, ending, plan)) /* another role may have made it meanwhile, and would still own it */}`
}

/** The statement that creates the functions. `withSchema`: and the schema. `roles` may call them. */
export function timesFor(
  schema: string,
  name: string,
  plan: TimesPlan,
  { owner, withSchema = false, roles = [] }: { owner?: Owner; withSchema?: boolean; roles?: readonly string[] } = {},
): Sql {
  return sql`
-- A function of one of these names that is another's, or for another layout, stays as it is: this ends with an error then. It is
-- one statement, which is done as a whole or not at all.

${block(
  sql`  fault pg_catalog.text;`,
  sql`${withSchema ? useSchema(schema, owner) : sql``}${joined(
    endingsOf(plan).map((ending) => create(schema, name, ending, plan)),
  )}${grantTo(roles, rightsOn(schema, name, plan))}
`,
)}
`
}
