'use strict'

// The table of the record of `npm run platforms`, for docs/reference/platforms.md. It contains only results of runs.

const fs = require('node:fs')
const path = require('node:path')
const { TARGETS } = require('./targets.js')

const RESULTS = path.join(__dirname, 'results.json')

/** 'Node 24.11.1 by qemu-aarch64' */
const nameOf = ({ program, by }) => (by ? `${program} by ${by}` : program)

/** 'Node 24.11.1 by qemu-aarch64: 4185 smoke, 912 ava', from the runs of one program. */
const programAsText = (runs) => `${nameOf(runs[0])}: ${runs.map(({ passed, what }) => `${passed} ${what}`).join(', ')}`

function runsAsText(runs) {
  const names = [...new Set(runs.map(nameOf))]
  const programs = names.map((name) => runs.filter((run) => nameOf(run) === name))
  return programs.length > 0 ? programs.map(programAsText).join('<br>') : '–'
}

function row({ name, glibc }, results) {
  const result = results.find((each) => each.name === name)
  const target = glibc ? `\`${name}\`, glibc ${glibc}` : `\`${name}\``
  if (result === undefined) return [target, 'not yet', '–', '–']
  const size = result.size ? `${Math.round(result.size / 1000)} kB` : '–'
  return [target, result.built, size, runsAsText(result.runs)]
}

/** The table as Markdown: a row for each target, whether it was run or not. */
function tableOf(results, targets = TARGETS) {
  const rows = [
    ['target', 'built', 'size', 'run'],
    ['---', '---', '---', '---'],
    ...targets.map((each) => row(each, results)),
  ]
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const readResults = () => JSON.parse(fs.readFileSync(RESULTS, 'utf8'))

module.exports = { readResults, tableOf }
