'use strict'
// @ts-check

// An ID in whatever text form it was copied in. The forms are tried in the order of FORMS, and the first that fits is
// used; if another would have fitted too, `note` says so. It must never read a text that is not an ID as one. And it must
// stay free of Node: the page uses it too.

/** @import { Base } from '../../index.d.ts' */

/** @typedef {bigint | Uint8Array | undefined} Id undefined: the text is not an ID after all */

const { format, fromSigned, layouts, parse } = require('../../codec.js')

const MAX = 2n ** 64n - 1n
const WANTED =
  'decimal, 0x or 16 digits of hex, 0b or 64 bits, 13 characters of base32 or base36, base64 of 8 bytes, 11 characters of base58 or base62, 8 bytes of hex, or a time with nine digits'

const PAIRS = /^(?:[\da-f]{2}[\s,:]+){7}[\da-f]{2}$/i

/** @param {string} text */
const readBytes = (text) => BigInt(`0x${text.replace(/[^\da-f]/gi, '')}`)

/** @type {[name: string, mayBe: RegExp, read: (text: string) => Id, also?: (text: string) => string | undefined][]} */
const FORMS = [
  ['decimal', /^\d{1,20}n?$/, readDecimal, alsoDecimal],
  ['signed', /^-\d{1,19}n?$/, readSigned],
  ['hex', /^0x[\da-f]{1,16}$/i, BigInt],
  ['binary', /^(?:0b[01]{1,64}|[01]{64})$/i, (text) => BigInt(text.length === 64 ? `0b${text}` : text)],
  ['hex', /^[\da-f]{16}$/i, (text) => BigInt(`0x${text}`)],
  ['base32', /^[\da-hjkmnp-tv-z]{13}$/i, readBase32, couldBe('base32', 'base36')],
  ['base36', /^[\da-z]{13}$/i, readAs('base36')],
  ['base64', /^[\w+/-]{11}=?$/, readBase64, couldBe('base64', 'base58', 'base62')],
  ['base58', /^[\da-zA-Z]{11}$/, readAs('base58'), couldBe('base58', 'base62')],
  ['base62', /^[\da-zA-Z]{11}$/, readAs('base62')],
  ['bytes', PAIRS, readBytes],
  ['bytes', /^<Buffer (?:[\da-f]{2} ){7}[\da-f]{2}>$/i, (text) => readBytes(text.slice(8, -1))],
  [
    'chronicle',
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z?$/,
    (text) => layouts.chronicle.fromText(text.replace('Z', '')),
  ],
]

/** @param {string} text */
function readDecimal(text) {
  const id = BigInt(text.replace('n', ''))
  return id > MAX ? undefined : id
}

/**
 * What else a text of digits could have been.
 * @param {string} text
 */
function alsoDecimal({ length }) {
  if (length === 16) return 'read as decimal: 16 digits could be hex too, which 0x says'
  if (length === 13) return 'read as decimal: 13 digits could be base32 too'
  if (length === 11) return 'read as decimal: 11 digits could be base64 too'
  return undefined
}

/** @param {string} text */
function readSigned(text) {
  const value = BigInt(text.replace('n', ''))
  return BigInt.asIntN(64, value) === value ? fromSigned(value) : undefined
}

/** @param {string} text */
function readBase32(text) {
  return /^[0-9a-f]/i.test(text) ? parse(text, 'base32') : undefined // 13 characters have a bit more than 64
}

/**
 * The ID of a text in a base of fixed width, if it is one.
 * @param {Base} base
 * @returns {(text: string) => Uint8Array | undefined}
 */
function readAs(base) {
  return (text) => {
    try {
      return parse(text, base)
    } catch {
      return undefined
    }
  }
}

/**
 * What else a text in a short form could have been: these bases write the same letters.
 * @param {string} form
 * @param {Base[]} bases
 * @returns {(text: string) => string | undefined}
 */
function couldBe(form, ...bases) {
  return (text) => {
    const others = bases.filter((base) => {
      const id = readAs(base)(text)
      return id !== undefined && format(id, base) === text
    })
    return others.length > 0 ? `read as ${form}: it could be ${others.join(' or ')} too` : undefined
  }
}

/**
 * Base64 of either alphabet; the last character of 8 bytes has two bits that are 0.
 * @param {string} text
 */
function readBase64(text) {
  const usual = text.replace(/=$/, '').replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(usual), (char) => char.charCodeAt(0))
  return bytes.length === 8 && btoa(String.fromCharCode(...bytes)) === `${usual}=` ? bytes : undefined
}

/**
 * Strips spaces, a comma at the end, and quotes as in JSON.
 * @param {string} text
 */
function strip(text) {
  const trimmed = text.trim().replace(/,$/, '')
  return /^(["']).*\1$/.test(trimmed) ? trimmed.slice(1, -1).trim() : trimmed
}

/**
 * The ID as a bigint or bytes, the form it was in, and perhaps a note. Throws if no form fits.
 * @param {string} given
 */
function readId(given) {
  const text = strip(given)
  for (const [form, pattern, read, also] of FORMS) {
    if (!pattern.test(text)) continue
    const id = read(text)
    if (id !== undefined) return { id, form, note: also?.(text) }
  }
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw Object.assign(new Error(`'${shown}' is not an ID. Give it as ${WANTED}.`), { code: 'ERR_FLAKE_ID' })
}

/**
 * Arguments as texts of IDs: joins bytes of hex that the shell has split.
 * @param {string[]} args
 */
function joinBytes(args) {
  const texts = []
  for (let i = 0; i < args.length; ) {
    const eight = args.slice(i, i + 8).join(' ')
    const size = args[i] === '<Buffer' ? 9 : PAIRS.test(eight) && /^[\da-f]{2}$/i.test(args[i]) ? 8 : 1
    texts.push(args.slice(i, i + size).join(' '))
    i += size
  }
  return texts
}

module.exports = { readId, joinBytes, WANTED }
