'use strict'
// @ts-check

// The options of `FlakeId.join(store, options)`, validated here. It must never read the environment: a node number
// there would contradict the slot.

const os = require('node:os')
const { readSignal } = require('../base/abort.js')
const { checkKeys, isAbsent, readBounded } = require('../base/check.js')
const { readDurable, readName } = require('./common-options.js')
const { GENERAL, OF_NODE, offeredOf, readKnobs, readLayout } = require('../generator/options.js')
const { nativeLayout } = require('../native/hot.js')
const { LONGEST_TTL_MS } = require('../native/index.js')
const { slotNodes } = require('./slot-nodes.js')
const { optionRangeError, optionTypeError, unusableOptionError } = require('../base/errors.js')

/**
 * @import { Options } from '../base/check.js'
 * @import { LayoutFacts } from '../codec/facts.js'
 */

/**
 * The options of a join() or createGroup(), checked.
 * @typedef {ReturnType<typeof readJoinOptions>} JoinOptions
 */

/**
 * Why a leased generator does not take these options of an ordinary one.
 * @type {Record<string, string>}
 */
const NOT_WITH_JOIN = {
  id: 'the node number is that of the slot',
  shared: 'the store says what processes share',
  clock: "a slot's window is one of the system's time",
}

const OF_JOIN = ['group', 'slots', 'ttlMs', 'skewMs', 'durable', 'waitMs', 'host', 'signal', 'elseFrom']

/**
 * A checked copy of the generator's options, and of the lease's as `group`, `config`, `waitMs` and `host`; `fixed` and
 * `nodeOffset` say which node numbers its slots have.
 * @param {unknown} given
 */
function readJoinOptions(given) {
  if (typeof given !== 'object' && given !== undefined) {
    throw optionTypeError('options', given, "an object such as { group: 'orders' }")
  }
  const named = /** @type {Options} */ (given ?? {})
  for (const key of OF_NODE) {
    if (!isAbsent(named[key])) throw unusableOptionError(key, named[key], `with join(): ${NOT_WITH_JOIN[key]}`)
  }
  const facts = readLayout(named)
  const known = [...facts.nodeNames, ...GENERAL, ...OF_JOIN]
  const options = checkKeys('options', given, [...known, ...OF_NODE], () => offeredOf(known, facts))
  const knobs = readKnobs(options, facts)
  const nodes = slotNodes(facts, options)
  const group = readName('group', isAbsent(options.group) ? 'default' : options.group)
  const slots = isAbsent(options.slots) ? nodes.capacity : readBounded('slots', options.slots, 1, nodes.capacity)
  return {
    facts,
    ...knobs,
    nodeOf: nodes.nodeOf,
    fixed: nodes.fixed,
    nodeOffset: isAbsent(options.nodeOffset) ? undefined : options.nodeOffset,
    group,
    config: {
      fingerprint: fingerprint(facts, nodes.fixed, options.nodeOffset),
      slots,
      ...readTimes(options, knobs.maxAheadMs),
      scale: nativeLayout(facts).scale,
      durable: readDurable(options.durable),
    },
    waitMs: isAbsent(options.waitMs) ? 90_000 : readBounded('waitMs', options.waitMs, 0, Number.MAX_SAFE_INTEGER),
    host: readHost(options.host),
    signal: readSignal(options.signal),
    elseFrom: isAbsent(options.elseFrom) ? undefined : readElseFrom(options.elseFrom, group),
  }
}

/**
 * What all members of a group must have in common, as text that an error can show. Slots fill the node's bits from the
 * lowest up, whatever the fields are. But next to a fixed field, or above bits that are always 0, the node of a slot
 * depends on where the fields are.
 * @param {LayoutFacts} facts
 * @param {Record<string, number>} fixed
 * @param {unknown} nodeOffset
 */
function fingerprint(facts, fixed, nodeOffset) {
  const parts = [nativeLayout(facts).fingerprint]
  if (Object.keys(fixed).length > 0 || hasGap(facts)) {
    parts.push(`fields ${facts.fields.map(([name, bits]) => `${name} ${bits}`).join(' ')}`)
  }
  for (const [name, value] of Object.entries(fixed)) parts.push(`${name} = ${value}`)
  if (!isAbsent(nodeOffset)) parts.push(`nodeOffset ${Number(nodeOffset)}`)
  return parts.join(', ')
}

/**
 * Whether bits that are always 0 lie below a field of the node.
 * @param {LayoutFacts} facts
 */
function hasGap(facts) {
  const names = facts.fields.map(([name]) => name)
  const first = names.findIndex((name) => !['timestamp', 'counter', 'zero'].includes(name))
  return first >= 0 && names.indexOf('zero', first) >= 0
}

const TTL_MS = 30_000
const SKEW_MS = 5_000

/**
 * A window must be longer than the clocks may differ plus what IDs may run ahead, or it would end before it is used. So
 * a layout that runs ahead has a longer default.
 * @param {Options} options
 * @param {number} maxAheadMs
 */
function readTimes(options, maxAheadMs) {
  const skewMs = isAbsent(options.skewMs) ? SKEW_MS : readBounded('skewMs', options.skewMs, 0, LONGEST_TTL_MS)
  const ahead = maxAheadMs === Number.POSITIVE_INFINITY ? 0 : maxAheadMs // it continues from window to window
  const least = Math.floor(((skewMs + ahead) * 3) / 2) + 1
  const ample = Math.ceil(least / 1000) * 1000
  if (isAbsent(options.ttlMs) && ample <= LONGEST_TTL_MS) return { ttlMs: Math.max(TTL_MS, ample), skewMs }
  const ttlMs = isAbsent(options.ttlMs) ? TTL_MS : readBounded('ttlMs', options.ttlMs, 2_000, LONGEST_TTL_MS)
  if (ttlMs < least) {
    throw optionRangeError(
      'ttlMs',
      ttlMs,
      `at least ${least}, because two thirds of it must exceed skewMs + maxAheadMs`,
    )
  }
  return { ttlMs, skewMs }
}

/**
 * Few programs give it, so what reads it is loaded then.
 * @param {unknown} given
 * @param {string} group
 */
const readElseFrom = (given, group) => require('./else-from/options.js').readElseFrom(given, group)

/** @param {unknown} host */
function readHost(host) {
  if (isAbsent(host)) return os.hostname()
  const wanted = 'a name of 1 to 255 characters without NUL' // which PostgreSQL cannot store
  if (typeof host !== 'string') throw optionTypeError('host', host, wanted)
  if (host.length < 1 || host.length > 255 || host.includes('\0')) throw optionRangeError('host', host, wanted)
  return host
}

module.exports = { readJoinOptions }
