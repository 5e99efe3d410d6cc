'use strict'

// The record of runs, results.json, and docs/store/what-was-tested.md, which shows it: `--record` writes both, and a
// test compares them. A run replaces the last one of its name. Failed runs are not recorded.

const fs = require('node:fs')
const path = require('node:path')
const { inRows } = require('../../in-rows.js')
const { total } = require('../faults/fault.js')

const root = path.join(__dirname, '..', '..', '..')
const RESULTS = path.join(__dirname, '..', 'results.json')
const PAGE = path.join(root, 'docs', 'store', 'what-was-tested.md')
const PLACE = /(<!-- runs -->\n).*?(<!-- \/runs -->)/s

const number = (value) => value.toLocaleString('en-US')
const counted = (counts) => Object.entries(counts).map(([kind, count]) => `${number(count)} ${kind}`)

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`

function row({ name, counts, ids, duplicates, silenceMs, unhinderedMs }) {
  const faults = `${number(total(counts))}: ${counted(counts).join(', ')}`
  const found = duplicates > 0 ? `**${number(duplicates)}**` : '0'
  const unhindered = unhinderedMs === undefined ? '' : `; with a majority ${seconds(unhinderedMs)}`
  return `| ${name} | ${faults} | ${number(ids)} | ${found} | ${seconds(silenceMs)}${unhindered} |`
}

/** Tells the test of printed outputs why it does not repeat these. */
const NOT_RUN = '<!-- not run: it takes long -->'

/** The contents of the page: a row for each scenario, then the outputs of the long runs. */
function shown(records) {
  const rows = records.flatMap(({ results }) => results.map(row))
  const long = records.filter(({ name }) => name.startsWith('soak '))
  const outputs = long.map(({ name, said }) => `### ${name}\n\n${NOT_RUN}\n\n\`\`\`\n${said}\n\`\`\``)
  const head = '| run | faults | IDs | duplicates | longest time without an ID |\n|---|---|---|---|---|'
  return [[head, ...rows].join('\n'), ...outputs].join('\n\n')
}

const readResults = () => (fs.existsSync(RESULTS) ? JSON.parse(fs.readFileSync(RESULTS, 'utf8')) : [])
const withRuns = (text, records) => text.replace(PLACE, (_, begin, end) => `${begin}\n${shown(records)}\n\n${end}`)

/** Two results of one scenario, as one. */
function added(one, other) {
  const counts = { ...one.counts }
  for (const [kind, count] of Object.entries(other.counts)) counts[kind] = (counts[kind] ?? 0) + count
  return {
    ...one,
    counts,
    ids: one.ids + other.ids,
    duplicates: one.duplicates + other.duplicates,
    silenceMs: Math.max(one.silenceMs, other.silenceMs),
    ...(one.unhinderedMs !== undefined && { unhinderedMs: Math.max(one.unhinderedMs, other.unhinderedMs) }),
  }
}

/** The rounds of a scenario are one row. */
function byScenario(results) {
  const rows = new Map()
  const longest = (gaps) => Math.round(Math.max(...gaps))
  for (const { name, counts, ids, duplicates, longestGaps, unhinderedGaps } of results) {
    const row = { name, counts, ids, duplicates, silenceMs: longest(longestGaps) }
    if (unhinderedGaps !== undefined) row.unhinderedMs = longest(unhinderedGaps)
    rows.set(name, rows.has(name) ? added(rows.get(name), row) : row)
  }
  return [...rows.values()]
}

/** Adds a run to the record, and shows it. */
function record({ name, isControl, results, said }) {
  const kept = byScenario(results)
  const records = readResults().filter((each) => each.name !== name)
  records.push({ name, isControl, results: kept, said: said.join('\n') })
  records.sort((a, b) => (a.name < b.name ? -1 : 1))
  fs.writeFileSync(RESULTS, inRows(records))
  fs.writeFileSync(PAGE, withRuns(fs.readFileSync(PAGE, 'utf8'), records))
}

module.exports = { PAGE, readResults, record, withRuns }
