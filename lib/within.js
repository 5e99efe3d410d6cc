'use strict'

// Waits for a promise, but not for long: a user's store, or a client of ours, may never answer.

/** What `promise` gives, or undefined after so many ms. What comes of it later is nobody's any more. */
async function within(ms, promise) {
  let timer
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

module.exports = { within }
