'use strict'
// @ts-check

// A wait that an AbortSignal ends. It must never use a module of Node: browsers load it too.

const { abortable } = require('./abort.js')
const { clearTimeout, setTimeout } = require('./portable-timers.js')

/**
 * Resolves after so many ms. If the signal aborts first, it rejects with the signal's reason, and no timer stays.
 * @param {AbortSignal | undefined} signal
 * @param {number} ms
 * @returns {Promise<void>}
 */
function sleepUnlessAborted(signal, ms) {
  return abortable(signal, (callback) => {
    const timer = setTimeout(callback, ms)
    const cancel = () => {
      clearTimeout(timer)
      return true
    }
    return { cancel }
  })
}

module.exports = { sleepUnlessAborted }
