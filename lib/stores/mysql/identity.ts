// The identity of a server, as SQL, and the servers that a store must refuse. Two servers, or two runs of one server, never
// have the same identity.

import { passing, storeError, useAnother } from '../../base/errors.ts'
import type { StoreIdentity } from '../records.ts'
import type { Tables } from './place.ts'
import { UNDUMPED } from './schema.ts'
import { bytes, HINTS, literal, SETTINGS } from './statement.ts'

/** Global variables only, never the session's, so that it is the same for all connections. */
export const NAME = `CONVERT(CONCAT_WS(':', @@global.hostname, @@global.port, @@global.server_id) USING utf8mb4)`

const engineOf = (database: string, table: string, more: string = '') => `(
    SELECT CONCAT_WS(' ', ENGINE${more}) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = ${database} AND TABLE_NAME = ${literal(table)}
  )`

/** The table's own row, with the condition that no dump brought it. No group has this name. */
const [OWN_GROUP, OWN_NAME] = [bytes(''), bytes('table')]
export const isOwnRow = (row: string) =>
  `${row}.group_name = ${OWN_GROUP} AND ${row}.name = ${OWN_NAME} AND ${row}.undumped = ${UNDUMPED}`

/**
 * How many of its threads receive or apply another server's writes. A replica need not be read_only: that is an option.
 * MariaDB counts both kinds. MySQL has a row for each source; a user needs the right to read these two tables.
 */
const MARIADB_FOLLOWS = `SUM(VARIABLE_NAME LIKE 'Slave%' AND VARIABLE_VALUE NOT IN ('OFF', '0'))`
const MYSQL_FOLLOWS = `(SELECT COUNT(*) FROM (
    SELECT SERVICE_STATE FROM performance_schema.replication_connection_status
    UNION ALL SELECT SERVICE_STATE FROM performance_schema.replication_applier_status
  ) AS thread WHERE SERVICE_STATE <> 'OFF')`

/**
 * How often it was set to follow another server; NULL while it does. Reading the status is most of a statement's cost. MySQL
 * does not count it: there it is 0.
 */
const CHANGES = `(
  /*M!100100 SELECT IF(
    ${MARIADB_FOLLOWS} = 0, CAST(COALESCE(SUM(IF(VARIABLE_NAME LIKE 'Com%', VARIABLE_VALUE, 0)), 0) AS UNSIGNED), NULL
  )
  FROM information_schema.GLOBAL_STATUS
  WHERE VARIABLE_NAME IN ('Com_change_master', 'Slave_running', 'Slaves_running') */
  /*!80000 SELECT IF(${MYSQL_FOLLOWS} = 0, 0, NULL) */
)`

/**
 * `history`: the server, and the random text in the table's own row. NULL without that text, and for a server that follows
 * another. A dump that is put back brings the row with it, but not its mark: see schema.ts. `OPTIMIZE TABLE` keeps both.
 * @param text SQL for that text
 */
export const historyWith = ({ database }: Tables, text: string) => `CONCAT(CAST(CONVERT(CONCAT(
  ${NAME}, '/', /*!80000 @@server_uuid, '/', */ ${database}, '/', ${CHANGES}, '/'
) USING utf8mb4) AS BINARY), ${text})`

export const historyOf = (tables: Tables) =>
  historyWith(tables, `(SELECT own.value FROM ${tables.record} AS own WHERE ${isOwnRow('own')})`)

/**
 * `process`: the random text of this run of the server, and when the table was created, renamed, rebuilt or imported. So a
 * group that is not durable also notices an older table that was put in place as a file. NULL until this run of the server
 * has a random text.
 */
export const processOf = ({ process, database }: Tables) => `(
  SELECT CONCAT(nonce, ${bytes(' ')}, CAST(CONVERT(CONCAT_WS(' ',
    ${engineOf(database, 'flakeforge_process')}, ${engineOf(database, 'flakeforge_record', ', CREATE_TIME')}
  ) USING utf8mb4) AS BINARY))
  FROM ${process} WHERE server = CAST(${NAME} AS BINARY)
)`

/** Whether a write is allowed, and on disk once it is answered. Newer versions answer OFF instead of 0. */
export const TAKES_WRITES = `CONCAT(@@read_only) IN ('0', 'OFF') AND @@innodb_flush_log_at_trx_commit = 1`

/**
 * The settings to check. The zone and the mode show whether this server supports our settings for one statement. MySQL cannot
 * restart a clock that a session has stopped, so what it shows is compared with a later statement's.
 * @param follows SQL for whether it follows another server
 */
const stateWith = (follows: string) => `CAST(CONVERT(CONCAT_WS('/',
  @@read_only, @@innodb_flush_log_at_trx_commit, ${follows},
  /*M!100100 @@tx_isolation *//*!80000 @@transaction_isolation */, @@time_zone, @@sql_mode
  /*!80000 , SYSDATE(6) */
) USING utf8mb4) AS BINARY)`

/** The kind of server, by its own answer. */
const MARIADB = 'MariaDB'
const KIND = `/*M!100100 ${bytes(MARIADB)} *//*!80000 ${bytes('MySQL')} */`

/** For a server with a history. */
export const STATE = stateWith('0')

/**
 * The first statement on a connection: the server's state, and 1 if it is MariaDB. It touches no table of ours: a replica
 * that was restarted logs a TRUNCATE when one in memory is first read.
 */
export const SERVER = `${SETTINGS} SELECT ${HINTS} ${stateWith(`${CHANGES} IS NULL`)}, ${bytes(MARIADB)} = ${KIND}`

const refusal = (why: string) => storeError(`A store cannot use this MySQL server. ${why}`)

const refuse = (why: string): never => {
  throw refusal(why)
}

/** A failover ends this condition. */
const refuseForNow = (why: string): never => {
  throw passing(refusal(why))
}

/**
 * Throws if a store must not use the server in this state.
 * @param later what its clock shows in a later statement
 */
export function checkState(text: string, later?: string | null) {
  const [readOnly, flush, follows, isolation, zone, mode, clock] = text.split('/')
  if (!['0', 'OFF'].includes(readOnly))
    refuseForNow('It is read_only, so it takes no writes. Use the address of the primary.')
  if (follows !== '0') refuseForNow('It is a replica: it follows another server. Use the address of the primary.')
  if (flush !== '1') {
    refuse(`Its innodb_flush_log_at_trx_commit is ${flush}, so it answers before a write is on disk. Set it to 1.`)
  }
  if (isolation === 'READ-UNCOMMITTED') {
    refuse(
      'This session shows writes that may be rolled back. Use a client whose isolation level is not READ UNCOMMITTED.',
    )
  }
  if (clock !== undefined && clock === later) {
    refuse("This session's clock is stopped. Undo it with SET timestamp = DEFAULT, or use another connection.")
  }
  if (zone !== '+00:00' || !mode.includes('STRICT_ALL_TABLES')) {
    refuse('It cannot set time_zone and sql_mode for one statement. MariaDB 10.5 or MySQL 8.0.17 can.')
  }
}

/** Throws unless the tables are as schema.ts creates them. */
export function checkTables({ process }: StoreIdentity) {
  const [, ofProcess, ofRecord] = process.split(' ')
  if (ofRecord !== 'InnoDB') {
    refuse(
      'The table flakeforge_record has an engine other than InnoDB. Create it with the SQL of `npx flakeforge schema mysql`.',
    )
  }
  if (ofProcess !== 'MEMORY') {
    refuse(
      'The table flakeforge_process has an engine other than MEMORY, so a restart would go unnoticed. Recreate it.',
    )
  }
}

/**
 * How a table is made. It is the one statement that tells a session's temporary table from ours, and it runs no code of a view.
 */
export const howMade = (table: string) => `SHOW CREATE TABLE ${table}`

/** Throws if a view is in the place of our table, or if a temporary table of this session, which no other member sees, hides it. */
export function checkVisible([[name, text]]: (string | null)[][]) {
  if (text?.startsWith('CREATE TEMPORARY'))
    refuse(
      `This session has a temporary table ${name}, which hides the store's own. Drop it, or use another connection.`,
    )
  if (!text?.startsWith('CREATE TABLE'))
    refuse(`${name} is not a table. Drop or rename it, or ${useAnother('database')}.`)
}

/** The server's answer to VARIABLES, by name; it may lack some. */
export type Variables = Record<string, string | undefined>

/** The variables that checkVariables and lossOf look at. */
export const VARIABLES = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (
  'binlog_format', 'group_replication_group_name', 'innodb_flush_method', 'log_bin', 'sync_binlog', 'wsrep_on'
)`

/** Throws if the server may have several primaries, or replicas that miss our writes. */
export function checkVariables({
  binlog_format: format,
  group_replication_group_name: group,
  log_bin: log,
  wsrep_on: galera,
}: Variables) {
  if (galera === 'ON') refuse(`It is a Galera cluster, which has several primaries, so ${useAnother('server')}.`)
  if (group) refuse(`It is in a replication group, which has no in-memory tables, so ${useAnother('server')}.`)
  if (log === 'ON' && format === 'STATEMENT') {
    refuse('Its replicas would miss the writes of a store, because binlog_format is STATEMENT. Set it to ROW or MIXED.')
  }
}

/** Why this server may lose acknowledged writes, and the remedy; undefined if it does not. */
export function lossOf({ log_bin: log, sync_binlog: sync, innodb_flush_method: method }: Variables) {
  if (log === 'ON' && sync !== '1') {
    return `sync_binlog is ${sync}, so a crash of the machine loses writes that are not yet in the binary log. Set it to 1`
  }
  if (method === 'nosync') return 'innodb_flush_method is nosync. Set it to fsync'
}

export { OWN_GROUP, OWN_NAME }
