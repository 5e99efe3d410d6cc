// One store out of three or five that know nothing of each other. Its records are agreed on by a majority, so a minority may
// stop or lose its data, and members notice nothing.

import { DatabaseStore } from './database.ts'
import { type QuorumOptions, readComing, readList } from './quorum/list.ts'
import { List, QuorumRecords } from './quorum/records.ts'
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
  return new DatabaseStore(new QuorumRecords(new List(readList(stores, options, open))))
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
  const records = new QuorumRecords(new List([...list, ...more], { coming: more.length }))
  try {
    const to = [...stay, ...more].map(({ label }) => label)
    for (const group of groups) await records.changeList(group, to)
  } finally {
    await records.close()
  }
}

/** Stores of one thread with the same addresses have this many connections to each server: more would use up a database's. */
const MOST_LISTS = 8

/** The lists that were opened by their addresses. */
const opened: Map<string, Set<List>> = new Map()

/** A list of these addresses: another one, as long as there are few, or else the one with the fewest users. */
function listAt(addresses: readonly string[], open: (address: string) => object) {
  const key = addresses.join(' ')
  const lists = opened.get(key) ?? new Set()
  if (lists.size < MOST_LISTS) {
    const onEnd = () => {
      lists.delete(list)
      if (lists.size === 0) opened.delete(key)
    }
    const list = new List(readList(addresses, undefined, open), { onEnd })
    opened.set(key, lists.add(list))
    return list
  }
  const list = [...lists].reduce((fewest, each) => (each.users < fewest.users ? each : fewest))
  list.users += 1
  return list
}

/** A store for a list of addresses, with our own clients, which `close()` ends unless other stores of this thread use them. */
export const openQuorum = (addresses: readonly string[], open: (address: string) => object) =>
  new DatabaseStore(new QuorumRecords(listAt(addresses, open)), addresses.join(' '))
