'use strict'
// @ts-check

// What a generator is made of: checked options, the addon's generator for them, and the lease if there is one. It must
// never be reachable from outside lib/: FlakeId takes an object of this class instead of options.

const hot = require('../native/hot.js')
const { unlessProblem } = require('../base/check.js')
const { readOptions } = require('./options.js')
const { unixNow } = require('../base/timers.js')

/**
 * @import { Settings } from './options.js'
 *
 * @typedef {import('../../target/native.d.ts').Generator} NativeGenerator
 *
 * What a generator asks its lease after a refusal.
 * @typedef {object} Lease
 * @property {(status: number) => boolean} isComing whether waiting helps
 * @property {(status: number) => unknown} error what to throw; undefined if the lease does not know this status
 * @property {Elsewhere | undefined} elsewhere where IDs come from while the slot gives none
 *
 * After a refusal, each takes IDs from elsewhere and returns OK; or it returns this status or another, which the lease
 * knows, and has taken none.
 * @typedef {object} Elsewhere
 * @property {(status: number) => number} claim the ID is then in the scratch array
 * @property {(status: number) => number} claimFloat the same, if it is exact as a float
 * @property {(status: number, fill: (ids: Uint8Array) => number | undefined, ids: Uint8Array) => number} fill the rest
 * of a batch, as `fill` would do it, and as `batch` in the scratch array says
 */

/** No generator has it: calls are refused with NO_GENERATOR. */
const NO_INDEX = 2 ** 32 - 1

class OpenedGenerator {
  /**
   * @param {Settings} options
   * @param {NativeGenerator} native
   * @param {Lease} [lease]
   */
  constructor(options, native, lease) {
    this.options = options
    this.native = native
    this.lease = lease
  }

  /**
   * From the options of `new FlakeId(given)`.
   * @param {unknown} given
   */
  static of(given) {
    const options = readOptions(given)
    const isOrdinary = options.clock === undefined && options.shared === undefined
    return new OpenedGenerator(options, isOrdinary ? openOrdinary(options) : open(options))
  }
}

/**
 * The addon's generator for these options: the same options share one, so that a generator for each request costs
 * little.
 * @param {Settings} options
 */
function openOrdinary(options) {
  return options.facts.generators.get(keyOf(options), () => withOwnIndex(open(options)))
}

/**
 * Copies its index into a property: asking the addon would take three times as long.
 * @param {NativeGenerator} native
 */
const withOwnIndex = (native) => Object.defineProperty(native, 'index', { value: native.index })

/**
 * The node number alone, where the rest is as usual: a number is found sooner than text.
 * @param {Settings} options
 */
function keyOf({ facts, node, seqMask, maxAheadMs, prefetch }) {
  const isUsual = seqMask === facts.counterMax && maxAheadMs === facts.maxAheadMs && prefetch === undefined
  return isUsual ? node : `${node} ${seqMask} ${maxAheadMs} ${prefetch?.count} ${prefetch?.validityMs}`
}

/** @param {Settings} options */
function open(options) {
  const { facts, shared, node } = options
  const [handle, knobs] = [hot.nativeLayout(facts), knobsOf(options)]
  const opened =
    shared === undefined ? hot.generators.open(handle, knobs) : hot.generators.openShared(handle, knobs, shared)
  return unlessProblem(opened, `node ${node}`)
}

/**
 * Options as the addon takes them.
 * @param {Settings} options
 */
const knobsOf = ({ node, seqMask, maxAheadMs, prefetch, clock, group }) => ({
  node,
  seqMask,
  maxAheadMs,
  prefetch: prefetch?.count,
  validityMs: prefetch?.validityMs ?? 0,
  ownClock: clock !== undefined,
  group,
})

/**
 * In place of the addon's generator where there is none yet: it refuses every call with NO_GENERATOR, and counts nothing.
 * @returns {NativeGenerator}
 */
function noGenerator() {
  const sinceMs = unixNow()
  const none = { ids: 0, batches: 0, overflows: 0, clockSteps: 0, waits: 0, waitedMs: 0, aheadMs: 0, sinceMs }
  const generator = { index: NO_INDEX, stats: () => none, waited: () => {}, close: () => {} }
  return /** @type {NativeGenerator} */ (/** @type {unknown} */ (generator))
}

exports.NO_INDEX = NO_INDEX
exports.OpenedGenerator = OpenedGenerator
exports.knobsOf = knobsOf
exports.noGenerator = noGenerator
