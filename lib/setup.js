'use strict'

// What a generator is made of: checked options, the addon's generator for them, and the lease where there is one.
// It must never be reached from outside lib/: FlakeId takes an object of this class instead of options.

const hot = require('./hot.js')
const { problemError } = require('./errors.js')
const { Layout } = require('./layout.js')
const { readOptions } = require('./options.js')

class Setup {
  constructor(options, native, lease) {
    Object.assign(this, { options, native, lease })
  }

  /** Of what `new FlakeId(given)` got. */
  static of(given) {
    const options = readOptions(given)
    const { layout, shared } = options
    const [handle, knobs] = [Layout.native(layout), knobsOf(options)]
    const opened =
      shared === undefined ? hot.generators.open(handle, knobs) : hot.generators.openShared(handle, knobs, shared)
    return new Setup(options, insist(opened, `node ${options.node}`))
  }
}

/** Options as the addon takes them. */
const knobsOf = ({ node, seqMask, maxAheadMs, prefetch, clock }) => ({
  node,
  seqMask,
  maxAheadMs,
  prefetch: prefetch?.count,
  validityMs: prefetch?.validityMs ?? 0,
  ownClock: clock !== undefined,
})

/** What the addon opened, or an error for what kept it from opening. `where`: what a mismatch is about. */
function insist(opened, where) {
  if (opened.why !== undefined || opened.theirs !== undefined) throw problemError(opened, where)
  return opened
}

module.exports = { Setup, insist, knobsOf }
