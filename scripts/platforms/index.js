'use strict'

// `npm run platforms [-- NAME...]`: creates the build root once, builds every target or the named ones, checks each
// binary, runs it if this machine can, and prints a table. With the word `smoke` before the names only the smoke test
// runs, and with `build` nothing does. Ends with status 1 if anything failed. Targets that ran completely without a failure are written into
// results.json, which the documentation is compared with. A target that was not run is in the table without a run.

const fs = require('node:fs')
const path = require('node:path')
const { build, compilers, isStarted, prepare } = require('./build.js')
const { check } = require('./check.js')
const { inLanes } = require('./parallel.js')
const { NoRoot, makeRoot } = require('./root.js')
const { asRecord, asText, isFine, problemsAsText } = require('./table.js')
const { TARGETS } = require('./targets.js')

const RECORD = path.join(__dirname, 'results.json')
/** At least two cores: much of a build is one compiler, or one running program. */
const LANES = 2

/** The program that runs a binary. */
const KINDS = ['smoke', 'ava']

/**
 * The kinds of runs that a word before the names means. A release is built without runs, because they install programs
 * that are not locked.
 */
const WORDS = new Map([
  ['build', []],
  ['smoke', ['smoke']],
])

/** Which kinds of runs, and which targets, these words mean. */
function read([first, ...rest]) {
  const kinds = WORDS.get(first)
  if (kinds) return { kinds, targets: chosen(rest) }
  return { kinds: KINDS, targets: chosen(first === undefined ? rest : [first, ...rest]) }
}

/** The targets with these names, or all. Throws for an unknown name. */
function chosen(names) {
  const unknown = names.filter((name) => !TARGETS.some((target) => target.name === name))
  if (unknown.length > 0)
    throw new NoRoot(
      `no target is called ${unknown.join(', ')}: there are ${TARGETS.map(({ name }) => name).join(', ')}`,
    )
  return names.length > 0 ? TARGETS.filter(({ name }) => names.includes(name)) : TARGETS
}

/**
 * What runs the binary of a target here. Undefined if nothing does: there is no macOS, and Debian's Wine is for 64 bits
 * only.
 */
function runnerOf({ name, build: how }) {
  if (name.startsWith('darwin-') || name.startsWith('win32-ia32-')) return undefined
  return require({ zig: './run/linux.js', mingw: './run/wine.js', wasm: './run/wasm.js' }[how])
}

const readRecord = () => (fs.existsSync(RECORD) ? JSON.parse(fs.readFileSync(RECORD, 'utf8')) : [])

/** The size of each target in the record. */
const recordedSizes = () => Object.fromEntries(readRecord().map(({ name, size }) => [name, size]))

const seconds = (since) => (Date.now() - since) / 1000
const say = (line) => console.log(`${new Date().toTimeString().slice(0, 8)} ${line}`)

/** Runs the binary, and adds the outcome to the result. */
async function runIt(target, result, kinds) {
  const runner = runnerOf(target)
  if (runner === undefined || kinds.length === 0) return
  const runs = await runner.run(target, result.file, kinds)
  if (runs.length === 0) result.problems.push('nothing ran it')
  for (const run of runs) {
    result.runs.push(run)
    if (run.failed === 0 && run.passed > 0) continue
    const end = (run.output ?? '').trim().split('\n').slice(-15).join('\n')
    result.problems.push(`${run.program} ${run.by} ${run.what}: ${run.failed} failed, ${run.passed} passed\n${end}`)
  }
}

/** Everything about one target. Never throws: errors are part of the result. */
async function work(root, target, lane, { kinds, sizes, built }) {
  const result = { name: target.name, runs: [], problems: [] }
  try {
    const start = Date.now()
    result.file = await build(root, target, lane)
    result.seconds = seconds(start)
    result.built = built[target.build]
    say(`${target.name} is built: ${Math.round(result.seconds)} s`)
    if (result.file === undefined) return result
    result.size = fs.statSync(result.file).size
    result.problems.push(...(await check(root, target, result.file, sizes[target.name])))
    await runIt(target, result, kinds)
    say(`${target.name} is checked: ${isFine(result) ? 'ok' : `FAILED\n${problemsAsText([result])}`}`)
  } catch (error) {
    result.problems.push(error.message)
    say(`${target.name} FAILED`)
  }
  return result
}

/** All targets. */
async function workOnAll(root, targets, kinds) {
  await prepare(root)
  const given = { kinds, sizes: recordedSizes(), built: await compilers(root) }
  return await inLanes(targets, LANES, isStarted, (target, lane) => work(root, target, lane, given))
}

async function main(words) {
  const start = Date.now()
  const { kinds, targets } = read(words)
  const results = await workOnAll(makeRoot(say), targets, kinds)
  console.log(`\n${asText(results)}\n`)
  console.log(`${results.length} targets in ${Math.round(seconds(start) / 60)} minutes`)
  if (kinds === KINDS) fs.writeFileSync(RECORD, asRecord(readRecord(), results.filter(isFine)))
  if (results.every(isFine)) return 0
  console.error(`\n${problemsAsText(results)}`)
  return 1
}

main(process.argv.slice(2)).then(
  (status) => {
    process.exitCode = status
  },
  (error) => {
    console.error(error instanceof NoRoot ? error.message : error)
    process.exitCode = 1
  },
)
