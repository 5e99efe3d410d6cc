'use strict'
// @ts-check

// The store in a folder, for the processes of one machine: a group is a folder in it, and a slot is a file whose lock
// ends with the process that holds it. core/src/files/slots.rs has the rules and handles the files; this file has names,
// objects and errors.

const os = require('node:os')
const path = require('node:path')
const native = require('../native/index.js')
const { MAX_U64, isAbsent, unlessProblem } = require('../base/check.js')
const { signOfContainer } = require('./container.js')
const { unread } = require('../layout/node-number.js')
const { unixNow } = require('../base/timers.js')
const {
  destroyedError,
  exhaustedError,
  noDefaultFolderError,
  optionRangeError,
  optionTypeError,
  relativePathError,
  unreadableFilesError,
} = require('../base/errors.js')

/**
 * @import { SlotInfo } from '../../types/stores.d.ts'
 * @import { SlotFolderConfig, Slot, SlotFolder, SlotRow, Window } from '../../target/native.d.ts'
 *
 * What a request for a slot has. `joins`: whether the group is made if it is missing.
 * @typedef {{ config: SlotFolderConfig, owner: string, host: string, joins: boolean }} Request
 */

/**
 * The store in this folder, whose path is absolute; in the default one if none is given.
 * @param {unknown} [directory]
 */
function fileStore(directory) {
  if (isAbsent(directory)) {
    require('../layout/ignored-variables.js').warnOfVariables(unread([]), [], false) // perhaps a store was named, and misspelt
    const found = signOfContainer()
    if (found !== undefined) throw noDefaultFolderError('container', { found })
    return new FileStore(defaultFolder())
  }
  if (typeof directory !== 'string') throw optionTypeError('directory', directory, 'the path of a folder')
  if (!path.isAbsolute(directory)) throw relativePathError('directory', directory, directory)
  return new FileStore(path.resolve(directory))
}

/** Where programs keep lasting data. The temporary folder will not do, because cleaners would delete the files. */
function defaultFolder() {
  const state = process.env.XDG_STATE_HOME
  // The XDG specification says to ignore a relative path.
  return path.join(state && path.isAbsolute(state) ? state : path.join(homeFolder(), '.local', 'state'), 'flakeforge')
}

/** Never a relative path, which an empty HOME would give: then two working folders would each have a slot 0. */
function homeFolder() {
  let home
  try {
    home = os.homedir()
  } catch (error) {
    throw noDefaultFolderError('homeless', { cause: error })
  }
  if (!path.isAbsolute(home)) throw noDefaultFolderError('relative', { found: home })
  return home
}

/**
 * The addon takes 64 bits of any bigint and ignores its sign, so we check it here.
 * @param {string} option
 * @param {unknown} count
 */
function checkCount(option, count) {
  const wanted = 'a bigint from 0 to 2^64 - 1'
  if (typeof count !== 'bigint') throw optionTypeError(option, count, wanted)
  if (count < 0n || count > MAX_U64) throw optionRangeError(option, count, wanted)
}

class FileStore {
  #folder
  /** @type {Map<string, SlotFolder>} */
  #groups = new Map() // by group and options
  /** @type {Map<string, Slot>} */
  #held = new Map() // by owner

  /** @param {string} folder */
  constructor(folder) {
    this.#folder = folder
  }

  /** For the command line. */
  get folder() {
    return this.#folder
  }

  /**
   * For the command line: where the files of a group are, or were.
   * @param {string} group
   */
  folderOf(group) {
    return native.groupFolder(this.#folder, group)
  }

  /**
   * @param {string} group
   * @param {SlotFolderConfig} config
   */
  async create(group, config) {
    return this.#open(group, config).isNew
  }

  /**
   * @param {string} group
   * @param {Request} request
   */
  async acquire(group, { config, owner, host, joins }) {
    const folder = joins ? this.#open(group, config) : this.#groups.get(keyOf(group, config))
    const slot = this.#held.get(owner) ?? take(/** @type {SlotFolder} */ (folder), group, owner, host)
    this.#held.set(owner, slot)
    return grantOf(slot)
  }

  /**
   * @param {string} _group
   * @param {{ owner: string }} lease
   */
  async renew(_group, { owner }) {
    const slot = this.#held.get(owner)
    if (slot === undefined) return 'lost'
    const ended = unlessProblem(slot.renew())
    if (ended !== null) this.#held.delete(owner)
    return /** @type {'lost' | 'destroyed' | null} */ (ended) ?? grantOf(slot)
  }

  /**
   * @param {string} _group
   * @param {{ owner: string, last: number }} lease
   */
  async release(_group, { owner, last }) {
    this.#held.get(owner)?.release(last)
    this.#held.delete(owner)
  }

  /** @param {string} group */
  async destroy(group) {
    unlessProblem(native.destroySlots(this.#folder, group))
  }

  /**
   * @param {string} name
   * @param {bigint} by
   * @param {bigint | null} [init]
   */
  async advance(name, by, init) {
    checkCount('by', by)
    if (!isAbsent(init)) checkCount('init', init)
    return unlessProblem(native.advanceCounter(this.#folder, name, by, init))
  }

  /** @param {string} group */
  async list(group) {
    const { slots, faults } = unlessProblem(native.listSlots(this.#folder, group))
    const rows = slots.map(toInfo)
    if (faults.length > 0) throw unreadableFilesError(faults, rows)
    return rows
  }

  /** For the command line: the names of all groups in the folder. */
  async groups() {
    return unlessProblem(native.listGroups(this.#folder))
  }

  async close() {
    for (const folder of this.#groups.values()) folder.close()
    this.#groups.clear()
  }

  /**
   * The group's folder, which is made if it is missing.
   * @param {string} group
   * @param {SlotFolderConfig} config
   */
  #open(group, config) {
    const opened = unlessProblem(native.openSlots(this.#folder, group, config))
    this.#groups.set(keyOf(group, config), opened)
    return opened
  }
}

/**
 * Those who share this object may open a group again with other options, once it was destroyed.
 * @param {string} group
 * @param {SlotFolderConfig} config
 */
const keyOf = (group, { fingerprint, slots }) => JSON.stringify([group, fingerprint, slots])

/**
 * @param {SlotFolder} folder
 * @param {string} group
 * @param {string} owner
 * @param {string} host
 */
function take(folder, group, owner, host) {
  const taken = unlessProblem(folder.acquire(owner, host))
  if ('slot' in taken) return taken
  if (taken.retryAt === undefined) throw destroyedError(group)
  throw Object.assign(exhaustedError(group, taken.retryAt, taken.storeNow), { lineage: taken.lineage })
}

/**
 * The cursor in the file makes the IDs; the window says how far its mark lets it go now.
 * @param {Slot} slot
 */
function grantOf(slot) {
  const held = /** @type {{ slot: number, window: Window, lineage: string }} */ (slot)
  return { slot: held.slot, ...held.window, storeNow: unixNow(), lineage: held.lineage, cursor: slot }
}

/**
 * A slot as users see it.
 * @param {SlotRow} row
 */
function toInfo({ since, last, ...row }) {
  const info = {
    ...row,
    lo: since ?? 0, // the file says how far its holder may go, but not where it began
    ...(since !== undefined && { since: new Date(since) }),
    ...(last !== undefined && { last: new Date(last) }),
  }
  return /** @type {SlotInfo} */ (info)
}

exports.defaultFolder = defaultFolder
exports.fileStore = fileStore
