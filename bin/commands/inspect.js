'use strict'
// @ts-check

// `flakeforge inspect`: shows what is in IDs, from arguments or line by line from stdin. If it cannot read an ID, it
// reports that and exits with 1 at the end. One such ID must never stop the others.

/** @import { Layout, Parts } from '../../index.d.ts' */
/** @import { CommandFile, Given } from '../parts/command.js' */
/** @import { Fault } from '../parts/faults.js' */
/** @import { Reading, Readings } from '../parts/ranking.js' */

/** @typedef {{ layout?: Layout, from?: string }} As which layout and form the IDs have */

/**
 * An ID and what is shown of it.
 * @typedef {object} Inspected
 * @property {string} text
 * @property {bigint} id
 * @property {string} form that the text is in
 * @property {string | undefined} note about the form
 * @property {Layout} layout
 * @property {Parts} parts
 * @property {Readings} [readings] of all systems, if no layout was named
 */

const { format, fromSigned, toSigned } = require('../../index.js')
const { readLayout } = require('../parts/arguments.js')
const { report, usageError } = require('../parts/faults.js')
const { OF_INSPECT, OF_LAYOUT } = require('../parts/options.js')
const { heading, hexOf, partsForJson, picture } = require('../parts/picture.js')
const { print } = require('../parts/output.js')
const { contenders, rank, reasons, summary } = require('../parts/ranking.js')
const { fromNow, stamp } = require('../parts/stamps.js')
const { FORMS, joinBytes, readId } = require('../parts/text-forms.js')

/**
 * What to show of an ID: with a layout its parts, otherwise all readings, the best first.
 * @param {string} text
 * @param {As} as
 * @returns {Inspected}
 */
function examine(text, { layout, from }) {
  const { id, form, note } = readId(text, from, layout)
  if (layout !== undefined) return { text, id, form, note, layout, parts: layout.decode(id) }
  const readings = rank(id)
  const [{ layout: best, parts }] = readings
  return { text, id, form, note, layout: best, parts, readings }
}

/** @param {Inspected} inspected */
function toJson({ text, id, form, note, layout, parts, readings }) {
  const bytes = fromSigned(BigInt.asIntN(64, id)) // this is formatted several times as fast as a bigint
  return JSON.stringify({
    input: text,
    form,
    note,
    hex: hexOf(bytes),
    dec: String(id),
    signed: String(toSigned(id)),
    base32: format(bytes, 'base32'),
    layout: layout.name,
    parts: partsForJson(parts),
    readings: readings && contenders(readings).map(readingForJson),
  })
}

/** @param {Reading} reading */
const readingForJson = (reading) => ({
  layout: reading.name,
  timestamp: reading.parts.timestamp,
  why: reasons(reading),
})

/** @param {Inspected} inspected */
function toText({ id, note, layout, parts, readings }) {
  const lines = [heading(id)]
  if (note !== undefined) lines.push(`  ${note}`)
  if (readings !== undefined) lines.push(`  ${layout.name}: ${reasons(readings[0])}`)
  lines.push(picture(id, layout, parts), `  ${when(parts)}`)
  if (readings !== undefined)
    lines.push('  or, less likely:', ...readings.slice(1).map((other) => `    ${summary(other)}`))
  return `${lines.join('\n')}\n`
}

/** @param {Parts} parts */
const when = ({ date, timestamp }) => `${stamp(date)}, ${fromNow(timestamp)}`

/**
 * An ID of a stream, in one line.
 * @param {Inspected} inspected
 */
function toLine({ id, layout, parts }) {
  const { timestamp: _, date, tick: __, id: ___, ...rest } = parts
  const values = Object.entries(rest).map(([name, value]) => `${name} ${value}`)
  return [String(id).padEnd(20), layout.name, stamp(date), ...values].join('  ')
}

/**
 * The texts as output. Reports those that are not IDs, with the name that `place` gives them.
 * @param {string[]} texts
 * @param {(inspected: Inspected) => string} show
 * @param {As} as
 * @param {(i: number) => string} place
 */
function showAll(texts, show, as, place = () => '') {
  let output = ''
  for (const [i, text] of texts.entries()) {
    if (text.trim() === '') continue
    try {
      output += `${show(examine(text, as))}\n`
    } catch (cause) {
      const error = /** @type {Fault} */ (cause)
      if (error.code !== 'ERR_FLAKE_ID') throw error
      report(Object.assign(error, { message: `${place(i)}${error.message}` }))
    }
  }
  return output
}

/** stdin in chunks of whole lines. */
async function* readLines() {
  let rest = ''
  process.stdin.setEncoding('utf8')
  for await (const chunk of process.stdin) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
  yield [rest]
}

/** @param {Given} given */
async function run({ values, operands }) {
  const { from } = values
  if (from !== undefined && !FORMS.includes(from))
    throw usageError(`--from must be one of ${FORMS.join(', ')}, not '${from}'.`)
  const as = { layout: readLayout(values), from }
  const fromStdin = operands.length === 0 || (operands.length === 1 && operands[0] === '-')
  if (!fromStdin) return print(showAll(joinBytes(operands), values.json ? toJson : toText, as))
  const show = values.json ? toJson : toLine
  if (operands.length === 0 && process.stdin.isTTY) {
    throw usageError("inspect needs an ID, or IDs on stdin. Run 'flakeforge inspect --help' for examples.")
  }
  let before = 0
  for await (const lines of readLines()) {
    const first = before + 1
    await print(showAll(lines, show, as, (i) => `line ${first + i}: `))
    before += lines.length
  }
}

/** @type {CommandFile} */
module.exports = {
  summary: 'show what is in IDs, in any text form and of any system',
  operands: '[ID…]',
  about: `Shows the bits of each ID by field, the values of the fields, and the time. Without --layout every system is tried: the
most plausible one is shown, and the others are listed after it. Without an ID, or with -, IDs come from stdin, one a line,
and each gets one line.

An ID may be decimal (negative: from a signed column), 0x and hex, 9 to 16 digits of hex with a letter, 0b or 64 bits, 0o or
21 digits of octal, 13 characters of base32 or base36, 11 of base58 or base62, base64 or base64url of the 8 bytes, 50 dd …,
<Buffer 50 dd …>, a UUID of toUuid(), or a time with nine digits (chronicle). Digits alone are decimal. Where the bases leave
a doubt, all readings are listed and none is taken: --from says which form it is.

With --json each ID has the readings that could be meant, the best first.`,
  options: { ...OF_LAYOUT, ...OF_INSPECT },
  examples: [
    ['flakeforge inspect 175928847299117063', 'from which system it could be, and what is in it'],
    ['flakeforge inspect 50 dd d5 99 02 80 00 01 --layout flake', 'the bytes of an ID of this system'],
    ['flakeforge new 5 --as base62 | flakeforge inspect --from base62', 'what another command wrote'],
    ['flakeforge inspect --json < ids.txt', 'a JSON object for each line'],
  ],
  run,
}
