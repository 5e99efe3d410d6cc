'use strict'

// `npm run chaos -- local`: the processes of one machine share one cursor in a file, or each locks its own slot file. Both
// are tried on a disk and in memory.

const path = require('node:path')
const clock = require('./clock.js')
const faults = require('./faults.js')
const { makeMembers } = require('./members.js')

const MEMBERS = 8

/**
 * Most members may run ahead, so that they can continue beside a member whose clock is ahead, or after their own clock
 * was set back. Some may not run ahead, and have to wait.
 */
const maxAheadMs = (i) => (i % 4 === 0 ? 0 : 15_000)

/** All members share one file. The last two have threads. */
function sharedFile(folder) {
  const shared = path.join(folder, 'cursor')
  const generator = (i) => ({ options: { id: 7, shared, maxAheadMs: maxAheadMs(i) } })
  const threadsOf = (i) => (i < MEMBERS - 2 ? 1 : 2)
  return { members: makeMembers(MEMBERS, generator, threadsOf), isOneCursor: true }
}

/** There are as many slots as members, so whoever starts gets a slot that somebody had before. */
function slotFiles(folder) {
  const join = `file:${path.join(folder, 'slots')}`
  const generator = (i) => ({ join, options: { slots: MEMBERS, maxAheadMs: maxAheadMs(i) } })
  return { members: makeMembers(MEMBERS, generator), isOneCursor: false }
}

/** The scenarios, and what this machine lacks to run all of them in full. */
function prepare({ folders: { disk, memory } }) {
  const missing = []
  if (memory === undefined) missing.push('no tmpfs at /dev/shm: the scenarios ran on a disk alone')
  if (clock.library === undefined) missing.push('no libfaketime (Debian: faketime): no clock was set')
  const happening = clock.library === undefined ? faults.process : [...faults.process, ...faults.clock]
  const places = { disk, ...(memory && { memory }) }
  const scenarios = Object.entries(places).flatMap(([place, folder]) => [
    { name: `shared file, ${place}`, faults: happening, ...sharedFile(folder) },
    { name: `slot files, ${place}`, faults: happening, ...slotFiles(folder) },
  ])
  return { scenarios, missing, end: async () => {} }
}

const columns = ['kills', 'pauses', 'hand-overs', 'clock steps']

module.exports = { columns, policies: ['window'], prepare }
