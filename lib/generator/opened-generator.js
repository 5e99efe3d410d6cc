'use strict'

// What a generator is made of: checked options, the addon's generator for them, and the lease if there is one. It must
// never be reachable from outside lib/: FlakeId takes an object of this class instead of options.

const hot = require('./hot.js')
const { readOptions } = require('./options.js')

const errors = () => require('../base/errors.js') // loaded when the first one is made

class Setup {
  constructor(options, native, lease) {
    this.options = options
    this.native = native
    this.lease = lease
  }

  /** From the options of `new FlakeId(given)`. */
  static of(given) {
    const options = readOptions(given)
    const isOrdinary = options.clock === undefined && options.shared === undefined
    return new Setup(options, isOrdinary ? openOrdinary(options) : open(options))
  }
}

/**
 * The addon's generator for these options: the same options share one, so that a generator for each request costs
 * little.
 */
function openOrdinary(options) {
  return options.facts.generators.get(keyOf(options), () => withOwnIndex(open(options)))
}

/** Copies its index into a property: asking the addon would take three times as long. */
const withOwnIndex = (native) => Object.defineProperty(native, 'index', { value: native.index })

/** The node number alone, where the rest is as usual: a number is found sooner than text. */
function keyOf({ facts, node, seqMask, maxAheadMs, prefetch }) {
  const isUsual = seqMask === facts.counterMax && maxAheadMs === facts.maxAheadMs && prefetch === undefined
  return isUsual ? node : `${node} ${seqMask} ${maxAheadMs} ${prefetch?.count} ${prefetch?.validityMs}`
}

function open(options) {
  const { facts, shared, node } = options
  const [handle, knobs] = [facts.native, knobsOf(options)]
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

/** What the addon opened; throws if it could not. `where`: what a mismatch is about. */
function insist(opened, where) {
  if (opened.why !== undefined || opened.theirs !== undefined) throw errors().problemError(opened, where)
  return opened
}

module.exports = { Setup, insist, knobsOf }
