// Rows of text as columns for people to read. Cells may be from outside.

import { printable } from '../../lib/base/printable.ts'

/** The rows under their headings, columns aligned. */
export function toTable(headings: string[], rows: string[][]) {
  const all = [headings, ...rows].map((cells) => cells.map(printable))
  const sizes = headings.map((_, i) => Math.max(...all.map((cells) => cells[i].length)))
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => cell.padEnd(sizes[i]))
      .join('  ')
      .trimEnd()
  return all.map(line).join('\n')
}
