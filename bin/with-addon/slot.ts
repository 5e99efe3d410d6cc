// The slot that `new` takes if it gets no node number: from the given store, or in the user's own folder. Two concurrent
// commands never have the same node number.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { FlakeId } from '../../lib/entries/index.ts'
import type { JoinOptions, LeasedFlakeId } from '../../lib/entries/lease.ts'
import { readJoinOptions } from '../../lib/lease/join-options.ts'
import { signOfContainer } from '../../lib/stores/container.ts'
import { type Fault, failure } from '../parts/faults.ts'
import { say } from '../parts/output.ts'
import { addressOf, type FolderStore, ownFolder } from './stores.ts'

const BY_HAND = 'Or use --id N, which takes no slot, if no other process has that node number.'

/**
 * Runs the work with a generator that holds a slot, and releases the slot in any case.
 * @param name of the store
 */
export async function withSlot(
  name: string | undefined,
  options: JoinOptions,
  work: (flake: LeasedFlakeId) => Promise<void>,
) {
  // By address, so that messages of join() name the store.
  const address = addressOf(name)
  const flake = await (address === undefined ? joinOwnFolder(options) : FlakeId.join(address, options))
  try {
    await untilStopped(work(flake))
  } finally {
    await flake.close()
  }
}

const SIGNALS: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** After a signal such as Ctrl-C the work ends, the slot is released, and the process ends by that signal. */
async function untilStopped(work: Promise<void>) {
  let stop: (signal: NodeJS.Signals) => void = () => {}
  const stopped = new Promise((_, reject) => {
    stop = (signal) => reject(Object.assign(new Error(signal), { signal }))
  })
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    await Promise.race([work, stopped])
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}

/** Other programs do not know the options of a group in the user's own folder, so joining must not depend on them. */
async function joinOwnFolder(options: JoinOptions) {
  const store = ownFolder()
  try {
    const flake = await (options.group === undefined ? joinSomeGroup(store, options) : FlakeId.join(store, options))
    if (signOfContainer() !== undefined) sayWhereFrom(flake, store)
    return flake
  } catch (cause) {
    const error = cause as Fault
    if (error.code !== 'ERR_FLAKE_FILE') throw error
    throw failure(`${error.message.replace(/\.$/, '')}. Name another folder or a server with --store. ${BY_HAND}`)
  }
}

/**
 * The default group of join(), so that this user's applications generate no equal IDs. But if that group has other options,
 * its IDs differ anyway; and if we created it with options other than join()'s defaults, applications could not join it. In
 * both cases the slot comes from a group that is named after its options.
 */
async function joinSomeGroup(store: FolderStore, options: JoinOptions): Promise<LeasedFlakeId> {
  const ours = readJoinOptions(options).config
  const usual = readJoinOptions({}).config
  const isUsual = ours.fingerprint === usual.fingerprint && ours.slots === usual.slots
  if (isUsual || existsSync(store.folderOf('default'))) {
    const flake = await joinIfSame(store, { ...options, group: 'default' }, ours)
    if (flake !== undefined) return flake
  }
  const digest = createHash('sha256').update(ours.fingerprint).digest('hex').slice(0, 12)
  return FlakeId.join(store, { ...options, group: `new-${digest}` })
}

/**
 * Undefined if the group has other options. The number of slots does not matter.
 * @param config the options in comparable form
 */
async function joinIfSame(
  store: FolderStore,
  options: JoinOptions,
  { fingerprint }: { fingerprint: string },
): Promise<LeasedFlakeId | undefined> {
  try {
    return await FlakeId.join(store, options)
  } catch (cause) {
    const error = cause as Fault & { theirs: string }
    if (error.code !== 'ERR_FLAKE_CONFIG_MISMATCH') throw error
    const [text, slots] = /^(.*), (\d+) slots$/s.exec(error.theirs)?.slice(1) ?? []
    return text === fingerprint && options.slots === undefined ? FlakeId.join(store, { ...options, slots }) : undefined
  }
}

/** Other containers do not see this folder, and take the same numbers from their own. */
function sayWhereFrom({ id }: LeasedFlakeId, { folder }: FolderStore) {
  say(
    `Node number ${id} is unique only in this container (it is a slot of ${folder}). If other containers make IDs too, name a ` +
      'store that they share, with --store or FLAKEFORGE_STORE, or give each its own --id.',
  )
}
