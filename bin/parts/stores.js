'use strict'
// @ts-check

// Opens the store that the command line names: a URL, or a folder as a plain path. It must never create a folder.

/** @import { SlotInfo, Store } from '../../index.d.ts' */

/**
 * A store as the command uses it.
 * @typedef {object} AnyStore
 * @property {(group: string) => Promise<void>} destroy
 * @property {(group: string) => Promise<SlotInfo[]>} list
 * @property {() => Promise<string[]>} [groups]
 * @property {(group: string) => Promise<boolean>} [has] of a server, which perhaps cannot list its groups
 * @property {string} [folder] of a store in a folder
 * @property {(group: string) => string} [folderOf] where the files of a group are, or were
 */

/** @typedef {Store & { folder: string, folderOf(group: string): string }} FolderStore */

const { existsSync } = require('node:fs')
const { isAbsolute, resolve } = require('node:path')
const { fileStore } = require('../../index.js')
const { relativePathError, variableError } = require('../../lib/base/errors.js')
const { nearest } = require('../../lib/base/nearest.js')
const { defaultFolder } = require('../../lib/files/file-store.js')
const { openStore } = require('../../lib/lease/stores/open.js')
const { failure, usageError } = require('./faults.js')

/**
 * Refuses a group's name that is an address: the two were swapped.
 * @param {string} command
 * @param {string[]} operands
 */
function checkOrder(command, [store, group, ...more]) {
  if (!group?.includes('://')) return
  const right = ['flakeforge', command, group, store, ...more].join(' ')
  throw usageError(`The store comes first, and then the group: ${right}`)
}

/** What URLs of stores begin with, for completion. */
const SCHEMES = ['redis://', 'rediss://', 'postgres://', 'mysql://', 'mariadb://', 'etcd://', 'etcds://']

/**
 * One letter and a colon is a Windows drive.
 * @param {string} text
 */
const isUrl = (text) => /^[a-z][a-z\d+.-]+:/i.test(text) && !existsSync(text)

/**
 * Undefined if none is named.
 * @param {string} [given]
 */
const nameOf = (given) => given ?? variable()

function variable() {
  const name = process.env.FLAKEFORGE_STORE
  try {
    return name ? checkAbsolute(name) : undefined
  } catch (error) {
    throw variableError(error)
  }
}

/**
 * The same in the form that join() takes: it knows no plain paths.
 * @param {string} [given]
 */
function addressOf(given) {
  const name = nameOf(given)
  return name === undefined || isUrl(checkAbsolute(name)) ? name : `file:${name}`
}

/**
 * A store whose name many commands share: a relative folder would be another one for those that run elsewhere.
 * @param {string} name
 */
function checkAbsolute(name) {
  if (!isUrl(name) && !isAbsolute(name)) throw relativePathError('store', name, name)
  return name
}

/** @type {(folder: string) => FolderStore} */
const folderStore = (folder) => /** @type {FolderStore} */ (fileStore(folder))

/** The default folder is named, because in a container the library would not choose it. */
const ownFolder = () => folderStore(defaultFolder())

/**
 * The store and a function that closes it; without a name, the default folder, even in a container: looking does no harm.
 * @param {string} [name]
 * @returns {{ store: AnyStore, close: () => Promise<void> }}
 */
function findStore(name) {
  if (name !== undefined && isUrl(name)) return openStore(name)
  return { store: name === undefined ? ownFolder() : folderStore(resolve(name)), close: async () => {} }
}

/**
 * Does something with the store that the command line or the environment names, or else with the default folder.
 * @template T
 * @param {string | undefined} given
 * @param {(store: AnyStore) => T | Promise<T>} work
 */
async function withStore(given, work) {
  const { store, close } = findStore(nameOf(given))
  try {
    return await work(store)
  } finally {
    await close()
  }
}

/**
 * The same with a store whose folder must exist: looking at slots or ending a group must not create a folder.
 * @template T
 * @param {string | undefined} given
 * @param {(store: AnyStore) => T | Promise<T>} work
 */
const withPresentStore = (given, work) =>
  withStore(given, (store) => {
    if (nameOf(given) !== undefined && store.folder !== undefined && !existsSync(store.folder)) {
      throw failure(`There is no folder ${store.folder}.`)
    }
    return work(store)
  })

/**
 * The names of all groups; undefined if the store cannot list them.
 * @param {AnyStore} store
 */
const groupsOf = async (store) => store.groups?.()

/**
 * Whether a group exists, even if none of its slots was ever held. Folders can always list theirs.
 * @param {AnyStore} store
 * @param {string} group
 */
const hasGroup = async (store, group) => (await groupsOf(store))?.includes(group) ?? store.has?.(group) ?? false

/**
 * The error for a group that does not exist, with the name that may have been meant.
 * @param {AnyStore} store
 * @param {string} group
 * @param {boolean} [isNamed] whether somebody named it
 */
async function noGroup(store, group, isNamed = true) {
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
  return failure(`${text} ${known.length === 0 ? 'There are none.' : `There are ${[...some, ...more].join(', ')}.`}`)
}

/** @param {AnyStore} store */
const placeOf = ({ folder }) => (folder === undefined ? 'on this server' : `in ${folder}`)

module.exports = {
  SCHEMES,
  checkOrder,
  groupsOf,
  hasGroup,
  addressOf,
  noGroup,
  ownFolder,
  placeOf,
  withPresentStore,
  withStore,
}
