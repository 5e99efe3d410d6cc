'use strict'

// The time for the module, from JavaScript's two clocks. Date.now() has only whole milliseconds. performance.now() is
// finer, but drifts from it: when the system's clock is corrected or set, or while a machine sleeps. The time never
// leaves the millisecond of Date.now(): all threads and processes of a machine count IDs by these.

/** The last moment of a millisecond, in ms. */
const LAST = 0.999

/** The Unix ms at which performance.now() was 0. */
let start = performance.timeOrigin

/** Unix ms. Where the finer clock has drifted, it continues within the millisecond. */
function unixNow() {
  const [ms, since] = [Date.now(), performance.now()]
  const fine = start + since
  const now = Math.min(Math.max(fine, ms), ms + LAST)
  if (now !== fine) start = now - since
  return now
}

/** ms since some moment, by a clock that is never set. */
const monotonicNow = () => performance.now()

module.exports = { monotonicNow, unixNow }
