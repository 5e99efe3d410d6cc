'use strict'

// The table that a run prints: one line for each scenario. Its first columns are the kinds of faults.

const { total } = require('../faults/fault.js')

const FOUND = { lives: 'lives', ids: 'IDs', cut: 'cut tails', duplicates: 'duplicates', disorders: 'disorders' }
const TOLD_MS = 5000 // the last error of a member that made no ID for so long explains it
const NAME_WIDTH = 32
const WIDEST_COUNT = '00,000,000,000'.length

const number = (value) => value.toLocaleString('en-US')
const widthOf = (title) => 2 + (title === FOUND.ids ? WIDEST_COUNT : Math.max(title.length, '00,000'.length))

class Report {
  #faults

  /** @param {string[]} faults the names under which faults are counted */
  constructor(faults) {
    this.#faults = faults
  }

  get heading() {
    return this.#line('', (title) => title)
  }

  row({ name, counts, ...found }) {
    const values = {
      ...counts,
      ...Object.fromEntries(Object.entries(FOUND).map(([key, title]) => [title, found[key]])),
    }
    return this.#line(name, (title) => number(values[title] ?? 0))
  }

  /** For each member the longest time without an ID while nothing happened to the member itself. */
  gaps({ longestGaps, unhinderedGaps, gapErrors }) {
    const shown = (gaps) => gaps.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ')
    const long = unhinderedGaps?.flatMap((ms, i) =>
      ms < TOLD_MS ? [] : [`\n    member ${i + 1}: ${gapErrors[i] ?? 'no error'}`],
    )
    const unhindered = unhinderedGaps && `\n  the same while it reached a majority: ${shown(unhinderedGaps)}`
    return `  longest time without an ID, by member: ${shown(longestGaps)}${unhindered ?? ''}${long?.join('') ?? ''}`
  }

  /** The same columns over all results. */
  total(results) {
    const sum = (pick) => results.reduce((total, result) => total + (pick(result) ?? 0), 0)
    const counts = this.#faults.map((name) => [name, sum((result) => result.counts[name])])
    const found = Object.keys(FOUND).map((key) => [key, sum((result) => result[key])])
    return this.row({ name: 'all', counts: Object.fromEntries(counts), ...Object.fromEntries(found) })
  }

  /** The totals, and the memory that the check took. */
  extent(results) {
    const sum = (pick) => number(Math.round(results.reduce((total, result) => total + pick(result), 0)))
    const faults = sum(({ counts }) => total(counts))
    const [ids, runs, seconds] = ['ids', 'runs', 'seconds'].map((name) => sum((result) => result[name]))
    const memory = number(Math.ceil(process.resourceUsage().maxRSS / 1024))
    return `${ids} IDs in ${runs} runs, ${faults} faults, ${seconds} s, peak memory ${memory} MiB`
  }

  #line(name, cell) {
    const titles = [...this.#faults, ...Object.values(FOUND)]
    return name.padEnd(NAME_WIDTH) + titles.map((title) => cell(title).padStart(widthOf(title))).join('')
  }
}

module.exports = { Report }
