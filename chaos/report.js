'use strict'

// The table that a run prints: a line for each scenario.

const COLUMNS = ['kills', 'pauses', 'hand-overs', 'clock steps', 'lives', 'IDs', 'cut tails', 'duplicates', 'disorders']
const NAME_WIDTH = 22

const number = (value) => value.toLocaleString('en-US')
const line = (name, cells) => name.padEnd(NAME_WIDTH) + cells.map((cell, i) => cell.padStart(width(i))).join('')
const width = (i) => Math.max(COLUMNS[i].length + 2, COLUMNS[i] === 'IDs' ? 14 : 11)

const heading = () => line('', COLUMNS)

function row({ name, counts, lives, ids, cut, duplicates, disorders }) {
  const values = { ...counts, lives, IDs: ids, 'cut tails': cut, duplicates, disorders }
  return line(
    name,
    COLUMNS.map((column) => number(values[column] ?? 0)),
  )
}

/** The same columns over all results. */
function total(results) {
  const sum = (pick) => results.reduce((total, result) => total + (pick(result) ?? 0), 0)
  const columns = ['lives', 'ids', 'cut', 'duplicates', 'disorders'].map((name) => [
    name,
    sum((result) => result[name]),
  ])
  const counts = COLUMNS.slice(0, 4).map((name) => [name, sum((result) => result.counts[name])])
  return row({ name: 'all', counts: Object.fromEntries(counts), ...Object.fromEntries(columns) })
}

module.exports = { heading, row, total }
