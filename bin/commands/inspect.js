'use strict'

// `flakeforge inspect`: says what is in IDs, from arguments or line by line from stdin. An ID that cannot be read is
// reported and makes exit status 2, but must never stop the others.

const { format, fromSigned, toBigInt, toSigned } = require('../../index.js')
const { LAYOUT, readArguments, readLayout, usageError } = require('../parts/arguments.js')
const { fromNow, stamp } = require('../parts/dates.js')
const { heading, hexOf, partsForJson, picture } = require('../parts/picture.js')
const { print, say } = require('../parts/output.js')
const { contenders, rank, reasons, summary } = require('../parts/ranking.js')
const { joinBytes, readId } = require('../parts/text-forms.js')

const usage = `usage: flakeforge inspect [ID…] [options]

Shows the bits of each ID by field, the fields' values, and the time; without --layout, as the system that is the most
plausible, with the others after it. Without an ID, or with -, IDs come from stdin, one a line, and each gets one line.

  --layout NAME      of \`flakeforge layouts\`, or fields of your own as JSON: do not guess
  --epoch DATE       with --layout: Unix ms or ISO text that its timestamps count from
  --nodes N          with --layout snowcast: how many nodes
  --mode MODE        with --layout uniqueid: spread or sequential (an ID says its mode itself)
  --id-offset N      with --layout: what was added to every ID
  --json             one JSON object a line; without --layout with the readings that could be meant, best first

An ID is read as the first of these that fits: decimal (negative: from a signed column), 0x hex, 0b or 64 bits, 16 digits
of hex, 13 characters of base32, base64 or base64url of the 8 bytes, 50 dd …, <Buffer 50 dd …>, a time with nine digits
(chronicle). So 16 digits without a letter are decimal: write 0x before hex.`

/** What there is to show of an ID: with a layout its parts, else all readings, the best first. */
function examine(text, layout) {
  const { id: value, form, note } = readId(text)
  const id = toBigInt(value)
  if (layout !== undefined) return { text, id, form, note, layout, parts: layout.decode(id) }
  const readings = rank(id)
  const [{ layout: best, parts }] = readings
  return { text, id, form, note, layout: best, parts, readings }
}

function toJson({ text, id, form, note, layout, parts, readings }) {
  const bytes = fromSigned(BigInt.asIntN(64, id)) // formatted several times as fast as a bigint
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

const readingForJson = (reading) => ({
  layout: reading.name,
  timestamp: reading.parts.timestamp,
  why: reasons(reading),
})

function toText({ id, note, layout, parts, readings }) {
  const lines = [heading(id)]
  if (note !== undefined) lines.push(`  ${note}`)
  if (readings !== undefined) lines.push(`  ${layout.name}: ${reasons(readings[0])}`)
  lines.push(picture(id, layout, parts), `  ${when(parts)}`)
  if (readings !== undefined)
    lines.push('  or, less likely:', ...readings.slice(1).map((other) => `    ${summary(other)}`))
  return `${lines.join('\n')}\n`
}

const when = ({ date, timestamp }) => `${stamp(date)}, ${fromNow(timestamp)}`

/** An ID of a stream, in one line. */
function toLine({ id, layout, parts }) {
  const { timestamp: _, date, tick: __, id: ___, ...rest } = parts
  const values = Object.entries(rest).map(([name, value]) => `${name} ${value}`)
  return [String(id).padEnd(20), layout.name, stamp(date), ...values].join('  ')
}

/** The texts as output; those that are no IDs are said on stderr, with what `place` calls them. */
function showAll(texts, show, layout, place = () => '') {
  let output = ''
  const faults = []
  for (const [i, text] of texts.entries()) {
    if (text.trim() === '') continue
    try {
      output += `${show(examine(text, layout))}\n`
    } catch (error) {
      if (!error.isUsage && error.code !== 'ERR_FLAKE_ID') throw error
      faults.push(`${place(i)}${error.message}`)
    }
  }
  if (faults.length > 0) {
    say(faults.join('\nflakeforge: '))
    process.exitCode = 2
  }
  return output
}

/** stdin in chunks of whole lines. */
async function* readLines() {
  let rest = ''
  process.stdin.setEncoding('utf8')
  for await (const chunk of process.stdin) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    yield lines
  }
  yield [rest]
}

async function run(args) {
  const { values, positionals } = readArguments(args, LAYOUT)
  const layout = readLayout(values)
  const fromStdin = positionals.length === 0 || (positionals.length === 1 && positionals[0] === '-')
  if (!fromStdin) return print(showAll(joinBytes(positionals), values.json ? toJson : toText, layout))
  const show = values.json ? toJson : toLine
  if (positionals.length === 0 && process.stdin.isTTY) throw usageError('which ID? See flakeforge inspect --help')
  let before = 0
  for await (const lines of readLines()) {
    const first = before + 1
    await print(showAll(lines, show, layout, (i) => `line ${first + i}: `))
    before += lines.length
  }
}

module.exports = { usage, run }
