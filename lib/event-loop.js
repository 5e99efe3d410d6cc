'use strict'

// When queues of waiting calls go on: in this turn of the event loop as long as their slice lasts, then in the next turn,
// or when the one alarm goes off.
//
// It must never let queues keep the event loop from turning, nor arm more than one timer and one immediate.

const { clearTimeout, monotonicNow, setImmediate, setTimeout } = require('./timers.js')

/** How long all queues together may run callbacks before the event loop turns: timers, sockets and signals have theirs. */
const SLICE_MS = 1

/** No single wait is longer: a clock that was corrected meanwhile must be noticed, and setTimeout ends at 2^31 ms. */
const LONGEST_MS = 1000

/**
 * A queue: `goOn()` has it look, soon, who can be served.
 * @typedef {{ goOn(): void }} Queue
 */

/** @type {Set<Queue>} */
const inNextTurn = new Set()
let turn // an Immediate: the event loop has not turned since it was armed
let turnSince = Number.NEGATIVE_INFINITY

function armTurn() {
  if (turn !== undefined) return
  turnSince = monotonicNow()
  turn = setImmediate(onTurn)
}

function onTurn() {
  const [first, ...others] = inNextTurn
  turn = undefined
  inNextTurn.clear()
  for (const queue of others) queue.goOn()
  first?.goOn() // last, because it went on first in the turn before: each gets a slice in its turn
}

/**
 * Whether the queues have had their time in this turn of the event loop. One immediate for each slice, not for each turn:
 * it keeps the event loop from sleeping once.
 */
function isSliceOver() {
  if (monotonicNow() - turnSince < SLICE_MS) return false
  if (turn !== undefined) return true
  armTurn()
  return false
}

/** Has a queue go on in the next turn of the event loop. */
function goOnNextTurn(queue) {
  inNextTurn.add(queue)
  armTurn()
}

/** @type {Set<Queue>} */
const asleep = new Set()
let alarm // a Timeout; undefined while nobody sleeps
let due = Number.POSITIVE_INFINITY

/** Has a queue go on in so many milliseconds, or earlier. */
function goOnIn(ms, queue) {
  // What is left of a millisecond is less than the shortest timer, which takes two under load: pass it turn by turn of
  // the event loop. It doubles the rate at which a queue is served.
  if (ms < 1) return goOnNextTurn(queue)
  asleep.add(queue)
  const at = monotonicNow() + ms
  if (alarm !== undefined) {
    if (due <= at) return
    clearTimeout(alarm)
  }
  due = at
  alarm = setTimeout(onAlarm, Math.min(Math.floor(ms), LONGEST_MS))
}

function onAlarm() {
  const queues = [...asleep]
  alarm = undefined
  asleep.clear()
  for (const queue of queues) queue.goOn()
}

/** Takes back `goOnIn()`: nobody in this queue waits any more. */
function stopWaiting(queue) {
  asleep.delete(queue)
  if (asleep.size > 0) return
  clearTimeout(alarm)
  alarm = undefined
}

module.exports = { LONGEST_MS, stopWaiting, goOnIn, goOnNextTurn, isSliceOver }
