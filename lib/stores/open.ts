// Opens stores: on the user's client (the exports fileStore, redisStore and so on), or by an address. Without an address it
// opens the store that the environment names, or the default folder.

import { addressesIn } from '../base/addresses.ts'
import { checkPath, isAbsent, refuseMore } from '../base/check.ts'
import * as errors from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'
import { withoutSecrets } from '../base/printable.ts'
import { addressError, isWrapped, rememberAddress, unreadableError, wrappedError } from './address.ts'
import { etcdStore, openEtcd } from './etcd.ts'
import { fileStore, openFolder } from './file-store.ts'
import { mysqlStore, openMysql } from './mysql.ts'
import { openPostgres, postgresStore } from './postgres.ts'
import { changeList, makeQuorum, openQuorum, type QuorumOptions } from './quorum.ts'
import { recordStore } from './record-store.ts'
import type { RecordStore } from './records.ts'
import { openRedis, redisStore } from './redis.ts'
import { PORTS, SCHEMES } from './schemes.ts'
import type { SlotStore, Store } from './store.ts'

const { win32 } = process.getBuiltinModule('node:path')
const nodeUrl = process.getBuiltinModule('node:url')

export { etcdStore, fileStore, mysqlStore, postgresStore, type QuorumOptions, recordStore, redisStore }

type Open = (url: string) => SlotStore

const each = (schemes: string[], open: Open) => Object.fromEntries(schemes.map((scheme) => [scheme, open]))

/** How the address of each scheme is opened. */
const OPEN: Record<string, Open> = {
  'file:': openFile,
  ...each(SCHEMES.redis, (url) => openRedis(url)),
  ...each(SCHEMES.postgres, (url) => openPostgres(url)),
  ...each(SCHEMES.mysql, (url) => openMysql(url)),
  ...each(SCHEMES.etcd, (url) => openEtcd(url)),
}

const WANTED_ADDRESS =
  "an address such as 'file:DIR', 'redis://…', 'valkey://…', 'postgres://…', 'mysql://…' or 'etcd://…'"
const WANTED = `${WANTED_ADDRESS}, or the result of redisStore() and the like`
const STEPS = ['create', 'acquire', 'renew', 'release', 'destroy', 'advance', 'list']

/**
 * Refuses any value that is not a store, before anything is opened.
 * @param call the function that got it, for the message
 */
export function checkStore(given: unknown, call: string) {
  if (isAbsent(given) || typeof given === 'string') return
  if (Array.isArray(given)) return checkAddresses(given)
  if (typeof given !== 'object') throw errors.optionTypeError('store', given, WANTED)
  const store = given as Record<string, unknown>
  const missing = STEPS.filter((step) => typeof store[step] !== 'function')
  if (missing.length === STEPS.length && isPlain(store)) throw errors.optionsFirstError(call, store)
  if (missing.length > 0) {
    const message = `store must be ${WANTED}, but has no ${missing[0]}()`
    throw errors.optionError(TypeError, 'store', store, message)
  }
}

/** Refuses a list with anything that is not an address. */
function checkAddresses(list: unknown[]) {
  const at = list.findIndex((each) => typeof each !== 'string')
  if (at >= 0) throw errors.listedStoreError(at, list[at], 'an address; pass a list with other stores to quorumStore()')
}

/**
 * A store, and a function that closes what was opened for it; the user's own client is never closed.
 * @param given accepted by checkStore()
 */
export function openGiven(given: unknown) {
  if (isAbsent(given)) return owned(openDefault())
  if (typeof given === 'string') return owned(openAddress(given))
  if (Array.isArray(given)) return owned(openQuorum(given, openUrl))
  return { store: given as SlotStore, close: async () => {} }
}

/** Whether it looks like options, which should be the second argument. */
function isPlain(given: object) {
  const prototype = Object.getPrototypeOf(given)
  return (prototype === null || prototype === Object.prototype) && Object.keys(given).length > 0
}

/** Ends our own client once, however often its generator is closed. */
function owned(store: SlotStore) {
  let closing: Promise<void> | undefined
  const end = async () => store.close?.()
  const close = () => {
    closing ??= end()
    return closing
  }
  return { store, close }
}

/**
 * Opens the store of an address, as `FlakeId.join()` and `SegmentId.open()` do. Use it to share one store among many groups,
 * or to list slots with `list`. The store has its own client, which connects at the first call and which `close()` closes;
 * close the generators first.
 * @param address default: the store in the environment variable `FLAKEFORGE_STORE`, else the default folder. A list of three
 * or five addresses is one store, as with `quorumStore()`; in a string, separate them by spaces
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the argument is not the address of a store.
 * @throws {Error} `ERR_FLAKE_STORE`: the client package for this store is not installed.
 * @example
 * const store = openStore('redis://localhost')
 * const [orders, users] = await Promise.all(['orders', 'users'].map((group) => FlakeId.join(store, { group })))
 * console.log(await store.list('orders'))
 */
export function openStore(address?: string | readonly string[] | null, ...more: never[]): Store {
  refuseMore('openStore', more, 'only an address', 'Write options into it, as in postgres://host/app?schema=ids.')
  if (Array.isArray(address)) checkAddresses(address)
  else if (!isAbsent(address) && typeof address !== 'string')
    throw errors.optionTypeError('address', address, WANTED_ADDRESS)
  return rememberAddress(openGiven(address).store, address)
}

/**
 * Combines three or five stores into one: servers of any kind that know nothing of each other, each on a separate machine. A
 * majority of the servers agrees on every record, so one of three, or two of five, may stop or lose all their data without
 * affecting a member. https://github.com/flakeforge/flakeforge/blob/main/docs/store/quorum.md says what this costs.
 * `FlakeId.join`, `createGroup` and `SegmentId.open` also take the addresses themselves.
 *
 * All members must list the same stores; the order does not matter. `close()` closes all of them.
 * @param stores addresses; results of `redisStore()`, `postgresStore()`, `mysqlStore()`, `etcdStore()` or `recordStore()`; or
 * databases of your own, as for `recordStore()`
 * @param options `labels`: the name of each store, needed for those that have no address
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: there are not three or five stores, two have the same label, or one is
 * not a server.
 * @example
 * const store = quorumStore(['redis://a', 'redis://b', 'postgres://c/app'])
 * const flake = await FlakeId.join(store, { group: 'orders' })
 */
export function quorumStore(
  stores: ReadonlyArray<string | Store | RecordStore>,
  options?: QuorumOptions | null,
): Store & { readonly records: RecordStore } {
  return makeQuorum(stores, options, openUrl)
}

/**
 * Changes the list of groups and counters.
 * @param from the list as it is, and `to` as it will be
 * @param namesIn the names of the groups and counters in the store. All of them are returned
 */
export async function openChange(from: unknown, to: unknown, namesIn: (store: SlotStore) => Promise<string[]>) {
  const present = openGiven(from)
  try {
    const next = openGiven(to)
    return await changeList(present.store, next.store, namesIn).finally(next.close)
  } finally {
    await present.close()
  }
}

/** The store at an address, or of several in one text. */
function openAddress(text: string): SlotStore {
  if (isWrapped(text)) throw wrappedError(text)
  const list = addressesIn(text)
  return list.length > 1 ? openQuorum(list, openUrl) : openUrl(list[0] ?? text)
}

function openUrl(url: string) {
  errors.keepSecretsOf(url)
  const scheme = /^[a-z-]+:/i.exec(url)?.[0].toLowerCase() ?? ''
  const open = OPEN[scheme]
  if (open === undefined) throw unknownAddressError(url)
  try {
    return open(url)
  } catch (error) {
    throw unopenedError(url, error)
  }
}

/**
 * Why an address could not be opened. Another library's error may contain the address with its password, so we neither quote
 * it nor keep it as the cause.
 */
function unopenedError(url: string, error: unknown) {
  if (error instanceof errors.FlakeError) return error
  const { code, name } = error as NodeJS.ErrnoException
  if (code?.startsWith('ERR_INVALID_') || error instanceof URIError) return unreadableError(url)
  return errors.storeError(
    `The client package for ${withoutSecrets(url)} failed with ${errors.said(code ?? name, 60)}.`,
  )
}

/** The error for an address of an unknown kind. A plain path may be meant as a folder. */
function unknownAddressError(url: string) {
  const isPath = /^(?:[.~]|\/(?!\/)|[a-z]:[\\/])[^:@]*$/i.test(url)
  const { isAbsolute } = win32 // it knows the paths of both kinds of systems
  const scheme = nearest(/^[a-z-]+:(?=\/\/)/i.exec(url)?.[0] ?? '', Object.keys(OPEN))
  const port = /^[\w.-]+:(\d+)$/.exec(url)?.[1]
  const ofPort = Object.entries(PORTS).find(([, usual]) => port === `${usual}`)?.[0]
  const meant = [
    ...(scheme === undefined ? [] : [`${scheme}//…`]),
    ...(ofPort === undefined ? [] : [`${ofPort}://${url}`]),
    ...(isPath ? [`file:${isAbsolute(url) ? url : errors.meantPath(url)}`] : []),
  ]
  const error = addressError(url, WANTED)
  error.message += [...meant.map((address) => `. Did you mean '${address}'?`), ...errors.noStore(url)].join('')
  return error
}

/** Opens 'file:DIR', where DIR is an absolute path, or a file URL. */
function openFile(url: string): SlotStore {
  // Whatever follows them in a file URL is no part of its path.
  if (/^file:\/\/.*[?#]/i.test(url)) throw addressError(url, 'a file URL in which ? is written as %3F and # as %23')
  const folder = url.startsWith('file://') ? nodeUrl.fileURLToPath(url) : url.slice('file:'.length)
  if (folder === '') {
    throw errors.optionRangeError('store', url, "the address of a folder, such as 'file:/var/lib/app/ids'")
  }
  checkPath('store', url, folder)
  return openFolder(folder)
}

/** The store in `FLAKEFORGE_STORE`, or else the default folder. */
function openDefault() {
  const named = process.env.FLAKEFORGE_STORE
  if (!named) return openFolder()
  try {
    return openAddress(named)
  } catch (error) {
    throw errors.variableError(error)
  }
}
