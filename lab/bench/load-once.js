'use strict'

// One load in a separate process: `node load-once.js KIND [PATH…]` prints what it took, as { ms, cpuMs, mib, files }.
//
//   empty              nothing
//   first PATH         the package at PATH, and its first ID
//   addon PATH         the addon at PATH, without using it
//   files PATH…        these files
//
// It must load nothing itself: what is loaded here counts.

const [kind, ...paths] = process.argv.slice(2)

const LOADS = {
  empty() {},
  first([path]) {
    ;new (require(path))().next()
  },
  addon([path]) {
    process.dlopen({ exports: {} }, path)
  },
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
