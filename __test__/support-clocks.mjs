// Clocks and the timer of flakeforge, which a test can replace. flakeforge keeps what it finds when it is loaded, so this
// must be imported before it; it loads lib/timers.js with clocks that ask `clocks`, and leaves the global ones alone.

import { createRequire } from 'node:module'
import timers from 'node:timers'

const { now } = Date
const { setTimeout } = timers
const prototype = Object.getPrototypeOf(performance)
const { now: monotonic } = prototype

/** For the `--import` of a child process. */
export const CLOCKS = import.meta.url

/** What flakeforge asks; a test puts functions of its own here, and the real ones back. */
export const clocks = { unixNow: now, monotonicNow: () => monotonic.call(performance), setTimeout }

Date.now = () => clocks.unixNow()
prototype.now = () => clocks.monotonicNow()
timers.setTimeout = (...args) => clocks.setTimeout(...args)
createRequire(import.meta.url)('../lib/timers.js')
Date.now = now
prototype.now = monotonic
timers.setTimeout = setTimeout

/** Replaces some of them until the end of the test. */
export function replaceClocks(t, others) {
  const real = { ...clocks }
  t.teardown(() => Object.assign(clocks, real))
  Object.assign(clocks, others)
}
