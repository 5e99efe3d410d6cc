// `flakeforge inspect`: shows the contents of IDs, from arguments or line by line from stdin. Unreadable IDs are reported
// without stopping the others, and the exit status at the end is 1.

import { format, fromSigned, type Layout, layouts, type Parts, toSigned } from '../../lib/entries/codec.ts'
import {
  contenders,
  doubts,
  type Readings,
  rank,
  reasons,
  shares,
  summary,
  type Together,
  together,
} from '../../lib/reading/ranking.ts'
import { fromNow, stamp } from '../../lib/reading/stamps.ts'
import { FORMS, type Found, joinBytes, LOST, readId } from '../../lib/reading/text-forms.ts'
import { readLayout } from '../parts/arguments.ts'
import type { CommandFile, Given } from '../parts/command.ts'
import { type Fault, report, usageError } from '../parts/faults.ts'
import { OF_INSPECT, OF_LAYOUT } from '../parts/options.ts'
import { print } from '../parts/output.ts'
import { heading, hexOf, partsForJson, picture } from '../parts/picture.ts'

/** the layout and form of the IDs */
export type As = { layout?: Layout; from?: string }

/** An ID and what is shown of it. */
export interface Inspected {
  text: string
  id: bigint
  /** of the text */
  form: string
  /** about the form */
  note: string | undefined
  layout: Layout
  parts: Parts
  /** of all systems, if no layout was given */
  readings?: Readings
  /** whether neither other IDs nor its form tell the system */
  isAlone: boolean
}

/** What to show of an ID: with a layout its parts, otherwise all readings, the best first. */
function examine(text: string, { id, form, note }: Found, layout: Layout | undefined, others?: Together): Inspected {
  const system = form === 'time' ? 'chronicle' : form // a form with the name of a system is that system's
  const isAlone = others === undefined && !(system in layouts)
  if (layout !== undefined) return { text, id, form, note, layout, parts: layout.decode(id), isAlone }
  const readings = rank(id, Date.now(), [], others, system)
  const [{ layout: best, parts }] = readings
  return { text, id, form, note, layout: best, parts, readings, isAlone }
}

function toJson({ text, id, form, note, layout, parts, readings, isAlone }: Inspected) {
  const bytes = fromSigned(BigInt.asIntN(64, id)) // formatting this is several times as fast as a bigint
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
    readings: readings && readingsForJson(readings, isAlone),
  })
}

function readingsForJson(readings: Readings, isAlone: boolean) {
  const could = contenders(readings, isAlone)
  const chances = shares(could, readings)
  return could.map((reading, i) => ({
    layout: reading.name,
    timestamp: reading.parts.timestamp,
    probability: Number(chances[i].toFixed(3)),
    why: reasons(reading),
  }))
}

function doubtOf(readings: Readings, isAlone: boolean) {
  const doubt = doubts(readings, isAlone).join(', ')
  return doubt && `  not certain: ${doubt}`
}

function toText({ id, note, layout, parts, readings, isAlone }: Inspected) {
  const lines = [heading(id)]
  if (note !== undefined) lines.push(`  ${note}`)
  if (readings !== undefined) lines.push(`  ${layout.name}: ${reasons(readings[0])}${doubtOf(readings, isAlone)}`)
  lines.push(picture(id, layout, parts), `  ${when(parts)}`)
  if (readings !== undefined)
    lines.push('  or, less likely:', ...readings.slice(1).map((other) => `    ${summary(other)}`))
  return `${lines.join('\n')}\n`
}

const when = ({ date, timestamp }: Parts) => `${stamp(date)}, ${fromNow(timestamp)}`

/** An ID of a stream, in one line; if it may be of several systems, the line ends with all of them. */
function toLine({ id, note, layout, parts, readings, isAlone }: Inspected) {
  const { timestamp: _, date, tick: __, id: ___, ...rest } = parts
  const values = Object.entries(rest).map(([name, value]) => `${name} ${value}`)
  const lost = note?.startsWith(LOST) ? `  ${note}` : ''
  const columns = [String(id).padEnd(20), layout.name, stamp(date), ...values]
  return columns.join('  ') + (readings === undefined ? '' : doubtOf(readings, isAlone)) + lost
}

const MOST_TOGETHER = 1000 // more lines hardly change the result

/** Judges the IDs of one input together, as far as they have been read. */
function learning() {
  const seen: bigint[] = []
  let learned: Together | undefined
  return (ids: bigint[]) => {
    if (seen.length < MOST_TOGETHER && ids.length > 0) {
      seen.push(...ids.slice(0, MOST_TOGETHER - seen.length))
      learned = together(seen)
    }
    return learned
  }
}

/** The ID in a text, or why there is none. */
function read(text: string, { layout, from }: As): { found?: Found; fault?: Fault } {
  if (text.trim() === '') return {}
  try {
    return { found: readId(text, from, layout) }
  } catch (cause) {
    return { fault: cause as Fault }
  }
}

/** The texts as output. Reports those that are not IDs, under the name from `place`. */
function showAll(
  texts: string[],
  show: (inspected: Inspected) => string,
  as: As,
  learn = learning(),
  place: (i: number) => string = () => '',
) {
  let output = ''
  const all = texts.map((text) => read(text, as))
  const others = as.layout === undefined ? learn(all.flatMap(({ found }) => found?.id ?? [])) : undefined
  for (const [i, { found, fault }] of all.entries()) {
    try {
      if (fault !== undefined) throw fault
      if (found !== undefined) output += `${show(examine(texts[i], found, as.layout, others))}\n`
    } catch (cause) {
      const error = cause as Fault
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

async function run({ values, operands }: Given) {
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
  const learn = learning()
  for await (const lines of readLines()) {
    const first = before + 1
    await print(showAll(lines, show, as, learn, (i) => `line ${first + i}: `))
    before += lines.length
  }
}

export default {
  summary: 'show the contents of IDs, in any text form and of any system',
  operands: '[ID…]',
  about: `Shows the time of each ID, its fields and its bits. Without --layout, the command tries every system, shows the most plausible
one, and lists the others after it. Without an ID, or with -, the command reads IDs from stdin, one per line, and prints one line for each.

An ID may be decimal (negative if from a signed column); hex with 0x, or 9 to 16 hex digits with a letter; binary with 0b, or 64 bits; octal with 0o, or 21 digits; 13 characters of base32, base36 or a TID; 11 of base58 or base62; base64 or base64url of the 8 bytes; 50 dd … or <Buffer 50 dd …>; a UUID of toUuid(); a time (chronicle); or a short code or media ID of Instagram. Bits may be in groups. Digits may have a prefix that ends in _, as in ord_5. Text that is all digits is read as decimal. If several forms fit, the command lists them and chooses none: name the form with --from.

The IDs of one input are judged together, because a hundred IDs identify their system more reliably than one. If several systems are
plausible, the line ends with all of them.

With --json, each ID lists its plausible systems, the best first, with their probability.`,
  options: { ...OF_LAYOUT, ...OF_INSPECT },
  examples: [
    ['flakeforge inspect 175928847299117063', 'the contents of an ID, and the systems it could be from'],
    ['flakeforge inspect 50 dd d5 99 02 80 00 01 --layout flake', 'the bytes of an ID of a known system'],
    ['flakeforge new 5 --as base62 | flakeforge inspect --from base62', 'the output of another command'],
    ['flakeforge inspect --json < ids.txt', 'a JSON object for each line'],
  ],
  run,
} satisfies CommandFile
