// One store out of three or five that know nothing of each other. Its records are agreed on by a majority, so a minority may
// stop or lose its data, and members notice nothing.

import { optionTypeError } from '../base/errors.ts'
import { DatabaseStore } from './database.ts'
import { type QuorumOptions, readList } from './quorum/list.ts'
import { ListedStore } from './quorum/listed-store.ts'
import { List, QuorumRecords } from './quorum/records.ts'
import type { RecordStore } from './records.ts'
import type { SlotStore, Store } from './store.ts'

export type { QuorumOptions }

const storesOf = (...list: Parameters<typeof readList>) => readList(...list).map((each) => new ListedStore(each))

/**
 * @param stores as `quorumStore()` takes them
 * @param open opens the store at an address
 */
export function makeQuorum(
  stores: unknown,
  options: unknown,
  open: (address: string) => object,
): DatabaseStore & Store & { readonly records: RecordStore } {
  return new DatabaseStore(new QuorumRecords(new List(storesOf(stores, options, open))))
}

const WANTED_LIST = 'the addresses of three or five stores, or the result of quorumStore()'

/** The records of several stores. */
function quorumOf(store: SlotStore, name: string) {
  const { records } = store as { records?: unknown }
  if (!(records instanceof QuorumRecords)) throw optionTypeError(name, store, WANTED_LIST)
  return records
}

/** Changes the list of groups and counters, in which one store is replaced, or two are added to three. Returns their names. */
export async function changeList(from: SlotStore, to: SlotStore, namesIn: (store: SlotStore) => Promise<string[]>) {
  const [present, next] = [quorumOf(from, 'from'), quorumOf(to, 'to')]
  const names = await namesIn(from)
  for (const name of names) await present.changeTo(next, name)
  return names
}

/** Stores of one thread with the same addresses have this many connections to each server: more would use up a database's. */
const MOST_LISTS = 8
/** So many stores share a list before another one is opened: a connection costs PostgreSQL as much time as 15 statements. */
const USERS_OF_A_LIST = 16

/** The lists that were opened by their addresses. */
const opened: Map<string, Set<List>> = new Map()

/** The list of these addresses with the fewest users: another one if all have many, and lists are few. */
function listAt(addresses: readonly string[], open: (address: string) => object) {
  const key = addresses.join(' ')
  const lists = opened.get(key) ?? new Set()
  const [fewest] = [...lists].sort((one, other) => one.users - other.users)
  if (fewest !== undefined && (fewest.users < USERS_OF_A_LIST || lists.size === MOST_LISTS)) {
    fewest.users += 1
    return fewest
  }
  const onEnd = () => {
    lists.delete(list)
    if (lists.size === 0) opened.delete(key)
  }
  const list = new List(storesOf(addresses, undefined, open), { onEnd })
  opened.set(key, lists.add(list))
  return list
}

/** A store for a list of addresses, with our own clients, which `close()` ends unless other stores of this thread use them. */
export const openQuorum = (addresses: readonly string[], open: (address: string) => object) =>
  new DatabaseStore(new QuorumRecords(listAt(addresses, open)), addresses.join(' '))
