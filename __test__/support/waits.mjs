// How tests wait for what others do: for a state, an event, a promise. Each wait has a limit, and its error says what did not
// come. Without one, ava ends the whole file after 5 minutes, and names only the test.

import { once as next } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Enough for a busy machine, and less than the 5 minutes after which ava ends a file without a reason. */
export const LIMIT_MS = 180_000

const late = (limitMs, what) => new Error(`not within ${limitMs / 1000} s: ${what}`)

/**
 * Waits until `isTrue` returns true.
 * @param {() => unknown} isTrue
 * @param {{ state?: () => string, everyMs?: number, limitMs?: number }} [options] `state` describes what was not true, for
 * the error after `limitMs`
 */
export async function until(isTrue, { state = () => String(isTrue), everyMs = 20, limitMs = LIMIT_MS } = {}) {
  for (const end = performance.now() + limitMs; !(await isTrue()); await sleep(everyMs)) {
    if (performance.now() > end) throw late(limitMs, state())
  }
}

/**
 * The result of a promise. Meanwhile the process stays alive: a lease alone does not do that.
 * @param {() => string} state describes what did not come, for the error after `limitMs`
 */
export function limited(promise, state, limitMs = LIMIT_MS) {
  let timer
  const end = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late(limitMs, state())), limitMs)
  })
  const result = Promise.race([promise, end]).finally(() => clearTimeout(timer))
  result.catch(() => {}) // a test that failed no longer looks at it
  return result
}

/** The arguments of the next event, as those of `once()` of node:events; at once for the exit of a process that has exited. */
export async function once(emitter, event, { limitMs } = {}) {
  const { exitCode = null, signalCode = null } = emitter
  if (event === 'exit' && (exitCode !== null || signalCode !== null)) return [exitCode, signalCode]
  return limited(next(emitter, event), () => `the event '${event}' of a ${emitter.constructor.name}`, limitMs)
}

/** A promise and what settles it. */
export function gate() {
  const parts = {}
  parts.promise = new Promise((resolve) => {
    parts.open = resolve
  })
  return parts
}
