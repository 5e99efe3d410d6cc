'use strict'
// @ts-check

// Computes the node number from named values, as options and parts have them: `id`, or the node fields. Also finds
// these values for a generator: in its options, else in the environment, else 0. Two sources that could disagree are an
// error, because somebody relies on the one that would be ignored.

const { errors, isAbsent, readBounded, readInteger } = require('../base/check.js')

/**
 * @import { Options } from '../base/check.js'
 * @import { LayoutFacts } from './layout-facts.js'
 */

/** @param {string} name */
const sameName = (name) => name

/**
 * The node number: `id`, or the node fields by name, or 0; if both are given they must agree.
 * @param {Options} given
 * @param {LayoutFacts} facts
 * @param {(name: string) => string} [label] what to call a field in an error
 */
function readNode(given, facts, label = sameName) {
  const { nodeFields } = facts
  let joined = 0
  let other
  for (let i = 0; i < nodeFields.length; i++) {
    const { name, max, unit } = nodeFields[i]
    const value = given[name]
    if (isAbsent(value)) continue
    joined += readBounded(label(name), value, 0, max) * unit
    other ??= name
  }
  const { id } = given
  if (isAbsent(id)) return joined
  const node = readBounded(label('id'), id, 0, facts.nodeMax)
  if (other !== undefined && node !== joined) {
    throw errors().optionRangeError(other, given[other], `left out or the same as in id, which is ${id}`)
  }
  return node
}

/**
 * The same, with the values of the node fields by name if `id` is not given.
 * @param {Options} given
 * @param {LayoutFacts} facts
 * @param {(name: string) => string} [label]
 */
function readNodes(given, facts, label = sameName) {
  const node = readNode(given, facts, label)
  /** @type {Record<string, number>} */
  const nodes = {}
  if (!isAbsent(given.id)) return { node, nodes }
  for (const { name, max } of facts.nodeFields) {
    nodes[name] = isAbsent(given[name]) ? 0 : readBounded(label(name), given[name], 0, max)
  }
  return { node, nodes }
}

const ORDINAL = 'ordinal'
const ID_VARIABLE = 'FLAKEFORGE_ID'

/**
 * The node number, `nodeOffset` included, and the node fields as they were given by name.
 * @param {Options} options
 * @param {LayoutFacts} facts
 */
function readNodeNumber(options, facts) {
  const values = choose(options, facts)
  /** @param {string} name */
  const label = (name) => (isAbsent(options[name]) ? variableOf(name, facts) : name)
  const other = isAbsent(values.id) ? undefined : facts.nodeNames.find((name) => !isAbsent(values[name]))
  if (other !== undefined) {
    const why = `together with ${label('id')} (${values.id}), which is the whole node number`
    throw errors().unusableOptionError(label(other), values[other], why)
  }
  if (values.id === ORDINAL) values.id = ordinal()
  const { node, nodes } = readNodes(values, facts, label)
  return { node: shift(node, options.nodeOffset, facts.nodeMax), nodes }
}

/**
 * The values by name: from the options, plus the fields that they leave out from the environment, unless `id` covers
 * them all. If the options name none, from the environment alone.
 * @param {Options} options
 * @param {LayoutFacts} facts
 */
function choose(options, { nodeFields }) {
  /** @type {Options} */
  const values = { id: options.id }
  let isSilent = isAbsent(options.id)
  for (const { name, variable } of nodeFields) {
    const isLeftOut = isAbsent(options[name])
    values[name] = isLeftOut && isAbsent(options.id) ? process.env[variable] : options[name]
    isSilent &&= isLeftOut
  }
  if (isSilent) values.id = process.env[ID_VARIABLE]
  return values
}

/**
 * @param {string} name
 * @param {LayoutFacts} facts
 */
const variableOf = (name, { nodeFields }) => nodeFields.find((field) => field.name === name)?.variable ?? ID_VARIABLE

/** The number that a StatefulSet puts at the end of a pod's host name: 3 in `orders-3`. */
function ordinal() {
  const host = require('node:os').hostname()
  const [, number] = /-(\d+)$/.exec(host) ?? []
  if (number === undefined) {
    const message =
      `id 'ordinal' takes the number at the end of the host name, as in 'orders-3', but the host name is '${host}': ` +
      'give id as a number'
    throw errors().optionError(RangeError, 'id', ORDINAL, message)
  }
  return number
}

/**
 * Hazelcast's node-id-offset.
 * @param {number} node
 * @param {unknown} offset
 * @param {number} max
 */
function shift(node, offset, max) {
  if (isAbsent(offset)) return node
  const shifted = node + readInteger('nodeOffset', offset, 'an integer')
  if (shifted < 0 || shifted > max) {
    const wanted = `an integer from ${-node} to ${max - node}, so that node ${node} stays within 0 to ${max}`
    throw errors().optionRangeError('nodeOffset', offset, wanted)
  }
  return shifted
}

module.exports = { readNode, readNodeNumber, readNodes }
