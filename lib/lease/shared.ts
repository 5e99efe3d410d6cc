// One generator for all calls of join() in a thread that name the same store and group: the option `share`. It is closed when
// each of them has closed it.

import { unlessAborted } from '../base/abort.ts'
import { addressesIn } from '../base/addresses.ts'
import { mismatchError } from '../base/errors.ts'
import type { JoinSettings } from './join-options.ts'
import type { LeasedFlakeId } from './leased-flake-id.ts'

/** A generator, for those who hold it. */
interface Shared {
  leased: Promise<LeasedFlakeId>
  /** once it is there */
  made: LeasedFlakeId | undefined
  holders: number
  /** gives up joining, once nobody waits for it */
  over: AbortController
  options: Record<string, unknown>
}

/** By store, which is a text of addresses or an object, and by group. */
const stores: Map<unknown, Map<string, Shared>> = new Map()

/** Equal lists of addresses are one store, in any order and as an array or as a text. */
function storeOf(given: unknown) {
  const store = Array.isArray(given) ? given.join(' ') : (given ?? process.env.FLAKEFORGE_STORE ?? '')
  return typeof store === 'string' ? addressesIn(store).sort().join(' ') : store
}

/** What all holders must agree on: every option except `signal`. */
function optionsOf({ facts, config, elseFrom, ...settings }: JoinSettings): Record<string, unknown> {
  const { seqMask, counterStart, maxAheadMs, maxWaitMs, prefetch, waitMs, host, backfill } = settings
  const { fingerprint, slots, ttlMs, skewMs, durable } = config
  const layout = JSON.stringify([facts.name, facts.fields])
  const ofGroup = { layout, fingerprint, slots, ttlMs, skewMs, durable, backfill, waitMs, host }
  const servers = JSON.stringify(elseFrom, (_, value) => (typeof value === 'function' ? String(value) : value))
  return { ...ofGroup, seqMask, counterStart, maxAheadMs, maxWaitMs, prefetch: JSON.stringify(prefetch), servers }
}

/** The servers' token is a secret, so it is only said that they differ. */
const shownOf = (name: string, value: unknown, servers: string) => (name === 'servers' ? servers : `${name} ${value}`)

function checkSame(group: string, theirs: Shared['options'], ours: Shared['options']) {
  const differing = Object.keys(ours).filter((name) => theirs[name] !== ours[name])
  if (differing.length === 0) return
  const text = (side: Shared['options'], servers: string) =>
    differing.map((name) => shownOf(name, side[name], servers)).join(', ')
  const where = `The shared generator of group '${group}'`
  throw mismatchError(where, text(theirs, 'the elseFrom of its first join()'), text(ours, 'another elseFrom'))
}

/**
 * The generator of this store and group in this thread, which is made by the first call.
 * @param open joins. Its generator asks `isLast` at each close() whether it is the last one
 */
export async function joinShared(
  given: unknown,
  settings: JoinSettings,
  open: (signal: AbortSignal, isLast: () => boolean) => Promise<LeasedFlakeId>,
) {
  const { group, signal } = settings
  const groups = stores.get(storeOf(given)) ?? new Map<string, Shared>()
  stores.set(storeOf(given), groups)
  const options = optionsOf(settings)
  const known = groups.get(group)
  const shared = known === undefined || known.made?.state === 'destroyed' ? begin() : known
  checkSame(group, shared.options, options)
  shared.holders++
  try {
    const leased = await unlessAborted(signal, shared.leased, () => true)
    await leased.attach({ signal })
    return leased
  } catch (error) {
    leave(shared)
    throw error
  }

  function begin() {
    const over = new AbortController()
    const begun: Shared = { leased: open(over.signal, () => isLast(begun)), made: undefined, holders: 0, over, options }
    groups.set(group, begun)
    begun.leased.then(
      (leased) => {
        begun.made = leased
        if (over.signal.aborted) leased.close().catch(() => {}) // the last call gave up after the slot was granted
      },
      () => forget(begun),
    )
    return begun
  }

  /** The next join() begins anew. */
  function forget(ended: Shared) {
    if (groups.get(group) === ended) groups.delete(group)
    if (groups.size === 0 && stores.get(storeOf(given)) === groups) stores.delete(storeOf(given))
  }

  function isLast(closed: Shared) {
    closed.holders--
    if (closed.holders > 0) return false
    forget(closed)
    return true
  }

  /** A call of join() failed: it holds nothing. */
  function leave(left: Shared) {
    if (left.made !== undefined) left.made.close().catch(() => {})
    else if (isLast(left)) left.over.abort()
  }
}
