'use strict'
// @ts-check

// Node's diagnostics channels: what tracers and loggers can subscribe to without changing the program. Their names all
// begin with `flakeforge:`. types/diagnostics.d.ts says what is in the messages.
//
// It must never make a message that nobody gets, and never let a subscriber's error reach the code that publishes: Node
// passes those on as uncaught exceptions. It must not be loaded before the first ID, because it loads a module of Node.

const diagnostics = require('node:diagnostics_channel')
const { nextTick } = require('./timers.js')

/**
 * @import { Channel, TracingChannel } from 'node:diagnostics_channel'
 */

/** @type {Map<string, Channel>} */
const channels = new Map() // Node forgets a channel that nobody holds
/** @type {Map<string, TracingChannel<any, any>>} */
const tracers = new Map()

/**
 * What `make` makes for this name, made once; undefined where the runtime has no such thing, as in browsers.
 * @template T
 * @param {Map<string, T>} known
 * @param {string} name
 * @param {((name: string) => T) | undefined} make
 */
function ofName(known, name, make) {
  const made = known.get(name) ?? make?.(name)
  if (made !== undefined) known.set(name, made)
  return made
}

/**
 * Publishes a message in a tick of its own, so that a subscriber may do anything. If nobody has subscribed, `message` is
 * not called; if there is nothing to say, it returns undefined.
 * @param {string} name
 * @param {() => object | undefined} message
 */
function publishSoon(name, message) {
  const channel = ofName(channels, `flakeforge:${name}`, diagnostics.channel)
  if (!channel?.hasSubscribers) return
  const made = message()
  if (made !== undefined) nextTick(() => channel.publish(made))
}

/**
 * The answer of `call`, traced as Node's tracePromise() does it. `outcome` says what subscribers see of the answer, as
 * `result`; it may add to the context. The answer itself is not for them.
 * @template {object} Context
 * @template T
 * @param {string} name
 * @param {Context} context
 * @param {() => Promise<T>} call
 * @param {(answer: T, context: Context) => string} outcome
 * @returns {Promise<T>}
 */
async function traced(name, context, call, outcome) {
  const tracer = ofName(tracers, `flakeforge:${name}`, diagnostics.tracingChannel)
  if (tracer === undefined || !isWatched(tracer)) return call()
  /** @type {{ answer?: T }} */
  const given = {}
  await tracer.tracePromise(async () => {
    given.answer = await call()
    return outcome(given.answer, context)
  }, context)
  return /** @type {T} */ (given.answer)
}

/** @param {TracingChannel<any, any>} tracer */
const isWatched = ({ start, end, asyncStart, asyncEnd, error }) =>
  [start, end, asyncStart, asyncEnd, error].some((channel) => channel.hasSubscribers)

module.exports = { publishSoon, traced }
