'use strict'

// `npm run chaos -- local [--seconds 60]`: faults on purpose, and a check of every ID made meanwhile. Prints a table; exit
// status 1 for a duplicate, a disorder, a hang or an error that nobody expected, and when the negative control finds no
// duplicate.

const { parseArgs } = require('node:util')
const { control } = require('./control.js')
const { makeFolders, removeFolders } = require('./folders.js')
const { judge, judgeControl } = require('./judge.js')
const report = require('./report.js')
const { run } = require('./run.js')

const TARGETS = { local: './local.js' }
const CONTROL_SECONDS = 3

function readArguments() {
  const { values, positionals } = parseArgs({
    options: { seconds: { type: 'string', default: '60' } },
    allowPositionals: true,
  })
  const [target = 'local'] = positionals
  const seconds = Number(values.seconds)
  if (positionals.length > 1 || !Object.hasOwn(TARGETS, target) || !(seconds > 0)) {
    console.error(`usage: npm run chaos -- ${Object.keys(TARGETS).join('|')} [--seconds 60]`)
    process.exit(2)
  }
  return { target, seconds }
}

async function runAll({ target, seconds }, folders) {
  const { scenarios, missing } = require(TARGETS[target]).prepare(folders)
  const results = []
  console.log(`${seconds} s of faults on ${scenarios.length} scenarios, one after the other\n\n${report.heading()}`)
  for (const scenario of scenarios) {
    const result = await run(scenario, { folder: folders.disk, seconds: seconds / scenarios.length })
    results.push(result)
    console.log(report.row(result))
  }
  console.log(report.total(results))
  const controlled = await run(control, { folder: folders.disk, seconds: CONTROL_SECONDS })
  console.log(`\n${report.row(controlled)}`)
  return { wrong: [...results.flatMap(judge), ...judgeControl(controlled)], missing }
}

async function main() {
  const given = readArguments()
  const folders = makeFolders()
  process.once('exit', () => removeFolders(folders))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const { wrong, missing } = await runAll(given, folders)
  for (const what of missing) console.log(`\nSKIPPED: ${what}`)
  if (missing.length > 0 && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') wrong.push('something is missing here')
  for (const what of wrong) console.log(`\nWRONG: ${what}`)
  console.log(wrong.length === 0 ? '\nno duplicate, and the control found some' : '')
  process.exitCode = wrong.length === 0 ? 0 : 1
}

main()
