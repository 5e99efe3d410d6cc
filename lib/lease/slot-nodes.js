'use strict'
// @ts-check

// How slots become node numbers: node fields given by name stay fixed, and the slot number fills the others, the most
// significant first.

const { isAbsent, readInteger } = require('../base/check.js')
const { optionError, optionRangeError, unusableOptionError } = require('../base/errors.js')
const { readNodes } = require('../layout/node-number.js')

/**
 * @import { Options } from '../base/check.js'
 * @import { LayoutFacts } from '../codec/facts.js'
 */

/** @typedef {LayoutFacts['nodeFields'][number]} Field */

const MOST_SLOTS = 65_536

/**
 * The slots of a layout with these options.
 * @param {LayoutFacts} facts
 * @param {Options} options
 */
function slotNodes(facts, options) {
  const fields = facts.nodeFields
  const given = fields.filter(({ name }) => !isAbsent(options[name]))
  const fixed = readNodes(options, facts).nodes
  const free = fields.filter((field) => !given.includes(field))
  const offset = readOffset(options.nodeOffset, given)
  const room = free.reduce((slots, { max }) => slots * (max + 1), 1)
  const capacity = room - offset
  if (free.length === 0) {
    throw noFreeFieldError(facts, options, given)
  }
  if (capacity < 1)
    throw optionRangeError('nodeOffset', options.nodeOffset, `less than ${room}, which is the number of nodes`)
  const nodeOf = (/** @type {number} */ slot) => readNodes({ ...fixed, ...spread(slot + offset, free) }, facts)
  return { capacity: Math.min(capacity, MOST_SLOTS), fixed: pick(fixed, given), nodeOf }
}

/**
 * @param {LayoutFacts} facts
 * @param {Options} options
 * @param {Field[]} given
 */
function noFreeFieldError({ name: layout }, options, given) {
  if (given.length === 0) {
    const message = `join() puts the slot into a node field, but layout '${layout}' has none: take another layout`
    return optionError(RangeError, 'layout', layout, message)
  }
  const names = given.map(({ name }) => name)
  const message = `join() puts the slot into a node field, but all of them are given (${names.join(', ')}): leave one out`
  return optionError(RangeError, names[0], options[names[0]], message)
}

/**
 * @param {Record<string, number>} values
 * @param {Field[]} fields
 */
const pick = (values, fields) => Object.fromEntries(fields.map(({ name }) => [name, values[name]]))

/**
 * @param {unknown} offset
 * @param {Field[]} given
 */
function readOffset(offset, given) {
  if (isAbsent(offset)) return 0
  const wanted = 'an integer, 0 or more'
  const number = readInteger('nodeOffset', offset, wanted)
  if (number < 0) throw optionRangeError('nodeOffset', offset, wanted)
  if (given.length > 0) throw unusableOptionError('nodeOffset', offset, `together with ${given[0].name}`)
  return number
}

/**
 * A number as values of fields, the most significant first.
 * @param {number} number
 * @param {Field[]} fields
 */
function spread(number, fields) {
  let rest = number
  const values = [...fields].reverse().map(({ name, max }) => {
    const value = rest % (max + 1)
    rest = Math.floor(rest / (max + 1))
    return [name, value]
  })
  return Object.fromEntries(values)
}

module.exports = { slotNodes }
