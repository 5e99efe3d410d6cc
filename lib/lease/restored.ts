// restored(): reports to a store that older records of groups and counters were put back, which it may not detect itself. If
// one fails, the others are still processed.

import { checkKeys, isAbsent } from '../base/check.ts'
import { optionTypeError, unusableOptionError } from '../base/errors.ts'
import { checkStore, openGiven } from '../stores/open.ts'
import type { GroupOrCounter, SlotStore, Store } from '../stores/store.ts'
import { readName } from './common-options.ts'

/** The names that are allowed. */
const WANTED = "a group's name, or { name } of a counter"

/** What a user names: a group, or a counter as in SegmentId.open(); undefined for all of both. */
export function readWhat(given: unknown): GroupOrCounter | undefined {
  if (isAbsent(given)) return undefined
  if (typeof given === 'string') return { group: readName('group', given) }
  if (typeof given !== 'object') throw optionTypeError('what', given, WANTED)
  return { name: readName('name', checkKeys('what', given, ['name']).name) }
}

/**
 * Returns the groups and counters that were processed.
 * @param named undefined: all groups and counters
 * @param unlisted the error to throw if a store cannot list them
 */
export async function tell(store: SlotStore, named: GroupOrCounter | undefined, unlisted: () => Error) {
  if (store.restored === undefined)
    throw unusableOptionError('store', store, 'for restored(), which is for servers only')
  const told = named === undefined ? await store.everything?.() : [named]
  if (told === undefined) throw unlisted()
  const failures: Error[] = []
  for (const what of told) await store.restored(what).catch((error) => failures.push(error))
  if (failures.length > 0) throw failures[0]
  return told
}

/** The error if nothing is named, and the store cannot list what it has. */
export const unlistedError = (): Error =>
  optionTypeError('what', undefined, `${WANTED}: this store cannot list its contents`)

/**
 * Reports that older records were restored on a store, from a backup, a snapshot, or a copy of the data folder. The store may
 * show no sign of this, and then only this call prevents repeated IDs. Call it when the server is up, before members can reach
 * the server. `npx flakeforge restored` does the same.
 *
 * A group then grants no slots for 60 s + `skewMs`, and gets another `lineage`. A counter grants no block until `skipTo`.
 * @param what a group's name, or `{ name }` of a counter. Default: all groups and counters that the store knows. Name those
 * that were created after the backup was taken
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: `what` is absent, and the store cannot list its contents, as Redis; or
 * the store is a folder.
 * @throws {Error} `ERR_FLAKE_STORE`: the store failed. `ERR_FLAKE_RECORD`: a record cannot be read. The others were
 * processed.
 * @example
 * await restored('postgres://localhost/app')
 */
export function restored(
  store: Store | string | readonly string[] | null | undefined,
  what?: string | { name: string } | null,
): Promise<void>
export async function restored(given: unknown, what?: unknown) {
  checkStore(given, 'restored')
  const named = readWhat(what)
  const { store, close } = openGiven(given)
  try {
    await tell(store, named, unlistedError)
  } finally {
    await close()
  }
}
