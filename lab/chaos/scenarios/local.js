'use strict'

// `npm run chaos -- local`: the processes of one machine share one cursor in a file, or each locks its own slot file.
// Both are tried on a disk and in memory. The negative control shares nothing: a harness that finds no duplicate there
// would never find one.

const path = require('node:path')
const { NEEDS, canSetClocks } = require('../faults/clock.js')
const faults = require('../faults/member-faults.js')
const { makeMembers } = require('./tasks.js')

const MEMBERS = 8

/**
 * Most members may run ahead, so that they can continue next to a member whose clock is ahead, or after their own clock
 * was set back. Some may not run ahead, and have to wait.
 */
const maxAheadMs = (i) => (i % 4 === 0 ? 0 : 15_000)

/** On a busy machine it takes a while until the first member has started. */
const isEnough = ({ members, troubles }) => troubles.length > 0 || members.some(({ made }) => made > 0)

/** All members share one file. The last two have threads. */
function sharedFile(folder) {
  const shared = path.join(folder, 'cursor')
  const generator = (i) => ({ options: { id: 7, shared, maxAheadMs: maxAheadMs(i) } })
  const threadsOf = (i) => (i < MEMBERS - 2 ? 1 : 2)
  return { members: makeMembers(MEMBERS, generator, threadsOf), isOneCursor: true }
}

/** There are as many slots as members, so every new process gets a slot that another one had before. */
function slotFiles(folder) {
  const join = `file:${path.join(folder, 'slots')}`
  const generator = (i) => ({ join, options: { slots: MEMBERS, maxAheadMs: maxAheadMs(i) } })
  return { members: makeMembers(MEMBERS, generator), isOneCursor: false }
}

/** The scenarios, and what this machine lacks to run all of them in full. */
function prepare({ folders: { disk, memory } }) {
  const missing = []
  if (memory === undefined) missing.push('no tmpfs at /dev/shm: the scenarios ran on a disk alone')
  if (!canSetClocks) missing.push(`no clock was set: that needs ${NEEDS}`)
  const memberFaults = canSetClocks ? [...faults.process, ...faults.clock] : faults.process
  const places = { disk, ...(memory && { memory }) }
  const scenarios = Object.entries(places).flatMap(([place, folder]) => [
    { name: `shared file, ${place}`, faults: memberFaults, isEnough, ...sharedFile(folder) },
    { name: `slot files, ${place}`, faults: memberFaults, isEnough, ...slotFiles(folder) },
  ])
  return { scenarios, missing, end: async () => {} }
}

const CONTROL_MEMBERS = 4
/** IDs of each member: enough that two of them have met in a ms. */
const ENOUGH_IDS = 50_000

/** The same faults and check, but each process has a separate cursor under the same node number. */
const control = {
  name: 'control: not shared',
  members: makeMembers(CONTROL_MEMBERS, () => ({ options: { id: 7 } })),
  faults: faults.process,
  firstIdMs: 30_000,
  isEnough: ({ members, troubles }) => troubles.length > 0 || members.every(({ made }) => made > ENOUGH_IDS),
}

const columns = ['kills', 'pauses', 'hand-overs', 'clock steps']

module.exports = { columns, control, policies: ['window'], prepare }
