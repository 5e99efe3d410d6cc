'use strict'
// @ts-check

// The real timers and clocks, like timers.js, for code that also runs in browsers, workers and functions. Tests replace the
// global ones with fakes that stand still.
//
// It must never require a module of Node: bundlers for browsers would look for it.

const { process: node, performance: clock } = /** @type {Partial<typeof globalThis>} */ (globalThis)

/**
 * A function that a test has put in the place of a real one.
 * @template T
 * @typedef {T & { clock?: Record<string, T> }} Fake
 */

/**
 * The function with this name, or if that is a fake, the real one behind it: see timers.js.
 * @template {object} Holder
 * @template {keyof Holder & string} Name
 * @param {Holder} holder
 * @param {Name} name
 * @returns {Holder[Name]}
 */
const real = (holder, name) => /** @type {Fake<Holder[Name]>} */ (holder[name]).clock?.[`_${name}`] ?? holder[name]

// Node gives its own module, which no test fakes, without a `require` that a bundler would see (from 20.16 on).
const timers = /** @type {typeof globalThis} */ (node?.getBuiltinModule?.('node:timers') ?? globalThis)

const setTimeout = real(timers, 'setTimeout')
const clearTimeout = real(timers, 'clearTimeout')
const queueMicrotask = real(globalThis, 'queueMicrotask')

/** What a timer can wait at most: it would fire a longer one at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Unix ms by this machine's clock, which may step. */
const unixNow = real(globalThis, 'Date').now

const hrtime = node?.hrtime === undefined ? undefined : real(node, 'hrtime')

/** Milliseconds with a fraction, by a clock that only goes forward. */
function monotonicNow() {
  if (hrtime === undefined) return clock?.now() ?? unixNow()
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

module.exports = { LONGEST_TIMER_MS, clearTimeout, monotonicNow, queueMicrotask, setTimeout, unixNow }
