// What the codec requires of a value, as the end of a sentence, with further help. Browsers load wanted-short.ts in place of
// this file.

import { instant, show } from './make.ts'

function whyNot(number: number) {
  if (Number.isNaN(number)) return 'it is not a number'
  if (number < 0) return 'IDs are not negative; fromSigned() reads values of a signed column'
  if (number > Number.MAX_SAFE_INTEGER)
    return 'a number above 2^53 − 1 (9007199254740991) may have lost digits already; read the ID as a bigint or as text'
  return 'it has a fraction'
}

const ANY_ID =
  "an ID. Give 8 bytes, a bigint from 0 to 2^64 − 1, text ('123', '0x7b', '0b1111011'), or a number from 0 to 2^53 − 1"
const LOST = 'an ID: its last digits were lost, as in a spreadsheet or by JSON.parse(). Read it as text from its source'

/** @param value given in place of an ID */
export const id = (value: unknown): string =>
  typeof value === 'string' && /^\d(?:[.,]\d+)?e\+?\d+$/i.test(value) ? LOST : ANY_ID
export const SIGNED =
  "a signed 64-bit value. Give a bigint, or decimal text such as '-5', from −2^63 to 2^63 − 1; toBigInt() reads an unsigned one"
export const bytesOfId = (bytes: number) => `an ID: it has ${bytes} bytes, an ID has 8`
export const exactNumber = (number: number) => `an ID: ${whyNot(number)}`

/** The smallest and the largest ID in the bases whose texts all have the same width. */
const FORMS: Record<string, string> = {
  base36: "13 characters, from '0000000000000' to '3w5e11264sgsf'",
  base58: "11 characters, from '11111111111' to 'jpXCZedGfVQ'",
  base62: "11 characters, from '00000000000' to 'LygHa16AHYF'",
  tid: "13 characters, from '2222222222222' to 'jzzzzzzzzzzzz'",
}

/** A prefix as `idType` and `format` take it. */
const PREFIX_IN = /^[a-z][a-z\d_]{0,14}_$/i

/** No base has an underscore: text that ends in one is a prefix, given in place of the base. */
export function idInBase(base: string, prefix: string, text: unknown) {
  const given = typeof text === 'string' ? text : prefix
  const start = given.slice(0, Math.max(given.lastIndexOf('_') + 1, prefix.length))
  if (prefix && start.toLowerCase() !== prefix.toLowerCase())
    return `an ID with the prefix '${prefix}': it begins with '${start.slice(0, 60)}'`
  const form = FORMS[base] ?? `only digits of ${base}, 64 bits at most`
  if (typeof text !== 'string') return `text of an ID in ${base}: ${form}`
  if (!prefix && PREFIX_IN.test(start))
    return `an ID in ${base}. To read the prefix '${start}', give the option { prefix: '${start}' }`
  return `an ID in ${base}. Give ${form}${prefix && `, after the prefix '${prefix}'`}`
}
/** @param prefix of a kind of IDs */
export const typedText = (prefix: string) => (prefix ? `text that begins with '${prefix}'` : 'text')
export const PREFIX = "2 to 16 characters of a–z, 0–9 and _, from a letter to a final _, such as 'ord_'"
export const prefixIn = (base: string) =>
  `text that does not end in a digit of ${base}, such as 'ord_': such a prefix could be read as a shorter one and more digits`
export const fewBytes = (most: number, bytes: number) =>
  `short enough: it has ${bytes} bytes, and format() accepts at most ${most}`
export const SOME_BYTES = 'a number: it has no bytes'
export const fewCharacters = (most: number) => `one that gives a text of at most ${most} characters`
export const arrayOfBytes = (i: number) => `an array of bytes: element ${i} must be an integer from 0 to 255`

const OFFSET = 'a bit that must be 0 is set, or idOffset differs'

export const idOfLayout = (name: string) => `an ID of layout '${name}': ${OFFSET}`
export const UUID =
  "a UUID in the form '687e4889-8912-8700-858f-670cd8eec840': hex digits and four dashes, without braces"
export const uuidOfId = (name: string, id: bigint) => `a UUID of an ID of layout '${name}': in ${id}, ${OFFSET}`

/** @param own the last 58 bits that the UUIDs of this layout have */
export function uuidOfLayout(name: string, bits: bigint, own: bigint) {
  const variant = (bits >> 62n) & 3n
  const version = (bits >> 76n) & 15n
  if (variant !== 2n) return `a UUID of RFC 9562: its variant bits are ${variant.toString(2).padStart(2, '0')}, not 10`
  if (version !== 8n) return `a UUID that toUuid() made: its version is ${version}, not 8`
  return (
    `a UUID of layout '${name}': its last 58 bits are 0x${BigInt.asUintN(58, bits).toString(16)}, and those of this layout ` +
    `0x${own.toString(16)}. Another program made it, or a layout with another epoch, tick, timestamp, mode or idOffset. Read ` +
    'it with the layout that it was made with'
  )
}

export const withinDate = (ms: number) => `within the range of a Date, ±${ms} ms`
export const A_TIME = 'Unix ms, a Date, or Unix ns as a bigint'
export const FINITE_TIME = 'a finite number of Unix ms, or a valid Date'
export const FITTING_IDS = 'small enough for IDs to fit into 64 bits'
export const WHOLE_NS = 'a whole number of nanoseconds, at least 0.000001 ms'

export const inOrder = (name: string) =>
  `not be '${name}' in mode 'spread', whose IDs are not ordered by time. Select rows by a separate column with the time`
/** @param own mode of the layout */
export const ownMode = (own: string) =>
  `left out or '${own}', the mode of the layout: unlike those of uniqueid, its IDs do not contain their mode`
export const LAYOUT = 'a name, a Layout, or { epoch, tickMs, fields }'
export const SHOWN_TIME = 'an ID whose time a Date can show'
export const asInId = (id: unknown, part: number) => `left out or ${part}, as in id ${id}`

/** For a time that contradicts another part. `source`: that part, with its value; `ms`: when its tick starts. */
export const inTick = (value: unknown, source: string, other: unknown, ms: number) =>
  `be within the tick of ${source} ${show(other)}, which starts at ${instant(ms)}, but is ${show(value)}. To change the time, ` +
  'give only one of tick, timestamp and date'
export const laterThan = (from: unknown) =>
  `the same as from or later (from is ${typeof from === 'object' ? (from as Date).toISOString() : from})`

export const NINE_DIGITS = "a time with at most nine digits of seconds, as '2021-12-28T14:07:02.954100128'"
export const timeInUnits = (unit: bigint) =>
  `${NINE_DIGITS}, not before the epoch, a multiple of ${unit} ns, and early enough to fit into 64 bits`
export const EXISTING_DAY = `${NINE_DIGITS}, on a day that exists`
export const chronicle = (call: string) => `'chronicle' or 'chronicle-micros' for ${call}()`

const EXAMPLE = "[name, bits] such as ['timestamp', 41]"

export const PAIR = `a pair ${EXAMPLE}`
export const PAIRS = `an array of pairs ${EXAMPLE}`
export const earlyEpoch = (ms: number) => `early enough for a tick to end before the last Date, ${ms}`

export const otherName = (name: string) => `have another name, because '${name}' is taken`
export const ownName = (name: string) => `have a name of its own, but '${name}' is taken`
export const A_NAME = "have a name, but its name is ''"
export const oneWord = (name: string, bits: number) => `have 1 to 63 bits, but '${name}' has ${bits}`
export const counterBits = (most: number, bits: number) =>
  `have at most ${most} bits, because it is the counter, but has ${bits}`
export const nodeBits = (most: number, bits: number) => `have at most ${most} bits of node number, but have ${bits}`
export const allBits = (bits: number) =>
  `have 64 bits in all, but have ${bits}${bits < 64 ? `. Begin with ['zero', ${64 - bits}] if the first bits are not used` : ''}`
/** @param name other systems' name for the counter */
export const counterName = (name: string) => `have the name 'counter', but is called '${name}'`

const ONLY = {
  nodes: "only 'snowcast' has it",
  mode: 'its IDs are decimal, so there are no bits to reverse',
  idOffset: "in mode 'spread', or with bits before the timestamp, its IDs are not ordered by time",
}

export const withLayout = (name: string, option: keyof typeof ONLY) => `with layout '${name}': ${ONLY[option]}`
