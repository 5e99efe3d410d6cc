'use strict'

// The negative control: the same members, faults and check, but each process with a cursor of its own under one node
// number. A harness that finds no duplicate here would find none anywhere.

const faults = require('./faults.js')
const { makeMembers } = require('./members.js')

const MEMBERS = 4

/** So many that members who have made them side by side met in a ms. */
const ENOUGH_BYTES = 20_000 * 8

const control = {
  name: 'control: not shared',
  members: makeMembers(MEMBERS, () => ({ options: { id: 7 } })),
  faults: faults.process,
  firstIdMs: 30_000,
  isEnough: ({ members }) =>
    members.every(({ isRunning, sizes }) => isRunning && sizes.every((size) => size > ENOUGH_BYTES)),
}

module.exports = { control }
