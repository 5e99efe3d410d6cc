// What is published on Node's diagnostics channels: `node:diagnostics_channel`.

/**
 * The context of the tracing channels `flakeforge:lease.acquire`, `flakeforge:lease.renew` and `flakeforge:lease.release`:
 * one call to the store. Node publishes it on `tracing:flakeforge:lease.renew:start`, `:end`, `:asyncStart`, `:asyncEnd`
 * and, if the call failed, `:error`. It is the same object in all of them.
 *
 * @example
 * import { tracingChannel } from 'node:diagnostics_channel'
 * tracingChannel('flakeforge:lease.renew').subscribe({
 *   start() {},
 *   end() {},
 *   asyncStart() {},
 *   asyncEnd({ group, slot, result }) { console.log(group, slot, result) },
 *   error({ group, error }) { console.error(group, error) },
 * })
 */
export interface LeaseTrace {
  /** the group's name */
  group: string
  /** the slot; for `acquire` it is there once the store has granted one */
  slot?: number | undefined
  /**
   * how the call ended, from `asyncStart` on: 'granted' of `acquire`; 'renewed', 'lost' (somebody else has the slot) or
   * 'destroyed' (the group was ended) of `renew`; 'released' of `release`
   */
  result?: 'granted' | 'renewed' | 'lost' | 'destroyed' | 'released'
  /** why it failed, with its `code`, on `error` and after it */
  error?: Error & { code: string }
}

/**
 * The message of the channel `flakeforge:lease.state`: a lease got its slot, or has it no more. Renewals are no change of
 * state: `flakeforge:lease.renew` has them.
 */
export interface LeaseStateMessage {
  /** the group's name */
  group: string
  /** the slot that it is about; undefined if there never was one */
  slot: number | undefined
  /** the state since then */
  state: 'attached' | 'detached' | 'destroyed'
  /** what happened: the name of the event that listeners of the generator get */
  event: 'attached' | 'lost' | 'detached' | 'destroyed'
  /** why; absent if the program asked for it */
  cause?: Error
}

/**
 * The message of the channel `flakeforge:clock.step`: the system's clock was set back.
 *
 * It comes at once if a call was refused or had to wait for it. Steps that cost no call anything, because IDs may run ahead
 * (`maxAheadMs`) or none were made meanwhile, are seen at the next wait for an ID, reading of `stats` or renewal of a
 * lease. Every generator that sees the step tells of it. One with a `clock` of its own does not.
 */
export interface ClockStepMessage {
  /** the layout's name */
  layout: string
  /** the generator's node number */
  node: number
  /** the group, if the node number is leased */
  group?: string
  /**
   * how many steps this generator has seen since its last message; 0 if the clock is behind an ID that another generator
   * of this node has made
   */
  steps: number
  /** by how many ms the clock was behind the last ID when a call was refused; 0 if none was */
  behindMs: number
}
