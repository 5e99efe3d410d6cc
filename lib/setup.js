'use strict'

// What a generator is made of: checked options, the addon's generator for them, and the lease where there is one.
// It must never be reached from outside lib/: FlakeId takes an object of this class instead of options.

const hot = require('./hot.js')
const { problemError } = require('./errors.js')
const { Layout } = require('./layout.js')
const { readOptions } = require('./options.js')

class Setup {
  constructor(options, native, lease) {
    this.options = options
    this.native = native
    this.lease = lease
  }

  /** Of what `new FlakeId(given)` got. */
  static of(given) {
    const options = readOptions(given)
    const isOrdinary = options.clock === undefined && options.shared === undefined
    return new Setup(options, isOrdinary ? openOrdinary(options) : open(options))
  }
}

/** The addon's generator for these options: one for all who have the same, so that one for each request costs little. */
function openOrdinary(options) {
  const { generators } = Layout.facts(options.layout)
  return generators.get(keyOf(options), () => withOwnIndex(open(options)))
}

/** With its index as a property of its own: to ask the addon would cost as much as three times the time. */
const withOwnIndex = (native) => Object.defineProperty(native, 'index', { value: native.index })

/** The node number alone, where the rest is as usual: a number is found sooner than text. */
function keyOf({ layout, node, seqMask, maxAheadMs, prefetch }) {
  const facts = Layout.facts(layout)
  const isUsual = seqMask === facts.counterMax && maxAheadMs === facts.maxAheadMs && prefetch === undefined
  return isUsual ? node : `${node} ${seqMask} ${maxAheadMs} ${prefetch?.count} ${prefetch?.validityMs}`
}

function open(options) {
  const { layout, shared, node } = options
  const [handle, knobs] = [Layout.native(layout), knobsOf(options)]
  const opened =
    shared === undefined ? hot.generators.open(handle, knobs) : hot.generators.openShared(handle, knobs, shared)
  return insist(opened, `node ${node}`)
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
