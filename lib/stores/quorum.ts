// One store out of three or five that know nothing of each other. Its records are agreed on by a majority, so a minority may
// stop or lose its data, and members notice nothing.

import { DatabaseStore } from './database.ts'
import { type QuorumOptions, readList } from './quorum/list.ts'
import { QuorumRecords } from './quorum/records.ts'
import type { RecordStore } from './records.ts'
import type { Store } from './store.ts'

export type { QuorumOptions }

/**
 * @param stores as `quorumStore()` takes them
 * @param open opens the store at an address
 */
export function makeQuorum(
  stores: unknown,
  options: unknown,
  open: (address: string) => object,
): DatabaseStore & Store & { readonly records: RecordStore } {
  return new DatabaseStore(new QuorumRecords(readList(stores, options, open)))
}

/** A store for a list of addresses, with our own clients, which `close()` ends. */
export const openQuorum = (addresses: readonly string[], open: (address: string) => object) =>
  new DatabaseStore(new QuorumRecords(readList(addresses, undefined, open)), addresses.join(' '))
