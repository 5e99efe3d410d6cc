// The list of a quorum: which stores are in it, and the label by which all members know each of them.

import { addressesIn } from '../../base/addresses.ts'
import { checkKeys, isAbsent } from '../../base/check.ts'
import * as errors from '../../base/errors.ts'
import { withoutSecrets } from '../../base/printable.ts'
import { ownOf } from '../../base/values.ts'
import { isWrapped } from '../address.ts'
import { checkedRecords } from '../record-store.ts'
import type { RecordStore, Records } from '../records.ts'
import { PORTS, SCHEMES } from '../schemes.ts'

/** The options of `quorumStore()`. */
export interface QuorumOptions {
  /**
   * the name of each store, in the order of `stores`: 1 to 128 bytes without white space or invisible characters, the same for
   * all members. Default: the address without user, password and options. A store without an address needs a label
   */
  labels?: readonly string[] | null | undefined
}

/** A store of a list. `server`: which one it is, as far as its address says. */
export type Listed = { label: string; server: string | undefined; records: Records }

/** Majorities of 3 and 5: an even number tolerates no more failures than the odd one below it. */
const LENGTHS = [3, 5]

const WANTED_ADDRESS =
  "the address of one server (not a folder), such as 'redis://HOST' or 'postgres://HOST/NAME', without spaces, commas or quotes"
const WANTED_STORE = `${WANTED_ADDRESS}; the result of redisStore() and the like; or an object with the functions read, swap and names`
const WANTED_SINGLE = 'a single store: a list cannot be in a list'
const WANTED_LABELED = 'an address that names a server in at most 128 bytes, or have a name in labels'
const WANTED_LABEL = 'a name of 1 to 128 bytes without white space or invisible characters'

const isLabel = (label: unknown): label is string =>
  typeof label === 'string' && /^[^\s\p{C}]{1,128}$/u.test(label) && Buffer.byteLength(label) <= 128

/** The address of a server without user, password and options; undefined if that does not name the server. */
function labelOf(address: string) {
  const label = withoutSecrets(address)
    .replace('…@', '')
    .replace(/[?#;,&]…$/, '')
    .replace(/^[^/]*\/\/[^/]*/, (server) => server.toLowerCase())
  return label.includes('…') || !isLabel(label) ? undefined : label
}

/** The server that the label of an address names, however it is spelled: two databases of a server are no two servers. */
function serverOf(label: string) {
  const [, scheme, host = ''] = /^([^/]*)\/\/([^/]*)/.exec(label) ?? []
  const kind = Object.keys(PORTS).find((each) => SCHEMES[each as keyof typeof SCHEMES].includes(scheme))
  const port = /:\d+$/.test(host) ? '' : `:${PORTS[kind as keyof typeof PORTS]}`
  return kind === undefined ? label : `${kind} ${host}${port}`
}

/** The records of a given store. Those of a folder have a lock in place of records. */
function recordsOf(store: unknown): Records | undefined {
  const { records } = ownOrInherited(store)
  if (isRecords(records)) return records
  return isRecords(store) ? checkedRecords(store as unknown as RecordStore) : undefined
}

const ownOrInherited = (store: unknown) =>
  (typeof store === 'object' && store !== null ? store : {}) as { records?: unknown }

const isRecords = (given: unknown): given is Records =>
  ['read', 'swap', 'names'].every(
    (name) => typeof (given as Record<string, unknown> | undefined)?.[name] === 'function',
  )

/** What is no store of a list, whatever the others are. An address of an unknown kind is left to `open`. */
function checkStore(given: unknown, at: number) {
  if (typeof given === 'string') {
    const isAddress = /^(?!file:)[a-z][a-z\d+.-]*:\/\/\S/i.test(given) && !isWrapped(given)
    if (!isAddress || addressesIn(given)[0] !== given) throw errors.listedStoreError(at, given, WANTED_ADDRESS)
    return
  }
  const records = recordsOf(given)
  if (records === undefined) throw errors.listedStoreError(at, given, WANTED_STORE)
  if (records.storeStates !== undefined) throw errors.listedStoreError(at, given, WANTED_SINGLE)
}

/** By which label all members know a store, and the names that no other store of the list may have. */
function namesFor(given: unknown, at: number, label: unknown, open: (address: string) => object) {
  if (!isAbsent(label) && !isLabel(label)) throw errors.optionTypeError(`labels[${at}]`, label, WANTED_LABEL)
  const own = typeof given === 'string' ? labelOf(given) : undefined
  if (isAbsent(label) && own === undefined) {
    if (typeof given !== 'string')
      throw errors.optionTypeError(`labels[${at}]`, label, `${WANTED_LABEL}: this store has no address`)
    open(given) // says what is wrong with the address itself
    throw errors.listedStoreError(at, given, WANTED_LABELED)
  }
  return isAbsent(label)
    ? { label: own as string, server: serverOf(own as string) }
    : { label: label as string, server: own }
}

/** Those of the next list that are new in it. */
export function comingOf<Store extends Listed>(present: readonly Store[], next: readonly Store[]): Store[] {
  const coming = next.filter(({ label }) => present.every((each) => each.label !== label))
  const all = [...present, ...coming]
  refuseTwice(
    all.map(({ records }) => records),
    all,
  )
  return coming
}

/**
 * The stores of a list with their labels, all checked before the first is opened.
 * @param open opens the store at an address
 */
export function readList(given: unknown, options: unknown, open: (address: string) => object): Listed[] {
  if (!Array.isArray(given)) throw errors.optionTypeError('stores', given, 'an array of stores')
  const stores = Array.from(given) // without gaps
  const { labels: all } = ownOf(checkKeys('options', options, ['labels'])) as { labels?: unknown }
  const labels = all ?? []
  if (!Array.isArray(labels)) throw errors.optionTypeError('labels', labels, 'an array of names')
  stores.forEach(checkStore)
  if (!LENGTHS.includes(stores.length)) throw errors.listLengthError(stores)
  if (labels.length > stores.length)
    throw errors.optionTypeError('labels', labels, `an array of at most ${stores.length} names`)
  const named = stores.map((store, at) => namesFor(store, at, labels[at], open))
  refuseTwice(stores, named)
  return stores.map((store, at) => {
    const opened = typeof store === 'string' ? open(store) : store
    return { ...named[at], records: recordsOf(opened) as Records }
  })
}

/** One label, one server or one object may not stand for two stores. */
function refuseTwice(stores: readonly unknown[], named: { label: string; server: string | undefined }[]) {
  for (const [at, { label, server }] of named.entries()) {
    const same = named.findIndex(
      (other, i) =>
        i < at &&
        (other.label === label || (server !== undefined && other.server === server) || stores[i] === stores[at]),
    )
    if (same >= 0) throw errors.sameStoreError(named[same].label, label)
  }
}
