'use strict'

// Bounds for what may never come: clients queue calls for ever by default, and a user's own store may not answer.

const { clearTimeout, setTimeout } = require('./timers.js')

const LATE = Symbol('late')

/** What `call` gives, or LATE after so many ms. What comes of it later is nobody's any more. */
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

/** Settles as `call` does, or fails after so many ms, with the code ETIMEDOUT. */
async function inTime(call, ms) {
  const answer = await inTimeOrLate(call, ms)
  if (answer === LATE) throw Object.assign(new Error(`no answer within ${ms} ms`), { code: 'ETIMEDOUT' })
  return answer
}

/** Settles as `call` does, or resolves to undefined after so many ms. */
async function within(call, ms) {
  const answer = await inTimeOrLate(call, ms)
  return answer === LATE ? undefined : answer
}

module.exports = { inTime, within }
