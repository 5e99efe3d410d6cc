'use strict'

// A bound for a call to a server: clients queue for ever by default, and whoever waits for a step must hear of it.

/** Settles as `call` does, or fails after so many ms. */
async function inTime(call, ms) {
  let timer
  const deadline = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([call, deadline])
  } finally {
    clearTimeout(timer)
  }
}

module.exports = { inTime }
