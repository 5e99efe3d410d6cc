'use strict'

// What happens to the server that all members use, one fault after the other. Each kind occurs at least once, however
// short the run is. It must never help the members to an ID that the rules would not have given them.

const { setTimeout: sleep } = require('node:timers/promises')
const { strike } = require('./faults.js')

const LONGEST_GAP_MS = 5000
const SAFETY_MS = 100

/**
 * @param {object} store one of stores/
 * @param {{ counts: object, until: number }} run
 * @param {{ seconds: number, group: string, lastingMs: number, renew: () => Promise<void> }} plan `lastingMs`: how long
 *   after a loss the last window is over by any member's clock; `renew` replaces a lost group
 */
async function outages(store, { counts, until }, { seconds, group, lastingMs, renew }) {
  const longestGap = Math.min(LONGEST_GAP_MS, (seconds * 1000) / (store.faults.length + 1))
  let isQuietUntil = 0
  for (let round = 1; ; round++) {
    for (const fault of inSomeOrder(store.faults)) {
      if (round > 1 && performance.now() >= until) return
      const left = Math.max(0, isQuietUntil - performance.now())
      await sleep(Math.random() * longestGap + (isForHolders(fault) ? left : 0))
      await strike(fault, { counts, victim: store })
      isQuietUntil = performance.now() + lastingMs
      if (!(await store.isLost(group))) continue
      // Otherwise nobody would have an ID for a minute. If the store grants something wrong meanwhile, the files show it.
      await sleep(lastingMs + SAFETY_MS)
      await renew()
    }
  }
}

/** A loss does no harm if nobody holds a slot. So losses, and most other faults, wait until the last one is over. */
const isForHolders = (fault) => fault.isLoss || Math.random() < 0.7

/** In random order, but losses come last, because they take the longest. */
function inSomeOrder(faults) {
  const keyed = faults.map((fault) => ({ fault, key: (fault.isLoss ? 1 : 0) + Math.random() }))
  return keyed.sort((a, b) => a.key - b.key).map(({ fault }) => fault)
}

module.exports = { outages }
