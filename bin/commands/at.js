'use strict'

// `flakeforge at`: the IDs of a time as bounds for a database query. It must never print a WHERE that misses an ID: where
// signed bounds wrap around, it is two comparisons.

const { toBigInt, toSigned } = require('../../index.js')
const { LAYOUT, readArguments, readLayout, usageError } = require('../parts/arguments.js')
const { readDate } = require('../parts/dates.js')
const { hexOf } = require('../parts/picture.js')
const { print } = require('../parts/output.js')

const usage = `usage: flakeforge at DATE [DATE] [options]

The smallest and the largest ID of an instant, or of all from one to another, both included. DATE is ISO text (UTC where it
names no zone), Unix ms, or now.

  --layout NAME      flake (default) or another of \`flakeforge layouts\`, or fields of your own as JSON
  --epoch DATE       Unix ms or ISO text that its timestamps count from
  --nodes N          snowcast: how many nodes
  --mode MODE        uniqueid: spread or sequential
  --id-offset N      what is added to every ID
  --json             one JSON object`

/** The condition on a column `id`; bounds whose signed values are the other way round enclose what is between them. */
const where = (min, max) => (min <= max ? `id BETWEEN ${min} AND ${max}` : `(id >= ${min} OR id <= ${max})`)

function bounds(layout, from, to) {
  const range = layout.range(from, to)
  const [min, max] = [range.min, range.max].map((id) => ({
    hex: hexOf(id),
    dec: String(toBigInt(id)),
    signed: String(toSigned(id)),
  }))
  const conditions = {
    where: `WHERE ${where(toBigInt(range.min), toBigInt(range.max))}`,
    whereSigned: `WHERE ${where(toSigned(range.min), toSigned(range.max))}`,
  }
  return { layout: layout.name, from, to, min, max, ...conditions }
}

function toText({ layout, from, to, min, max, where, whereSigned }) {
  const bound = (name, { hex, dec, signed }) => `  ${name}  ${hex}  ${dec}${signed === dec ? '' : `  signed ${signed}`}`
  const time = from.getTime() === to.getTime() ? from.toISOString() : `${from.toISOString()} to ${to.toISOString()}`
  const lines = [`${layout}, ${time}`, bound('min', min), bound('max', max), where]
  if (whereSigned !== where) lines.push(`${whereSigned} -- in a signed column`)
  return lines.join('\n')
}

async function run(args) {
  const { values, positionals } = readArguments(args, LAYOUT)
  if (positionals.length < 1 || positionals.length > 2) {
    throw usageError(`at needs one DATE or two, not ${positionals.length}: see flakeforge at --help`)
  }
  const [from, to = from] = positionals.map((text) => readDate(text))
  const result = bounds(readLayout(values, 'flake'), from, to)
  await print(`${values.json ? JSON.stringify(result) : toText(result)}\n`)
}

module.exports = { usage, run }
