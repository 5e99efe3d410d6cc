'use strict'

// The rooms of lib/ and of core/src/, the lowest floor first. A room may use the rooms below it, and no other.
// __test__/package/rooms.test.mjs refuses what points up in lib/, core/tests/floors.rs what does in core/src/. The map that
// `npm run docs` writes draws both.

const LIB = {
  base: 'Errors, checks of values, timers, signals: what every other room needs.',
  codec: 'What the bits of an ID mean, and an ID as text, in plain JavaScript: browsers load it too.',
  calls: 'Calls that wait for IDs, in their order, over any source: browsers load it too.',
  remote: 'IDs that flakeforge-server makes, over `fetch`, without the addon: browsers load it too.',
  native: 'Finds the addon and loads it.',
  layout: 'Layouts, seals and texts where there is an addon.',
  generator: 'Takes IDs in this process, and waits where it must.',
  files: 'The folder of slots that the processes of one machine share.',
  lease: 'Keeps a slot of a store, and leaves it when it is lost.',
  metrics: 'Shows monitoring what the other rooms count.',
}

const CORE = {
  layout: 'What the 64 bits mean.',
  generator: 'How numbers are taken in a process.',
  files: 'What outlives a process: cursors, slots and counters in files.',
  lease: 'Who has which slot, over any database.',
  open: 'The registry of a process, and the cursors of leases, for the addon.',
}

module.exports = { LIB, CORE }
