// Clocks and the timer of flakeforge, which a test can replace. flakeforge keeps the ones that it finds when it is
// loaded, so this must be imported first; it loads flakeforge with clocks that call `clocks`, and leaves the global
// ones alone.

import { createRequire } from 'node:module'
import timers from 'node:timers'

const require = createRequire(import.meta.url)
const rooms = ['timers', 'portable-timers'].map((name) => require.resolve(`../../target/rooms/lib/base/${name}.js`))
const own = [require.resolve('flakeforge'), require.resolve('flakeforge/remote'), ...rooms]
if (own.some((file) => file in require.cache))
  throw new Error('flakeforge is loaded already: import support/clocks.mjs before it')

const { now } = Date
const { setTimeout } = timers
const { hrtime } = process

/** The functions that flakeforge calls; a test replaces them here, and restores the real ones. */
export const clocks = { unixNow: now, monotonicNow: () => performance.now(), setTimeout }

Date.now = () => clocks.unixNow()
timers.setTimeout = (...args) => clocks.setTimeout(...args)
process.hrtime = () => {
  const ms = clocks.monotonicNow()
  return [Math.trunc(ms / 1e3), (ms % 1e3) * 1e6]
}
for (const file of own) require(file)
Date.now = now
timers.setTimeout = setTimeout
process.hrtime = hrtime

/** Replaces some of them until the end of the test. */
export function replaceClocks(t, others) {
  const real = { ...clocks }
  t.teardown(() => Object.assign(clocks, real))
  Object.assign(clocks, others)
}
