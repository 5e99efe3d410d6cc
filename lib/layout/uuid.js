'use strict'
// @ts-check

// An ID as a UUID of version 8, for uuid columns, and the way back. The core writes and reads the bits; this file says
// what is wrong with a UUID that is none of the layout's. It must never give an ID for one of those.

const { errors } = require('../base/check.js')
const { toBigInt, toBuffer } = require('./ids.js')

/** @import { LayoutFacts } from './layout-facts.js' */

const FORM = "a UUID in the form '687e4889-8912-8700-858f-670cd8eec840': digits of hex and four dashes, no braces"

/**
 * Why an ID is not one of a layout.
 * @param {string} name of the layout
 */
const ofLayout = (name) => `an ID of layout '${name}': a bit that must be 0 is set, or idOffset differs`

/**
 * What the text should be instead, by the part of it that is wrong.
 * @type {Record<string, (found: bigint, facts: LayoutFacts) => string>}
 */
const WANTED = {
  text: () => FORM,
  variant: (found) => `a UUID of RFC 9562: its variant bits are ${found.toString(2).padStart(2, '0')}, not 10`,
  version: (found) => `a UUID that toUuid() made: its version is ${found}, not 8`,
  mark: (found, { name, native }) =>
    `a UUID of layout '${name}': its last 58 bits are ${hexOf(found)}, and those of this layout ${hexOf(native.uuidMark)}. ` +
    'Another program made it, or a layout with another epoch, tick, timestamp or idOffset. Read it with the layout that ' +
    'it was made with',
  id: (found, { name }) => `a UUID of ${ofLayout(name).replace(':', `: in ${found},`)}`,
}

/** @param {bigint} mark */
const hexOf = (mark) => `0x${mark.toString(16)}`

/**
 * @param {unknown} given
 * @param {LayoutFacts} facts
 */
function toUuid(given, { native, name }) {
  const text = native.toUuid(toBigInt(given))
  if (text === null) throw errors().idError(given, ofLayout(name))
  return text
}

/**
 * @param {unknown} text
 * @param {LayoutFacts} facts
 */
function fromUuid(text, facts) {
  if (typeof text !== 'string') throw errors().idError(text, FORM)
  const { id, wrong, found } = facts.native.readUuid(text)
  if (id !== undefined) return toBuffer(id)
  throw errors().idError(text, WANTED[/** @type {string} */ (wrong)](/** @type {bigint} */ (found), facts))
}

module.exports = { ofLayout, fromUuid, toUuid }
