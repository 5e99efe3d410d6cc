// The store in a folder, for the processes of one machine: a group is a folder in it, and a slot is a file whose lock ends
// with its process. core/src/files/slots.rs has the rules and handles the files; this file has names, objects and errors.

import type { Slot, SlotFolder, SlotFolderConfig, SlotRow, Window } from '../../src/native.d.ts'
import { checkPath, isAbsent, MAX_U64, refuseMore, unlessProblem } from '../base/check.ts'
import {
  destroyedCounterError,
  destroyedError,
  exhaustedError,
  noDefaultFolderError,
  optionRangeError,
  optionTypeError,
  unreadableFilesError,
} from '../base/errors.ts'
import type { SlotInfo } from '../base/slot-info.ts'
import { unixNow } from '../base/timers.ts'
import * as ignoredVariables from '../layout/ignored-variables.ts'
import { unread } from '../layout/node-number.ts'
import native from '../native/index.ts'
import { signOfContainer } from './container.ts'
import type { madeByFlakeforge, PastRequest, SlotStore, Store } from './store.ts'

const os = process.getBuiltinModule('node:os')
const path = process.getBuiltinModule('node:path')

type Request = { config: SlotFolderConfig; owner: string; host: string; joins: boolean }

/** The store of a folder, as `fileStore` returns it. */
export interface FolderStore extends Store {
  readonly folder: string
  groups(): Promise<string[]>
}

/**
 * Keeps slots and counters in a folder, for the processes of one machine, without a server. A slot is free again when the
 * process that holds it ends.
 * @param directory its absolute path; default: `flakeforge` in `$XDG_STATE_HOME`, else in `~/.local/state`
 * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: the path is relative; or no directory is given and there is no
 * default, because this is a container or there is no home folder.
 */
export function fileStore(directory?: string | null, ...more: never[]): FolderStore {
  refuseMore('fileStore', more, 'only the path of a folder')
  return openFolder(directory)
}

/** The same, with the calls of leases. */
export function openFolder(directory?: string | null): FileStore {
  if (isAbsent(directory)) {
    ignoredVariables.warnOfVariables(unread([]), [], false) // perhaps the variable of a store is misspelt
    const found = signOfContainer()
    if (found !== undefined) throw noDefaultFolderError('container', { found })
    return new FileStore(defaultFolder())
  }
  if (typeof directory !== 'string') throw optionTypeError('directory', directory, 'the path of a folder')
  checkPath('directory', directory, directory)
  return new FileStore(path.resolve(directory))
}

/** Where programs keep persistent data. The temporary folder is unsuitable: cleaners would delete the files. */
export function defaultFolder() {
  const state = process.env.XDG_STATE_HOME
  // The XDG specification says to ignore a relative path.
  return path.join(state && path.isAbsolute(state) ? state : path.join(homeFolder(), '.local', 'state'), 'flakeforge')
}

/** Never a relative path, which an empty HOME would give: two working directories would then each have a slot 0. */
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

/** The addon takes the low 64 bits of a bigint and ignores its sign, so it is checked here. */
function checkCount(option: string, count: unknown) {
  const wanted = 'a bigint from 0 to 2^64 - 1'
  if (typeof count !== 'bigint') throw optionTypeError(option, count, wanted)
  if (count < 0n || count > MAX_U64) throw optionRangeError(option, count, wanted)
}

class FileStore implements FolderStore, SlotStore {
  declare readonly [madeByFlakeforge]: true
  #folder
  #groups: Map<string, SlotFolder> = new Map() // by group and options
  #held: Map<string, Slot> = new Map() // by owner
  #past: Set<string> = new Set() // counters for past times that this process knows
  #last: Promise<unknown> = Promise.resolve()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** For the command line. */
  get folder() {
    return this.#folder
  }

  /** For the command line: the folder of a group's files, which may no longer exist. */
  folderOf(group: string) {
    return native.groupFolder(this.#folder, group)
  }

  create(group: string, config: SlotFolderConfig) {
    return this.#inTurn(async () => (await this.#open(group, config)).isNew)
  }

  acquire(group: string, { config, owner, host, joins }: Request) {
    return this.#inTurn(async () => {
      const folder = joins ? await this.#open(group, config) : this.#groups.get(keyOf(group, config))
      const slot = this.#held.get(owner) ?? (await take(folder as SlotFolder, group, owner, host))
      this.#held.set(owner, slot)
      return grantOf(slot)
    })
  }

  /** Only looks whether the slot's file is still there: its cursor raises the mark in a thread of the core. */
  async renew(_group: string, { owner }: { owner: string }) {
    const slot = this.#held.get(owner)
    if (slot === undefined) return 'lost'
    const ended = unlessProblem(slot.renew())
    if (ended !== null) this.#held.delete(owner)
    return (ended as 'lost' | 'destroyed' | null) ?? grantOf(slot)
  }

  async release(_group: string, { owner, last }: { owner: string; last: number }) {
    if (!this.#held.has(owner)) await this.#last // it may be acquired right now
    this.#held.get(owner)?.release(last)
    this.#held.delete(owner)
  }

  destroy(group: string) {
    return this.#inTurn(async () => void unlessProblem(await native.destroySlots(this.#folder, group)))
  }

  async advance(name: string, by: bigint, init?: bigint | null) {
    checkCount('by', by)
    if (!isAbsent(init)) checkCount('init', init)
    return this.#inTurn(async () => {
      const block = unlessProblem(await native.advanceCounter(this.#folder, name, by, init))
      if (block === null) throw destroyedCounterError(name)
      return block
    })
  }

  /** Takes numbers for a past time. If a counter is missing that this process knows, its numbers are lost. */
  async past(group: string, { record, by, lineage }: PastRequest) {
    return this.#inTurn(async () => {
      const known = JSON.stringify([group, record])
      const own = BigInt(`0x${lineage}`)
      const block = unlessProblem(await native.advancePast(this.#folder, group, record, by, own, this.#past.has(known)))
      if (block === null) throw destroyedError(group)
      this.#past.add(known)
      return block
    })
  }

  async usedUntil(group: string, slots: number[], lineage: string) {
    const found = unlessProblem(native.slotsUsedUntil(this.#folder, group, slots, BigInt(`0x${lineage}`)))
    if (found === null) throw destroyedError(group)
    return found.until ?? undefined
  }

  async counter(name: string) {
    return (await this.counters()).find((counter) => counter.name === name)
  }

  async counters() {
    return unlessProblem(native.listCounters(this.#folder)).map((row) => ({ ...row, isLost: false }))
  }

  destroyCounter(name: string) {
    return this.#inTurn(async () => void unlessProblem(await native.destroyCounter(this.#folder, name)))
  }

  async list(group: string) {
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
    await this.#last
    for (const folder of this.#groups.values()) folder.close()
    this.#groups.clear()
  }

  /** The group's folder, created if it is missing. */
  async #open(group: string, config: SlotFolderConfig) {
    const opened = unlessProblem(await native.openSlots(this.#folder, group, config))
    this.#groups.set(keyOf(group, config), opened)
    return opened
  }

  /**
   * Makes a call that waits for the disk once the one before has ended. It waits in a thread of Node's pool, which has four
   * by default: even on a disk that hangs, a store never takes more than one of them from the program.
   */
  #inTurn<T>(call: () => Promise<T>) {
    const done = this.#last.then(call)
    this.#last = done.catch(() => {})
    return done
  }
}

/** After a group was destroyed, users of this object may open it again with other options. */
const keyOf = (group: string, { fingerprint, slots }: SlotFolderConfig) => JSON.stringify([group, fingerprint, slots])

async function take(folder: SlotFolder, group: string, owner: string, host: string) {
  const taken = unlessProblem(await folder.acquire(owner, host))
  if ('slot' in taken) return taken
  if (taken.retryAt === undefined) throw destroyedError(group)
  throw Object.assign(exhaustedError(group, taken.retryAt, taken.storeNow), { lineage: taken.lineage })
}

/** The cursor in the file generates the IDs; the window shows how far its mark extends at present. */
function grantOf(slot: Slot) {
  const held = slot as { slot: number; window: Window; lineage: string }
  return { slot: held.slot, ...held.window, storeNow: unixNow(), lineage: held.lineage, cursor: slot }
}

/** A slot as users see it. */
function toInfo({ since, last, ...row }: SlotRow) {
  const info = {
    ...row,
    lo: since ?? 0, // the file records how far its holder may go, but not where it began
    ...(since !== undefined && { since: new Date(since) }),
    ...(last !== undefined && { last: new Date(last) }),
  }
  return info as SlotInfo
}
