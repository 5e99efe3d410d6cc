// `flakeforge at`: the IDs of a time, as bounds for a database query. ../parts/columns.ts has the conditions, which miss no
// ID.

import { type Layout, toBigInt, toSigned } from '../../lib/entries/codec.ts'
import { readLayout } from '../parts/arguments.ts'
import { COLUMNS, type Column, whereOf } from '../parts/columns.ts'
import type { CommandFile, Given } from '../parts/command.ts'
import { instantOf, readSpan, type Span } from '../parts/dates.ts'
import { type Fault, usageError } from '../parts/faults.ts'
import { COLUMN, OF_LAYOUT } from '../parts/options.ts'
import { print } from '../parts/output.ts'
import { hexOf } from '../parts/picture.ts'

/** @param column without it, both kinds of numbers */
function bounds(layout: Layout, from: Span, to: Span, column?: Column): Bounds {
  const range = layout.range(instantOf(from.first), instantOf(to.last))
  const shown = { layout: layout.name, from: from.text, to: to.text, min: formsOf(range.min), max: formsOf(range.max) }
  if (column !== undefined) return { ...shown, column, where: whereOf(column, range, layout) }
  const [where, whereSigned] = [whereOf('unsigned', range, layout), whereOf('bigint', range, layout)]
  return { ...shown, where, whereSigned }
}

type Forms = ReturnType<typeof formsOf>

type Bounds = {
  layout: string
  from: string
  to: string
  min: Forms
  max: Forms
  column?: Column
  where: string
  whereSigned?: string
}

const formsOf = (id: Buffer) => ({ hex: hexOf(id), dec: String(toBigInt(id)), signed: String(toSigned(id)) })

function toText({ layout, from, to, min, max, where, whereSigned = where }: Bounds) {
  const bound: (name: string, id: Forms) => string = (name, { hex, dec, signed }) =>
    `  ${name}  ${hex}  ${dec}${signed === dec ? '' : `  signed ${signed}`}`
  const time = from === to ? from : `${from} to ${to}`
  const lines = [`${layout}, ${time}`, bound('min', min), bound('max', max), where]
  if (whereSigned !== where) lines.push(`${whereSigned} -- in a signed column`)
  return lines.join('\n')
}

function readColumn(given: string | undefined): Column | undefined {
  const column = COLUMNS.find((name) => name === given)
  if (column !== undefined || given === undefined) return column
  throw usageError(`--column must be one of ${COLUMNS.join(', ')}, not '${given}'.`)
}

/** Errors of the library name its arguments; the user has typed a DATE. */
function ofDates<T>(work: () => T) {
  try {
    return work()
  } catch (cause) {
    const error = cause as Fault
    if (error.code === 'ERR_FLAKE_TIME_RANGE')
      error.message = error.message.replace(/^The time of (?:from|to), (\S+) \(-?\d+\),/, 'DATE $1')
    throw error
  }
}

async function run({ values, operands }: Given) {
  if (operands.length < 1 || operands.length > 2) {
    throw usageError(`at takes one DATE or two, not ${operands.length}. Run 'flakeforge at --help' for examples.`)
  }
  const [from, to = from] = operands.map((text) => readSpan(text))
  if (from.first > to.last)
    throw usageError(`The second DATE must be the first one or later, but ${to.text} is before ${from.text}.`)
  const [layout, column] = [readLayout(values, 'flake'), readColumn(values.column)]
  const result = ofDates(() => bounds(layout, from, to, column))
  await print(`${values.json ? JSON.stringify(result) : toText(result)}\n`)
}

export default {
  summary: 'print the smallest and the largest ID of a span of time',
  operands: 'DATE [DATE]',
  about: `Prints the smallest and the largest ID of an instant, or of a span of time from one instant to another, both included, and the WHERE clause that finds these IDs.

Times before the layout's epoch or after its last time have no IDs and are left out.

DATE is ISO text (2026-01-31, 2026-01-31T12:00; UTC without a time zone), Unix ms, or now. It covers a whole
millisecond, or less if it has more digits: 2021-12-28T14:07:02.954100128 is one nanosecond. An end of 23:59:59.999 is
therefore the end of the day, even in layouts with finer ticks.

--column is the type of the column: bigint (signed, as in PostgreSQL and SQLite), unsigned (BIGINT UNSIGNED),
bytea (PostgreSQL), binary (BINARY(8), or SQLite's BLOB), text (decimal, as nextString() writes it), base32, or uuid
(layout.toUuid()). Without --column, the WHERE clause is for numbers, and a second clause follows if signed numbers need a different one.`,
  options: { ...COLUMN, ...OF_LAYOUT },
  examples: [
    ['flakeforge at 2026-11-20 2026-11-20T23:59:59.999', 'all IDs of a day'],
    ['flakeforge at 2026-11-20 --column uuid', 'the IDs of the first millisecond of a day, in a uuid column'],
    ['flakeforge at now --layout discord --json', 'the IDs that Discord generates in this millisecond, as JSON'],
  ],
  run,
} satisfies CommandFile
