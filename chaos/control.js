'use strict'

// The negative control: the same members, faults and check, but each process with a cursor of its own under one node
// number. A harness that finds no duplicate here would find none anywhere.

const faults = require('./faults.js')
const { makeMembers } = require('./members.js')

const MEMBERS = 4

const control = {
  name: 'control: not shared',
  members: makeMembers(MEMBERS, () => ({ options: { id: 7 } })),
  faults: faults.process,
}

module.exports = { control }
