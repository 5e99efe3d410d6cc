// Whether a replica acknowledged a write. MariaDB answers OK without a warning after a KILL QUERY of a commit that waits for
// its replica, but counts it in Rpl_semi_sync_master_no_tx. So this counter and the status are compared. FLUSH STATUS sets the
// counter to 0, so whether that happened meanwhile is compared too.

import { passing, refusedWriteError, storeError } from '../../base/errors.ts'
import type { Row } from './packages.ts'
import { literal, SETTINGS } from './statement.ts'

/** The server's semi-sync status: MySQL 8.0.26 and newer have `source` where older ones and MariaDB have `master`. */
export interface SemiSync {
  isEnabled: boolean
  isOn: boolean
  unacknowledged: string // how many writes no replica has acknowledged since `resets`
  resets: string // differs if the server's counters were set to 0 meanwhile
}

/**
 * When the counters were last set to 0, to a second, is the difference of the first two. Com_flush, which MariaDB never sets
 * to 0 by that, tells two of them within a second apart; MySQL does not show it here.
 */
const RESETS = ['uptime', 'uptime_since_flush_status', 'com_flush']

const NAMES = ['master', 'source']
  .flatMap((role) => ['enabled', 'status', 'no_tx'].map((end) => `rpl_semi_sync_${role}_${end}`))
  .concat(RESETS)
const IS_NAMED = `WHERE LOWER(VARIABLE_NAME) IN (${NAMES.map(literal).join(', ')})`

/** MySQL has these variables only with its plugin, so they are selected by name. */
export const SEMI_SYNC = `${SETTINGS} SELECT LOWER(VARIABLE_NAME), VARIABLE_VALUE
FROM /*M!100100 information_schema.GLOBAL_STATUS *//*!80000 performance_schema.global_status */ ${IS_NAMED}
UNION ALL
SELECT 'enabled', /*M!100100 @@global.rpl_semi_sync_master_enabled *//*!80000
  COALESCE(MAX(VARIABLE_VALUE), 'OFF') FROM performance_schema.global_variables ${IS_NAMED} */`

export function semiSyncOf(rows: Row[]): SemiSync {
  const values = new Map(rows.map(([name, value]) => [name?.replace(/^rpl_semi_sync_(master|source)_/, ''), value]))
  const shown = (name: string) => values.get(name) ?? ''
  const [uptime, sinceReset, flushes] = RESETS.map(shown)
  return {
    isEnabled: ['1', 'ON'].includes(shown('enabled')),
    isOn: shown('status') === 'ON',
    unacknowledged: shown('no_tx'),
    resets: `${BigInt(uptime) - BigInt(sinceReset)}/${flushes}`,
  }
}

const WAY_OUT = 'Check the replicas, or switch semi-sync off if none is ever promoted.'

/** Throws if a write would not wait for a replica, although the server is set to wait for one. */
export function checkBefore({ isEnabled, isOn }: SemiSync) {
  if (!isEnabled || isOn) return
  throw passing(
    refusedWriteError(
      `MySQL: semi-sync is enabled and its status is OFF, so no replica would have the write. ${WAY_OUT}`,
    ),
  )
}

/** Throws if a write between these two may be on no replica. */
export function checkAfter(before: SemiSync, after: SemiSync) {
  if (!before.isEnabled) return
  const isCounted = after.resets === before.resets && after.unacknowledged === before.unacknowledged
  if (after.isEnabled && after.isOn && isCounted) return
  throw passing(
    storeError(
      `MySQL did not confirm that a replica has the write: the statement was killed while it waited, semi-sync timed out or was switched off, or FLUSH STATUS reset its counters. ${WAY_OUT}`,
    ),
  )
}

/**
 * How many replicas are connected, and how many of them a commit waits for. MySQL shows the replicas to users with the right
 * PROCESS, before 8.0.22 in this table only.
 */
const REPLICAS = `${SETTINGS} SELECT
  /*M!100100 (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Slaves_connected'), 1 *//*!80000
  (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'),
  (SELECT COALESCE(MAX(VARIABLE_VALUE), 1) FROM performance_schema.global_variables WHERE VARIABLE_NAME IN
    ('rpl_semi_sync_master_wait_for_slave_count', 'rpl_semi_sync_source_wait_for_replica_count')) */`

/** @param session that reads */
export async function replicasOf(session: { read(text: string): Promise<Row[][]> }) {
  const [[[connected, awaited]]] = await session.read(REPLICAS)
  return { connected: Number(connected), awaited: Number(awaited) }
}
