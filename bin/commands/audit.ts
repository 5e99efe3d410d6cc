// `flakeforge audit`: what the IDs of a table show about their makers. ../audit/ has its parts, each a step: read, choose the
// layout, walk, report.

import { FORMS } from '../../lib/reading/text-forms.ts'
import type { Facts } from '../audit/findings.ts'
import { Input } from '../audit/input.ts'
import { orderOf } from '../audit/order.ts'
import { reportOf, toJson, toText } from '../audit/report.ts'
import { chooseLayout } from '../audit/system.ts'
import { unreadable } from '../audit/unreadable.ts'
import { Walk } from '../audit/walk.ts'
import { readLayout } from '../parts/arguments.ts'
import type { CommandFile, Given } from '../parts/command.ts'
import { type Fault, usageError } from '../parts/faults.ts'
import { OF_AUDIT, OF_INSPECT, OF_LAYOUT } from '../parts/options.ts'
import { print } from '../parts/output.ts'

const FOUND = 1 // the exit status

/** The input, as the arguments say. */
function inputOf({ values, operands }: Given) {
  const { from, column } = values
  if (from !== undefined && !FORMS.includes(from))
    throw usageError(`--from must be one of ${FORMS.join(', ')}, not '${from}'.`)
  if (column === '' || column === '0')
    throw usageError(`--column must be a name, or a number from 1 on, not '${column}'.`)
  if (operands.length > 1) throw usageError(`audit takes one FILE, not ${operands.length}.`)
  const [file] = operands
  if (file === undefined && process.stdin.isTTY)
    throw usageError("audit needs a FILE, or IDs on stdin. Run 'flakeforge audit --help' for examples.")
  return new Input({ file: file === '-' ? undefined : file, column, from, layout: readLayout(values) })
}

/** An error of the file means that nothing was checked. */
async function readAll(input: Input) {
  try {
    await input.read()
  } catch (cause) {
    const error = cause as Fault
    throw error.syscall === undefined ? error : unreadable(error.message)
  }
  if (input.ids.length === 0 && input.malformedCount === 0)
    throw unreadable('it has no ID. If it comes from another program, check that this one succeeded.')
}

function factsOf(input: Input, given: Given): Facts {
  if (input.ids.length === 0)
    throw unreadable(`none of its lines is an ID. Line ${input.malformed[0].line}: ${input.malformed[0].why}`)
  const chosen = chooseLayout(readLayout(given.values), input.ids)
  const walk = new Walk(chosen.layout).over(input.ids)
  return { input, chosen, walk, nodes: walk.nodes.list() }
}

async function run(given: Given) {
  const input = inputOf(given)
  await readAll(input)
  const facts = factsOf(input, given)
  const report = reportOf(facts, orderOf(input.ids, facts.chosen.layout))
  await print(given.values.json ? `${toJson(report)}\n` : toText(report))
  if (report.findings.length > 0) process.exitCode = FOUND
}

export default {
  summary: 'check the IDs of a table: equal ones, node numbers with two makers, lost digits',
  operands: '[FILE]',
  about: `Reads the IDs of a table from a file, or from stdin, and says what they show: how many there are, equal ones and their
lines, each node's first and last ID and its most in a tick, node numbers that two makers used at once, IDs of the future or of
another system, and lost digits. Each finding comes with advice. What correct use can cause
too is shown as a hint.

Each line is an ID, in any form that inspect reads. For lines with several columns (CSV, COPY, psql, JSON lines), --column is
the column's number from 1 on, its name in the first line, or the key. Header lines, empty lines and NULLs are skipped.

Without --layout, all IDs are judged together, as by inspect, and the output says which system they look like. If that is
not certain, nothing is checked.

It keeps 20 bytes for each ID in memory. A larger table can be checked in ranges of IDs, whose bounds 'flakeforge at' prints.

Exit status: 0 nothing found, 1 something found, 2 not checked: the command line is invalid, or the input cannot be read.`,
  options: { ...OF_AUDIT, ...OF_LAYOUT, ...OF_INSPECT },
  completes: ['file'],
  examples: [
    ["psql -c 'COPY (SELECT id FROM orders) TO STDOUT' | flakeforge audit --layout flake", 'the IDs of a table'],
    ['flakeforge audit orders.csv --column order_id --layout flake --epoch 2020-01-01', 'a column of a CSV file'],
    ['flakeforge audit --json --column id < events.jsonl', 'a key of JSON lines; the result as JSON'],
  ],
  run,
} satisfies CommandFile
