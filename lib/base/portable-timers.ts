// The real timers and clocks, for code that also runs in browsers, workers and functions; timers.ts adds what only Node has.
// Tests replace the global ones with fakes that stand still until the test moves them: with those, our waits would never end,
// and a lease would compare its window with the fake time. This file requires no module of Node: bundlers for browsers would
// look for it.

const { process: node } = globalThis as Partial<typeof globalThis>

/** A function that a test has put in place of a real one. */
export type Fake<T> = T & { clock?: Record<string, T> }

/**
 * The function with this name or, if that is a fake, the real one behind it. @sinonjs/fake-timers, which sinon, jest and
 * vitest use, keeps the real ones in its clock, as `_setTimeout` and so on.
 */
export const real = <Holder extends object, Name extends keyof Holder & string>(
  holder: Holder,
  name: Name,
): Holder[Name] => (holder[name] as Fake<Holder[Name]> | undefined)?.clock?.[`_${name}`] ?? holder[name]

// Node returns its own module, which jest does not fake, without a `require` that a bundler would see (from 20.16 on).
const timers = (node?.getBuiltinModule?.('node:timers') ?? globalThis) as typeof globalThis

export const setTimeout = real(timers, 'setTimeout')
export const clearTimeout = real(timers, 'clearTimeout')
/** A context of node:vm has it only if its creator passed it in. */
export const queueMicrotask =
  real(globalThis as Partial<typeof globalThis>, 'queueMicrotask') ??
  ((task: () => void) => void Promise.resolve().then(task))

/** The longest delay of a timer: a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Unix ms by this machine's clock, which may step. */
export const unixNow = real(globalThis, 'Date').now

const hrtime = node?.hrtime === undefined ? undefined : real(node, 'hrtime')

// Node loads `performance` on first use, which takes 0.7 ms of the 4 that all of flakeforge takes.
const clock = hrtime === undefined ? (globalThis as Partial<typeof globalThis>).performance : undefined

/** Milliseconds with a fraction, by a clock that only goes forward. */
export function monotonicNow() {
  if (hrtime === undefined) return clock?.now() ?? unixNow()
  const [seconds, nanoseconds] = hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
