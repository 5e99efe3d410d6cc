// Warns if a group may grant the node of a function that generates IDs in the store's database: both would generate equal IDs. A
// node that the group reserves for nextAt() is certain to be used, so that call fails instead. Only PostgreSQL, MariaDB and MySQL
// can have such functions; those of another database cannot be known.

import { warnOfDatabaseFunction } from '../base/errors.ts'
import { within } from '../base/in-time.ts'
import type { LayoutFacts } from '../codec/facts.ts'
import { type DatabaseFunction, fingerprintOf } from '../stores/database-function.ts'
import type { SlotStore } from '../stores/store.ts'
import { BUDGET } from '../stores/time-budget.ts'
import type { JoinSettings } from './join-options.ts'

/** The slot that has this node, if one has. */
function slotOf(node: number, { config, nodeOf }: JoinSettings) {
  for (let slot = 0; slot < config.slots; slot++) if (nodeOf(slot).node === node) return slot
}

function check(found: DatabaseFunction, settings: JoinSettings) {
  if (found.fingerprint !== fingerprintOf(settings.facts)) return
  const slot = slotOf(found.node, settings)
  if (slot !== undefined) warnOfDatabaseFunction(settings.group, found, slot)
}

/** A function in the store's database that generates IDs of this layout with one of these nodes. */
export async function functionOf(store: SlotStore, facts: LayoutFacts, nodes: readonly number[]) {
  const found = (await store.functions?.()) ?? []
  return found.find(({ node, fingerprint }) => nodes.includes(node) && fingerprint === fingerprintOf(facts))
}

/**
 * Warns before join() returns, so that the look keeps no client busy afterwards. If the functions cannot be read in time, there
 * is no warning: the calls of the lease report a store that fails.
 * @param leftMs how long join() may still take after `waitMs`
 */
export async function warnOfFunctions(store: SlotStore, settings: JoinSettings, leftMs: number) {
  const limitMs = Math.min(BUDGET.FUNCTIONS_MS, settings.waitMs + leftMs)
  if (store.functions === undefined || limitMs <= 0) return
  const over = new AbortController()
  const looking = store.functions(over.signal).catch(() => undefined)
  const found = await within(looking, limitMs)
  over.abort()
  for (const each of found ?? []) check(each, settings)
}
