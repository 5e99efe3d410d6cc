// Decides when queues of waiting calls continue: in this turn of the event loop as long as their slice lasts, then in the
// next turn, or when the one timer fires. Queues cannot keep the event loop from turning, and share one timer and one
// immediate.

import { clearTimeout, monotonicNow, setImmediate, setTimeout } from '../base/timers.ts'

/**
 * How long all queues together may run callbacks before the event loop turns, so that timers, sockets and signals get their
 * turn.
 */
const SLICE_MS = 1

/** The longest single wait. A correction of the clock must be noticed meanwhile, and setTimeout ends at 2^31 ms. */
export const LONGEST_MS = 1000

/** A queue: `goOn()` makes it check soon which calls it can serve. */
type Queue = { goOn(): void }

const inNextTurn: Set<Queue> = new Set()
let turn: NodeJS.Immediate | undefined // while it is set, the event loop has not turned since
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
  first?.goOn() // last, because it was first in the turn before: so each queue gets its slice
}

/**
 * Whether the queues have used up their slice of this turn of the event loop. It arms one immediate for each slice, not for
 * each turn, since each one keeps the event loop from sleeping once.
 */
export function isSliceOver() {
  if (monotonicNow() - turnSince < SLICE_MS) return false
  if (turn !== undefined) return true
  armTurn()
  return false
}

/** Makes a queue continue in the next turn of the event loop. */
export function goOnNextTurn(queue: Queue) {
  inNextTurn.add(queue)
  armTurn()
}

const asleep: Set<Queue> = new Set()
let alarm: NodeJS.Timeout | undefined // undefined while no queue sleeps
let due = Number.POSITIVE_INFINITY

/** Makes a queue continue in this many milliseconds, or earlier. */
export function goOnIn(ms: number, queue: Queue) {
  // The shortest timer takes a millisecond, or two under load. So a shorter wait goes from turn to turn of the event loop,
  // which doubles the rate at which a queue is served.
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

/** Undoes `goOnIn()`: the queue has no waiting calls any more. */
export function stopWaiting(queue: Queue) {
  asleep.delete(queue)
  if (asleep.size > 0) return
  clearTimeout(alarm)
  alarm = undefined
}
