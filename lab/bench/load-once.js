'use strict'

// One load in a separate process: `node load-once.js KIND [PATH…]` prints its cost, as { ms, cpuMs, mib, files }. This file
// loads nothing itself: everything that is loaded here counts.

const [kind, ...paths] = process.argv.slice(2)

const LOADS = {
  /** nothing */
  empty() {},
  /** the package at the path, and its first ID */
  first([path]) {
    ;new (require(path))().next()
  },
  /** the addon at the path, without using it */
  addon([path]) {
    process.dlopen({ exports: {} }, path)
  },
  /** these files */
  files(all) {
    for (const path of all) require(path)
  },
}

const cpu = process.cpuUsage()
const start = performance.now()
LOADS[kind](paths)
const ms = performance.now() - start
const { user, system } = process.cpuUsage(cpu)
const mib = process.memoryUsage.rss() / 2 ** 20
console.log(JSON.stringify({ ms, cpuMs: (user + system) / 1000, mib, files: Object.keys(require.cache).slice(1) }))
