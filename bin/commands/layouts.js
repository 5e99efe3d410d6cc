'use strict'
// @ts-check

// `flakeforge layouts`: the table of all systems. It must never contain figures of its own: all come from the layouts.

/** @import { Layout } from '../../index.d.ts' */
/** @import { CommandFile, Given } from '../parts/command.js' */

const { layouts } = require('../../index.js')
const { usageError } = require('../parts/faults.js')
const { factsOf } = require('../parts/layout-facts.js')
const { print } = require('../parts/output.js')
const { toTable } = require('../parts/table.js')

/** @typedef {ReturnType<typeof describe>} Described */

/** @param {Layout} layout */
function describe(layout) {
  const { maxAheadMs, maxWaitMs, tickMs } = factsOf(layout)
  const { name, epoch, fields, end, signedEnd } = layout
  return { name, epoch, tickMs, fields, maxAheadMs, maxWaitMs, end, signedEnd }
}

/** @param {Layout['fields']} fields */
const fieldsText = (fields) =>
  fields.length === 0 ? 'decimal: time, then 2 digits of host' : fields.map((field) => field.join(' ')).join(', ')

/** @param {Date} date */
const day = (date) => date.toISOString().split('T')[0]

/** Two tables, because one would be too wide for most terminals: one for the bits, one for the time. */
const FIELDS = ['layout', 'fields and their bits']
/** @param {Described} described */
const fieldsRow = ({ name, fields }) => [name, fieldsText(fields)]

const TIMES = ['layout', 'epoch', 'tick ms', 'maxAhead', 'maxWait', 'end', 'signedEnd']
/** @param {Described} described */
const timesRow = ({ name, epoch, tickMs, maxAheadMs, maxWaitMs, end, signedEnd }) => [
  ...[name, new Date(epoch).toISOString()],
  ...[tickMs, maxAheadMs, maxWaitMs].map(String),
  ...[day(end), day(signedEnd)],
]

/** @param {Described[]} all */
const toText = (all) => `${toTable(FIELDS, all.map(fieldsRow))}\n\n${toTable(TIMES, all.map(timesRow))}`

/**
 * JSON has no Infinity; the options take it as text.
 * @param {Described} described
 */
const toJson = (described) => JSON.stringify(described, (_, value) => (value === Infinity ? 'Infinity' : value))

/** @param {Given} given */
async function run({ values, operands }) {
  if (operands.length > 0) throw usageError(`layouts takes no argument, so leave out '${operands[0]}'.`)
  const all = Object.values(layouts).map(describe)
  await print(`${values.json ? all.map(toJson).join('\n') : toText(all)}\n`)
}

/** @type {CommandFile} */
module.exports = {
  summary: 'list the systems whose IDs flakeforge makes and reads',
  operands: '',
  about: `Lists the systems whose IDs flakeforge makes and reads: the fields of their 64 bits, the most significant first, and
how time goes in them.

tick: the unit of timestamps. maxAhead: how many ms IDs may run ahead of the clock. maxWait: how many ms a call may block.
end: the first day that the timestamps cannot reach. signedEnd: the first day whose IDs are negative in a signed column.`,
  options: {},
  examples: [['flakeforge layouts --json', 'a JSON object for each system, with all figures']],
  run,
}
