'use strict'

// The tasks of the members of a scenario. Each member requests IDs by another call, so that all calls occur. The origin
// of their generators is irrelevant here.

const CALLS = ['next', 'take', 'nextCallback', 'nextBigInt', 'takeBigInts', 'takeAsync', 'nextAsync', 'take']

/** A member answers these by waiting: the tick is used up, or the clock is behind the last ID. */
const REFUSALS = ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_CLOCK_BACKWARDS']

/** IDs per second: enough to keep the cursor busy, and few enough that those of a minute can be checked. */
const PER_SECOND = 400_000

/**
 * The tasks of a scenario's members. `generator(i)` returns `join` and `options` of member i, and everything else that
 * differs from the usual; `threadsOf(i)` is the number of its threads.
 */
function makeMembers(count, generator, threadsOf = () => 1) {
  return Array.from({ length: count }, (_, i) => {
    const threads = threadsOf(i)
    const perSecond = PER_SECOND / threads
    const callOf = (thread) => CALLS[(i + thread) % CALLS.length]
    const task = (thread) => ({ call: callOf(thread), perSecond, refusals: REFUSALS, ...generator(i) })
    return Array.from({ length: threads }, (_, thread) => task(thread))
  })
}

module.exports = { makeMembers, REFUSALS }
