'use strict'
// @ts-check

// The real timers and clocks, for all of lib/. Tests replace the global ones with fakes that stand still until the test
// moves them. Then our waits would never end, and a lease would compare its window with the fake time.
//
// It must be loaded with the package, not later, and nothing else in lib/ may use a global timer or clock (Biome checks
// that). It must never load anything slow.

// jest fakes the globals of a test file, perhaps before we are loaded, but not this module.
const timers = require('node:timers')

/**
 * A function that a test has put in the place of a real one.
 * @template T
 * @typedef {T & { clock?: Record<string, T> }} Fake
 */

/**
 * The function with this name, or if that is a fake, the real one behind it. @sinonjs/fake-timers, which sinon, jest
 * and vitest use, keeps the real ones in its clock, as `_setTimeout` and so on.
 * @template {object} Holder
 * @template {keyof Holder & string} Name
 * @param {Holder} holder
 * @param {Name} name
 * @returns {Holder[Name]}
 */
const real = (holder, name) => /** @type {Fake<Holder[Name]>} */ (holder[name]).clock?.[`_${name}`] ?? holder[name]

const setTimeout = real(timers, 'setTimeout')
const clearTimeout = real(timers, 'clearTimeout')
const setImmediate = real(timers, 'setImmediate')
const nextTick = real(process, 'nextTick')

/** What a timer can wait at most: it would fire a longer one at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Unix ms by this machine's clock, which may step. */
const unixNow = real(globalThis, 'Date').now

// Not `performance`, which Node loads when it is first used: 0.7 ms of the 4 that all of flakeforge takes.
const hrtime = real(process, 'hrtime')

/** Milliseconds with a fraction, by a clock that only goes forward. */
function monotonicNow() {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/**
 * Resolves after so many ms.
 * @param {number} ms
 * @returns {Promise<void>}
 */
const sleep = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

module.exports = { LONGEST_TIMER_MS, clearTimeout, monotonicNow, nextTick, setImmediate, setTimeout, sleep, unixNow }
