'use strict'

// Where a generator's node number comes from: its options, else the environment, else 0. Two sources that could
// disagree are an error, because the one not taken would be somebody's belief.

const os = require('node:os')
const { isAbsent, readInteger } = require('./check.js')
const { optionRangeError } = require('./errors.js')
const { Layout } = require('./layout.js')

const ORDINAL = 'ordinal'
const variable = (name) => `FLAKEFORGE_${name.toUpperCase()}`

/** The node number, `nodeOffset` included, and the node fields as they were given by name. */
function readNodeNumber(options, layout) {
  const names = ['id', ...Layout.nodeFields(layout).map((field) => field.name)]
  const given = pick(names, (name) => options[name])
  const chosen = Object.keys(given).length > 0 ? complete(given, names) : fromEnvironment(names)
  const { node, nodes } = readChosen(chosen, layout)
  return { node: shift(node, options.nodeOffset, layout), nodes }
}

/** What there is of these names, with what to call it in an error. */
function pick(names, get, label = (name) => name) {
  const found = names.filter((name) => !isAbsent(get(name)))
  return Object.fromEntries(found.map((name) => [name, { value: get(name), label: label(name) }]))
}

const fromEnvironment = (names) => pick(names, (name) => process.env[variable(name)], variable)

/** Node fields that options leave out may still come from the environment; `id` names them all. */
function complete(given, names) {
  if (given.id !== undefined) return given
  const { id: _, ...fields } = fromEnvironment(names)
  return { ...fields, ...given }
}

function readChosen(chosen, layout) {
  const { id, ...fields } = chosen
  const [other] = Object.values(fields)
  if (id !== undefined && other !== undefined) {
    throw optionRangeError(other.label, other.value, `left out where ${id.label} (${id.value}) names the whole node`)
  }
  const values = Object.fromEntries(Object.entries(chosen).map(([name, { value }]) => [name, value]))
  if (values.id === ORDINAL) values.id = ordinal()
  return Layout.readNode(values, layout, (name) => chosen[name]?.label ?? name)
}

/** The number that a StatefulSet puts at the end of a pod's host name: 3 of `orders-3`. */
function ordinal() {
  const host = os.hostname()
  const [, number] = /-(\d+)$/.exec(host) ?? []
  if (number === undefined) {
    throw optionRangeError(
      'id',
      ORDINAL,
      `a number here: the host name '${host}' does not end in one, as a StatefulSet's does`,
    )
  }
  return number
}

/** Hazelcast's node-id-offset. */
function shift(node, offset, layout) {
  if (isAbsent(offset)) return node
  const max = Layout.native(layout).nodeMax
  const shifted = node + readInteger('nodeOffset', offset, 'an integer')
  if (shifted < 0 || shifted > max) {
    throw optionRangeError('nodeOffset', offset, `such that the node number, ${node}, becomes one from 0 to ${max}`)
  }
  return shifted
}

module.exports = { readNodeNumber }
