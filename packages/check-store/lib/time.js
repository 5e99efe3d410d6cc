'use strict'
// @ts-check

// Clocks, waits and time limits.

/** Milliseconds by a clock that only goes forward. Bound, because machine.js puts another one in its place. */
const monotonicNow = performance.now.bind(performance)

/** Unix ms by this machine's clock. */
const unixNow = Date.now

/**
 * Resolves after so many ms.
 * @param {number} ms
 * @returns {Promise<void>}
 */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Resolves when this process has taken what has arrived for it, such as the answer of a server. */
const step = () => new Promise((resolve) => setImmediate(resolve))

const cell = new Int32Array(new SharedArrayBuffer(4))

/**
 * Lets this process stand still. Nobody ever wakes the cell, so the wait ends with its time.
 * @param {number} ms
 */
function pause(ms) {
  Atomics.wait(cell, 0, 0, ms)
}

/**
 * Settles as `call` does, or fails after so many ms, with the code ETIMEDOUT.
 * @template Result
 * @param {Result | PromiseLike<Result>} call
 * @param {number} ms
 * @returns {Promise<Result>}
 */
async function inTime(call, ms) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const late = new Promise((_, reject) => {
    const error = () => Object.assign(new Error(`no answer within ${ms} ms`), { code: 'ETIMEDOUT' })
    timer = setTimeout(() => reject(error()), ms)
  })
  try {
    return await Promise.race([call, /** @type {Promise<never>} */ (late)])
  } finally {
    clearTimeout(timer)
  }
}

module.exports = { inTime, monotonicNow, pause, sleep, step, unixNow }
