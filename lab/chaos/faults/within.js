'use strict'

// Waiting for servers that fail on purpose.

const { setTimeout: sleep } = require('node:timers/promises')

const LOOK_MS = 50

/** Waits until the condition holds; an unresponsive server does not meet it. */
async function within(longestMs, otherwise, isSo) {
  const until = performance.now() + longestMs
  let cause
  const keep = (error) => {
    cause = error
  }
  while (!(await isSo().catch(keep))) {
    if (performance.now() > until) throw new Error(otherwise, { cause })
    await sleep(LOOK_MS)
  }
}

module.exports = { within }
