'use strict'

// Preloaded (`--require`) where a test counts timers: flakeforge keeps the ones that it finds when it is loaded.
// Counted at setTimeout and setImmediate: process.getActiveResourcesInfo() also has Node's own.

const timers = require('node:timers')

const armed = new Set()
const counts = { armed, most: 0 }

for (const kind of ['Timeout', 'Immediate']) {
  const [set, clear] = [timers[`set${kind}`], timers[`clear${kind}`]]
  timers[`set${kind}`] = (callback, ...args) => {
    const run = () => {
      armed.delete(timer)
      callback()
    }
    const timer = set(run, ...args)
    counts.most = Math.max(counts.most, armed.add(timer).size)
    return timer
  }
  timers[`clear${kind}`] = (timer) => {
    armed.delete(timer)
    clear(timer)
  }
}

globalThis.timerCounts = counts
