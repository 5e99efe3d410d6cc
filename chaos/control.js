'use strict'

// The negative control: the same members, faults and check, but each process has its own cursor under the same node
// number. A harness that finds no duplicate here would never find one.

const faults = require('./faults.js')
const { makeMembers } = require('./members.js')

const MEMBERS = 4

/** IDs per second of each member: so many that two of them have met in a ms. */
const ENOUGH_BYTES = 50_000 * 8

const control = {
  name: 'control: not shared',
  members: makeMembers(MEMBERS, () => ({ options: { id: 7 } })),
  faults: faults.process,
  firstIdMs: 30_000,
  isEnough: ({ members, troubles }) => troubles.length > 0 || members.every(({ made }) => made > ENOUGH_BYTES),
}

module.exports = { control }
