'use strict'
// @ts-check

// Which server this is, as SQL, and which servers a store must refuse. It must never take two servers, or two runs of one
// server, for the same.

const { storeError } = require('../../../base/errors.js')
const { bytes } = require('./text.js')

/**
 * @import { StoreIdentity } from '../../../../types/stores.d.ts'
 */

const NAME = `CONVERT(CONCAT_WS(':', @@hostname, @@port, @@server_id) USING utf8mb4)`

/**
 * @param {string} table
 * @param {string} more
 */
const engineOf = (table, more = '') => `(
    SELECT CONCAT_WS(' ', ENGINE${more}) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}'
  )`

/** Which server and table, and how often it was made to follow another: a dump that is put back is made anew. */
const HISTORY = `CAST(CONVERT(CONCAT_WS('/',
  ${NAME}, /*!80000 @@server_uuid, */ DATABASE(),
  (
    SELECT CAST(SUM(VARIABLE_VALUE) AS UNSIGNED)
    FROM /*M!100100 information_schema.GLOBAL_STATUS *//*!80000 performance_schema.global_status */
    WHERE VARIABLE_NAME IN ('Com_change_master', 'Com_change_replication_source')
  ),
  ${engineOf('flakeforge_record', ', CREATE_TIME')}
) USING utf8mb4) AS BINARY)`

/** The random text of this run of the server, and NULL where there is none yet. */
const PROCESS = `(
  SELECT CONCAT(nonce, ${bytes(' ')}, CAST(CONVERT(${engineOf('flakeforge_process')} USING utf8mb4) AS BINARY))
  FROM flakeforge_process WHERE server = CAST(${NAME} AS BINARY)
)`

/** Whether a write is allowed, and on disk once it is answered. Newer versions answer OFF instead of 0. */
const TAKES_WRITES = `CONCAT(@@read_only) IN ('0', 'OFF') AND @@innodb_flush_log_at_trx_commit = 1`

/** What each answer is checked for. The last two show whether this server knows our settings for one statement. */
const STATE = `CAST(CONVERT(CONCAT_WS('/',
  @@read_only, @@innodb_flush_log_at_trx_commit, /*M!100100 @@tx_isolation *//*!80000 @@transaction_isolation */,
  @@time_zone, @@sql_mode
) USING utf8mb4) AS BINARY)`

/**
 * @param {string} why
 * @returns {never}
 */
const refuse = (why) => {
  throw storeError(`A store cannot use this MySQL server. ${why}`)
}

/**
 * Throws if a store must not use the server in this state.
 * @param {string} text
 */
function checkState(text) {
  const [readOnly, flush, isolation, zone, mode] = text.split('/')
  if (!['0', 'OFF'].includes(readOnly))
    refuse('It is read_only, so it takes no writes. Use the address of the primary.')
  if (flush !== '1') {
    refuse(`Its innodb_flush_log_at_trx_commit is ${flush}, so it answers before a write is on disk. Set it to 1.`)
  }
  if (isolation === 'READ-UNCOMMITTED') {
    refuse('This session shows writes that may be undone. Use a client whose isolation level is not READ UNCOMMITTED.')
  }
  if (zone !== '+00:00' || !mode.includes('STRICT_ALL_TABLES')) {
    refuse('It cannot set time_zone and sql_mode for one statement. MariaDB 10.5 or MySQL 8.0.17 can.')
  }
}

/**
 * Throws if the tables are not what schema.js makes.
 * @param {StoreIdentity} identity
 */
function checkTables({ history, process }) {
  if (!/InnoDB \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(history)) {
    refuse('The table flakeforge_record has another engine than InnoDB. Make it as `npx flakeforge schema` prints it.')
  }
  if (!process.endsWith(' MEMORY')) {
    refuse(
      'The table flakeforge_process has another engine than MEMORY, so a restart would not be noticed. Make it anew.',
    )
  }
}

/**
 * What the server answers to VARIABLES, by name; it may lack some.
 * @typedef {Record<string, string | undefined>} Variables
 */

/** The variables that checkVariables and lossOf look at. */
const VARIABLES = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (
  'binlog_format', 'group_replication_group_name', 'innodb_flush_method', 'log_bin', 'sync_binlog', 'wsrep_on'
)`

/**
 * Throws if the server may have several primaries, or replicas that miss our writes.
 * @param {Variables} variables
 */
function checkVariables({
  binlog_format: format,
  group_replication_group_name: group,
  log_bin: log,
  wsrep_on: galera,
}) {
  if (galera === 'ON') refuse('It is a Galera cluster, which has several primaries. Use a server of its own.')
  if (group) refuse('It is in a replication group, which has no tables in memory. Use a server of its own.')
  if (log === 'ON' && format === 'STATEMENT') {
    refuse('Its replicas would miss what a store writes, because binlog_format is STATEMENT. Set it to ROW or MIXED.')
  }
}

/**
 * Why this server may lose what it acknowledged, and what to do; undefined if it does not.
 * @param {Variables} variables
 */
function lossOf({ log_bin: log, sync_binlog: sync, innodb_flush_method: method }) {
  if (log === 'ON' && sync !== '1') {
    return `sync_binlog is ${sync}, so a crash of the machine undoes what is not yet in the binary log. Set it to 1`
  }
  if (method === 'nosync') return 'innodb_flush_method is nosync. Set it to fsync'
}

module.exports = {
  NAME,
  HISTORY,
  PROCESS,
  STATE,
  TAKES_WRITES,
  VARIABLES,
  checkState,
  checkTables,
  checkVariables,
  lossOf,
}
