// Finds and opens the store that the command line or FLAKEFORGE_STORE names: a URL, several URLs, or a folder by `file:` or its
// absolute path. Every other word is the name of a group, or refused: a relative path would become a folder or a group by mistake.

import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { checkPath } from '../../lib/base/check.ts'
import { show } from '../../lib/base/errors/make.ts'
import { meantPath, variableError } from '../../lib/base/errors.ts'
import { nearest } from '../../lib/base/nearest.ts'
import { withoutSecrets } from '../../lib/base/printable.ts'
import type { CounterInfo, SlotInfo, Store } from '../../lib/entries/lease.ts'
import { fileStore } from '../../lib/entries/lease.ts'
import { unread } from '../../lib/layout/node-number.ts'
import { rememberAddress } from '../../lib/stores/address.ts'
import type { DatabaseFunction } from '../../lib/stores/database-function.ts'
import { defaultFolder } from '../../lib/stores/file-store.ts'
import { openGiven } from '../../lib/stores/open.ts'
import type { StoreState } from '../../lib/stores/records.ts'
import { failure, usageError } from '../parts/faults.ts'

/** A store as the command uses it. */
export interface AnyStore {
  destroy: (group: string) => Promise<void>
  list: (group: string) => Promise<SlotInfo[]>
  counter: (name: string) => Promise<CounterInfo | undefined>
  counters?: () => Promise<CounterInfo[]>
  destroyCounter: (name: string) => Promise<void>
  groups?: () => Promise<string[]>
  /** of a server, which perhaps cannot list its groups */
  has?: (group: string) => Promise<boolean>
  /** of a store in a folder */
  folder?: string
  /** the folder of a group's files, which may no longer exist */
  folderOf?: (group: string) => string
  /** a server's description of where the records are; a folder has no such function */
  place?: () => Promise<string>
  /** the functions in a server's database that generate IDs */
  functions?: () => Promise<DatabaseFunction[]>
  /** how each server of a list takes part in a group */
  storeStates?: (group: string) => Promise<StoreState[]>
}

export type FolderStore = Store & { folder: string; folderOf(group: string): string }

/**
 * The store among the operands of a command, and the words after it. Undefined if FLAKEFORGE_STORE names it or none is given.
 * @param usage the correct command line, with STORE in place of the store
 */
export function storeFirst(operands: string[], usage: (word: string) => string): [string | undefined, string[]] {
  const [first] = operands
  if (first === undefined) return [undefined, []]
  const addresses = addressesFirst(operands)
  const rest = operands.slice(Math.max(1, addresses.length))
  const late = rest.find((word) => word.includes('://'))
  if (late !== undefined) {
    throw usageError(
      `The store comes first, and then the group: ${usage(first).replace('STORE', withoutSecrets(late))}`,
    )
  }
  if (addresses.length > 1) return [addresses.join(' '), rest]
  if (isUrl(first) || isAbsolute(first)) return [checkStoreName(first), rest]
  if (/[\\/]|^[.~]/.test(first)) throw relativeFolder(first, usage)
  if (variable() === undefined) throw unnamedStore(first, usage)
  return [undefined, operands]
}

/** A sentence about a variable that was probably meant to be FLAKEFORGE_STORE, with a space before it. */
export function misspelt() {
  const isLikely = (variable: string) => nearest(variable.replace('FLAKEFORGE_', ''), ['STORE']) !== undefined
  const meant = unread([]).find(isLikely)
  return meant === undefined ? '' : ` ${meant} is set: did you mean FLAKEFORGE_STORE?`
}

/** The words before the first that is no address of a server: several of them are one store. */
function addressesFirst(operands: string[]) {
  const end = operands.findIndex((word) => !(isUrl(word) && word.includes('://')))
  return end < 0 ? operands : operands.slice(0, end)
}

/** The problem with a relative path: it is one folder for one command, and another folder for the next. */
const relativeFolder = (word: string, usage: (word: string) => string) =>
  usageError(
    `${show(word)} is neither an address nor an absolute path. For that folder, use file:${meantPath(word)}. For a group of that name: ` +
      usage(word).replace('STORE', variable() === undefined ? 'redis://HOST' : '"$FLAKEFORGE_STORE"'),
  )

const unnamedStore = (word: string, usage: (word: string) => string) =>
  usageError(
    `No store is given, and FLAKEFORGE_STORE is not set: ${show(word)} is neither an address nor an absolute path. For the group: ` +
      `${usage(word).replace('STORE', 'redis://HOST')} (or file:/var/lib/… in place of redis://HOST). For that folder, use ` +
      `file:${meantPath(word)}.${misspelt()}`,
  )

/** One letter and a colon is a Windows drive. */
const isUrl = (text: string) => /^[a-z][a-z\d+.-]+:/i.test(text)

/** Undefined without a name. */
const nameOf = (given?: string) => given ?? variable()

function variable() {
  const name = process.env.FLAKEFORGE_STORE
  try {
    return name ? checkStoreName(name) : undefined
  } catch (error) {
    throw variableError(error)
  }
}

/** The same in the form that join() accepts: it supports no plain paths. */
export function addressOf(given?: string) {
  const name = nameOf(given)
  return name === undefined || isUrl(checkStoreName(name)) ? name : `file:${name}`
}

/** A relative folder would differ for processes that run elsewhere. */
function checkStoreName(name: string) {
  if (!isUrl(name)) checkPath('store', name, name)
  return name
}

const folderStore: (folder: string) => FolderStore = (folder) => fileStore(folder) as FolderStore

/** The default folder is named, because in a container the library would not choose it. */
export const ownFolder = () => folderStore(defaultFolder())

/** The store and a function that closes it; without a name, the default folder, even in a container: reading does no harm. */
function findStore(name?: string): { store: AnyStore; close: () => Promise<void> } {
  if (name === undefined) return { store: ownFolder(), close: async () => {} }
  if (!isUrl(name)) return { store: rememberAddress(folderStore(name), `file:${name}`), close: async () => {} }
  const { store, close } = openGiven(name)
  return { store: rememberAddress(store, name), close }
}

/** Runs the work with the store that the command line or the environment names, or else with the default folder. */
export async function withStore<T>(given: string | undefined, work: (store: AnyStore) => T | Promise<T>) {
  const { store, close } = findStore(nameOf(given))
  try {
    return await work(store)
  } finally {
    await close()
  }
}

/** The same with a store whose folder must exist: listing slots or destroying a group must not create a folder. */
export const withPresentStore = <T>(given: string | undefined, work: (store: AnyStore) => T | Promise<T>) =>
  withStore(given, (store) => {
    if (nameOf(given) !== undefined && store.folder !== undefined && !existsSync(store.folder)) {
      throw failure(`There is no folder ${store.folder}.`)
    }
    return work(store)
  })

/** The names of all groups; undefined if the store cannot list them. */
export const groupsOf = async (store: AnyStore) => store.groups?.()

/** Whether a group exists, even if none of its slots was ever held. Folders can always list theirs. */
export const hasGroup = async (store: AnyStore, group: string) =>
  (await groupsOf(store))?.includes(group) ?? store.has?.(group) ?? false

/**
 * The error for a group that does not exist, with the name that was probably meant.
 * @param isNamed whether the user named it
 */
export async function noGroup(store: AnyStore, group: string, isNamed: boolean = true) {
  const known = await groupsOf(store)
  const text = `There is no group '${group}' ${placeOf(store)}.`
  if (known === undefined) {
    const wayOut = isNamed ? 'Check its name' : 'Name one with --group'
    return failure(`${text} ${wayOut}: this server cannot list its groups.`)
  }
  const meant = nearest(group, known)
  if (meant !== undefined) return failure(`${text} Did you mean '${meant}'?`)
  const some = known.slice(0, 10).map((name) => `'${name}'`)
  const more = known.length > some.length ? [`${known.length - some.length} more`] : []
  return failure(`${text} ${listOf([...some, ...more])}`)
}

function listOf(groups: string[]) {
  if (groups.length === 0) return 'There are no groups.'
  return groups.length === 1 ? `The only group is ${groups[0]}.` : `The groups are ${groups.join(', ')}.`
}

/** The error for a counter that does not exist, with the name that was probably meant. */
export async function noCounter(store: AnyStore, name: string) {
  const text = `There is no segment counter '${name}' ${placeOf(store)}.`
  const known = (await store.counters?.())?.map((counter) => counter.name)
  if (known === undefined) return failure(`${text} Check its name: this server cannot list its counters.`)
  const meant = nearest(name, known)
  return failure(
    meant === undefined ? `${text} \`flakeforge counters\` lists them.` : `${text} Did you mean '${meant}'?`,
  )
}

export const placeOf = ({ folder }: AnyStore) => (folder === undefined ? 'on this server' : `in ${folder}`)
