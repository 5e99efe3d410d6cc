'use strict'

// A bound for a call to a server: clients queue for ever by default, and whoever waits for a step must hear of it.

/** Settles as `call` does, or fails after so many ms, with the code ETIMEDOUT. */
async function inTime(call, ms) {
  let timer
  const deadline = new Promise((_, reject) => {
    const late = () => reject(Object.assign(new Error(`no answer within ${ms} ms`), { code: 'ETIMEDOUT' }))
    timer = setTimeout(late, ms)
  })
  try {
    return await Promise.race([call, deadline])
  } finally {
    clearTimeout(timer)
  }
}

module.exports = { inTime }
