'use strict'

// What a fault is, and how one is chosen and triggered. It knows no particular fault.

/**
 * @typedef {object} Fault
 * @property {string[]} counts the names under which it is counted
 * @property {(victim: object) => Promise<void>} strike triggers it, and resolves when it is over
 * @property {number} [weight] of a member's fault: how often it happens
 * @property {boolean} [isLoss] of a server's fault: whether the group is lost then
 */

/**
 * A random number, equally likely between 10 and 20 as between 1,000 and 2,000, so that there are short and long
 * faults.
 */
function spread(low, high) {
  return low * (high / low) ** Math.random()
}

/** One of them at random, by weight. */
function pick(faults) {
  let rest = Math.random() * faults.reduce((sum, { weight }) => sum + weight, 0)
  return faults.find(({ weight }) => {
    rest -= weight
    return rest < 0
  })
}

/** At least one of them, and not all: for faults with two sides. */
function someOf(all) {
  const chosen = all.filter(() => Math.random() < 0.5)
  if (chosen.length > 0 && chosen.length < all.length) return chosen
  return [all[Math.floor(Math.random() * all.length)]]
}

/** Counts a fault and triggers it. */
function strike(fault, { counts, victim }) {
  for (const name of fault.counts) counts[name] = (counts[name] ?? 0) + 1
  return fault.strike(victim)
}

/** How many faults were counted. */
const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)

module.exports = { pick, someOf, spread, strike, total }
