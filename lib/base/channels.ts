// Node's diagnostics channels, to which tracers and loggers subscribe without changing the program. All names begin with
// `flakeforge:`. The types below describe the messages.
//
// No message is built without a subscriber, and no subscriber's error reaches the publishing code: Node passes those on as
// uncaught exceptions. This file loads a module of Node, so it is not loaded before the first ID.

import type { Channel, TracingChannel } from 'node:diagnostics_channel'
import { nextTick } from './timers.ts'

/**
 * The context of the tracing channels `flakeforge:lease.acquire`, `flakeforge:lease.renew` and `flakeforge:lease.release`:
 * one call to the store. Node publishes it on `tracing:flakeforge:lease.renew:start`, `:end`, `:asyncStart`, `:asyncEnd` and,
 * if the call failed, `:error`. All of them get the same object.
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
  /** the slot; for `acquire` it is set once the store has granted one */
  slot?: number | undefined
  /**
   * how the call ended, from `asyncStart` on: 'granted' for `acquire`; 'renewed', 'lost' (another member has the slot) or
   * 'destroyed' (the group was destroyed) for `renew`; 'released' for `release`
   */
  result?: 'granted' | 'renewed' | 'lost' | 'destroyed' | 'released'
  /** why the call failed, with its `code`; on `error` and after it */
  error?: Error & { code: string }
}

/**
 * The message of the channel `flakeforge:lease.state`: a lease is looking for a slot, has got one, or has lost it. Renewals do
 * not change the state; see `flakeforge:lease.renew`.
 */
export interface LeaseStateMessage {
  /** the group's name */
  group: string
  /** the slot; undefined if there never was one, and for `joining` */
  slot: number | undefined
  /** the new state */
  state: 'attached' | 'detached' | 'destroyed'
  /**
   * the name of the event that the generator's listeners get. `joining`, which the listeners do not get, means that `join()`
   * or `attach()` has begun to look for a slot. After `lost`, the lease looks for a slot by itself.
   */
  event: 'joining' | 'attached' | 'lost' | 'detached' | 'destroyed'
  /** the reason; absent if the program asked for it */
  cause?: Error
}

/**
 * The message of the channel `flakeforge:clock.step`: the system's clock was set back.
 *
 * It is published at once if the step made a call fail or wait. A step that affects no call, because IDs may run ahead
 * (`maxAheadMs`) or no ID was generated meanwhile, is noticed at the next wait for an ID, reading of `stats` or lease
 * renewal. Every generator that notices the step publishes a message, except one with a custom `clock`.
 */
export interface ClockStepMessage {
  /** the layout's name */
  layout: string
  /** the generator's node number */
  node: number
  /** the group, if the node number is leased */
  group?: string
  /**
   * how many steps this generator has noticed since its last message; 0 if the clock is behind an ID that another generator
   * of this node has generated
   */
  steps: number
  /** how far the clock was behind the last ID when a call failed or had to wait, in ms; 0 if there was no such call */
  behindMs: number
}

/**
 * The message of the channel `flakeforge:store.state`: one of several stores that form one, as with `quorumStore()`, does not
 * take part, or takes part again.
 */
export interface StoreStateMessage {
  /** the store's label: its address without user, password and options, or the given name */
  store: string
  /** true if the store does not take part */
  isAway: boolean
  /** why the store does not take part */
  cause?: unknown
}

const diagnostics = () => process.getBuiltinModule('node:diagnostics_channel')

const channels: Map<string, Channel> = new Map() // Node forgets a channel without references
const tracers: Map<string, TracingChannel<any, any>> = new Map()

/** Returns what `make` makes for this name, cached; undefined where the runtime lacks it, as in browsers. */
function ofName<T>(known: Map<string, T>, name: string, make: ((name: string) => T) | undefined) {
  const made = known.get(name) ?? make?.(name)
  if (made !== undefined) known.set(name, made)
  return made
}

/**
 * Publishes a message in a separate tick, so that a subscriber may do anything. `message` is not called without a subscriber;
 * it returns undefined if there is nothing to publish.
 */
export function publishSoon(name: string, message: () => object | undefined) {
  const channel = ofName(channels, `flakeforge:${name}`, diagnostics().channel)
  if (!channel?.hasSubscribers) return
  const made = message()
  if (made !== undefined) nextTick(() => channel.publish(made))
}

/**
 * Returns the answer of `call`, traced as Node's tracePromise() does it. Subscribers do not see the answer: `outcome`
 * computes their `result` from it, and may add to the context.
 */
export async function traced<Context extends object, T>(
  name: string,
  context: Context,
  call: () => Promise<T>,
  outcome: (answer: T, context: Context) => string,
): Promise<T> {
  const tracer = ofName(tracers, `flakeforge:${name}`, diagnostics().tracingChannel)
  if (tracer === undefined || !isWatched(tracer)) return call()
  const given: { answer?: T } = {}
  await tracer.tracePromise(async () => {
    given.answer = await call()
    return outcome(given.answer, context)
  }, context)
  return given.answer as T
}

const isWatched = ({ start, end, asyncStart, asyncEnd, error }: TracingChannel<any, any>) =>
  [start, end, asyncStart, asyncEnd, error].some((channel) => channel.hasSubscribers)
