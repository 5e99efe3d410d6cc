'use strict'
// @ts-check

// `flakeforge at`: the IDs of a time, as bounds for a database query. It must never print a WHERE that misses an ID: if
// signed bounds wrap around, it prints two comparisons.

/** @import { Layout } from '../../index.d.ts' */
/** @import { CommandFile, Given } from '../parts/command.js' */

const { toBigInt, toSigned } = require('../../index.js')
const { readLayout } = require('../parts/arguments.js')
const { readDate } = require('../parts/dates.js')
const { usageError } = require('../parts/faults.js')
const { OF_LAYOUT } = require('../parts/options.js')
const { hexOf } = require('../parts/picture.js')
const { print } = require('../parts/output.js')

/**
 * The condition on a column `id`. Signed bounds may be in the opposite order: then IDs are outside of them.
 * @param {bigint} min
 * @param {bigint} max
 */
const where = (min, max) => (min <= max ? `id BETWEEN ${min} AND ${max}` : `(id >= ${min} OR id <= ${max})`)

/**
 * @param {Layout} layout
 * @param {Date} from
 * @param {Date} to
 */
function bounds(layout, from, to) {
  const range = layout.range(from, to)
  const conditions = {
    where: `WHERE ${where(toBigInt(range.min), toBigInt(range.max))}`,
    whereSigned: `WHERE ${where(toSigned(range.min), toSigned(range.max))}`,
  }
  return { layout: layout.name, from, to, min: formsOf(range.min), max: formsOf(range.max), ...conditions }
}

/** @param {Buffer} id */
const formsOf = (id) => ({ hex: hexOf(id), dec: String(toBigInt(id)), signed: String(toSigned(id)) })

/** @param {ReturnType<typeof bounds>} bounds */
function toText({ layout, from, to, min, max, where, whereSigned }) {
  /** @type {(name: string, id: ReturnType<typeof formsOf>) => string} */
  const bound = (name, { hex, dec, signed }) => `  ${name}  ${hex}  ${dec}${signed === dec ? '' : `  signed ${signed}`}`
  const time = from.getTime() === to.getTime() ? from.toISOString() : `${from.toISOString()} to ${to.toISOString()}`
  const lines = [`${layout}, ${time}`, bound('min', min), bound('max', max), where]
  if (whereSigned !== where) lines.push(`${whereSigned} -- in a signed column`)
  return lines.join('\n')
}

/** @param {Given} given */
async function run({ values, operands }) {
  if (operands.length < 1 || operands.length > 2) {
    throw usageError(`at takes one DATE or two, not ${operands.length}. Run 'flakeforge at --help' for examples.`)
  }
  const [from, to = from] = operands.map((text) => readDate(text))
  const result = bounds(readLayout(values, 'flake'), from, to)
  await print(`${values.json ? JSON.stringify(result) : toText(result)}\n`)
}

/** @type {CommandFile} */
module.exports = {
  summary: 'print the smallest and the largest ID of a time, for WHERE id BETWEEN',
  operands: 'DATE [DATE]',
  about: `Prints the smallest and the largest ID of an instant, or of all the time from one instant to another, both included,
and the WHERE that finds them.

DATE is ISO text (2026-01-31, 2026-01-31T12:00; UTC where it names no time zone), Unix ms, or now.`,
  options: OF_LAYOUT,
  examples: [
    ['flakeforge at 2026-11-20 2026-11-20T23:59:59.999', 'all IDs of a day'],
    ['flakeforge at now --layout discord --json', 'the IDs that Discord makes in this millisecond, as JSON'],
  ],
  run,
}
