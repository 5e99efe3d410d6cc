// The real timers and clocks, for all of lib/ that only Node runs: those of portable-timers.ts, and Node's own.
//
// Loaded with the package, not later, so it loads nothing slow. Biome checks that the rest of lib/ uses no global timer or
// clock.

import { real, setTimeout } from './portable-timers.ts'

export {
  clearTimeout,
  type Fake,
  LONGEST_TIMER_MS,
  monotonicNow,
  setTimeout,
  unixNow,
} from './portable-timers.ts'

export const setImmediate = real(process.getBuiltinModule('node:timers'), 'setImmediate')
export const nextTick = real(process, 'nextTick')

/** Resolves after this many ms. */
export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
