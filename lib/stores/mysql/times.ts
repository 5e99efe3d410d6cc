// Functions that read the time of an ID in MariaDB and MySQL, and give the IDs of a time. Times are in UTC, since a DATETIME has
// no zone. Neither database takes a stored function in a generated column, an index or a partition's bound: there, the page on
// partitions has an expression.
//
// They calculate in DECIMAL, which holds an ID with and without a sign, whatever the session's sql_mode. A quotient is always
// whole, because the rest is subtracted before: DIV fails past 63 bits, and `/` rounds to div_precision_increment digits.

import { endingsOf, MOST, MOST_SIGNED, NUMBERS, type TimesPlan } from '../database-times.ts'
import { checkedBy, refuseOther } from './function.ts'
import { literal, quoted } from './statement.ts'

const NS_PER_US = 1000n
const START = "TIMESTAMP'1970-01-01 00:00:00'"
/** The first time that every DATETIME can have and the first one that none can, in Unix ns: of the years 0 and 10000. */
const [EARLIEST, LATEST] = ['0000-01-01', '+010000-01-01'].map((day) => BigInt(Date.parse(day)) * 1_000_000n)

/** Ends a function with an error about its argument, in a variable `said`. */
const signal = (
  name: string,
  value: string,
  is: string,
) => `SET said = CONCAT(${literal(`${name}(): `)}, ${value}, ${literal(` is ${is} of this layout`)});
    SIGNAL SQLSTATE '22003' SET MESSAGE_TEXT = said;`

const quotient = (number: string, by: bigint) => `(${number} - ${number} % ${by}) / ${by}`

/** The tick in `bits`, of an ID without offset. */
function tickSql({ bits, orderBit }: TimesPlan) {
  if ('divisor' in bits) return `bits DIV ${bits.divisor}`
  const { shift, width } = bits
  const forwards = `(bits >> ${shift}) & ${(1n << BigInt(width)) - 1n}`
  if (orderBit === undefined) return forwards
  const backwards = `CONV(REVERSE(LPAD(BIN(${forwards}), ${width}, '0')), 2, 10)`
  return `IF(bits & ${orderBit} = 0, ${backwards}, ${forwards})`
}

/** The ticks whose start a DATETIME can have. */
function ticksOf({ epochNs, firstTick, highestTick, tickNs }: TimesPlan) {
  const [from, to] = [(EARLIEST - epochNs) / tickNs + 1n, (LATEST - epochNs - 1n) / tickNs]
  return { first: from > firstTick ? from : firstTick, last: to < highestTick ? to : highestTick }
}

function timeBody(name: string, plan: TimesPlan) {
  const { epochNs, offset, tickNs, zeros } = plan
  const { first, last } = ticksOf(plan)
  return `BEGIN
  DECLARE plain DECIMAL(21, 0) DEFAULT id + IF(id < 0, ${NUMBERS}, 0) - (${offset});
  DECLARE bits BIGINT UNSIGNED;
  DECLARE tick DECIMAL(20, 0);
  DECLARE ns DECIMAL(40, 0);
  DECLARE made DATETIME(6);
  DECLARE said TEXT;
  IF id IS NULL THEN
    RETURN NULL;
  END IF;
  IF id BETWEEN -${MOST_SIGNED + 1n} AND ${MOST} AND plain BETWEEN 0 AND ${MOST} THEN
    SET bits = CAST(plain AS UNSIGNED);
    IF bits & ${zeros} = 0 THEN
      SET tick = ${tickSql(plan)};
    END IF;
  END IF;
  IF tick BETWEEN ${first} AND ${last} THEN
    SET ns = tick * ${tickNs};
    SET made = ${START} + INTERVAL ${quotient('ns', NS_PER_US)} + (${epochNs / NS_PER_US}) MICROSECOND;
  END IF;
  IF made IS NULL THEN
    ${signal(name, 'id', 'not an ID')}
  END IF;
  RETURN made;
END`
}

function boundBody(ending: string, name: string, plan: TimesPlan, isUnsigned: boolean) {
  const { epochNs, firstTick, lastTick, order, tickNs } = plan
  const { size, lowest, highest } = order as NonNullable<TimesPlan['order']>
  const [first, end] = [firstTick * tickNs, (lastTick + 1n) * tickNs]
  const [isOutside, what, within, rest] =
    ending === 'min'
      ? [`ns >= ${end}`, 'past the last time', `GREATEST(ns, ${first})`, lowest]
      : [`ns < ${first}`, 'before the first time', `LEAST(ns, ${end - 1n})`, highest]
  return `BEGIN
  DECLARE us BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, ${START}, moment);
  DECLARE ns DECIMAL(40, 0) DEFAULT CAST(us AS DECIMAL(20, 0)) * ${NS_PER_US} - (${epochNs})${ending === 'max' ? ' + 999' : ''};
  DECLARE id DECIMAL(21, 0);
  DECLARE said TEXT;
  IF moment IS NULL THEN
    RETURN NULL;
  END IF;
  IF (${isOutside}) IS NOT FALSE THEN
    ${signal(name, 'moment', what)}
  END IF;
  SET ns = ${within};
  SET id = ${quotient('ns', tickNs)} * ${size} + (${rest});
  RETURN ${isUnsigned ? 'id' : `id - IF(id > ${MOST_SIGNED}, ${NUMBERS}, 0)`};
END`
}

/** The statements that create the functions. `isUnsigned`: for columns without a sign. */
export function timesFor(name: string, plan: TimesPlan, isUnsigned: boolean) {
  const comment = `${plan.comment}${isUnsigned ? ', unsigned' : ''}`
  const [bigint, endings] = [isUnsigned ? 'BIGINT UNSIGNED' : 'BIGINT', endingsOf(plan)]
  const create = (ending: string) => {
    const full = `${name}_${ending}`
    const [signature, body] =
      ending === 'time'
        ? ['(id DECIMAL(20, 0)) RETURNS DATETIME(6)', timeBody(full, plan)]
        : [`(moment DATETIME(6)) RETURNS ${bigint}`, boundBody(ending, full, plan, isUnsigned)]
    return `
CREATE FUNCTION IF NOT EXISTS ${quoted(full)}${signature}
  DETERMINISTIC NO SQL SQL SECURITY INVOKER
  COMMENT ${literal(comment)}
${body}`
  }
  return [...checkedBy(endings.map((ending) => refuseOther(`${name}_${ending}`, comment))), ...endings.map(create)]
}
