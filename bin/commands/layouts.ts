// `flakeforge layouts`: the table of all systems. All figures come from the layouts.

import { type Layout, layouts } from '../../lib/entries/codec.ts'
import type { CommandFile, Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { factsOf } from '../parts/layout-facts.ts'
import { print } from '../parts/output.ts'
import { toTable } from '../parts/table.ts'

type Described = ReturnType<typeof describe>

function describe(layout: Layout) {
  const { maxAheadMs, maxWaitMs, tickMs } = factsOf(layout)
  const { name, epoch, fields, end, signedEnd } = layout
  return { name, epoch, tickMs, fields, maxAheadMs, maxWaitMs, end, signedEnd }
}

const fieldsText = (fields: Layout['fields']) =>
  fields.length === 0 ? 'decimal: time, then 2 digits of host' : fields.map((field) => field.join(' ')).join(', ')

const day = (date: Date) => date.toISOString().split('T')[0]

/** Two tables, because one would be too wide for most terminals: one for the bits, one for the time. */
const FIELDS = ['layout', 'fields and their bits']
const fieldsRow = ({ name, fields }: Described) => [name, fieldsText(fields)]

const TIMES = ['layout', 'epoch', 'tick ms', 'maxAhead', 'maxWait', 'end', 'signedEnd']
const timesRow = ({ name, epoch, tickMs, maxAheadMs, maxWaitMs, end, signedEnd }: Described) => [
  name,
  new Date(epoch).toISOString(),
  ...[tickMs, maxAheadMs, maxWaitMs].map(String),
  day(end),
  day(signedEnd),
]

const toText = (all: Described[]) => `${toTable(FIELDS, all.map(fieldsRow))}\n\n${toTable(TIMES, all.map(timesRow))}`

/** JSON has no Infinity; the options accept it as text. */
const toJson = (described: Described) =>
  JSON.stringify(described, (_, value) => (value === Infinity ? 'Infinity' : value))

async function run({ values, operands }: Given) {
  if (operands.length > 0) throw usageError(`layouts takes no argument, so leave out '${operands[0]}'.`)
  const all = Object.values(layouts).map(describe)
  await print(`${values.json ? all.map(toJson).join('\n') : toText(all)}\n`)
}

export default {
  summary: 'list the systems whose IDs flakeforge generates and reads',
  operands: '',
  about: `Lists the systems whose IDs flakeforge generates and reads, with the fields of their 64 bits (the most significant first) and
their limits:

tick: the unit of timestamps. maxAhead: how far IDs may run ahead of the clock, in ms. maxWait: how long a call may block, in ms.
end: the first day that timestamps cannot reach. signedEnd: the first day whose IDs are negative in a signed column.`,
  options: {},
  examples: [['flakeforge layouts --json', 'a JSON object for each system, with all figures']],
  run,
} satisfies CommandFile
