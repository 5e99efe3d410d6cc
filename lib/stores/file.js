'use strict'

// The store in a folder, for the processes of one machine: a group is a folder in it, a slot a file whose lock goes with
// the process that holds it. The rules and the files are core/src/slots.rs; here are names, objects and errors.

const os = require('node:os')
const path = require('node:path')
const native = require('../native.js')
const { isAbsent } = require('../check.js')
const { isContainer } = require('./container.js')
const { destroyedError, exhaustedError, noDefaultFolderError, optionTypeError, problemError } = require('../errors.js')

function fileStore(directory) {
  if (isAbsent(directory)) {
    if (isContainer()) throw noDefaultFolderError('container')
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
  if (!path.isAbsolute(home)) throw noDefaultFolderError('relative', { home })
  return home
}

/** What the addon did, or an error for what kept it from doing so. */
function insist(done) {
  if (done?.why !== undefined || done?.theirs !== undefined) throw problemError(done)
  return done
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

  async open(group, { fingerprint, slots, scale }) {
    this.#groups.set(group, insist(native.openSlots(this.#folder, group, { fingerprint, slots, scale })))
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
    return insist(native.advanceCounter(this.#folder, name, by, init))
  }

  async list(group) {
    return insist(native.listSlots(this.#folder, group)).map(toInfo)
  }

  /** For the command line: the names of all groups in the folder. */
  async groups() {
    return insist(native.listGroups(this.#folder))
  }

  #take(group, owner, host) {
    const taken = insist(this.#groups.get(group).acquire(owner, host))
    if (taken.slot !== undefined) return taken
    if (taken.retryAt === undefined) throw destroyedError(group)
    throw exhaustedError(group, taken.retryAt, taken.storeNow)
  }
}

/** The cursor in the file is what makes the IDs; the window is how far its mark lets it go now. */
const grantOf = (slot) => ({ slot: slot.slot, ...slot.window, storeNow: Date.now(), cursor: slot })

const toInfo = ({ since, last, ...row }) => ({
  ...row,
  lo: since ?? 0, // the file says how far its holder may go, not from where on
  ...(since !== undefined && { since: new Date(since) }),
  ...(last !== undefined && { last: new Date(last) }),
})

module.exports = { defaultFolder, fileStore }
