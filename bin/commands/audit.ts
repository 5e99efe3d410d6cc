// `flakeforge audit`: what the IDs of a table show about their generators. ../audit/ has its parts, each a step: read, choose the
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
  summary: 'check the IDs of a table for duplicates and lost digits',
  operands: '[FILE]',
  about: `Reads the IDs of a table from a file or from stdin, and reports duplicates with their lines, node numbers that two processes used
at once, IDs from the future or from another system, and lost digits. Lists each node with its first and last ID. Each finding comes
with advice. Hints are not necessarily problems: correct use can cause them.

Each line is an ID, in any form that inspect reads. If lines have several columns (CSV, COPY, psql, JSON lines), name
the one to check with --column. Header lines, empty lines and NULLs are skipped.

Without --layout, the command determines which system the IDs come from, as inspect does. If the result is not certain, nothing is checked.

The command needs 20 bytes of memory for each ID. Check a larger table in ranges of IDs: 'flakeforge at' prints their bounds.

Exit status: 0 nothing found, 1 something found, 2 not checked (invalid command line or unreadable input).`,
  options: { ...OF_AUDIT, ...OF_LAYOUT, ...OF_INSPECT },
  completes: ['file'],
  examples: [
    ["psql -Atc 'SELECT id FROM orders' | flakeforge audit --layout flake", 'the IDs of a table'],
    ['flakeforge audit orders.csv --column id --layout flake --epoch 2020-01-01', 'a column of a CSV file'],
    ['flakeforge audit --json --column id < events.jsonl', 'a key of JSON lines, with the result as JSON'],
  ],
  run,
} satisfies CommandFile
