'use strict'

// The store in a folder, for the processes of one machine: a group is a folder in it, and a slot is a file whose lock
// ends with the process that holds it. core/src/files/slots.rs has the rules and handles the files; this file has names,
// objects and errors.

const os = require('node:os')
const path = require('node:path')
const native = require('../native/index.js')
const { isAbsent } = require('../base/check.js')
const { signOfContainer } = require('./container.js')
const { unixNow } = require('../base/timers.js')
const {
  destroyedError,
  exhaustedError,
  noDefaultFolderError,
  optionRangeError,
  optionTypeError,
  problemError,
  rosterError,
} = require('../base/errors.js')

function fileStore(directory) {
  if (isAbsent(directory)) {
    const found = signOfContainer()
    if (found !== undefined) throw noDefaultFolderError('container', { found })
    return new FileStore(defaultFolder())
  }
  if (typeof directory !== 'string') throw optionTypeError('directory', directory, 'the path of a folder')
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

/** The addon's result; throws if it failed. */
function insist(done) {
  if (done?.why !== undefined || done?.theirs !== undefined) throw problemError(done)
  return done
}

/** The addon takes 64 bits of any bigint and ignores its sign, so we check it here. */
function checkCount(option, count) {
  const wanted = 'a bigint from 0 to 2^64 - 1'
  if (typeof count !== 'bigint') throw optionTypeError(option, count, wanted)
  if (BigInt.asUintN(64, count) !== count) throw optionRangeError(option, count, wanted)
}

class FileStore {
  #folder
  #groups = new Map() // the addon's folder of slots, by group and options
  #held = new Map() // the addon's slot, by owner

  constructor(folder) {
    this.#folder = folder
  }

  /** For the command line. */
  get folder() {
    return this.#folder
  }

  /** For the command line: where the files of a group are, or were. */
  folderOf(group) {
    return native.groupFolder(this.#folder, group)
  }

  async create(group, config) {
    return this.#open(group, config).isNew
  }

  async acquire(group, { config, owner, host, joins }) {
    const folder = joins ? this.#open(group, config) : this.#groups.get(keyOf(group, config))
    const slot = this.#held.get(owner) ?? take(folder, group, owner, host)
    this.#held.set(owner, slot)
    return grantOf(slot)
  }

  async renew(_group, { owner }) {
    const slot = this.#held.get(owner)
    if (slot === undefined) return 'lost'
    const ended = insist(slot.renew())
    if (ended !== null) this.#held.delete(owner)
    return ended ?? grantOf(slot)
  }

  async release(_group, { owner, last }) {
    this.#held.get(owner)?.release(last)
    this.#held.delete(owner)
  }

  async destroy(group) {
    insist(native.destroySlots(this.#folder, group))
  }

  async advance(name, by, init) {
    checkCount('by', by)
    if (!isAbsent(init)) checkCount('init', init)
    return insist(native.advanceCounter(this.#folder, name, by, init))
  }

  async list(group) {
    const { slots, faults } = insist(native.listSlots(this.#folder, group))
    const rows = slots.map(toInfo)
    if (faults.length > 0) throw rosterError(faults, rows)
    return rows
  }

  /** For the command line: the names of all groups in the folder. */
  async groups() {
    return insist(native.listGroups(this.#folder))
  }

  async close() {
    for (const folder of this.#groups.values()) folder.close()
    this.#groups.clear()
  }

  /** The group's folder, which is made if it is missing. */
  #open(group, config) {
    const opened = insist(native.openSlots(this.#folder, group, config))
    this.#groups.set(keyOf(group, config), opened)
    return opened
  }
}

/** Those who share this object may open a group again with other options, once it was destroyed. */
const keyOf = (group, { fingerprint, slots }) => JSON.stringify([group, fingerprint, slots])

function take(folder, group, owner, host) {
  const taken = insist(folder.acquire(owner, host))
  if (taken.slot !== undefined) return taken
  if (taken.retryAt === undefined) throw destroyedError(group)
  throw exhaustedError(group, taken.retryAt, taken.storeNow)
}

/** The cursor in the file makes the IDs; the window says how far its mark lets it go now. */
const grantOf = (slot) => ({ slot: slot.slot, ...slot.window, storeNow: unixNow(), cursor: slot })

const toInfo = ({ since, last, ...row }) => ({
  ...row,
  lo: since ?? 0, // the file says how far its holder may go, but not where it began
  ...(since !== undefined && { since: new Date(since) }),
  ...(last !== undefined && { last: new Date(last) }),
})

module.exports = { defaultFolder, fileStore }
