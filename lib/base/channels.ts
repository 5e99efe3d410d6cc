// Node's diagnostics channels: what tracers and loggers can subscribe to without changing the program. Their names all
// begin with `flakeforge:`. The types below say what is in the messages.
//
// It must never make a message that nobody gets, and never let a subscriber's error reach the code that publishes: Node
// passes those on as uncaught exceptions. It must not be loaded before the first ID, because it loads a module of Node.

import type { Channel, TracingChannel } from 'node:diagnostics_channel'
import { nextTick } from './timers.ts'

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

const diagnostics = () => process.getBuiltinModule('node:diagnostics_channel')

const channels: Map<string, Channel> = new Map() // Node forgets a channel that nobody holds
const tracers: Map<string, TracingChannel<any, any>> = new Map()

/** What `make` makes for this name, made once; undefined where the runtime has no such thing, as in browsers. */
function ofName<T>(known: Map<string, T>, name: string, make: ((name: string) => T) | undefined) {
  const made = known.get(name) ?? make?.(name)
  if (made !== undefined) known.set(name, made)
  return made
}

/**
 * Publishes a message in a tick of its own, so that a subscriber may do anything. If nobody has subscribed, `message` is
 * not called; if there is nothing to say, it returns undefined.
 */
export function publishSoon(name: string, message: () => object | undefined) {
  const channel = ofName(channels, `flakeforge:${name}`, diagnostics().channel)
  if (!channel?.hasSubscribers) return
  const made = message()
  if (made !== undefined) nextTick(() => channel.publish(made))
}

/**
 * The answer of `call`, traced as Node's tracePromise() does it. `outcome` says what subscribers see of the answer, as
 * `result`; it may add to the context. The answer itself is not for them.
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
