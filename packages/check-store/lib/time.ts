// Clocks and waits.

/** Milliseconds by a clock that only goes forward. Bound, because machine.ts replaces the global one. */
export const monotonicNow = performance.now.bind(performance)

/** Unix ms by this machine's clock. */
export const unixNow = Date.now

/** Resolves after this many ms. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Resolves when this process has received what has arrived for it, such as the answer of a server. */
export const step = () => new Promise((resolve) => setImmediate(resolve))

const cell = new Int32Array(new SharedArrayBuffer(4))

/** Suspends this process. No thread wakes the cell, so the wait ends with its time. */
export function pause(ms: number) {
  Atomics.wait(cell, 0, 0, ms)
}
