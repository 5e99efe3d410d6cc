// The function that makes IDs in PostgreSQL, as `DEFAULT flake_id()`. PL/pgSQL without an extension, for managed clouds too.
//
// The last position is a sequence, because a sequence is not rolled back, and its log precedes the commit of any row that has
// the number. A session that moves it forward to the present tick must be alone, since a slower one would move it back. So
// nextval is called under a shared lock, and setval under an exclusive one, after a nextval that is still below. The model is
// core/tests/model/database_function.rs.
//
// The lock is a transaction's advisory lock, taken in a subtransaction. Rolling this back releases it at once: neither the
// length of the transaction nor a cancelled statement keeps it. Sequences and variables are not rolled back. The
// subtransaction writes no rows, so it needs no transaction ID.
//
// Nothing here sleeps, because pg_sleep() ends at a time of day: if the clock is set back by an hour meanwhile, the call takes an
// hour longer.

import type { FunctionPlan } from '../database-function.ts'
import { DEFAULT_SCHEMA } from './schema.ts'

/** The class of our advisory locks ('flak' in ASCII), so that they differ from those of an application. */
const LOCK_CLASS = 0x666c616b

const US_IN_NS = 1000
const MS_IN_NS = 1_000_000

/** The name of a function in a schema as statements show it. */
export const functionIn = (schema: string, name: string) =>
  `${schema === DEFAULT_SCHEMA ? schema : `"${schema}"`}.${name}`

/** The present tick: whole units since the epoch. */
function tickSql({ epoch, tickNs }: FunctionPlan) {
  const ms = 'extract(epoch FROM clock_timestamp()) * 1000'
  if (tickNs === MS_IN_NS) return `floor(${ms}) - ${epoch}`
  return `floor((${ms} - ${epoch}) * ${MS_IN_NS} / ${tickNs})`
}

const idSql = ({ counterBits, counterShift, tickShift, nodeBits }: FunctionPlan) =>
  `(place >> ${counterBits} << ${tickShift}) | (${nodeBits})::bigint | ((place & ${2 ** counterBits - 1}) << ${counterShift})`

/** The statements that create the function and its sequence. */
export function functionFor(schema: string, name: string, plan: FunctionPlan) {
  const [fn, last] = [functionIn(schema, name), functionIn(schema, `${name}_last`)]
  const { counterBits, lastTick, lastPosition, tickNs, comment } = plan
  const lock = `${LOCK_CLASS}, '${last}'::regclass::oid::int`
  const isAhead = `place >= (tick + 1) << ${counterBits} AND place & ${2 ** counterBits - 1} = 0` // and begins a tick
  return `
-- The position of the last ID. Never set it back.
CREATE SEQUENCE IF NOT EXISTS ${last} AS bigint MINVALUE 0 START 0 MAXVALUE ${lastPosition};

-- A function of this name that makes other IDs stays as it is.
DO $$
BEGIN
  IF obj_description(to_regprocedure('${fn}()'), 'pg_proc') IS DISTINCT FROM ${literal(comment)}
    AND to_regprocedure('${fn}()') IS NOT NULL THEN
    RAISE EXCEPTION 'There is another function ${fn}(). Choose another name, or drop it and the sequence ${last}.';
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION ${fn}() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SECURITY DEFINER SET search_path = ''  -- callers need no rights on the sequence
AS $$
DECLARE
  tick bigint;
  place bigint;
  began timestamptz;
BEGIN
  BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(${lock}) THEN  -- an expression, because PERFORM is slower
      PERFORM pg_advisory_xact_lock_shared(${lock});
    END IF;
    tick := ${tickSql(plan)};
    IF tick < 0 OR tick > ${lastTick} THEN
      RAISE EXCEPTION '${fn}(): the server''s clock (%) is outside of the layout''s time', clock_timestamp()
        USING ERRCODE = '22003', HINT = 'Set the clock, or use a layout or an epoch that has this time.';
    END IF;
    place := nextval('${last}');
    RAISE SQLSTATE 'FLAKE';  -- releases the lock
  EXCEPTION WHEN SQLSTATE 'FLAKE' THEN
    NULL;
  END;
  IF place >= tick << ${counterBits} AND NOT (${isAhead}) THEN
    RETURN ${idSql(plan)};
  END IF;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lock});
    tick := ${tickSql(plan)};  -- again: the wait for the lock may have taken longer than a tick
    IF place < tick << ${counterBits} THEN
      place := nextval('${last}');
      IF place < tick << ${counterBits} THEN
        place := setval('${last}', tick << ${counterBits});
      END IF;
    END IF;
    IF ${isAhead} THEN  -- no tick is used faster than it lasts
      began := clock_timestamp();
      WHILE clock_timestamp() BETWEEN began AND began + interval '${Math.ceil(tickNs / US_IN_NS)} microseconds' LOOP
      END LOOP;
    END IF;
    RAISE SQLSTATE 'FLAKE';
  EXCEPTION WHEN SQLSTATE 'FLAKE' THEN
    NULL;
  END;
  RETURN ${idSql(plan)};
END
$$;

COMMENT ON FUNCTION ${fn}() IS ${literal(comment)};
`
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
