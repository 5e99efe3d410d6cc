'use strict'

// The node number out of values by name, as options and parts have them: `id`, or the node fields.

const { isAbsent, readBounded } = require('./check.js')
const { optionRangeError } = require('./errors.js')

const sameName = (name) => name

/**
 * The node number: `id`, or the node fields by name, or 0; where both are there they must agree. `facts`: of the layout;
 * `label` says what to call a field in an error.
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
    throw optionRangeError(other, given[other], `left out or the same as in id, which is ${id}`)
  }
  return node
}

/** The same, with the values of the node fields by name where `id` is not given. */
function readNodes(given, facts, label = sameName) {
  const node = readNode(given, facts, label)
  const nodes = {}
  if (!isAbsent(given.id)) return { node, nodes }
  for (const { name, max } of facts.nodeFields) {
    nodes[name] = isAbsent(given[name]) ? 0 : readBounded(label(name), given[name], 0, max)
  }
  return { node, nodes }
}

module.exports = { readNode, readNodes }
