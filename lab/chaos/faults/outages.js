'use strict'

// The faults of the server that all members use, one after the other. Each kind occurs at least once, however short the
// run is. None helps the members to an ID that the rules would not have given them.

const { setTimeout: sleep } = require('node:timers/promises')
const { strike } = require('./fault.js')

const LONGEST_GAP_MS = 5000
const SAFETY_MS = 100

/**
 * @param {{ faults: object[] }} server one of servers/, see fault.js
 * @param {{ counts: object, until: number }} run
 * @param {{ seconds: number, lastingMs: number, endQuiet: () => Promise<void> }} plan `lastingMs`: how long after a
 *   loss the last window that may be forgotten has ended by any member's clock; `endQuiet` lets the group grant slots
 *   again
 */
async function outages(server, { counts, until }, { seconds, lastingMs, endQuiet }) {
  const longestGap = Math.min(LONGEST_GAP_MS, (seconds * 1000) / (server.faults.length + 1))
  // Otherwise no new member would get a slot for a minute.
  const recover = async () => {
    await sleep(lastingMs + SAFETY_MS)
    await endQuiet()
    server.isLost = false
  }
  let isRecovered = true
  for (const fault of faultsUntil(until, server.faults)) {
    await sleep(Math.random() * longestGap)
    if (fault.isLoss) server.isLost = true // the group's, until it grants slots again
    await strike(fault, { counts, victim: server })
    isRecovered = fault.isLoss || Math.random() < 0.7 // sometimes the next fault comes before
    if (isRecovered) await recover()
  }
  if (!isRecovered) await recover()
}

/** All faults, repeatedly; the first time even without any time left. */
function* faultsUntil(until, faults) {
  yield* inSomeOrder(faults)
  for (;;) {
    for (const fault of inSomeOrder(faults)) {
      if (performance.now() >= until) return
      yield fault
    }
  }
}

/** In random order, but losses come last: no member holds a slot after them. */
function inSomeOrder(faults) {
  const keyed = faults.map((fault) => ({ fault, key: (fault.isLoss ? 1 : 0) + Math.random() }))
  return keyed.sort((a, b) => a.key - b.key).map(({ fault }) => fault)
}

module.exports = { outages }
