'use strict'
// @ts-check

// What an ID looks like: its 64 bits, or its digits if the layout is decimal, coloured by field, with the fields' names
// under them. It must never extract bits itself: values come from Layout.decode.

/** @import { IdLike, Layout, Parts } from '../../index.d.ts' */

const { format } = require('../../index.js')
const { stamp } = require('./stamps.js')
const { paint } = require('./output.js')

/** @type {('cyan' | 'green' | 'yellow' | 'magenta')[]} */
const COLOURS = ['cyan', 'green', 'yellow', 'magenta']
const HOST_DIGITS = 2

/** @param {IdLike} id */
const hexOf = (id) => `0x${format(id, 'hex').padStart(16, '0')}`

/**
 * Digits and field names, the most significant first.
 * @param {IdLike} id
 * @param {Layout} layout
 * @returns {[digits: string, name: string][]}
 */
function cut(id, { fields }) {
  if (fields.length === 0) {
    const digits = format(id, 'dec').padStart(HOST_DIGITS + 1, '0')
    return [
      [digits.slice(0, -HOST_DIGITS), 'timestamp'],
      [digits.slice(-HOST_DIGITS), 'host'],
    ]
  }
  const bits = format(id, 'bin')
  let at = 0
  return fields.map(([name, width]) => {
    at += width
    return [bits.slice(at - width, at), name]
  })
}

/**
 * @param {string} name a field's
 * @param {Parts} parts
 */
function label(name, parts) {
  if (name === 'timestamp') return `timestamp ${stamp(parts.date)}`
  if (name === 'zero') return 'zero'
  return `${name} ${parts[/** @type {keyof Parts} */ (name)]}`
}

/**
 * The ID's digits cut into fields, and under them the fields' names and values: two lines.
 * @param {IdLike} id
 * @param {Layout} layout
 * @param {Parts} parts
 */
function picture(id, layout, parts) {
  const columns = cut(id, layout).map(([digits, name], i) => {
    const under = label(name, parts)
    const size = Math.max(digits.length, under.length)
    return [digits, under].map((text) => paint(COLOURS[i % COLOURS.length], text.padEnd(size)))
  })
  return [0, 1].map((line) => `  ${columns.map((column) => column[line]).join(' ')}`.trimEnd()).join('\n')
}

/**
 * The ID in its most common forms: one line.
 * @param {IdLike} id
 */
const heading = (id) => `${hexOf(id)}  ${format(id, 'dec')}`

/**
 * Parts for JSON, which has no bigint; a Date becomes ISO text by itself.
 * @param {Parts} parts
 */
const partsForJson = (parts) => ({ ...parts, tick: String(parts.tick) })

module.exports = { picture, heading, hexOf, partsForJson }
