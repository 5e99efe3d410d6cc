'use strict'

// `flakeforge layouts`: the table of all systems. It must never hold a figure of its own: all come from the layouts.

const { Layout, layouts } = require('../../index.js')
const { readArguments, usageError } = require('../parts/arguments.js')
const { print } = require('../parts/output.js')
const { toTable } = require('../parts/table.js')

const usage = `usage: flakeforge layouts [--json]

The systems whose IDs flakeforge makes and reads: what the 64 bits are, how far IDs may run ahead of the clock and how
long a call may block (ms), the first instant that no longer fits, and the first whose IDs are negative in a signed column.`

const HEADINGS = ['layout', 'epoch', 'tick ms', 'fields', 'maxAhead', 'maxWait', 'end', 'signedEnd']

/** The knobs are no part of Layout's public face; the command lives in the package and may ask the addon. */
function describe(layout) {
  const { maxAheadMs, maxWaitMs, tickMs } = Layout.native(layout)
  const { name, epoch, fields, end, signedEnd } = layout
  return { name, epoch, tickMs, fields, maxAheadMs, maxWaitMs, end, signedEnd }
}

const fieldsText = (fields) =>
  fields.length === 0 ? 'decimal: time, then 2 digits of host' : fields.map((field) => field.join(' ')).join(', ')

const row = ({ name, epoch, tickMs, fields, maxAheadMs, maxWaitMs, end, signedEnd }) => [
  name,
  new Date(epoch).toISOString(),
  ...[String(tickMs), fieldsText(fields), String(maxAheadMs), String(maxWaitMs)],
  ...[end, signedEnd].map((date) => date.toISOString().split('T')[0]),
]

/** JSON has no Infinity; as text it is what the options take. */
const toJson = (described) => JSON.stringify(described, (_, value) => (value === Infinity ? 'Infinity' : value))

async function run(args) {
  const { values, positionals } = readArguments(args)
  if (positionals.length > 0) throw usageError(`layouts takes no argument, not '${positionals[0]}'`)
  const all = Object.values(layouts).map(describe)
  await print(`${values.json ? all.map(toJson).join('\n') : toTable(HEADINGS, all.map(row))}\n`)
}

module.exports = { usage, run }
