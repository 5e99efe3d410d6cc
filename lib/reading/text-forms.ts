// Reads an ID in whatever text form it was copied in. A text that is valid in several forms is refused with the ID of each,
// and `form` chooses. A prefix such as ord_ is not part of the ID. Digits alone are always decimal, and `note` names other
// possible forms, or warns that a spreadsheet may have lost the last digits.

import type { Base } from '../codec/bases.ts'
import { fromSigned, toBigInt } from '../codec/ids.ts'
import { type Layout, layouts } from '../codec/layout.ts'
import { format, parse } from '../codec/text.ts'

/** undefined: the text is not an ID after all */
type Id = bigint | Uint8Array | undefined

const MAX = 2n ** 64n - 1n
const WANTED =
  'decimal, 0x or hex digits, 0b or 64 bits, 0o or 21 octal digits, 13 characters of base32, base36 or a TID, base64 of 8 bytes, 11 characters of base58 or base62, 8 bytes of hex, a UUID, a time of Chronicle, or a short code of Instagram'

const PAIRS = /^(?:[\da-f]{2}[\s,:]+){7}[\da-f]{2}$/i

/** 64 bits, also in groups, as `format` and the picture of an ID show them; with 0b also fewer. */
const BITS = /^(?:0b[01]{1,64}|(?:0b)?(?=(?:[^01]*[01]){64}[^01]*$)[01]+(?:[ _:,.'-]+[01]+)*)$/i

const readBytes = (text: string) => BigInt(`0x${text.replace(/[^\da-f]/gi, '')}`)

/**
 * A form: whether a text may be in it, how to read it, and our own spelling; without `write`, other texts of the same ID are
 * equally good.
 */
type Form = {
  mayBe: RegExp
  read: (text: string, of?: Layout) => Id
  write?: (id: bigint) => string
  anyCase?: boolean
  /** what to know about a text in this form */
  note?: (text: string) => string | undefined
}

const inBase = (base: Base, mayBe: RegExp, prefix: RegExp = /^(?=.)/): Form => ({
  mayBe,
  read: (text) => unlessThrown(() => parse(text.replace(prefix, ''), base)),
  write: (id) => format(id, base),
})

/**
 * Instagram's texts: codes of 11 characters, from 2016 to today; of 10, before 2016, which are not told from words without both
 * kinds of letters; codes of private posts, with 28 characters of a key; and media IDs, the post's and the user's.
 */
const SHORT_CODES =
  /^(?:[B-D][\w-]{10}(?:[\w-]{28})?|(?=.*[a-z])(?=.*[A-Z])(?![a-z]\w*_[^\W_]+$)[B-Za-z\d_-][\w-]{9}(?:[\w-]{28})?|\d{16,19}_\d{1,12})$/
const KEY = 28

/** By name; the first one that fits a text is shown. */
const READERS: Record<string, Form> = {
  dec: { mayBe: /^(?:\d{1,20}|(?:0|[1-9]\d{0,19})n)$/, read: readDecimal },
  signed: { mayBe: /^-\d{1,19}n?$/, read: readSigned },
  hex: inBase('hex', /^(?:0x[\da-f]{1,16}|(?=.*[a-f])[\da-f]{9,16})$/i, /^0x/i),
  bin: { mayBe: BITS, read: (text) => unlessThrown(() => parse(text.replace(/^0b|[^01]/gi, ''), 'bin')) },
  oct: inBase('oct', /^(?:0o[0-7]{1,22}|[0-7]{21,22})$/i, /^0o/i),
  // 13 characters have one bit more than 64. People type it in lower case.
  base32: { ...inBase('base32', /^[\da-f][\da-hjkmnp-tv-z]{12}$/i), anyCase: true },
  base36: inBase('base36', /^[\da-z]{13}$/i),
  base64: { mayBe: /^[\w+/-]{11}=?$/, read: readBase64 },
  base58: inBase('base58', /^[\da-zA-Z]{11}$/),
  base62: inBase('base62', /^[\da-zA-Z]{11}$/),
  tid: inBase('tid', /^3[j-w][2-7a-z]{11}$/), // those of 2022 to 2037
  bytes: {
    mayBe: /^(?:<Buffer )?(?:[\da-f]{2}[\s,:]+){7}[\da-f]{2}>?$/i,
    read: (text) => readBytes(text.replace(/<Buffer/i, '')),
  },
  uuid: { mayBe: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, read: readUuid },
  time: {
    mayBe: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?$/,
    read: (text, of) => unlessThrown(() => (of?.fields.length === 0 ? of : layouts.chronicle).fromText(text)),
    note: (text) =>
      /\.\d{4}/.test(text) ? undefined : 'read as a time of Chronicle without its last zeros; a plain time is no ID',
  },
  instagram: { mayBe: SHORT_CODES, read: readInstagram, write: writeShortCode, note: noteOfInstagram },
}

/** A text with a prefix: no base has an underscore, so the prefix ends with the last one. */
const PREFIXED = /^[a-z]\w{0,14}_(?=[^\W_]+$)/i

/** The prefix of a text up to its last underscore; '' if it has none. */
export const prefixOf = (text: string) => PREFIXED.exec(text)?.[0] ?? ''

/** The forms besides decimal that digits alone may be in, by their number. */
const ALSO: Record<number, string> = { 11: 'base58 or base62', 13: 'base32 or base36', 16: 'hex (write 0x)' }

function unlessThrown(read: () => Uint8Array): Id {
  try {
    return read()
  } catch {
    return undefined
  }
}

function readDecimal(text: string) {
  const id = BigInt(text.replace('n', ''))
  return id > MAX ? undefined : id
}

/** Of this layout, or of the dialects' own: all marks differ. */
function readUuid(text: string, of?: Layout) {
  const all = of === undefined ? Object.values(layouts) : [of]
  return all.map((layout) => unlessThrown(() => layout.fromUuid(text))).find((id) => id !== undefined)
}

function readSigned(text: string) {
  const value = BigInt(text.replace('n', ''))
  return BigInt.asIntN(64, value) === value ? fromSigned(value) : undefined
}

/** Base64 of either alphabet; the last character of 8 bytes has two bits that are 0. */
function readBase64(text: string) {
  const usual = text.replace(/=$/, '').replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(usual), (char) => char.charCodeAt(0))
  return bytes.length === 8 && btoa(String.fromCharCode(...bytes)) === `${usual}=` ? bytes : undefined
}

const CODE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const isMediaId = (text: string) => /^\d{16,19}_\d+$/.test(text)
const codeOf = (text: string) => (text.length > KEY ? text.slice(0, -KEY) : text)

function readInstagram(text: string): Id {
  return isMediaId(text) ? readDecimal(text.replace(/_.*/, '')) : readShortCode(codeOf(text))
}

function noteOfInstagram(text: string) {
  if (isMediaId(text)) return `the post of a media ID; ${text.replace(/.*_/, '')} is its user`
  if (text.length > KEY)
    return `the post of a private short code: ${codeOf(text)}; the last ${KEY} characters are its key`
  return text.length === 10 ? 'read as a short code of Instagram of before 2016' : undefined
}

/** The digits of a number, as in the address of a post; base64 encodes bytes, and would shift all digits by two bits. */
function readShortCode(text: string) {
  if (!/^[\w-]{1,11}$/.test(text)) return undefined
  const id = [...text].reduce((number, digit) => number * 64n + BigInt(CODE.indexOf(digit)), 0n)
  return id > MAX ? undefined : id
}

function writeShortCode(id: bigint): string {
  return (id < 64n ? '' : writeShortCode(id / 64n)) + CODE[Number(id % 64n)]
}

/** Strips spaces, a comma at the end, quotes as in JSON, and the apostrophe that keeps a spreadsheet's cell text. */
function strip(text: string) {
  const trimmed = text.trim().replace(/,$/, '')
  return /^(["']).*\1$/.test(trimmed) ? trimmed.slice(1, -1).trim() : trimmed.replace(/^'(?=\d+$)/, '')
}

/** `isExact`: whether this is our own spelling */
export type Found = { id: bigint; form: string; isExact: boolean; note?: string }

/**
 * The ID of a text in a form; undefined if it is not in that form.
 * @param of the layout of UUIDs
 */
function readIn(text: string, form: string, of?: Layout): Found | undefined {
  const { mayBe, read, write, anyCase = false, note } = READERS[form]
  const found = mayBe.test(text) || write !== undefined ? read(text, of) : undefined
  if (found === undefined) return undefined
  const id = toBigInt(found)
  const isExact = write === undefined || write(id) === (anyCase ? text.toUpperCase() : text)
  return { id, form, isExact, note: note?.(text) }
}

/**
 * The ID, the form of its text, and perhaps a note. Throws if no form fits, or if several do that differ.
 * @param chosen the required form
 * @param of the layout of UUIDs
 */
export function readId(given: string, chosen?: string, of?: Layout): Found {
  const text = strip(given)
  const prefix = prefixOf(text)
  const all = readAll(text, chosen, of)
  if (prefix !== '') {
    const note = `without the prefix ${prefix}`
    all.push(...readAll(text.slice(prefix.length), chosen, of).map((found) => ({ ...found, note })))
  }
  const [first] = all
  if (first === undefined && LOST_DIGITS.test(text))
    throw idFault(`'${text}' is not an ID: ${LOST}, as in a cell of a spreadsheet. Import the column as text.`)
  if (first === undefined) return notAnId(text, chosen ? ` in the form ${chosen}` : `. Give it as ${WANTED}`)
  if (chosen !== undefined) return first
  if (first.form === 'dec') return { ...first, note: first.note ?? noteOf(text) }
  const exact = all.filter(({ isExact }) => isExact)
  const tid = exact.find(({ form }) => form === 'tid')
  if (tid !== undefined) return { ...tid, note: tid.note ?? alsoNote(exact) }
  if (exact.every(({ id }) => id === exact[0].id)) return exact[0] ?? first
  const readings = exact.map(({ form, id }) => `${form} (${id})`).join(' or ')
  throw idFault(`'${text}' could be ${readings}. Specify its form.`)
}

/** The IDs of a text in each form that it may be in, or in the chosen one. */
function readAll(text: string, chosen?: string, of?: Layout): Found[] {
  const names = chosen ? [chosen] : Object.keys(READERS).filter((form) => READERS[form].mayBe.test(text))
  return names.map((form) => readIn(text, form, of)).filter((found) => found !== undefined)
}

/** In base 36, the text of a TID is an ID above 3 × 36^12, which few systems reach before 2070. So such texts are TIDs. */
function alsoNote(exact: Found[]) {
  const others = exact.filter(({ form }) => form !== 'tid').map(({ form }) => form)
  return others.length > 0 ? `read as tid: it could be ${others.join(' or ')} too` : undefined
}

/** A spreadsheet's form of an ID. It keeps 15 digits, and replaces the others by zeros. */
const LOST_DIGITS = /^[-+]?\d(?:[.,]\d+)?E\+?\d+$/i
const LAST_ZEROS = /^[1-9]\d{11,15}0000$/
export const LOST = 'digits were lost'

function noteOf(text: string) {
  const { length } = text
  if (LAST_ZEROS.test(text))
    return `${LOST} if this comes from a spreadsheet: it keeps 15, and the last ${length - 15} are 0`
  return ALSO[length] && `read as decimal: ${length} digits could be ${ALSO[length]} too`
}

function notAnId(text: string, why: string): never {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw idFault(`'${shown}' is not an ID${why}.`)
}

const idFault = (message: string) => Object.assign(new TypeError(message), { code: 'ERR_FLAKE_ID' })

/** How many arguments from here on are groups of binary digits, 64 in all; 1 if they are not. */
function groupsOfBits(args: string[], from: number) {
  let bits = 0
  for (let i = from; i < args.length && /^[01]+$/.test(args[i]); i++) {
    bits += args[i].length
    if (bits === 64) return i - from + 1
  }
  return 1
}

/** Arguments as texts of IDs: joins hex bytes and groups of binary digits that the shell has split. */
export function joinBytes(args: string[]) {
  const texts = []
  for (let i = 0; i < args.length; ) {
    const eight = args.slice(i, i + 8).join(' ')
    const size =
      args[i] === '<Buffer' ? 9 : PAIRS.test(eight) && /^[\da-f]{2}$/i.test(args[i]) ? 8 : groupsOfBits(args, i)
    texts.push(args.slice(i, i + size).join(' '))
    i += size
  }
  return texts
}

export const FORMS = Object.keys(READERS)
