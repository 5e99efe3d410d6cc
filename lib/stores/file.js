'use strict'

// The store in a folder, for the processes of one machine: a group is a folder in it, a slot a file whose lock goes with
// the process that holds it. The rules and the files are core/src/slots.rs; here are names, objects and errors.

const os = require('node:os')
const path = require('node:path')
const native = require('../native.js')
const { isAbsent, readBounded } = require('../check.js')
const { signOfContainer } = require('./container.js')
const { unixNow } = require('../timers.js')
const {
  destroyedError,
  exhaustedError,
  noDefaultFolderError,
  optionRangeError,
  optionTypeError,
  problemError,
  rosterError,
  storeError,
} = require('../errors.js')

function fileStore(directory) {
  if (isAbsent(directory)) {
    const found = signOfContainer()
    if (found !== undefined) throw noDefaultFolderError('container', { found })
    return new FileStore(defaultFolder())
  }
  if (typeof directory !== 'string') throw optionTypeError('directory', directory, 'the path of a folder')
  return new FileStore(path.resolve(directory))
}

/** Where programs keep what must outlive them; not the temporary folder, whose cleaners would unlink the files. */
function defaultFolder() {
  const state = process.env.XDG_STATE_HOME
  // A relative path is to be ignored, says the XDG specification.
  return path.join(state && path.isAbsolute(state) ? state : path.join(homeFolder(), '.local', 'state'), 'flakeforge')
}

/** Never relative, as it is where HOME is empty: two working folders would have a slot 0 each. */
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

/** What the addon did, or an error for what kept it from doing so. */
function insist(done) {
  if (done?.why !== undefined || done?.theirs !== undefined) throw problemError(done)
  return done
}

const LONGEST_NS = Number.MAX_SAFE_INTEGER
const MOST_COUNTER_BITS = 53
const MOST_SLOTS = 2 ** 32 - 1

/** How ticks become numbers: the files have the time of each ID, so this store must know. */
function readScale(scale) {
  if (typeof scale !== 'object' || scale === null) {
    throw optionTypeError('scale', scale, '{ epochMs, tickNs, counterBits }, which join() fills in')
  }
  return {
    epochMs: readBounded('scale.epochMs', scale.epochMs, -LONGEST_NS, LONGEST_NS),
    tickNs: readBounded('scale.tickNs', scale.tickNs, 1, LONGEST_NS),
    counterBits: readBounded('scale.counterBits', scale.counterBits, 0, MOST_COUNTER_BITS),
  }
}

function checkText(option, text) {
  if (typeof text !== 'string') throw optionTypeError(option, text, 'a string')
}

/** What the addon reads: a number of 128 bits. */
function checkOwner(owner) {
  const wanted = 'a token of 32 hex digits'
  if (typeof owner !== 'string') throw optionTypeError('owner', owner, wanted)
  if (!/^[\da-f]{1,32}$/i.test(owner)) throw optionRangeError('owner', owner, wanted)
}

/** The addon takes 64 bits of any bigint, and leaves its sign out. */
function checkCount(option, count) {
  const wanted = 'a bigint from 0 to 2^64 - 1'
  if (typeof count !== 'bigint') throw optionTypeError(option, count, wanted)
  if (BigInt.asUintN(64, count) !== count) throw optionRangeError(option, count, wanted)
}

class FileStore {
  #folder
  #groups = new Map() // the addon's folder of slots, by group
  #held = new Map() // the addon's slot, by owner

  constructor(folder) {
    this.#folder = folder
  }

  /** For the command line. */
  get folder() {
    return this.#folder
  }

  /** For the command line: where a group's files are, if there is one, or was. */
  folderOf(group) {
    return native.groupFolder(this.#folder, group)
  }

  async open(group, { fingerprint, slots, scale }) {
    checkText('fingerprint', fingerprint)
    const config = { fingerprint, slots: readBounded('slots', slots, 1, MOST_SLOTS), scale: readScale(scale) }
    const opened = insist(native.openSlots(this.#folder, group, config))
    this.#groups.set(group, opened)
    return opened.isNew
  }

  async acquire(group, { owner, host }) {
    const slot = this.#held.get(owner) ?? this.#take(group, owner, host)
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

  #take(group, owner, host) {
    const slots = this.#groups.get(group)
    if (slots === undefined) throw storeError(`group '${group}' is not open on this store: open() comes first`)
    checkOwner(owner)
    checkText('host', host)
    const taken = insist(slots.acquire(owner, host))
    if (taken.slot !== undefined) return taken
    if (taken.retryAt === undefined) throw destroyedError(group)
    throw exhaustedError(group, taken.retryAt, taken.storeNow)
  }
}

/** The cursor in the file is what makes the IDs; the window is how far its mark lets it go now. */
const grantOf = (slot) => ({ slot: slot.slot, ...slot.window, storeNow: unixNow(), cursor: slot })

const toInfo = ({ since, last, ...row }) => ({
  ...row,
  lo: since ?? 0, // the file says how far its holder may go, not from where on
  ...(since !== undefined && { since: new Date(since) }),
  ...(last !== undefined && { last: new Date(last) }),
})

module.exports = { defaultFolder, fileStore }
