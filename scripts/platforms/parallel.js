'use strict'

// Distributes the targets among lanes that work at the same time, each one target after the other. A lane has its own
// folder for Cargo, so a target goes where a part of it is already built, if there is such a lane. Each target is
// worked on exactly once.

/** Those whose runs take minutes come first: then no lane is left alone with one of them in the end. */
const LONGEST = ['win32-x64-gnu', 'linux-arm64-gnu', 'linux-arm64-musl', 'linux-x64-musl', 'wasm32-wasi']

const inOrder = (targets) => targets.toSorted((a, b) => place(a) - place(b))
const place = ({ name }) => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length)

/** Takes the next target of a lane out of the queue. Undefined if the rest belongs to others. */
function take(queue, lane, lanes, isStarted) {
  const isElsewhere = (target) => lanes.some((other) => other !== lane && isStarted(target, other))
  let next = queue.findIndex((target) => isStarted(target, lane))
  if (next === -1) next = queue.findIndex((target) => !isElsewhere(target))
  return next === -1 ? undefined : queue.splice(next, 1)[0]
}

/**
 * Resolves with the results in the order of the targets.
 * @template T, R
 * @param {T[]} targets
 * @param {number} count of lanes
 * @param {(target: T, lane: number) => boolean} isStarted whether a lane has a part of it from earlier
 * @param {(target: T, lane: number) => Promise<R>} work
 * @returns {Promise<R[]>}
 */
async function inLanes(targets, count, isStarted, work) {
  const lanes = Array.from({ length: count }, (_, number) => number)
  const queue = inOrder(targets)
  const results = new Map()
  const run = async (lane) => {
    for (let target = take(queue, lane, lanes, isStarted); target; target = take(queue, lane, lanes, isStarted))
      results.set(target, await work(target, lane))
  }
  await Promise.all(lanes.map(run))
  return targets.map((target) => results.get(target))
}

module.exports = { inLanes }
