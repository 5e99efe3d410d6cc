'use strict'

// `npm run chaos -- local|redis|postgres|mysql|etcd|sentinel|cluster|standby|replication|etcd3|kubernetes|quorum3|quorum5|service [--seconds 60] [--policy window|deadline]`: faults on purpose, and a check of
// every ID generated meanwhile. Prints a table; exit status 1 for a duplicate, a disorder, a hang or an unexpected
// error, and when the negative control finds no duplicate. With `--policy deadline` the whole run is the control.
// `npm run chaos -- soak redis --ids 1e10` continues until there are that many IDs and enough faults. `promotions redis|sentinel|cluster|postgres|mysql`
// promotes a replica while its primary goes on. `--record` writes the run into the documents.

const { parseArgs } = require('node:util')
const { makeFolders, removeFolders } = require('./run/folders.js')
const { judge, judgeControl, judgeExtent } = require('./outcome/judge.js')
const { record } = require('./outcome/record.js')
const { PLACES, promotions } = require('./scenarios/promotions.js')
const { TOPOLOGIES, target } = require('./scenarios/server.js')
const { SOAKS, soak } = require('./scenarios/soak.js')
const local = require('./scenarios/local.js')
const service = require('./scenarios/service.js')
const { Report } = require('./outcome/report.js')
const { run } = require('./run/run.js')

const STORES = ['redis', 'postgres', 'mysql', 'etcd']
const TARGETS = {
  local,
  ...Object.fromEntries([...STORES, ...TOPOLOGIES].map((name) => [name, target(name)])),
  ...Object.fromEntries(Object.keys(SOAKS).map((name) => [`soak ${name}`, soak(name)])),
  ...Object.fromEntries(PLACES.map((name) => [`promotions ${name}`, promotions(name)])),
  service,
}
const CONTROL_SECONDS = 3

const OPTIONS = {
  seconds: { type: 'string', default: '60' },
  ids: { type: 'string', default: '1e9' },
  policy: { type: 'string', default: 'window' },
  record: { type: 'boolean', default: false },
}

function readArguments() {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
  const name = positionals.join(' ') || 'local'
  const { policy, record } = values
  const [seconds, ids] = [Number(values.seconds), Number(values.ids)]
  const isKnown = Object.hasOwn(TARGETS, name) && TARGETS[name].policies.includes(policy)
  if (!isKnown || !(seconds > 0) || !(ids > 0)) {
    console.error(
      `usage: npm run chaos -- local|service|${TOPOLOGIES.join('|')} [--seconds 60] [--record]\n` +
        `       npm run chaos -- ${STORES.join('|')} [--seconds 60] [--policy window|deadline] [--record]\n` +
        `       npm run chaos -- promotions ${PLACES.join('|')} [--seconds 60] [--record]\n` +
        `       npm run chaos -- soak ${Object.keys(SOAKS).join('|')} [--ids 1e9] [--record]`,
    )
    process.exit(2)
  }
  return { name, target: TARGETS[name], seconds, ids, policy, record }
}

/** The output so far, for the record. */
const said = []
function say(text) {
  said.push(text)
  console.log(text)
}

/** Runs all scenarios of a target, one after the other. */
async function runAll(scenarios, { seconds, folder, report }) {
  const results = []
  const shared = scenarios.filter((scenario) => scenario.seconds === undefined).length
  say(`faults on ${scenarios.map(({ name }) => name).join('; ')}\n\n${report.heading}`)
  for (const scenario of scenarios) {
    const result = await run(scenario, { folder, seconds: scenario.seconds ?? seconds / shared })
    results.push(result)
    say(report.row(result))
    say(report.gaps(result))
  }
  if (results.length > 1) say(report.total(results))
  say(`\n${report.extent(results)}`)
  return results
}

/** The runs that must succeed. If the target has a negative control, that is a short run which must not. */
async function runWell(results, { target, control, seconds, folder, report }) {
  const wrong = [...results.flatMap(judge), ...judgeExtent(results, seconds, target.full)]
  if (control === undefined) return { wrong, well: 'no duplicate; the control is another run' }
  const controlled = await run(control, { folder, seconds: CONTROL_SECONDS })
  say(`\n${report.row(controlled)}`)
  return {
    wrong: [...wrong, ...judgeControl(controlled)],
    well: 'no duplicate, and the control found some',
    controlled,
  }
}

/** The run as control: the same members and faults, but the usual design of a lease. */
function runBadly(results) {
  for (const { examples } of results) for (const example of examples) say(`\nas it should be: ${example}`)
  return { wrong: results.flatMap(judgeControl), well: 'a lease by deadline makes duplicates, and they were found' }
}

/** The control of a target is recorded next to it, under a separate name. */
function recordAll(results, { name, policy, controlled }) {
  const isControl = policy === 'deadline'
  record({ name: isControl ? `${name}, deadline` : name, isControl, results, said })
  if (controlled !== undefined) record({ name: `${name}, control`, isControl: true, results: [controlled], said: [] })
}

async function main() {
  const { target, seconds, policy, ...given } = readArguments()
  const folders = makeFolders()
  process.once('exit', () => removeFolders(folders))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const prepared = await target.prepare({ folders, policy, seconds, ids: given.ids })
  const { scenarios, control = target.control, missing, end } = prepared
  const about = { target, control, seconds, folder: folders.disk, report: new Report(target.columns) }
  const results = scenarios.length === 0 ? [] : await runAll(scenarios, about)
  const { wrong, well, controlled } = policy === 'deadline' ? runBadly(results) : await runWell(results, about)
  await end()
  for (const what of missing) say(`\nSKIPPED: ${what}`)
  if (missing.length > 0 && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') wrong.push('something is missing here')
  for (const what of wrong) say(`\nWRONG: ${what}`)
  if (wrong.length === 0 && results.length > 0) say(`\n${well}`)
  if (wrong.length === 0 && given.record) recordAll(results, { ...given, policy, controlled })
  process.exitCode = wrong.length === 0 ? 0 : 1
}

main()
