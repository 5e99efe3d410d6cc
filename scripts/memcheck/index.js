'use strict'

// `npm run memcheck`: the addon under AddressSanitizer, in an ordinary Node.js: reads or writes outside its memory or
// JavaScript's arrays, uses after free, and leaks. First, deliberate mistakes show that it finds them in threads and
// child processes too. `npm run memcheck -- FILES` runs only these tests. It fails if the sanitizer reports anything,
// or could not have reported anything.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const { readAva, readEnd } = require('../ava-output.js')
const { MissingRequirement } = require('../requirements.js')
const { ROOMS, withoutServers } = require('../test-files.js')
const { build } = require('./build.js')
const { FRAME_FORMAT, findingsOf, growthOf, read } = require('./reports.js')

/** Where the tests of the addon are: the others do not use the addon. */
const FOLDERS = [...ROOMS.filter((room) => room !== 'base'), 'command']

/** Many of these files wait for windows to end, so more of them run at once than there are cores. */
const AT_ONCE = os.availableParallelism() + 2

/** What must be found, where it happens, and the words of its report. */
const MISTAKES = [
  ['heap-overflow', 'here', /heap-buffer-overflow[\s\S]*heap_overflow/],
  ['array-overflow', 'here', /heap-buffer-overflow[\s\S]*array_overflow/],
  ['use-after-free', 'worker', /heap-use-after-free[\s\S]*use_after_free/],
  ['use-after-free', 'child', /heap-use-after-free[\s\S]*use_after_free/],
  ['leak', 'here', /Direct leak of \d+ byte[\s\S]*probe\.node/],
  ['leak', 'worker', /Direct leak of \d+ byte[\s\S]*probe\.node/],
]

/** The environment of all watched processes. Each writes to a separate file, named by its number. */
function environment(runtime, reports) {
  const options = [
    'detect_leaks=1',
    'malloc_context_size=20', // an addon is near the top of a stack, and long ones cost the most time
    'abort_on_error=1', // no test mistakes that for an ordinary failure
    `log_path='${path.join(reports, 'asan')}'`,
    `stack_trace_format='${FRAME_FORMAT}'`,
  ]
  // Node.js would read the certificates in each of the processes, and none connects to another machine.
  const LEFT_OUT = ['FLAKEFORGE_REQUIRE_SERVERS', 'NAPI_RS_NATIVE_LIBRARY_PATH', 'NODE_EXTRA_CA_CERTS']
  const outside = Object.fromEntries(Object.entries(process.env).filter(([name]) => !LEFT_OUT.includes(name)))
  // Node.js itself leaves memory when it exits, so that alone is not a failure.
  return { ...outside, LD_PRELOAD: runtime, ASAN_OPTIONS: options.join(':'), LSAN_OPTIONS: 'exitcode=0' }
}

/** Runs Node.js under the sanitizer: its exit status, its output, and the sanitizer's reports. `hear` gets each line. */
async function watch({ copy, home, runtime }, args, hear = (_line) => {}) {
  const reports = path.join(home, 'reports')
  fs.rmSync(reports, { recursive: true, force: true })
  fs.mkdirSync(reports)
  fs.chmodSync(reports, 0o777) // a test runs processes of another user
  const options = { cwd: copy, env: environment(runtime, reports), stdio: ['ignore', 'pipe', 'pipe'] }
  const child = spawn(process.execPath, args, options)
  const lines = []
  for (const stream of [child.stdout, child.stderr])
    readline.createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      hear(line)
    })
  const ended = await new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)))
  return { ended, output: lines.join('\n'), reports: read(reports) }
}

const script = (name) => path.join(__dirname, name)
const failed = (name, { ended, output }) => (ended === 0 ? [] : [`${name} ended with ${ended}:\n${output}`])

/** The deliberate mistakes that were not found. */
async function prove(built) {
  const missed = []
  for (const [what, place, words] of MISTAKES) {
    const { output, reports } = await watch(built, [script('probe.cjs'), place, what])
    const found = reports.flatMap(findingsOf).join('\n')
    if (!words.test(found))
      missed.push(`a mistake made on purpose was not found: ${what}, ${place}\n${output}\n${found}`)
  }
  const { grown } = await watchGrowth(built, 'probe')
  if (grown.length === 0) missed.push('a mistake made on purpose was not found: growth')
  return { findings: missed, what: `${MISTAKES.length + 1 - missed.length} mistakes made on purpose found` }
}

/** Runs growth.cjs and compares its counts; a run that failed gives no result. */
async function watchGrowth(built, ...chosen) {
  const run = await watch(built, ['--expose-gc', script('growth.cjs'), built.copy, ...chosen])
  if (run.ended !== 0) return { ...run, subjects: [], grown: [] }
  const lines = run.output.split('\n').filter((line) => line.startsWith('{'))
  const subjects = lines.map((line) => JSON.parse(line))
  const counts = run.reports.find((report) => report.includes('Live Heap Allocations')) ?? ''
  return { ...run, subjects, grown: growthOf(counts, subjects) }
}

async function smoke(built) {
  const run = await watch(built, ['__test__/smoke.cjs'])
  return { findings: [...failed('__test__/smoke.cjs', run), ...run.reports.flatMap(findingsOf)], what: run.output }
}

async function growth(built) {
  const run = await watchGrowth(built)
  const findings = [...failed('growth.cjs', run), ...run.grown, ...run.reports.flatMap(findingsOf)]
  return { findings, what: run.subjects.map(({ name, rounds }) => `${rounds} ${name}`).join(', ') }
}

async function tests(built, files) {
  const ava = path.join('node_modules', 'ava', 'entrypoints', 'cli.mjs')
  let ended = 0
  const showEnd = (line) => {
    const said = readEnd(line)
    if (said !== undefined) console.log(`${++ended} of ${files.length}: ${said}`)
  }
  const run = await watch(built, [ava, '--timeout=10m', '--concurrency', String(AT_ONCE), ...files], showEnd)
  fs.writeFileSync(path.join(built.home, 'ava.log'), run.output)
  const { passed, skipped, failed: count, details } = readAva(run.output)
  // ava can fail without a failed test: it found none, or it crashed.
  const broken = count > 0 ? [`tests failed:\n${details}`] : failed('ava', run)
  if (passed === 0) broken.push('no test passed')
  const what = `${passed} tests in ${files.length} files, ${skipped} skipped; ${run.reports.length} processes left a report`
  return { findings: [...broken, ...run.reports.flatMap(findingsOf)], what }
}

async function main() {
  const chosen = process.argv.slice(2)
  const built = build()
  console.log(`AddressSanitizer: ${built.runtime}`)
  const files = chosen.length > 0 ? chosen : withoutServers(FOLDERS)
  const STEPS = { prove, smoke, growth, tests: () => tests(built, files) }
  let findings = 0
  for (const [name, step] of Object.entries(STEPS)) {
    const started = performance.now()
    const result = await step(built)
    const seconds = Math.round((performance.now() - started) / 1000)
    console.log(`${name}: ${result.findings.length} findings, ${seconds} s. ${result.what}`)
    for (const finding of result.findings) console.log(`\n${finding}\n`)
    findings += result.findings.length
    if (name === 'prove' && findings > 0) break // the others would show nothing
  }
  console.log(findings === 0 ? 'memcheck found nothing' : `memcheck: ${findings} findings`)
  process.exitCode = findings === 0 ? 0 : 1
}

main().catch((error) => {
  console.error(error instanceof MissingRequirement ? error.message : error)
  process.exitCode = 1
})
