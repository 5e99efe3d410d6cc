'use strict'

// The store in a folder, for the processes of one machine: a group is a folder in it, a slot a file whose lock goes with
// the process that holds it. The rules and the files are core/src/slots.rs; here are names, objects and errors.

const { readdir } = require('node:fs/promises')
const os = require('node:os')
const path = require('node:path')
const native = require('../native.js')
const { isAbsent } = require('../check.js')
const { exhaustedError, optionTypeError, problemError } = require('../errors.js')

function fileStore(directory) {
  if (isAbsent(directory)) return new FileStore(defaultFolder())
  if (typeof directory !== 'string') throw optionTypeError('directory', directory, 'the path of a folder')
  return new FileStore(path.resolve(directory))
}

/** Where programs keep what must outlive them; not the temporary folder, whose cleaners would unlink the files. */
function defaultFolder() {
  const state = process.env.XDG_STATE_HOME
  // A relative path is to be ignored, says the XDG specification.
  return path.join(state && path.isAbsolute(state) ? state : path.join(os.homedir(), '.local', 'state'), 'flakeforge')
}

/** A name as a folder's or a file's: without separators, and never '.' or '..'. */
const toFileName = (name) => encodeURIComponent(name).replace(/^\./, '%2E')

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
    const config = { fingerprint, slots, ...scale }
    this.#groups.set(group, insist(native.SlotFolder.open(this.#pathOf(group), config)))
  }

  async acquire(group, { owner, host }) {
    const slot = this.#held.get(owner) ?? this.#take(group, owner, host)
    this.#held.set(owner, slot)
    return grantOf(slot)
  }

  async renew(_group, { owner }) {
    const slot = this.#held.get(owner)
    if (slot === undefined) return 'lost'
    const answer = insist(slot.renew())
    if (answer === 'lost') this.#held.delete(owner)
    return answer ?? grantOf(slot)
  }

  async release(_group, { owner, last }) {
    const slot = this.#held.get(owner)
    this.#held.delete(owner)
    if (slot !== undefined) insist(slot.release(last))
  }

  async destroy(group) {
    insist(native.destroySlots(this.#pathOf(group)))
  }

  async advance(name, by, init) {
    const path_ = path.join(this.#folder, 'counters', toFileName(name))
    return insist(native.advanceCounter(path_, by, init))
  }

  async list(group) {
    return insist(native.listSlots(this.#pathOf(group))).map(({ since, last, ...slot }) => ({
      ...slot,
      ...(since !== undefined && { since: new Date(since) }),
      ...(last !== undefined && { last: new Date(last) }),
    }))
  }

  /** For the command line: the names of all groups in the folder. */
  async groups() {
    const names = await readdir(path.join(this.#folder, 'groups')).catch((error) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    return names.map(decodeURIComponent).sort()
  }

  #pathOf(group) {
    return path.join(this.#folder, 'groups', toFileName(group))
  }

  #take(group, owner, host) {
    const taken = insist(this.#groups.get(group).acquire(owner, host))
    if (taken.retryAt !== undefined) throw exhaustedError(group, taken.retryAt, taken.storeNow)
    return taken
  }
}

/** The cursor in the file is what makes the IDs; the window is how far its mark allows them now. */
const grantOf = (slot) => ({ slot: slot.slot, lo: slot.lo, hi: slot.hi, storeNow: Date.now(), cursor: slot })

module.exports = { fileStore }
