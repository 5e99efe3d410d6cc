// Warns if a group may grant the node of a function that makes IDs in the store's database: both would make equal IDs. Only
// PostgreSQL, MariaDB and MySQL can have such functions; those of another database cannot be known.

import { warnOfDatabaseFunction } from '../base/errors.ts'
import type { JoinSettings } from './join-options.ts'
import type { SlotStore } from './stores/database.ts'
import { type DatabaseFunction, fingerprintOf } from './stores/database-function.ts'

/** The slot that has this node; undefined if none of them has. */
function slotOf(node: number, { config, nodeOf }: JoinSettings) {
  for (let slot = 0; slot < config.slots; slot++) if (nodeOf(slot).node === node) return slot
}

function check(found: DatabaseFunction, settings: JoinSettings) {
  if (found.fingerprint !== fingerprintOf(settings.facts)) return
  const slot = slotOf(found.node, settings)
  if (slot !== undefined) warnOfDatabaseFunction(settings.group, found, slot)
}

/** If the functions cannot be read, there is no warning: the calls of the lease report a store that fails. */
export async function warnOfFunctions(store: SlotStore, settings: JoinSettings, signal: AbortSignal) {
  const found = await Promise.resolve(store.functions?.(signal)).catch(() => undefined)
  for (const each of found ?? []) check(each, settings)
}
