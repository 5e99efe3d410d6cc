// changeStores(): one store of a list is replaced, or two are added to three, while members run.

import { optionRangeError } from '../base/errors.ts'
import { checkStore, openChange } from '../stores/open.ts'
import type { GroupOrCounter, SlotStore, Store } from '../stores/store.ts'
import { readWhat, unlistedError } from './restored.ts'

const isThere = async (store: SlotStore, what: GroupOrCounter) =>
  'group' in what ? store.has?.(what.group) : (await store.counter?.(what.name)) !== undefined

/** The names of the groups and counters to change, in the store. */
async function namesIn(store: SlotStore, named: GroupOrCounter | undefined, given: unknown) {
  const all = named === undefined ? await store.everything?.() : [named]
  if (all === undefined) throw unlistedError()
  if (named !== undefined && !(await isThere(store, named)))
    throw optionRangeError('what', given, 'the name of a group or counter that exists on these stores')
  return [...new Set(all.map((what) => ('group' in what ? what.group : what.name)))]
}

/**
 * Changes the list of stores of a group while its members run: one store is replaced, or two are added to three. When the call
 * returns, the new stores have a vote, and one that was replaced has none, even if it comes back. Then restart the members with
 * the new list, one after another. The other stores of the list must run; if too many are away, nothing is changed. If the call
 * fails on the way, repeat it. `npx flakeforge stores` does the same for addresses.
 * @param from the list as the members have it: addresses, or the result of `quorumStore()`, which may have stores of your own.
 * The store that is replaced may be gone
 * @param to the list as it will be. A store keeps its label
 * @param what a group's name, or `{ name }` of a counter. Default: all that the stores can list; Redis can list none
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: one of them is not a list, or no such group exists.
 * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the group has another list than `from`. `ERR_FLAKE_STORE`: too few stores
 * answered, or the two lists differ in more than one store.
 * @example
 * const [a, b, c, d] = pools.map((pool) => postgresStore(pool))
 * const from = quorumStore([a, b, c], { labels: ['a', 'b', 'c'] })
 * const to = quorumStore([a, b, d], { labels: ['a', 'b', 'd'] })
 * await changeStores(from, to, 'orders')
 */
export function changeStores(
  from: Store | string | readonly string[] | null | undefined,
  to: Store | string | readonly string[],
  what?: string | { name: string } | null,
): Promise<void>
export async function changeStores(from: unknown, to: unknown, what?: unknown) {
  checkStore(from, 'changeStores')
  checkStore(to, 'changeStores')
  const named = readWhat(what)
  await openChange(from, to, (store) => namesIn(store, named, what))
}
