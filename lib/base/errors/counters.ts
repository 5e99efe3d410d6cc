// Errors about counters on a store, from which SegmentId takes its blocks.

import { flakeError } from './make.ts'
import { mismatchError } from './sources.ts'
import { storeError } from './stores.ts'

const SKIP = 'Call skipTo(n) with an n above every ID that was ever handed out.'

/** Why a store grants no block, by the word that its step returns. */
const COUNTER_REFUSALS: Record<'gone' | 'behind' | 'full', (name: string, value?: bigint) => string> = {
  gone: (name) =>
    `The store no longer has this segment counter '${name}'. It was removed, and perhaps recreated. ${SKIP}`,
  behind: (name) =>
    `The store may have lost blocks of segment counter '${name}' in a restart, a failover or a restored backup. ${SKIP}`,
  full: (name, value) =>
    `Segment counter '${name}' is at ${value}, and the next block would end above 2^64 - 1. Use a smaller block. A new counter starts from the beginning, so its IDs need a separate table.`,
}

/**
 * `ERR_FLAKE_STORE`: a counter is stuck, whatever the store does, until an operator acts. The property `counter`
 * distinguishes this error from those of a store that fails or refuses.
 */
const stoppedError = (name: string, why: string) => Object.assign(storeError(why), { counter: name })

/** A counter grants no block. `why`: 'gone', 'behind' or 'full'; `value`: the counter's present value. */
export function counterError(why: 'gone' | 'behind' | 'full', name: string, value?: bigint) {
  return stoppedError(name, COUNTER_REFUSALS[why](name, value))
}

/** `ERR_FLAKE_DESTROYED`: a counter was destroyed; `group` is its name. */
export function destroyedCounterError(name: string) {
  const message = `Segment counter '${name}' was destroyed. To start a new one with this name, call SegmentId.open() with an init at or above every ID that was handed out.`
  return flakeError('ERR_FLAKE_DESTROYED', message, { group: name, slot: undefined })
}

/** A counter is below numbers that it has already granted. */
export function wentBackError(name: string, value: bigint, known: bigint) {
  return stoppedError(
    name,
    `Segment counter '${name}' is at ${value}, but has already granted IDs up to ${known}, so the store has lost some. ${SKIP}`,
  )
}

/** `ERR_FLAKE_CONFIG_MISMATCH`: the members of a counter disagree on whether its store is durable. */
export function counterMismatchError(name: string, durable: boolean) {
  return mismatchError(`Segment counter '${name}'`, `durable ${durable}`, `durable ${!durable}`)
}

/** `ERR_FLAKE_OVERFLOW`: fewer IDs are left than requested, and the next block has been requested. */
export function blocksUsedUpError(name: string, block: number, wanted: number, here: number) {
  const message =
    `${wanted} IDs of segment counter '${name}' were requested, but only ${here} are available. The next block arrives in a later turn of ` +
    `the event loop. next(callback), nextAsync() and takeAsync() wait for it. A block larger than ${block} lasts longer.`
  return flakeError('ERR_FLAKE_OVERFLOW', message, { retryAfterMs: 1 })
}

/** `ERR_FLAKE_DETACHED`: a member of a counter was closed. */
export function closedError(name: string) {
  return flakeError(
    'ERR_FLAKE_DETACHED',
    `This generator of segment counter '${name}' is closed. Call SegmentId.open() for a new one.`,
    {},
  )
}
