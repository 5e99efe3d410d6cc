'use strict'

// The rooms of lib/ and of core/src/, the lowest floor first. A room may use the rooms below it, and no other.
// __test__/package/rooms.test.mjs rejects imports that point up in lib/, core/tests/floors.rs those in core/src/. The
// map that `npm run docs` writes draws both.

const LIB = {
  base: 'Errors, checks of values, timers, signals: what every other room needs.',
  codec: 'What the bits of an ID mean, and an ID as text, in plain JavaScript: browsers load it too.',
  reading: 'Which system an ID is from, and an ID in any text form: what the command and the page of the server show.',
  calls: 'Calls that wait for IDs, in order, from any source: browsers load it too.',
  remote: 'IDs from flakeforge-server, over `fetch`, without the addon: browsers load it too.',
  native: 'Finds the addon and loads it.',
  layout: 'Layouts, seals and texts where there is an addon.',
  generator: 'Takes IDs in this process, and waits where necessary.',
  stores: 'Slots and counters in databases and folders, and the time limits of all calls to them.',
  lease: 'Holds a slot of a store, and replaces it when it is lost.',
  metrics: 'Exports the counts of the other rooms to monitoring.',
}

const CORE = {
  layout: 'What the 64 bits mean.',
  generator: 'How numbers are taken in a process.',
  files: 'What outlives a process: cursors, slots and counters in files.',
  lease: 'Which process has which slot, over any database.',
  open: 'The registry of a process, and the cursors of leases, for the addon.',
}

module.exports = { LIB, CORE }
