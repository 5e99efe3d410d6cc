// The function that generates IDs in MariaDB and MySQL, for INSERT statements and BEFORE INSERT triggers: neither database takes a
// stored function as a DEFAULT.
//
// The last position is the AUTO_INCREMENT counter of an InnoDB table. A row with a higher number moves it forward, nothing
// moves it back, no rollback undoes it, and its log precedes the commit of any row that has the number. Two sessions that move
// it at once cannot collide: each ID is a number that the server itself assigned, after its own move.
//
// No row stays: on MariaDB the savepoint is rolled back, so there is nothing to clean up, to lock or to replicate. On MySQL, a
// row that is rolled back leaves a lock on the end of the table, for which the sessions would wait unless they were READ COMMITTED.
// There, each row is deleted by its whole key, which locks nothing else. Rows that a session
// numbers itself have its connection, and those that the server numbers have 0, so none waits for another transaction's row. A
// locking row (v = GREATEST(v + 1, now)) would stay locked until commit, and the lock of an Aria table until the end of the
// statement, unseen by deadlock detection.
//
// The state belongs to the node, not to the function: its table's name has the node and the fingerprint of the layout, so a
// table that is left over from another layout or epoch is never taken for it. It is in a database of its own, because rights
// on an application's database would let a role lock it, move it, or hide it behind a temporary table. A role that may create
// temporary tables everywhere still cannot hide it: none can have a partition.
//
// Nothing here sleeps, because SLEEP() ends at a time of day: if the clock is set back by an hour meanwhile, the call takes an hour
// longer.

import type { FunctionPlan } from '../database-function.ts'
import { literal, quoted } from './statement.ts'

const { createHash } = process.getBuiltinModule('node:crypto')

/** The database of the state. Nobody needs rights on it but the one who runs the script. */
const STATE_DATABASE = 'flakeforge'
const HASH_DIGITS = 8

const NS_PER_US = 1000
/** A session that exhausts ticks ahead of the clock waits for this long at most, so that a clock set back stops nothing. */
const LONGEST_WAIT_US = 100_000
/** In how many readings a clock that runs shows another time than that of the statement's start. */
const MOST_LOOKS = 1000
/** A longer MESSAGE_TEXT is another error on MySQL. */
const LONGEST_MESSAGE = 128

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)

const tableOf = ({ node, fingerprint }: FunctionPlan) => `node_${node}_${hashOf(fingerprint)}`

/**
 * The time in microseconds since the epoch, read in two ways. SYSDATE() is the real time in the session's zone. Its offset is
 * that of NOW() against UTC_TIMESTAMP(), which are the statement's start: an hour too much after a change to summer time, or
 * after `SET timestamp`. UNIX_TIMESTAMP() knows the zone, but takes the later of two equal times in autumn.
 */
const timeSql = (epoch: number) => `LEAST(
    TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', SYSDATE(6)) + TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)),
    UNIX_TIMESTAMP(SYSDATE(6)) * 1000000
  ) - ${epoch * 1000}`

/** DIV truncates, whatever the session's div_precision_increment. */
const tickSql = (tickNs: number) =>
  tickNs % NS_PER_US === 0 ? `us DIV ${tickNs / NS_PER_US}` : `us * ${NS_PER_US} DIV ${tickNs}`

const idSql = ({ counterBits, counterShift, tickShift, nodeBits }: FunctionPlan) =>
  `CAST((place >> ${counterBits} << ${tickShift}) | ${BigInt.asUintN(64, nodeBits)} | ((place & ${2 ** counterBits - 1}) << ${counterShift}) AS SIGNED)`

const signal = (state: string, text: string) => `SIGNAL SQLSTATE ${literal(state)} SET MESSAGE_TEXT = ${literal(text)}`

/** A session of MariaDB may have any increment, and would move the position of all others by it. */
const INSERT = '/*M!100100 SET STATEMENT auto_increment_increment = 1, auto_increment_offset = 1 FOR */ INSERT INTO'

/** Not in a comment for MariaDB, which the client of MySQL would leave out. */
const UNDO = '/*!80000 IF FALSE THEN */ ROLLBACK TO SAVEPOINT flakeforge; /*!80000 END IF; */'
/** What MySQL does instead, for each row. */
const removeRow = (table: string, place: string, connection: string) =>
  `/*!80000 DELETE FROM ${STATE_DATABASE}.${table} PARTITION (whole) WHERE ${table}.place = ${place} AND ${table}.connection = ${connection}; */`

const refuseIf = (condition: string, text: string) => `  IF ${condition} THEN ${signal('45000', text)}; END IF;`

/** Throws with what a query has found, unless that is NULL. */
const refuseFound = (advice: string, query: string) => `
  SET found = (${query});
  IF found IS NOT NULL THEN
    SET found = LEFT(CONCAT(${literal(`${advice}: `)}, found), ${LONGEST_MESSAGE});
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = found;
  END IF;`

/** Throws if there is a function of this name that is not what the script would make. */
export const refuseOther = (name: string, comment: string) =>
  refuseFound(
    `Drop ${name}() or choose another name. It exists`,
    `SELECT CONCAT('DEFINER ', DEFINER, ', COMMENT ', ROUTINE_COMMENT) FROM information_schema.ROUTINES
    WHERE ROUTINE_SCHEMA = home AND ROUTINE_NAME = ${literal(name)} AND ROUTINE_TYPE = 'FUNCTION'
      AND NOT (ROUTINE_COMMENT = ${literal(comment)} AND DEFINER = CURRENT_USER())`,
  )

/**
 * The statements that throw, before anything else is made, if one of these checks does. Only a procedure can throw on both
 * databases. Its name has its hash, so scripts that run at once do not disturb each other.
 */
export function checkedBy(checks: string[]) {
  const body = `(home VARCHAR(64)) READS SQL DATA SQL SECURITY INVOKER
BEGIN
  DECLARE found TEXT;
${refuseIf('home IS NULL', 'Name the database in which the function is made')}
${checks.join('\n')}
END`
  const procedure = `${STATE_DATABASE}.check_${hashOf(body)}`
  return [
    `CREATE DATABASE IF NOT EXISTS ${STATE_DATABASE}`,
    `\n-- What it checks must be so before anything is made.\nCREATE PROCEDURE IF NOT EXISTS ${procedure}${body}`,
    `CALL ${procedure}(DATABASE())`,
  ]
}

/** Whether the server is fit for the function, and what is there is what the script would make. */
const checksOf = (name: string, table: string, { comment }: FunctionPlan) => [
  refuseIf(
    '@@log_bin AND NOT @@log_bin_trust_function_creators',
    'Set log_bin_trust_function_creators = 1 here and on each replica with a binary log',
  ),
  refuseIf(
    "@@log_bin AND @@binlog_format = 'STATEMENT'",
    'Set binlog_format to ROW or MIXED, or replicas get other IDs',
  ),
  refuseIf(
    '@@innodb_autoinc_lock_mode = 0',
    'Set innodb_autoinc_lock_mode to 1 or 2: with 0 all wait for the longest statement',
  ),
  '  DO SLEEP(0.001);',
  refuseIf('SYSDATE(6) = NOW(6)', 'Start the server without --sysdate-is-now: each session could set its clock'),
  refuseOther(name, comment),
  refuseFound(
    `Drop ${STATE_DATABASE}.${table}, which is not ours`,
    `SELECT CONCAT_WS(', ', TABLE_TYPE, ENGINE, CREATE_OPTIONS, TABLE_COMMENT) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = ${literal(STATE_DATABASE)} AND TABLE_NAME = ${literal(table)} AND NOT (
      TABLE_TYPE = 'BASE TABLE' AND ENGINE = 'InnoDB' AND CREATE_OPTIONS LIKE '%partitioned%'
      AND TABLE_COMMENT = ${literal(comment)}
    )`,
  ),
  refuseFound(
    `Drop the trigger of ${STATE_DATABASE}.${table}`,
    `SELECT MAX(TRIGGER_NAME) FROM information_schema.TRIGGERS
    WHERE EVENT_OBJECT_SCHEMA = ${literal(STATE_DATABASE)} AND EVENT_OBJECT_TABLE = ${literal(table)}`,
  ),
]

/** The statements that create the function and its table. A function's body contains semicolons. */
export function functionFor(name: string, plan: FunctionPlan) {
  const table = tableOf(plan)
  const into = `${INSERT} ${STATE_DATABASE}.${table} PARTITION (whole)`
  const { counterBits, lastTick, lastPosition, tickNs, epoch, comment } = plan
  const tickUs = Math.ceil(tickNs / NS_PER_US)
  return [
    ...checkedBy(checksOf(name, table, plan)),
    `
-- Its AUTO_INCREMENT is the position of the node's last ID, and it has no rows. Never truncate it or set it back.
CREATE TABLE IF NOT EXISTS ${STATE_DATABASE}.${table} (
  place BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  connection BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (place, connection)
) ENGINE = InnoDB COMMENT = ${literal(comment)} PARTITION BY RANGE (place) (PARTITION whole VALUES LESS THAN MAXVALUE)`,
    `
CREATE FUNCTION IF NOT EXISTS ${quoted(name)}() RETURNS BIGINT
  NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY DEFINER
  COMMENT ${literal(comment)}
BEGIN
  DECLARE us BIGINT DEFAULT ${timeSql(epoch)};
  DECLARE tick BIGINT DEFAULT ${tickSql(tickNs)};
  DECLARE place, present BIGINT UNSIGNED;
  DECLARE began DATETIME(6);
  DECLARE looks INT DEFAULT 0;
  WHILE SYSDATE(6) = NOW(6) DO
    SET looks = looks + 1;
    IF looks > ${MOST_LOOKS} THEN
      ${signal('45000', `${name}(): start the server without --sysdate-is-now: each session could set its clock`)};
    END IF;
  END WHILE;
  IF @@log_bin AND @@binlog_format = 'STATEMENT' THEN
    ${signal('45000', `${name}(): set binlog_format to ROW or MIXED, or replicas get other IDs`)};
  END IF;
  IF (us >= 0 AND tick <= ${lastTick}) IS NOT TRUE THEN
    ${signal('22003', `${name}(): the clock of the server is outside of the time of the layout`)};
  END IF;
  SET present = tick << ${counterBits};
  SAVEPOINT flakeforge;
  ${into} VALUES (NULL, 0);
  SET place = LAST_INSERT_ID();
  ${removeRow(table, 'place', '0')}
  IF place < present THEN
    ${into} VALUES (present - 1, CONNECTION_ID()), (NULL, 0);
    SET place = LAST_INSERT_ID();
    ${removeRow(table, 'present - 1', 'CONNECTION_ID()')}
    ${removeRow(table, 'place', '0')}
  END IF;
  ${UNDO}
  IF place > ${lastPosition} THEN
    ${signal('22003', `${name}(): the last ID of the layout has been generated`)};
  END IF;
  IF place >= present + ${2 ** counterBits} AND place & ${2 ** counterBits - 1} < @@auto_increment_increment THEN
    SET began = SYSDATE(6);
    WHILE SYSDATE(6) BETWEEN began AND began + INTERVAL LEAST(((place - present) >> ${counterBits}) * ${tickUs}, ${LONGEST_WAIT_US}) MICROSECOND DO
      DO 0;
    END WHILE;  -- so that many sessions do not run ahead
  END IF;
  RETURN ${idSql(plan)};
END`,
  ]
}
