'use strict'

// `npm run chaos -- local|redis|postgres|mysql|etcd|service [--seconds 60] [--policy window|deadline]`: faults on purpose, and a check of
// every ID made meanwhile. Prints a table; exit status 1 for a duplicate, a disorder, a hang or an error that nobody
// expected, and when the negative control finds no duplicate. With `--policy deadline` the whole run is the control.

const { parseArgs } = require('node:util')
const { makeFolders, removeFolders } = require('./run/folders.js')
const { judge, judgeControl, judgeExtent } = require('./outcome/judge.js')
const { target } = require('./scenarios/server.js')
const local = require('./scenarios/local.js')
const service = require('./scenarios/service.js')
const { Report } = require('./outcome/report.js')
const { run } = require('./run/run.js')

const TARGETS = {
  local,
  redis: target('redis'),
  postgres: target('postgres'),
  mysql: target('mysql'),
  etcd: target('etcd'),
  service,
}
const CONTROL_SECONDS = 3

function readArguments() {
  const options = { seconds: { type: 'string', default: '60' }, policy: { type: 'string', default: 'window' } }
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [name = 'local'] = positionals
  const { policy } = values
  const seconds = Number(values.seconds)
  const isKnown = Object.hasOwn(TARGETS, name) && TARGETS[name].policies.includes(policy)
  if (positionals.length > 1 || !isKnown || !(seconds > 0)) {
    console.error(
      'usage: npm run chaos -- local|service [--seconds 60]\n' +
        '       npm run chaos -- redis|postgres|mysql|etcd [--seconds 60] [--policy window|deadline]',
    )
    process.exit(2)
  }
  return { target: TARGETS[name], seconds, policy }
}

/** Runs all scenarios of a target, one after the other. */
async function runAll(scenarios, { seconds, folder, report }) {
  const results = []
  const shared = scenarios.filter((scenario) => scenario.seconds === undefined).length
  console.log(`${seconds} s of faults on ${scenarios.map(({ name }) => name).join('; ')}\n\n${report.heading}`)
  for (const scenario of scenarios) {
    const result = await run(scenario, { folder, seconds: scenario.seconds ?? seconds / shared })
    results.push(result)
    console.log(report.row(result))
    console.log(report.gaps(result))
  }
  if (results.length > 1) console.log(report.total(results))
  return results
}

/** The runs that must go well. If the target has a negative control, that is a short run which must not. */
async function runWell(results, { target, control, seconds, folder, report }) {
  const wrong = [...results.flatMap(judge), ...judgeExtent(results, seconds, target.full)]
  if (control === undefined) return { wrong, well: 'no duplicate; `--policy deadline` must find some' }
  const controlled = await run(control, { folder, seconds: CONTROL_SECONDS })
  console.log(`\n${report.row(controlled)}`)
  return { wrong: [...wrong, ...judgeControl(controlled)], well: 'no duplicate, and the control found some' }
}

/** The run as control: the same members and faults, but the usual design of a lease. */
function runBadly(results) {
  for (const { examples } of results) for (const example of examples) console.log(`\nas it should be: ${example}`)
  return { wrong: results.flatMap(judgeControl), well: 'a lease by deadline makes duplicates, and they were found' }
}

async function main() {
  const { target, seconds, policy } = readArguments()
  const folders = makeFolders()
  process.once('exit', () => removeFolders(folders))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const { scenarios, control = target.control, missing, end } = await target.prepare({ folders, policy, seconds })
  const about = { target, control, seconds, folder: folders.disk, report: new Report(target.columns) }
  const results = scenarios.length === 0 ? [] : await runAll(scenarios, about)
  const { wrong, well } = policy === 'deadline' ? runBadly(results) : await runWell(results, about)
  await end()
  for (const what of missing) console.log(`\nSKIPPED: ${what}`)
  if (missing.length > 0 && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') wrong.push('something is missing here')
  for (const what of wrong) console.log(`\nWRONG: ${what}`)
  if (wrong.length === 0 && results.length > 0) console.log(`\n${well}`)
  process.exitCode = wrong.length === 0 ? 0 : 1
}

main()
