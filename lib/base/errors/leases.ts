// Errors about slots and their windows.

import { withoutEnd } from '../printable.ts'
import { unixNow } from '../timers.ts'
import { said } from './foreign.ts'
import { flakeError, inMs, instant } from './make.ts'
import { isEnded, ownStoreError, storeError } from './stores.ts'
import { optionError } from './values.ts'

/** `ERR_FLAKE_EXHAUSTED`: every slot has a holder. `retryAt`, `storeNow`: Unix ms by the store's clock. */
export function exhaustedError(group: string, retryAt: number, storeNow: number) {
  const message =
    `No slot of group '${group}' becomes free before ${instant(retryAt)}. Call close() on generators that are no longer ` +
    'used, or wait longer (waitMs). For more slots, destroy this group and create it again: a second group beside it would ' +
    'have the same node numbers.'
  return flakeError('ERR_FLAKE_EXHAUSTED', message, { group, retryAt: new Date(retryAt), storeNow })
}

/**
 * `ERR_FLAKE_EXHAUSTED`: every free slot has a node number that this process already uses. `inUse`: the user of it;
 * `refusal`: the store's answer to a request for another slot, if there was one.
 */
export function inUseError(group: string, inUse: Error, refusal?: { retryAt?: Date; storeNow?: number }) {
  const message =
    `Every free slot of group '${group}' has a node number that this process already uses. Call join() for the other ` +
    `generators of this process too, or give them node numbers that no slot of the group has. (${inUse.message})`
  const { retryAt = new Date(unixNow()), storeNow } = refusal ?? {}
  return flakeError('ERR_FLAKE_EXHAUSTED', message, { cause: inUse, group, retryAt, storeNow })
}

/** `ERR_FLAKE_QUIET`: the store may have lost grants and waits until the last of them has ended. */
export function quietError(group: string, until: number, storeNow: number) {
  const message =
    `Group '${group}' is new on this store, or the store may have lost its records, so no slot is granted before ` +
    `${instant(until)}. Next time, create a new group with \`npx flakeforge create STORE ${group}\` before any process joins.`
  return flakeError('ERR_FLAKE_QUIET', message, { group, retryAt: new Date(until), storeNow })
}

/** `ERR_FLAKE_STORE`: a renewal found no record of the group. */
export function absentError(group: string) {
  return storeError(
    `Group '${group}' has no record on its store: its records were lost or removed. A renewal does not create a group. This ` +
      'member generates IDs until its window ends, and then joins again, which creates it.',
  )
}

/** `ERR_FLAKE_STORE`: the group on the store is not that of this member's slot. */
export function anotherGroupError(group: string) {
  return storeError(
    `The store shows another group '${group}' than the one of this member's slot: it was destroyed and created again, or the ` +
      'store lost its records, or older records were restored. nextAt() does not know which IDs other groups generated. If this ' +
      'member keeps its slot after the next renewal, the call can be repeated. Otherwise, give the remaining rows IDs from next().',
  )
}

/** The warning while join() waits for such a store. `create`: the command that creates the group without the wait. */
export function quietWarning(
  group: string,
  { retryAt, storeNow }: { retryAt: number; storeNow: number },
  create: string,
) {
  const seconds = Math.ceil((retryAt - storeNow) / 1000)
  return (
    `Group '${group}' is new on this store, or the store may have lost its records, so no slot is granted for ${seconds} s, ` +
    `until ${instant(retryAt)}. To avoid this wait for a group that is known to be new, create it before any process joins: ${create}`
  )
}

/** The warning while join() waits for a store that takes no writes at present. `cause`: the store's message. */
export function waitWarning(group: string, waitMs: number, cause: Error) {
  return `join() has no slot of group '${group}' yet: ${withoutEnd(cause.message)}. It retries for up to ${inMs(waitMs)}.`
}

/** The warning when a window was not renewed, from the detail that listeners of 'renewal-failed' get. */
export function renewalWarning({
  group,
  slot,
  cause,
  expires,
}: {
  group: string
  slot?: number | undefined
  cause?: Error
  expires?: Date | undefined
}) {
  return (
    `The window of slot ${slot} in group '${group}' was not renewed: ${withoutEnd(cause?.message ?? '')}. The renewal is retried, and IDs can be generated ` +
    `until ${instant(Number(expires))}. This warning is shown once: listen to 'renewal-failed' for each outage.`
  )
}

/** `ERR_FLAKE_CLOCK_SKEW`: this machine's clock and the store's are too far apart. */
export function clockSkewError(skewMs: number, bound: number) {
  const message =
    `The clock of this machine is ${inMs(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} the store's clock. ` +
    `skewMs allows ${bound} ms. Set the clocks, for example with NTP.`
  return flakeError('ERR_FLAKE_CLOCK_SKEW', message, { skewMs })
}

/** `ERR_FLAKE_CLOCK_SKEW`: the window that was granted begins after the end of the wait. */
export function aheadError(group: string, aheadMs: number) {
  const message =
    `The window that the store granted to group '${group}' begins in ${inMs(aheadMs)} by the clock of this machine, which is ` +
    'later than waitMs allows. Set the clock, for example with NTP, or wait longer (waitMs).'
  return flakeError('ERR_FLAKE_CLOCK_SKEW', message, { group, skewMs: -aheadMs })
}

/** `ERR_FLAKE_STORE`: it is unknown whether the slot was released. */
export function unreleasedError(group: string, slot: number, tookMs: number) {
  return storeError(
    `The store of group '${group}' did not confirm within ${inMs(tookMs)} that slot ${slot} was released. The slot becomes ` +
      'free when its window ends, after ttlMs at the latest.',
  )
}

/** `ERR_FLAKE_LEASE_EXPIRED`: the window has ended and was not renewed. */
export function leaseExpiredError(group: string, slot: number | undefined, cause: Error) {
  const message =
    `The window of slot ${slot} in group '${group}' has ended and was not renewed: ${withoutEnd(cause.message)}. ` +
    (isEnded(cause)
      ? 'No renewal can succeed with this client.'
      : 'IDs can be generated again after a renewal. next(callback) and nextAsync() wait for it.')
  return flakeError('ERR_FLAKE_LEASE_EXPIRED', message, { group, slot, cause })
}

/** `ERR_FLAKE_OVERFLOW`: the window is used up or has ended, and the next one has been requested. */
export function windowEndError(group: string, slot: number | undefined, retryAfterMs: number) {
  const message =
    `The window of slot ${slot} in group '${group}' is used up. The next one arrives in a later turn of the event loop. ` +
    'next(callback) and nextAsync() wait for it.'
  return flakeError('ERR_FLAKE_OVERFLOW', message, { retryAfterMs, group, slot })
}

/** `ERR_FLAKE_LEASE_EXPIRED`: the store no longer lists this member as the slot's holder. `cause`: the failure before it. */
export function lostError(group: string, slot: number | undefined, cause?: unknown) {
  const message =
    `The store no longer lists this generator as the holder of slot ${slot} in group '${group}'. Its window had ended and ` +
    'another process took the slot, or the record or file of the slot was removed.'
  return flakeError('ERR_FLAKE_LEASE_EXPIRED', message, { group, slot, cause })
}

/** `ERR_FLAKE_DETACHED`: it has no slot at present. `cause`: the reason, unless the user asked for it. */
export function detachedError(group: string, isReturning: boolean, cause?: unknown) {
  const message = isReturning
    ? `The generator of group '${group}' lost its slot and is getting another. next(callback) and nextAsync() wait for it.`
    : `The generator of group '${group}' is detached. Call attach() to get a slot again.`
  return flakeError('ERR_FLAKE_DETACHED', message, { group, slot: undefined, cause })
}

/** `ERR_FLAKE_DETACHED`: a generator that was closed permanently. */
export function closedLeaseError(group: string) {
  const message = `This generator of group '${group}' is closed. Call join() for a new one.`
  return flakeError('ERR_FLAKE_DETACHED', message, { group, slot: undefined })
}

/** `ERR_FLAKE_DESTROYED`: the group was destroyed for all members. */
export function destroyedError(group: string) {
  const message = `Group '${group}' was destroyed. Call join() to create a new group of this name.`
  return flakeError('ERR_FLAKE_DESTROYED', message, { group, slot: undefined })
}

/** `ERR_FLAKE_TIME_RANGE`: nextAt() generates IDs of past times only. */
export function futureError(ms: number, now: number) {
  const message =
    `The time of date, ${instant(ms)}, is ${inMs(ms - now)} in the future by the clock of this machine. nextAt() generates IDs for past ` +
    'times. Set the clock, for example with NTP, or use next() for an ID of the current time.'
  return flakeError('ERR_FLAKE_TIME_RANGE', message, { timestamp: ms })
}

/** `ERR_FLAKE_BACKFILL`: the reserved nodes have no more IDs of this time. */
export function backfillUsedUpError(group: string, ms: number, nodes: number) {
  const message =
    `Group '${group}' has no ID left for ${instant(ms)}: all IDs of its ${nodes} reserved nodes are used. ` +
    'Give some of these rows another time, or an ID from next().'
  return flakeError('ERR_FLAKE_BACKFILL', message, { group, timestamp: ms })
}

/** `ERR_FLAKE_BACKFILL`: an earlier group of this name may have used the reserved nodes. `until`: the end of that time. */
export function keptNodesInUseError(group: string, ms: number, until: number) {
  const message =
    `An earlier group '${group}' may have used the nodes that this group reserves for nextAt(), until ${instant(until)}. Its members may have ` +
    `generated the same IDs for ${instant(ms)}. Only times after that are safe. Give rows with earlier times IDs from next().`
  return flakeError('ERR_FLAKE_BACKFILL', message, { group, timestamp: ms })
}

/** `ERR_FLAKE_BACKFILL`: a function of the store's database generates IDs with one of the reserved nodes. */
export function keptByFunctionError(group: string, { name, node }: { name: string; node: number }, ms: number) {
  const message =
    `Group '${group}' reserves node ${node} for nextAt(), and the function ${said(name, 60)}() of this database generates IDs with it. Both ` +
    'would generate equal IDs. Give rows with past times IDs from next(). If the function has not generated an ID yet, drop it ' +
    'instead, and create one with a node that the group neither grants nor reserves.'
  return flakeError('ERR_FLAKE_BACKFILL', message, { group, timestamp: ms })
}

/** `ERR_FLAKE_STORE`: it is unknown which IDs of a time were generated. */
export function pastLostError(group: string, cause: unknown) {
  return ownStoreError(
    `The store may have lost the record of which IDs group '${group}' generated for this time, in a failover or a restored backup. Therefore ` +
      'it generates no more. Give the remaining rows IDs from next().',
    cause,
  )
}

/** `ERR_FLAKE_OPTION`: on a server, nextAt() needs a store that keeps what it acknowledged. */
export function keptByDurableError() {
  const message =
    'backfill needs durable: true on a server. Only the store knows which IDs of past times were generated, so it must not lose this record.'
  return optionError(RangeError, 'durable', false, message)
}
