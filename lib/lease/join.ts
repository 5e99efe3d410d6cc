// FlakeId.join() and createGroup(): from a store and options to a generator that holds a slot, or to a new group. A client
// that was created here is always closed: after a failure, an abort or close().

import { throwIfAborted, unlessAborted } from '../base/abort.ts'
import { keptByDurableError } from '../base/errors.ts'
import { within } from '../base/in-time.ts'
import { monotonicNow, setTimeout } from '../base/timers.ts'
import { refuseMore } from '../base/values.ts'
import type { AnyLayout } from '../codec/node-fields.ts'
import { checkStore, openGiven } from '../stores/open.ts'
import type { SlotStore, Store } from '../stores/store.ts'
import { BUDGET } from '../stores/time-budget.ts'
import { joining, leases } from './counts-for-metrics.ts'
import { LeaseWithServers } from './else-from/lease-with-servers.ts'
import { howToCreate } from './how-to-create.ts'
import type { JoinOptions, JoinSettings } from './join-options.ts'
import { readJoinOptions } from './join-options.ts'
import { Lease } from './lease.ts'
import { type LeasedFlakeId, leasedFlakeId } from './leased-flake-id.ts'
import { withWayOut } from './mismatch.ts'
import { PastIds } from './past-ids.ts'
import { warnOfFunctions } from './reserved-nodes.ts'
import { joinShared } from './shared.ts'
import { SlotGenerator } from './slot-generator.ts'

/** The kept nodes depend on what the store remembers, which on a server may be lost. A folder has no such option. */
const mayLoseKept = ({ backfill, config }: JoinSettings, store: SlotStore) =>
  backfill > 0 && !config.durable && !('folder' in store)

async function refuseKept(close: () => Promise<void>): Promise<never> {
  await close()
  throw keptByDurableError()
}

// `FlakeId.join`, which has the documentation.
export function join<const L extends AnyLayout = 'flake'>(
  store?: Store | string | readonly string[] | null,
  options?: JoinOptions<L> | null,
  ...more: never[]
): Promise<LeasedFlakeId<L>>
export async function join(given: unknown, givenOptions?: unknown, ...more: unknown[]) {
  refuseMore('join', more, 'only a store and options')
  checkStore(given, 'join')
  const options = readJoinOptions(givenOptions)
  throwIfAborted(options.signal) // before a client is created
  if (!options.share) return joinAlone(given, options)
  return joinShared(given, options, (signal, isLast) => joinAlone(given, { ...options, signal }, isLast))
}

/** @param isLast asked at each close() whether the generator has no other holder */
async function joinAlone(given: unknown, options: JoinSettings, isLast?: () => boolean) {
  const { store, close } = openGiven(given)
  if (mayLoseKept(options, store)) await refuseKept(close)
  const generator = new SlotGenerator(options)
  const settings = { ...options, howToCreate: () => howToCreate(given, options) }
  const { elseFrom } = options
  const lease =
    elseFrom === undefined
      ? new Lease(store, generator, settings)
      : new LeaseWithServers(store, generator, settings, elseFrom)
  // A slot that the store grants too late is released over the same client.
  const end = () => lease.settled().then(close)
  const start = monotonicNow()
  joining.add(lease)
  try {
    await lease.attach(options.signal)
    if (lease.slot !== undefined) await warnOfFunctions(store, options, BUDGET.JOIN_ENDS_MS + start - monotonicNow())
    lease.compare()
    const past = options.backfill > 0 ? new PastIds(store, lease, options) : undefined
    const onClose = async () => {
      await within(end(), BUDGET.CLIENT_END_MS)
      lease.giveUp()
    }
    const leased = leasedFlakeId(generator.openedWith(lease), { past, onClose, isLast })
    generator.serve(leased)
    leases.add(lease)
    return leased
  } catch (error) {
    if (options.signal?.aborted) closeSoon(close)
    await within(end(), BUDGET.CLIENT_AFTER_FAILURE_MS)
    throw withWayOut(error, given, options)
  } finally {
    joining.delete(lease)
  }
}

/** After an abort nothing may stay open: even if the store does not answer, its connection is closed. */
function closeSoon(close: () => Promise<void>) {
  setTimeout(() => close().catch(() => {}), BUDGET.CLIENT_AFTER_ABORT_MS).unref()
}

/**
 * Creates a group that is known to be new, so there can be no forgotten grants.
 * @param given the store
 * @returns whether it was created; false if it already existed
 */
export async function createGroup(given: unknown, givenOptions?: unknown, ...more: unknown[]) {
  refuseMore('createGroup', more, 'only a store and options')
  checkStore(given, 'createGroup')
  const options = readJoinOptions(givenOptions)
  const { group, config, signal } = options
  throwIfAborted(signal)
  const { store, close } = openGiven(given)
  if (mayLoseKept(options, store)) await refuseKept(close)
  const made = store.create(group, config, signal)
  let isNew
  try {
    isNew = await unlessAborted(signal, made, () => true)
  } catch (error) {
    await within(
      made.catch(() => {}).then(close), // not while a step is pending
      BUDGET.CLIENT_AFTER_FAILURE_MS,
    )
    throw withWayOut(error, given, options)
  }
  await close()
  return isNew === true
}
