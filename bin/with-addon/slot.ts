// The slot that `new` takes if it gets no node number: from the given store, or in the user's own folder. Two concurrent
// commands never have the same node number.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { factsOf } from '../../lib/codec/layout.ts'
import { FlakeId } from '../../lib/entries/index.ts'
import type { JoinOptions, LeasedFlakeId } from '../../lib/entries/lease.ts'
import { readJoinOptions } from '../../lib/lease/join-options.ts'
import { nativeLayout } from '../../lib/native/hot.ts'
import { signOfContainer } from '../../lib/stores/container.ts'
import { type Fault, failure, untilStopped, usageError } from '../parts/faults.ts'
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
    throw failure(
      `${error.message.replace(/\.$/, '')}. With --store, name the folder or server that your other programs use. ${BY_HAND}`,
    )
  }
}

/**
 * The default group of join(), so that this user's applications generate no equal IDs. If that group has another layout, epoch
 * or idOffset, its IDs differ anyway, and the slot comes from a group that is named after ours. A second group with the same
 * ones would have the same node numbers. So ours has the upper half of them: an application of our layout, whose group is made
 * later or has a name, begins with the lowest.
 */
async function joinSomeGroup(store: FolderStore, options: JoinOptions): Promise<LeasedFlakeId> {
  const ours = markOf(options)
  if (existsSync(store.folderOf('default'))) {
    const flake = await joinUnless(store, { ...options, group: 'default' }, (theirs) => !theirs.startsWith(`${ours},`))
    if (flake !== undefined) return flake
  } else if (ours === markOf({})) {
    if (!isUsual(options)) throw usageError(OTHER_SLOTS)
    return FlakeId.join(store, { ...options, group: 'default' })
  }
  const digest = createHash('sha256').update(ours).digest('hex').slice(0, 12)
  const upper = isUsual(options, { layout: options.layout }) ? { nodeOffset: upperHalf(options) } : {}
  const flake = await joinUnless(store, { ...options, ...upper, group: `new-${digest}` }, () => false)
  return flake as LeasedFlakeId
}

const OTHER_SLOTS =
  "The group 'default' would get other slots than join() gives it, and applications could not join it. Leave out --slots, " +
  '--backfill, --node-offset and node fields, or name the group that your applications use, with --group.'

/** What tells the IDs of one layout from those of another: its bits, epoch and idOffset. */
const markOf = ({ layout }: JoinOptions) => nativeLayout(factsOf(layout ?? 'flake')).fingerprint

/** The first node number of the upper half. */
const upperHalf = (options: JoinOptions) => Math.floor(readJoinOptions(options).config.slots / 2)

function isUsual(options: JoinOptions, others: JoinOptions = {}) {
  const [ours, usual] = [options, others].map((each) => readJoinOptions(each).config)
  return ours.fingerprint === usual.fingerprint && ours.slots === usual.slots
}

/**
 * Joins this group, with the number of slots that it has unless one was given. Undefined if the group has other options that
 * make it another one.
 * @param isOther whether they do, by their description
 */
async function joinUnless(store: FolderStore, options: JoinOptions, isOther: (theirs: string) => boolean) {
  try {
    return await FlakeId.join(store, options)
  } catch (cause) {
    const error = cause as Fault & { theirs: string }
    if (error.code !== 'ERR_FLAKE_CONFIG_MISMATCH') throw error
    const [text, slots] = /^(.*), (\d+) slots$/s.exec(error.theirs)?.slice(1) ?? []
    const isAlike =
      text === readJoinOptions(options).config.fingerprint &&
      options.slots === undefined &&
      options.backfill === undefined
    if (isAlike) return FlakeId.join(store, { ...options, slots })
    if (isOther(error.theirs)) return undefined
    throw error
  }
}

/** Other containers do not see this folder, and take the same numbers from their own. */
function sayWhereFrom({ id }: LeasedFlakeId, { folder }: FolderStore) {
  say(
    `Node number ${id} is unique only in this container (it is a slot of ${folder}). If other containers generate IDs too, name a ` +
      'store that they share, with --store or FLAKEFORGE_STORE, or give each its own --id.',
  )
}
