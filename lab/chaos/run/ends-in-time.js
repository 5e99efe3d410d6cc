'use strict'

// Waits for a process that was asked to end, but not forever. It does not end the process.

const { setTimeout: sleep } = require('node:timers/promises')

/**
 * Whether `exit` settles within this many ms.
 * @param {Promise<unknown>} exit
 * @param {number} ms
 */
async function endsInTime(exit, ms) {
  const late = new AbortController()
  const isLate = sleep(ms, true, { signal: late.signal }).catch(() => false)
  const hangs = await Promise.race([exit.then(() => false), isLate])
  late.abort()
  return !hangs
}

module.exports = { endsInTime }
