'use strict'
// @ts-check

// What this thread has of leases and counters, and how renewals went: for metrics, which ask when they are collected.
//
// It must never keep a lease, a counter or an observer alive, nor grow without bound: groups get their names from users.

const { nextTick } = require('../base/timers.js')
const { WeakList } = require('../base/weak-list.js')

/**
 * @import { Lease } from './lease.js'
 * @import { Supply } from './segment/supply.js'
 *
 * How a renewal ended; `failed`: the store did not answer, or with an error.
 * @typedef {'renewed' | 'lost' | 'destroyed' | 'failed'} Result
 *
 * Gets each renewal from when it was added on.
 * @typedef {(renewal: { group: string, seconds: number }) => void} Observer
 */

/** So many groups have counts of their own; later ones are counted together, under OTHER. No group has such a name. */
const MOST = 1000
const OTHER = '{other}'

/** @type {WeakList<Lease>} those that join() returned */
const leases = new WeakList()
/** @type {WeakList<Supply>} */
const segments = new WeakList()
/** @type {WeakList<Observer>} */
const observers = new WeakList()
/** @type {Map<string, Record<Result, number>>} */
const renewals = new Map()

/** @param {string} group */
function countsOf(group) {
  const name = renewals.has(group) || renewals.size < MOST ? group : OTHER
  const counts = renewals.get(name) ?? { renewed: 0, lost: 0, destroyed: 0, failed: 0 }
  renewals.set(name, counts)
  return { name, counts }
}

/**
 * A renewal has ended.
 * @param {string} group
 * @param {Result} result
 * @param {number} seconds
 */
function renewalEnded(group, result, seconds) {
  const { name, counts } = countsOf(group)
  counts[result]++
  for (const observe of observers.living) {
    try {
      observe({ group: name, seconds })
    } catch (error) {
      nextTick(() => {
        throw error // a monitoring library's: not the lease's problem, but not to be hidden either
      })
    }
  }
}

module.exports = { leases, observers, renewalEnded, renewals, segments }
