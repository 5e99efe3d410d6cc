'use strict'
// @ts-check

// Rows of text as columns for people to read.

/**
 * The rows under their headings, columns aligned.
 * @param {string[]} headings
 * @param {string[][]} rows
 */
function toTable(headings, rows) {
  const all = [headings, ...rows]
  const sizes = headings.map((_, i) => Math.max(...all.map((cells) => cells[i].length)))
  /** @param {string[]} cells */
  const line = (cells) =>
    cells
      .map((cell, i) => cell.padEnd(sizes[i]))
      .join('  ')
      .trimEnd()
  return all.map(line).join('\n')
}

module.exports = { toTable }
