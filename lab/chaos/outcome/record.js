'use strict'

// The record of runs, results.json, and docs/store/what-was-tested.md, which shows it: `--record` writes both, and a
// test compares them. A run replaces the last one of its name. Failed runs are not recorded.

const fs = require('node:fs')
const path = require('node:path')
const { inRows } = require('../../in-rows.js')

const root = path.join(__dirname, '..', '..', '..')
const RESULTS = path.join(__dirname, '..', 'results.json')
const PAGE = path.join(root, 'docs', 'store', 'what-was-tested.md')
const PLACE = /(<!-- runs -->\n).*?(<!-- \/runs -->)/s

const number = (value) => value.toLocaleString('en-US')
const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)
const all = (results) => results.reduce((sum, { counts }) => sum + total(counts), 0)
const counted = (counts) => Object.entries(counts).map(([kind, count]) => `${number(count)} ${kind}`)

function row({ name, counts, ids, duplicates, silenceMs }) {
  const faults = `${number(total(counts))}: ${counted(counts).join(', ')}`
  return `| ${name} | ${faults} | ${number(ids)} | ${number(duplicates)} | ${(silenceMs / 1000).toFixed(1)} s |`
}

/** The contents of the page: a row for each scenario, then the outputs of the long runs. */
function shown(records) {
  const rows = records.flatMap(({ results }) => results.map(row))
  const long = records.filter(({ name }) => name.startsWith('soak '))
  const outputs = long.map(({ name, said }) => `### ${name}\n\n\`\`\`\n${said}\n\`\`\``)
  const head = '| run | faults | IDs | duplicates | longest time without an ID |\n|---|---|---|---|---|'
  return [[head, ...rows].join('\n'), ...outputs].join('\n\n')
}

const readResults = () => (fs.existsSync(RESULTS) ? JSON.parse(fs.readFileSync(RESULTS, 'utf8')) : [])
const withRuns = (text, records) => text.replace(PLACE, (_, begin, end) => `${begin}\n${shown(records)}\n\n${end}`)

/** Adds a run to the record, and shows it. */
function record({ name, isControl, results, said }) {
  const kept = results.map(({ name, counts, ids, duplicates, longestGaps }) => {
    return { name, counts, ids, duplicates, silenceMs: Math.round(Math.max(...longestGaps)) }
  })
  const records = readResults().filter((each) => each.name !== name)
  records.push({ name, isControl, results: kept, said: said.join('\n') })
  records.sort((a, b) => (a.name < b.name ? -1 : 1))
  fs.writeFileSync(RESULTS, inRows(records))
  fs.writeFileSync(PAGE, withRuns(fs.readFileSync(PAGE, 'utf8'), records))
}

module.exports = { PAGE, all, readResults, record, withRuns }
