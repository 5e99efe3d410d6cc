// The function that makes IDs in MariaDB and MySQL, for INSERT statements and BEFORE INSERT triggers: neither database takes a
// stored function as a DEFAULT.
//
// The last position is the AUTO_INCREMENT counter of an InnoDB table. A row with a higher number moves it forward, nothing
// moves it back, no rollback undoes it, and its log precedes the commit of any row that has the number. Two sessions that move
// it at once cannot collide: each ID is a number that the server itself assigned, after its own move.
//
// No row stays: the savepoint is rolled back, so there is nothing to clean up, to lock or to replicate. Rows that a session
// numbers itself have its connection, and those that the server numbers have 0, so none waits for another transaction's row. A locking row (v = GREATEST(v + 1, now))
// would stay locked until commit, and the lock of an Aria table until the end of the statement, unseen by deadlock detection.
//
// Nothing here sleeps, because SLEEP() ends at a time of day: if the clock is set back by an hour meanwhile, the call takes an hour
// longer.

import type { FunctionPlan } from '../database-function.ts'

const NS_PER_US = 1000
/** A session that exhausts ticks ahead of the clock waits for this long at most, so that a clock set back stops nothing. */
const LONGEST_WAIT_US = 100_000
/** How often it looks at the clock meanwhile, at most: with `sysdate-is-now` the clock stands still during a statement. */
const MOST_LOOKS = 200_000

/**
 * The present tick. SYSDATE() is the real time in the session's zone, and NOW() against UTC_TIMESTAMP() that zone's offset,
 * whatever `SET timestamp` says.
 */
function tickSql({ epoch, tickNs }: FunctionPlan) {
  const us = `TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', SYSDATE(6)) + TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6))`
  const since = `(${us} - ${epoch * 1000})`
  if (tickNs % NS_PER_US === 0) return `FLOOR(${since} / ${tickNs / NS_PER_US})`
  return `FLOOR(${since} * ${NS_PER_US} / ${tickNs})`
}

const idSql = ({ counterBits, counterShift, tickShift, nodeBits }: FunctionPlan) =>
  `CAST((place >> ${counterBits} << ${tickShift}) | ${BigInt.asUintN(64, nodeBits)} | ((place & ${2 ** counterBits - 1}) << ${counterShift}) AS SIGNED)`

/** The statements that create the function and its table. A function's body contains semicolons. */
export function functionFor(name: string, plan: FunctionPlan) {
  const last = `${name}_last`
  const { counterBits, lastTick, lastPosition, tickNs, comment } = plan
  const tickUs = Math.ceil(tickNs / NS_PER_US)
  return [
    `
-- Its AUTO_INCREMENT is the position of the last ID, and it has no rows. Never truncate it or set it back.
CREATE TABLE IF NOT EXISTS ${last} (
  place BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  connection BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (place, connection)
) ENGINE = InnoDB`,
    `
CREATE FUNCTION ${name}() RETURNS BIGINT
  NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
  COMMENT '${comment.replaceAll("'", "''")}'
BEGIN
  DECLARE tick BIGINT DEFAULT ${tickSql(plan)};
  DECLARE place, present BIGINT UNSIGNED;
  DECLARE began DATETIME(6);
  DECLARE looks INT DEFAULT 0;
  IF tick < 0 OR tick > ${lastTick} THEN
    SIGNAL SQLSTATE '22003' SET MESSAGE_TEXT = '${name}(): the clock of the server is outside of the layout''s time';
  END IF;
  SET present = tick << ${counterBits};
  SAVEPOINT flakeforge;
  INSERT INTO ${last} VALUES (NULL, 0);
  SET place = LAST_INSERT_ID();
  IF place < present THEN
    INSERT INTO ${last} VALUES (present - 1, CONNECTION_ID()), (NULL, 0);
    SET place = LAST_INSERT_ID();
  END IF;
  ROLLBACK TO SAVEPOINT flakeforge;
  IF place > ${lastPosition} THEN
    SIGNAL SQLSTATE '22003' SET MESSAGE_TEXT = '${name}(): the last ID of the layout has been made';
  END IF;
  IF place >= present + ${2 ** counterBits} AND place & ${2 ** counterBits - 1} < @@auto_increment_increment THEN
    SET began = SYSDATE(6);
    WHILE SYSDATE(6) BETWEEN began AND began + INTERVAL LEAST(((place - present) >> ${counterBits}) * ${tickUs}, ${LONGEST_WAIT_US}) MICROSECOND
      AND looks < ${MOST_LOOKS} DO
      SET looks = looks + 1;
    END WHILE;  -- so that many sessions do not run ahead
  END IF;
  RETURN ${idSql(plan)};
END`,
  ]
}
