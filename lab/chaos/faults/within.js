'use strict'

// Waiting for servers that fail on purpose.

const { setTimeout: sleep } = require('node:timers/promises')

const LOOK_MS = 50

/** Waits until it is so; a server that does not answer is not. */
async function within(longestMs, otherwise, isSo) {
  for (const until = performance.now() + longestMs; !(await isSo().catch(() => false)); await sleep(LOOK_MS)) {
    if (performance.now() > until) throw new Error(otherwise)
  }
}

module.exports = { within }
