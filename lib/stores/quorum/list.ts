// The list of a quorum: which stores are in it, and the label by which all members know each of them.

import { checkKeys } from '../../base/check.ts'
import * as errors from '../../base/errors.ts'
import { withoutSecrets } from '../../base/printable.ts'
import { ownOf } from '../../base/values.ts'
import { checkedRecords } from '../record-store.ts'
import type { RecordStore, Records } from '../records.ts'

/** The options of `quorumStore()`. */
export interface QuorumOptions {
  /**
   * the name of each store, in the order of `stores`: 1 to 128 characters without white space, the same for all members.
   * Default: the address without user, password and options. A store that was not given by an address needs one
   */
  labels?: readonly string[] | null | undefined
}

/** A store of a list. */
export type Listed = { label: string; records: Records }

/** Majorities of 3 and 5: an even number tolerates no more failures than the odd one below it. */
const LENGTHS = [3, 5]

const WANTED_STORE =
  'the address of a server, the result of redisStore() and the like, or an object with the functions read, swap and names'
const WANTED_ADDRESS =
  "the address of a server, such as 'redis://HOST', without quotes; or else one with a name in labels"
const WANTED_LABEL = 'a name of 1 to 128 characters without white space'

const isLabel = (label: unknown) => typeof label === 'string' && /^[^\s\p{Cc}]{1,128}$/u.test(label)

/** The address of a server without user, password and options; undefined if that does not name the server. */
function labelOf(address: string) {
  const label = withoutSecrets(address)
    .replace('…@', '')
    .replace(/[?#;,&]…$/, '')
  return label.includes('…') || !isLabel(label) || !/^[a-z-]+:/i.test(label) ? undefined : label
}

/** The records of a given store. Those of a folder have a lock in place of records. */
function recordsOf(given: unknown, at: number, open: (address: string) => object): Records {
  const store = typeof given === 'string' ? open(given) : given
  const { records } = ownOrInherited(store)
  if (isRecords(records)) return records
  if (isRecords(store)) return checkedRecords(store as unknown as RecordStore)
  throw errors.listedStoreError(at, given, WANTED_STORE)
}

const ownOrInherited = (store: unknown) =>
  (typeof store === 'object' && store !== null ? store : {}) as { records?: unknown }

const isRecords = (given: unknown): given is Records =>
  ['read', 'swap', 'names'].every(
    (name) => typeof (given as Record<string, unknown> | undefined)?.[name] === 'function',
  )

function labelFor(given: unknown, at: number, label: unknown) {
  if (label !== undefined && !isLabel(label)) throw errors.optionTypeError(`labels[${at}]`, label, WANTED_LABEL)
  const found = label ?? (typeof given === 'string' ? labelOf(given) : undefined)
  if (found === undefined && typeof given === 'string') throw errors.listedStoreError(at, given, WANTED_ADDRESS)
  if (found === undefined)
    throw errors.optionTypeError(`labels[${at}]`, label, `${WANTED_LABEL}: this store has no address`)
  return found as string
}

/**
 * Those of a list that are to come: `list`, the stores that it has.
 * @param open opens the store at an address
 */
export function readComing(list: Listed[], coming: readonly string[], open: (address: string) => object): Listed[] {
  const named = coming.map((address, at) => labelFor(address, at, undefined))
  const all = [...list.map(({ label }) => label), ...named]
  const twice = all.find((label, at) => all.indexOf(label) !== at)
  if (twice !== undefined) throw errors.sameLabelError(twice)
  return coming.map((address, at) => ({ label: named[at], records: recordsOf(address, at, open) }))
}

/**
 * The stores of a list with their labels, all checked before the first is opened.
 * @param open opens the store at an address
 */
export function readList(given: unknown, options: unknown, open: (address: string) => object): Listed[] {
  if (!Array.isArray(given)) throw errors.optionTypeError('stores', given, 'an array of stores')
  const { labels = [] } = ownOf(checkKeys('options', options, ['labels'])) as { labels?: unknown[] }
  if (!Array.isArray(labels)) throw errors.optionTypeError('labels', labels, 'an array of names')
  if (!LENGTHS.includes(given.length)) throw errors.listLengthError(given)
  const named = given.map((store, at) => labelFor(store, at, labels[at]))
  const twice = named.find((label, at) => named.indexOf(label) !== at)
  if (twice !== undefined) throw errors.sameLabelError(twice)
  return given.map((store, at) => ({ label: named[at], records: recordsOf(store, at, open) }))
}
