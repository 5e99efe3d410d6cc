// A picture of an ID: its 64 bits, or its digits if the layout is decimal, coloured by field, with the fields' names under
// them. Values come from Layout.decode.

import { format, type IdLike, type Layout, type Parts } from '../../lib/entries/codec.ts'
import { stamp } from '../../lib/reading/stamps.ts'
import { paint } from './output.ts'

const COLOURS: ('cyan' | 'green' | 'yellow' | 'magenta')[] = ['cyan', 'green', 'yellow', 'magenta']
const HOST_DIGITS = 2

export const hexOf = (id: IdLike) => `0x${format(id, 'hex').padStart(16, '0')}`

/** Digits and field names, the most significant first. */
function cut(id: IdLike, { fields }: Layout): [digits: string, name: string][] {
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

/** @param name a field's */
function label(name: string, parts: Parts, { mode }: Layout) {
  if (name === 'timestamp') return `timestamp ${stamp(parts.date)}${mode === 'spread' ? ', mode spread' : ''}`
  if (name === 'zero') return 'zero'
  return `${name} ${parts[name as keyof Parts]}`
}

/** The ID's digits cut into fields, and under them the fields' names and values: two lines. */
export function picture(id: IdLike, layout: Layout, parts: Parts) {
  const columns = cut(id, layout).map(([digits, name], i) => {
    const under = label(name, parts, layout)
    const size = Math.max(digits.length, under.length)
    return [digits, under].map((text) => paint(COLOURS[i % COLOURS.length], text.padEnd(size)))
  })
  return [0, 1].map((line) => `  ${columns.map((column) => column[line]).join(' ')}`.trimEnd()).join('\n')
}

/** The ID in its most common forms: one line. */
export const heading = (id: IdLike) => `${hexOf(id)}  ${format(id, 'dec')}`

/** Parts for JSON, which has no bigint; a Date becomes ISO text by itself. */
export const partsForJson = (parts: Parts) => ({ ...parts, tick: String(parts.tick) })
