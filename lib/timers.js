'use strict'

// The real timers and clocks, for all of lib/. Tests replace the global ones with fakes that stand still until the test
// moves them: a wait of ours would never end, and a lease would take the fake time for the time of its window.
//
// It must be loaded with the package, not later, and nothing else in lib/ may use a global timer or clock (Biome checks
// that). It must not load anything that takes time.

// jest fakes the globals of a test file, perhaps before we are loaded, but not this module.
const timers = require('node:timers')

/**
 * What has this name, or what a fake of this name stands in for. @sinonjs/fake-timers, which sinon, jest and vitest use,
 * keeps it in its clock, as `_setTimeout` and so on.
 */
const real = (holder, name) => holder[name].clock?.[`_${name}`] ?? holder[name]

const setTimeout = real(timers, 'setTimeout')
const clearTimeout = real(timers, 'clearTimeout')
const setImmediate = real(timers, 'setImmediate')
const nextTick = real(process, 'nextTick')

/** Unix ms by this machine's clock, which may step. */
const unixNow = real(globalThis, 'Date').now

// Not `performance`, which Node loads when it is first used: 0.7 ms of the 4 that all of flakeforge takes.
const hrtime = real(process, 'hrtime')

/** Milliseconds with a fraction, by a clock that only goes forward. */
function monotonicNow() {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/** Resolves after so many ms. */
const sleep = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

module.exports = { clearTimeout, monotonicNow, nextTick, setImmediate, setTimeout, sleep, unixNow }
