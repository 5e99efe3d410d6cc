'use strict'
// @ts-check

// What layouts are made of: a dialect's name or a user's own fields, and the choices that some have. This file checks
// them, with the core's rules for specs; lib/layout/layout-facts.js makes a layout from them.

const native = require('../native/index.js')
const { errors, isAbsent, checkKeys, readBounded, readInstant } = require('../base/check.js')

/** @import { LayoutFacts } from './layout-facts.js' */

const DIALECTS = native.dialects()
const SPEC = ['name', 'epoch', 'tickMs', 'fields']
const MODES = ['spread', 'sequential'] // in the order of the mode bit

/** Names that options and decoded parts already use; a field must not have one. */
const RESERVED = [
  ...['id', 'epoch', 'seqMask', 'layout', 'nodes', 'mode', 'nodeOffset', 'idOffset', 'maxAheadMs', 'maxWaitMs'],
  ...['shared', 'prefetch', 'clock', 'group', 'slots', 'ttlMs', 'skewMs', 'waitMs'],
  ...['date', 'tick'],
]

/**
 * A dialect's name, or the checked parts of a user's own layout.
 * @param {unknown} given
 * @returns {import('./layout-facts.js').Parts & { epoch?: number }}
 */
function readSpec(given) {
  if (typeof given === 'string') {
    if (!DIALECTS.includes(given)) throw errors().unknownLayoutError(given, DIALECTS)
    return { name: given }
  }
  if (typeof given !== 'object' || given === null) {
    throw errors().optionTypeError('layout', given, 'a name, a Layout, or { epoch, tickMs, fields }')
  }
  const spec = checkKeys('layout', given, SPEC)
  const name = spec.name ?? 'custom'
  if (typeof name !== 'string' || name === '')
    throw errors().optionTypeError('name', name, 'a string that is not empty')
  const bits = { tickNs: readTickNs(spec.tickMs ?? 1), ...readFields(spec.fields) }
  const problem = native.specProblem(bits)
  if (problem !== null) {
    const field = problem.field ?? undefined
    const [option, value] =
      field === undefined
        ? ['fields', spec.fields]
        : [`fields[${field}]`, /** @type {unknown[]} */ (spec.fields)[field]]
    throw errors().optionError(RangeError, option, value, `${option} must ${problem.must}`)
  }
  return { name, spec: bits, epoch: readInstant('epoch', spec.epoch ?? 0) }
}

/** @param {unknown} tickMs */
function readTickNs(tickMs) {
  if (typeof tickMs !== 'number') throw errors().optionTypeError('tickMs', tickMs, 'a number of milliseconds')
  const ns = Math.round(tickMs * 1e6)
  if (!(ns >= 1 && ns <= Number.MAX_SAFE_INTEGER) || Math.abs(ns / 1e6 - tickMs) > tickMs * 1e-12) {
    throw errors().optionRangeError('tickMs', tickMs, 'a whole number of nanoseconds, at least 0.000001 ms')
  }
  return ns
}

/** @param {unknown} given */
function readFields(given) {
  if (!Array.isArray(given))
    throw errors().optionTypeError('fields', given, "an array of pairs [name, bits] such as ['timestamp', 41]")
  const fields = [...given] // a hole becomes undefined
  fields.forEach((field, i) => {
    const isPair =
      Array.isArray(field) && field.length === 2 && typeof field[0] === 'string' && Number.isInteger(field[1])
    if (!isPair) throw errors().optionTypeError(`fields[${i}]`, field, "a pair [name, bits] such as ['timestamp', 41]")
    const [name, bits] = field
    if (RESERVED.includes(name) || name in Object.prototype) {
      throw errors().optionError(
        RangeError,
        `fields[${i}]`,
        field,
        `fields[${i}] must have another name, because '${name}' is taken`,
      )
    }
    if (bits < 1 || bits > 63) {
      throw errors().optionError(
        RangeError,
        `fields[${i}]`,
        field,
        `fields[${i}] must have 1 to 63 bits, but '${name}' has ${bits}`,
      )
    }
  })
  return { names: fields.map((field) => field[0]), widths: fields.map((field) => field[1]) }
}

/**
 * snowcast's number of nodes.
 * @param {unknown} nodes
 * @param {LayoutFacts} facts
 */
function readNodeCount(nodes, { name, hasNodes }) {
  if (!hasNodes) throw errors().unusableOptionError('nodes', nodes, `with layout '${name}': only 'snowcast' has it`)
  return readBounded('nodes', nodes, 128, 8192)
}

/**
 * uniqueid's mode.
 * @param {unknown} mode
 * @param {LayoutFacts} facts
 */
function readMode(mode, { name, mode: present }) {
  if (isAbsent(present))
    throw errors().unusableOptionError('mode', mode, `with layout '${name}': only 'uniqueid' has modes`)
  const known = MODES.find((name) => name === mode)
  if (known === undefined) throw errors().optionRangeError('mode', mode, `one of '${MODES.join("', '")}'`)
  return known
}

/**
 * Hazelcast's id-offset.
 * @param {unknown} offset
 */
function readIdOffset(offset) {
  const wanted = 'a bigint from −2^63 to 2^63 − 1'
  if (typeof offset !== 'bigint') throw errors().optionTypeError('idOffset', offset, wanted)
  if (BigInt.asIntN(64, offset) !== offset) throw errors().optionRangeError('idOffset', offset, wanted)
  return offset
}

module.exports = { DIALECTS, MODES, readSpec, readNodeCount, readMode, readIdOffset }
