'use strict'
// @ts-check

// Validates the options of a generator: native code trusts what this file gives it.

const { CLOCK, errors, isAbsent, checkKeys, readBounded, readDuration } = require('../base/check.js')
const { factsOf } = require('../codec/layout.js')
const { usualFacts } = require('../codec/facts.js')
const { readNodeNumber } = require('../layout/node-number.js')
const { nativeLayout } = require('../native/hot.js')
const { unixNow } = require('../base/timers.js')

/** How long before the end of a layout we begin to warn. */
const YEAR_MS = 365 * 86_400_000

/**
 * @import { Options } from '../base/check.js'
 * @import { LayoutFacts } from '../codec/facts.js'
 */

/**
 * How the ticks are used.
 * @typedef {object} Knobs
 * @property {number} seqMask
 * @property {number} maxAheadMs
 * @property {number} maxWaitMs
 * @property {{ count: number, validityMs: number }} [prefetch]
 *
 * The checked options of a generator.
 * @typedef {Knobs & Node & Source & { facts: LayoutFacts }} Settings
 * @typedef {{ node: number, nodes: Record<string, number> }} Node `nodes`: the fields that were given by name
 * @typedef {{ clock?: () => unknown, shared?: string, group?: string }} Source `group`: of the lease, if there is one
 */

/** Options of every generator, however it gets its node number. */
const GENERAL = [
  ...['epoch', 'seqMask', 'layout', 'nodes', 'mode', 'nodeOffset', 'idOffset'],
  ...['maxAheadMs', 'maxWaitMs', 'prefetch'],
]
/** Options that say where an ordinary generator gets its numbers; a leased one gets them from its slot. */
const OF_NODE = ['id', 'shared', 'clock']

/**
 * A checked copy of the options of `new FlakeId(options)`.
 * @param {unknown} given
 * @returns {Settings}
 */
function readOptions(given) {
  if (typeof given !== 'object' && given !== undefined) throw errors().optionTypeError('options', given, 'an object')
  const facts = readLayout(/** @type {Options} */ (given ?? {}))
  const known = [...facts.nodeNames, ...GENERAL, ...OF_NODE]
  const options = checkKeys('options', given, known, () => offeredOf(known, facts))
  const clock = readClock(options.clock)
  return {
    facts,
    ...readNodeNumber(options, facts),
    ...readKnobs(options, facts),
    clock,
    shared: readShared(options.shared, clock),
  }
}

/**
 * The known options that make sense with this layout.
 * @param {readonly string[]} known
 * @param {LayoutFacts} facts
 */
function offeredOf(known, { hasNodes, mode }) {
  const isOffered = new Map([
    ['nodes', hasNodes],
    ['mode', !isAbsent(mode)],
  ])
  return known.filter((name) => isOffered.get(name) ?? true)
}

/**
 * @param {Options} options
 * @param {LayoutFacts} facts
 * @returns {Knobs}
 */
function readKnobs(options, { counterMax, maxAheadMs, maxWaitMs }) {
  return {
    seqMask: readSeqMask(options.seqMask, counterMax),
    maxAheadMs: isAbsent(options.maxAheadMs) ? maxAheadMs : readDuration('maxAheadMs', options.maxAheadMs),
    maxWaitMs: isAbsent(options.maxWaitMs) ? maxWaitMs : readDuration('maxWaitMs', options.maxWaitMs),
    prefetch: readPrefetch(options.prefetch),
  }
}

/**
 * What is known of the layout, with the epoch and the choices that the options have for it.
 * @param {Options} options
 */
function readLayout({ layout, epoch, nodes, mode, idOffset, clock }) {
  const named = isAbsent(layout) ? usualFacts() : factsOf(layout)
  const chosen = named.with({ epoch, nodes, mode, idOffset })
  // With an own clock the present is what that clock says, and it is not asked before the first ID.
  if (!isAbsent(clock)) return chosen
  const now = unixNow()
  if (chosen.epoch > now) {
    throw errors().optionRangeError('epoch', epoch ?? chosen.epoch, `in the past (now is ${now})`)
  }
  lookAhead(chosen, now)
  return chosen
}

/** @param {unknown} clock */
function readClock(clock) {
  if (isAbsent(clock)) return undefined
  if (typeof clock !== 'function') throw errors().optionTypeError('clock', clock, CLOCK)
  return /** @type {() => unknown} */ (clock)
}

/**
 * The path of the file in which processes share a cursor. It is absolute: their working folders may differ.
 * @param {unknown} shared
 * @param {unknown} clock
 */
function readShared(shared, clock) {
  if (isAbsent(shared)) return undefined
  const wanted = 'the path of a file'
  if (typeof shared !== 'string') throw errors().optionTypeError('shared', shared, wanted)
  if (shared === '' || shared.includes('\0')) throw errors().optionRangeError('shared', shared, wanted)
  if (clock !== undefined)
    throw errors().unusableOptionError('clock', clock, 'together with shared: all processes share one clock')
  const { isAbsolute, resolve } = require('node:path')
  if (!isAbsolute(shared)) throw errors().relativePathError('shared', shared, shared)
  return resolve(shared)
}

/**
 * @param {unknown} value
 * @param {number} max
 */
function readSeqMask(value, max) {
  if (isAbsent(value)) return max
  if (max === 0) throw errors().unusableOptionError('seqMask', value, 'with a layout that has no counter')
  const mask = readBounded('seqMask', value, 1, max)
  if (!Number.isInteger(Math.log2(mask + 1))) {
    throw errors().optionRangeError('seqMask', value, `one less than a power of two (1, 3, 7, … ${max})`)
  }
  return mask
}

const PREFETCH = { count: 100, validityMs: 600_000 } // as Hazelcast's

/**
 * Hazelcast's prefetch: true, a count, or both numbers; undefined if absent.
 * @param {unknown} prefetch
 */
function readPrefetch(prefetch) {
  if (isAbsent(prefetch) || prefetch === false) return undefined
  if (prefetch === true) return PREFETCH
  if (typeof prefetch !== 'object') return { ...PREFETCH, count: readPrefetchCount('prefetch', prefetch) }
  const { count, validityMs } = checkKeys('prefetch', prefetch, Object.keys(PREFETCH))
  return {
    count: isAbsent(count) ? PREFETCH.count : readPrefetchCount('prefetch.count', count),
    validityMs: isAbsent(validityMs)
      ? PREFETCH.validityMs
      : readBounded('prefetch.validityMs', validityMs, 0, Number.MAX_SAFE_INTEGER / 1000),
  }
}

/**
 * @param {string} option
 * @param {unknown} count
 */
const readPrefetchCount = (option, count) => readBounded(option, count, 1, 100_000)

/** @type {number | undefined} */
let most // IDs in the largest batch: their bytes fill the largest Buffer

/**
 * How many IDs a batch makes: `take(n)`.
 * @param {unknown} n
 */
function readCount(n) {
  if (typeof n !== 'number') throw errors().optionTypeError('n', n, 'the number of IDs to make')
  most ??= Math.floor(require('node:buffer').constants.MAX_LENGTH / 8)
  return readBounded('n', n, 0, most)
}

/**
 * Warns if the layout ends within a year. It costs one comparison until then.
 * @param {LayoutFacts} facts
 * @param {number} [now] Unix ms
 */
function lookAhead(facts, now = unixNow()) {
  facts.horizon ??= horizonOf(facts)
  if (now >= facts.horizon) require('../layout/horizon.js').warnOfHorizon(facts, now, YEAR_MS)
}

/** @param {LayoutFacts} facts */
function horizonOf(facts) {
  const { end, signedEnd } = nativeLayout(facts)
  return Math.min(end, signedEnd) - YEAR_MS
}

module.exports = { GENERAL, OF_NODE, lookAhead, offeredOf, readCount, readKnobs, readLayout, readOptions }
