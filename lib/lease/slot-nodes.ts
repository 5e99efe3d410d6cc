// Maps slots to node numbers: node fields given by name stay fixed, and the slot number fills the others, the most
// significant first.

import { isAbsent, type Options, ownOf, readInteger } from '../base/check.ts'
import { optionError, optionRangeError, unusableOptionError } from '../base/errors.ts'
import type { LayoutFacts } from '../codec/facts.ts'
import { readNodes } from '../layout/node-number.ts'

export type Field = LayoutFacts['nodeFields'][number]

const MOST_SLOTS = 65_536

/** The slots of a layout with these options. */
export function slotNodes(facts: LayoutFacts, options: Options) {
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
  const nodeOf = (slot: number) => readNodes(ownOf({ ...fixed, ...spread(slot + offset, free) }), facts)
  return { capacity: Math.min(capacity, MOST_SLOTS), fixed: pick(fixed, given), nodeOf }
}

function noFreeFieldError({ name: layout }: LayoutFacts, options: Options, given: Field[]) {
  if (given.length === 0) {
    const message = `join() puts the slot into a node field, but layout '${layout}' has none: choose another layout`
    return optionError(RangeError, 'layout', layout, message)
  }
  const names = given.map(({ name }) => name)
  const message = `join() puts the slot into a node field, but all of them are given (${names.join(', ')}): leave one out`
  return optionError(RangeError, names[0], options[names[0]], message)
}

const pick = (values: Record<string, number>, fields: Field[]) =>
  Object.fromEntries(fields.map(({ name }) => [name, values[name]]))

function readOffset(offset: unknown, given: Field[]) {
  if (isAbsent(offset)) return 0
  const wanted = 'an integer, 0 or more'
  const number = readInteger('nodeOffset', offset, wanted)
  if (number < 0) throw optionRangeError('nodeOffset', offset, wanted)
  if (given.length > 0) throw unusableOptionError('nodeOffset', offset, `together with ${given[0].name}`)
  return number
}

/** A number as values of fields, the most significant first. */
function spread(number: number, fields: Field[]) {
  let rest = number
  const values = [...fields].reverse().map(({ name, max }) => {
    const value = rest % (max + 1)
    rest = Math.floor(rest / (max + 1))
    return [name, value]
  })
  return Object.fromEntries(values)
}
