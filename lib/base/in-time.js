'use strict'
// @ts-check

// Time limits for answers that may never come: clients queue calls forever by default, and a user's own store may not
// answer.

const { clearTimeout, setTimeout } = require('./timers.js')

const LATE = Symbol('late')

/**
 * The result of `call`, or LATE after so many ms. A later result is ignored.
 * @template Result
 * @param {Result | PromiseLike<Result>} call
 * @param {number} ms
 * @returns {Promise<Result | typeof LATE>}
 */
async function inTimeOrLate(call, ms) {
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms, LATE)
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Settles as `call` does, or fails after so many ms, with the code ETIMEDOUT.
 * @template Result
 * @param {Result | PromiseLike<Result>} call
 * @param {number} ms
 * @returns {Promise<Result>}
 */
async function inTime(call, ms) {
  const answer = await inTimeOrLate(call, ms)
  if (answer === LATE) throw Object.assign(new Error(`no answer within ${ms} ms`), { code: 'ETIMEDOUT' })
  return answer
}

/**
 * Settles as `call` does, or resolves to undefined after so many ms.
 * @template Result
 * @param {Result | PromiseLike<Result>} call
 * @param {number} ms
 * @returns {Promise<Result | undefined>}
 */
async function within(call, ms) {
  const answer = await inTimeOrLate(call, ms)
  return answer === LATE ? undefined : answer
}

module.exports = { inTime, within }
