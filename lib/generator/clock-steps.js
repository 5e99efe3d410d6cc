'use strict'
// @ts-check

// Tells the channel `flakeforge:clock.step` that the clock was set back: at once if a call is refused or has to wait for
// it, otherwise when the generator's counts are looked at for another reason, such as a lease's renewal.
//
// It must never tell the same step twice, and nothing here may run for an ID that is made.

const { monotonicNow } = require('../base/timers.js')
const { publishSoon } = require('../base/channels.js')

/**
 * @import { NativeGenerator } from './opened-generator.js'
 * @import { Settings } from './options.js'
 *
 * What was told of a generator: how many steps, and until when a refusal is about the same one.
 * @typedef {{ steps: number, until: number }} Told
 */

/** While a call waits, it tries again about when the wait should be over, or a little later. */
const SAME_MS = 1000

/** @type {WeakMap<NativeGenerator, Told>} */
const toldOf = new WeakMap()

/** @param {NativeGenerator} native */
function told(native) {
  const known = toldOf.get(native) ?? { steps: 0, until: Number.NEGATIVE_INFINITY }
  toldOf.set(native, known)
  return known
}

/**
 * @param {NativeGenerator} native
 * @param {Told} known
 * @returns how many steps have not been told yet
 */
function newSteps(native, known) {
  const steps = native.stats()?.clockSteps ?? 0
  const more = steps - known.steps
  known.steps = steps
  return more
}

/**
 * @param {Settings} options
 * @param {number} steps
 * @param {number} behindMs
 */
const messageOf = ({ facts, node, group }, steps, behindMs) => ({
  layout: facts.name,
  node,
  ...(group !== undefined && { group }),
  steps,
  behindMs,
})

/**
 * The clock is behind the generator's last ID, and a call was refused for it.
 * @param {NativeGenerator} native
 * @param {Settings} options
 * @param {{ behindMs: number, retryAfterMs: number }} refusal
 */
function refused(native, options, { behindMs, retryAfterMs }) {
  publishSoon('clock.step', () => {
    const known = told(native)
    const steps = newSteps(native, known)
    const isSame = steps === 0 && monotonicNow() < known.until
    known.until = monotonicNow() + retryAfterMs + SAME_MS
    return isSame ? undefined : messageOf(options, steps, behindMs)
  })
}

/**
 * Looks whether there were steps for which no call was refused.
 * @param {NativeGenerator} native
 * @param {Settings} options
 */
function look(native, options) {
  publishSoon('clock.step', () => {
    const steps = newSteps(native, told(native))
    return steps === 0 ? undefined : messageOf(options, steps, 0)
  })
}

module.exports = { look, refused }
