// Clocks, waits and time limits.

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

/**
 * Settles as `call` does, or fails after this many ms, with the code ETIMEDOUT. After a long turn of the event loop, Node runs
 * timers before it reads pending input, so the limit allows one more turn for that.
 */
export async function inTime<Result>(call: Result | PromiseLike<Result>, ms: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    const error = () => Object.assign(new Error(`no answer within ${ms} ms`), { code: 'ETIMEDOUT' })
    timer = setTimeout(() => setImmediate(() => reject(error())), ms)
  })
  try {
    return await Promise.race([call, late as Promise<never>])
  } finally {
    clearTimeout(timer)
  }
}
