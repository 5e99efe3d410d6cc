'use strict'

// Where a member's IDs come from: its own generator, one that is leased by slot and window, or, in the negative control,
// one that is leased by a deadline. Each source has `flake`, which may throw a refusal, and `close()`.

const FlakeId = require('../index.js')
const { DeadlineLease } = require('./deadline.js')

const SOURCES = {
  own: async ({ options }) => ({ flake: new FlakeId(options), close: async () => {} }),
  window: async ({ join, options }) => {
    const flake = await FlakeId.join(join, options)
    return { flake, close: () => flake.close() }
  },
  deadline: ({ join, options }) => DeadlineLease.open(join, options),
}

/** Opens the source that a task names. */
const openSource = (task) => SOURCES[task.policy ?? (task.join === undefined ? 'own' : 'window')](task)

const POLICIES = ['window', 'deadline']

module.exports = { openSource, POLICIES }
