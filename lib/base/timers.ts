// The real timers and clocks, for all of lib/. Tests replace the global ones with fakes that stand still until the test moves
// them. With those, our waits would never end, and a lease would compare its window with the fake time.
//
// Loaded with the package, not later, so it loads nothing slow. Biome checks that the rest of lib/ uses no global timer or
// clock.

// jest fakes the globals of a test file, perhaps before we are loaded, but not this module.
const timers = process.getBuiltinModule('node:timers')

/** A function that a test has put in place of a real one. */
export type Fake<T> = T & { clock?: Record<string, T> }

/**
 * The function with this name or, if that is a fake, the real one behind it. @sinonjs/fake-timers, which sinon, jest and
 * vitest use, keeps the real ones in its clock, as `_setTimeout` and so on.
 */
const real = <Holder extends object, Name extends keyof Holder & string>(holder: Holder, name: Name): Holder[Name] =>
  (holder[name] as Fake<Holder[Name]>).clock?.[`_${name}`] ?? holder[name]

export const setTimeout = real(timers, 'setTimeout')
export const clearTimeout = real(timers, 'clearTimeout')
export const setImmediate = real(timers, 'setImmediate')
export const nextTick = real(process, 'nextTick')

/** The longest delay of a timer: a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Unix ms by this machine's clock, which may step. */
export const unixNow = real(globalThis, 'Date').now

// Not `performance`, which Node loads on first use: 0.7 ms of the 4 that all of flakeforge takes.
const hrtime = real(process, 'hrtime')

/** Milliseconds with a fraction, by a clock that only goes forward. */
export function monotonicNow() {
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/** Resolves after this many ms. */
export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
