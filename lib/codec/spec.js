'use strict'
// @ts-check

// What layouts are made of: a dialect's name or a user's own fields, and the choices that some have. This file checks
// them, by the rules of core/src/layout/spec.rs; lib/codec/facts.js makes a layout from them.

const dialects = require('./dialects.js')
const { errors, checkKeys, readBounded, readInstant } = require('../base/values.js')
const { isNode } = require('./packing.js')

/** @import { LayoutFacts } from './facts.js' */

const DIALECTS = dialects.map(({ name }) => name)
const SPEC = ['name', 'epoch', 'tickMs', 'fields']

/** Names that options and decoded parts already use; a field must not have one. */
const RESERVED = (
  'id epoch seqMask layout nodes mode nodeOffset idOffset maxAheadMs maxWaitMs shared prefetch clock group slots ttlMs ' +
  'skewMs waitMs date tick toJSON'
).split(' ')

/**
 * A dialect's name, or the checked parts of a user's own layout.
 * @param {unknown} given
 * @returns {import('./facts.js').Parts & { epoch?: number }}
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
  const tickNs = readTickNs(spec.tickMs ?? 1)
  return { name, tickNs, fields: readFields(spec.fields), epoch: readInstant('epoch', spec.epoch ?? 0) }
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

const PAIR = 'a pair [name, bits]'

/**
 * @param {unknown} given
 * @returns {[string, number][]}
 */
function readFields(given) {
  if (!Array.isArray(given)) {
    throw errors().optionTypeError('fields', given, 'an array of [name, bits]')
  }
  const fields = [...given] // a hole becomes undefined
  fields.forEach(checkField)
  fields.forEach(checkAmongOthers)
  checkTogether(fields, given)
  return fields.map(([name, bits]) => [name, bits])
}

/**
 * `ERR_FLAKE_OPTION` about one field.
 * @param {number} i
 * @param {unknown} field
 * @param {string} must
 * @param {unknown[]} args
 */
const fieldError = (i, field, must, ...args) => errors().fieldsError(`fields[${i}]`, field, must, ...args)

/**
 * @param {unknown} field
 * @param {number} i
 */
function checkField(field, i) {
  const isPair =
    Array.isArray(field) && field.length === 2 && typeof field[0] === 'string' && Number.isInteger(field[1])
  if (!isPair) throw errors().optionTypeError(`fields[${i}]`, field, PAIR)
  const [name, bits] = field
  if (RESERVED.includes(name) || name in {}) {
    throw fieldError(i, field, 'have another name', name)
  }
  if (bits < 1 || bits > 63) throw fieldError(i, field, 'have 1 to 63 bits', name, bits)
}

const WIDEST = 53 // a number holds no more bits exactly

/**
 * @param {[string, number]} field
 * @param {number} i
 * @param {[string, number][]} fields
 */
function checkAmongOthers(field, i, fields) {
  const [name, bits] = field
  if (name === 'counter' && bits > WIDEST) {
    throw fieldError(i, field, 'have at most $ bits', WIDEST, bits)
  }
  if (name === '') throw fieldError(i, field, 'have a name')
  const isRepeated = fields.slice(0, i).some((other) => other[0] === name)
  if (isRepeated && name !== 'zero') throw fieldError(i, field, 'have a name of its own', name)
}

/**
 * @param {[string, number][]} fields
 * @param {unknown} given
 */
function checkTogether(fields, given) {
  const bitsOf = (/** @type {[string, number][]} */ some) => some.reduce((sum, [, bits]) => sum + bits, 0)
  const bits = bitsOf(fields)
  const node = bitsOf(fields.filter(([name]) => isNode(name)))
  if (!fields.some(([name]) => name === 'timestamp'))
    throw errors().fieldsError('fields', given, "have a field 'timestamp'")
  if (bits !== 64) throw errors().fieldsError('fields', given, 'have 64 bits in all', bits)
  if (node > WIDEST) throw errors().fieldsError('fields', given, 'have at most $ bits of node number', WIDEST, node)
}

/**
 * snowcast's number of nodes.
 * @param {unknown} nodes
 * @param {LayoutFacts} facts
 */
function readNodeCount(nodes, { name, hasNodes }) {
  if (!hasNodes) throw errors().unusableOptionError('nodes', nodes, "with layout '$'", name, 'nodes')
  return readBounded('nodes', nodes, 128, 8192)
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

module.exports = { readSpec, readNodeCount, readIdOffset }
