// One store out of three or five that know nothing of each other. Its records are agreed on by a majority, so a minority may
// stop or lose its data, and members notice nothing.

import { DatabaseStore } from './database.ts'
import { type QuorumOptions, readComing, readList } from './quorum/list.ts'
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

/**
 * Replaces a store in the list of these groups, or adds two to three of them.
 * @param old the address that is replaced; undefined: none
 * @param coming the new addresses
 * @param open opens the store at an address
 */
export async function changeList(
  groups: readonly string[],
  addresses: readonly string[],
  { old, coming }: { old?: string | undefined; coming: readonly string[] },
  open: (address: string) => object,
): Promise<void> {
  const list = readList(addresses, undefined, open)
  const more = readComing(list, coming, open)
  const stay = list.filter((_, at) => addresses[at] !== old)
  const records = new QuorumRecords([...list, ...more], undefined, more.length)
  try {
    const to = [...stay, ...more].map(({ label }) => label)
    for (const group of groups) await records.changeList(group, to)
  } finally {
    await records.close()
  }
}

/** A store for a list of addresses, with our own clients, which `close()` ends. */
export const openQuorum = (addresses: readonly string[], open: (address: string) => object) =>
  new DatabaseStore(new QuorumRecords(readList(addresses, undefined, open)), addresses.join(' '))
