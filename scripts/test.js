'use strict'

// `npm test`: the tests of the package under ava, and in parallel those of the core and its models under cargo.
// `npm test -- generator` runs one folder of them, `npm test -- --quick` those without servers and models. Shows ava's
// output immediately with how many files have ended, and of a successful cargo run only its results. The last line counts
// all tests. The exit status is 1 when a test failed or a suite ran none, and with CI=true also when a test printed a
// warning that it did not expect.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const { parseArgs } = require('node:util')
const { isFailure, isPassed, readEnd } = require('./ava-output.js')
const { choose } = require('./test-files.js')

const root = path.join(__dirname, '..')
const isCI = !['', 'false', '0'].includes(process.env.CI ?? '')

/** Most test files wait for servers and for windows to end, so more of them run at once than there are cores. */
const AT_ONCE = os.availableParallelism() + 2

const AVA_CLI = path.join(root, 'node_modules', 'ava', 'entrypoints', 'cli.mjs')

/** @param {string[]} files */
const ava = (files) => ({
  name: 'ava',
  command: [process.execPath, AVA_CLI, '--concurrency', String(AT_ONCE), ...files],
  // Node.js reads these certificates first: 40 ms in each of 1400 processes, and none of them connects to another
  // machine.
  env: { NODE_EXTRA_CA_CERTS: undefined },
  count(line, counts) {
    if (isPassed(line)) counts.passed++
    else if (isFailure(line)) counts.failed++
  },
  isFailure,
})

function countCargo(line, counts) {
  const [, passed, failed] = line.match(/^test result: .*? (\d+) passed; (\d+) failed/) ?? []
  if (passed === undefined) return
  counts.passed += Number(passed)
  counts.failed += Number(failed)
}

/** @param {string[]} args */
const cargo = (args, env = {}) => {
  const command = ['cargo', 'test', '--locked', '--no-fail-fast', ...args]
  return {
    name: command.join(' '),
    command,
    env,
    count: countCargo,
    isFailure: (line) => /^test .* FAILED$/.test(line),
  }
}

const CORE = ['--package', 'flakeforge-core']

const CARGO = [
  cargo(CORE),
  // Another cfg means another build of everything. In a separate folder it does not replace the usual one.
  cargo(['--package', 'flakeforge-core-loom', '--target-dir', 'target/loom'], { RUSTFLAGS: '--cfg flakeforge_loom' }),
]

/** The cargo runs of a choice: all of them, or the folders of `core/tests/` that it names. */
function cargoFor({ isAll, ofCore }) {
  if (isAll) return CARGO
  return ofCore.length === 0 ? [] : [cargo([...CORE, ...ofCore.flatMap((name) => ['--test', name])])]
}

/** What Node.js prints for process.emitWarning(). A test that expects a warning prevents its output. */
const isWarning = (line) => /^\(node:\d+\) .*Warning: /.test(line)

/** Tests that cannot run here print a line like this, once for each file. */
const isSkip = (line) => line.startsWith('!!! SKIPPED')

/** The suites that run. Each has its own process group, because a shell does not pass signals on. */
const running = new Set()

/**
 * Ends the suites and removes their folder when this process is gone, also where it could not do that itself: killed, or
 * out of memory. Its input ends with this process, and names the process groups. A process that is killed may write a last
 * file after the folder was read.
 */
const GUARD = `while read -r group; do groups="$groups -$group"; done
[ -z "$groups" ] || kill -KILL -- $groups 2>/dev/null
for second in 1 2 3 4 5 6 7 8 9; do rm -rf -- "$1" && break; sleep 1; done`

/** Where the guard learns what it has to end. Undefined on Windows, which has no process groups. */
let guard

function startGuard(folder) {
  if (process.platform === 'win32') return
  const child = spawn('sh', ['-c', GUARD, 'guard', folder], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  child.unref()
  guard = child.stdin
  guard.unref()
}

/** The signal that ended the tests. */
let stopped

/** Ends all processes of a suite. */
function stop(child) {
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, stopped)
  } catch {
    // it has just ended
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    stopped = signal
    for (const child of running) stop(child)
  })

/**
 * Runs a suite to its end, and passes each line of its output to `show`. Returns its counts, and the lines that name
 * failures.
 */
function run(suite, show) {
  const { name, command } = suite
  const [program, ...args] = command
  const counts = { passed: 0, failed: 0 }
  const failures = []
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...suite.env },
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.on('error', (error) => show(`✘ ${name}: ${error.message}`)) // it could not be started; 'close' follows
  running.add(child)
  if (child.pid !== undefined) guard?.write(`${child.pid}\n`)
  if (stopped !== undefined) stop(child)
  for (const stream of [child.stdout, child.stderr])
    readline.createInterface({ input: stream }).on('line', (line) => {
      suite.count(line, counts)
      if (suite.isFailure(line)) failures.push(line)
      show(line)
    })
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      running.delete(child)
      const isBroken = counts.failed === 0 && (code !== 0 || counts.passed === 0)
      if (isBroken) show(`✘ ${name}: ${code === 0 ? 'It ran no test.' : `It ended with ${code ?? signal}.`}`)
      resolve({ passed: counts.passed, failed: counts.failed + (isBroken ? 1 : 0), failures })
    })
  })
}

/** @param {string[]} files */
async function runAva(files, isAll, endings) {
  const warnings = []
  let ended = 0
  const counts = await run(ava(isAll ? [] : files), (line) => {
    const end = readEnd(line)
    if (end) console.log(`${++ended} of ${files.length} files: ${end}`)
    else if (isSkip(line)) endings.add(line)
    else console.log(line)
    if (isCI && isWarning(line)) warnings.push(line)
  })
  for (const line of warnings) endings.add(`✘ A warning that no test expects: ${line}`)
  return { ...counts, failed: counts.failed + warnings.length }
}

/** Cargo's suites share its lock, so they run one after the other. Returns their counts, and the output to show. */
async function runCargo(suites) {
  const results = []
  for (const suite of suites) {
    const lines = []
    const counts = await run(suite, (line) => lines.push(line))
    const shown = counts.failed === 0 ? lines.filter((line) => line.startsWith('test result:')) : lines
    results.push({ ...counts, text: [`\n$ ${suite.name}`, ...shown].join('\n') })
  }
  return results
}

/** A folder for the temporary files of all suites, so that a killed test or an interrupted run leaves nothing behind. */
function temporaryFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-'))
  fs.chmodSync(folder, 0o1777) // some tests run programs as another user
  process.once('exit', () => remove(folder))
  startGuard(folder)
  return folder
}

const remove = (folder) => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })

/** Ends as the signal would have, so that our parent sees it. A process that ends by a signal runs no listener for its exit. */
function endAs(signal, temp) {
  remove(temp)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

/** How many files are run, how long that usually takes on two cores without the build, and how to run less. */
function announce({ files, isAll, isQuick }) {
  const time = isAll ? ', usually 20 minutes on two cores' : isQuick ? ', usually 3 minutes on two cores' : ''
  console.log(`${files.length} test file${files.length === 1 ? '' : 's'}${time}.`)
  if (isAll) console.log('A part: npm test -- generator. Without servers and models: npm test -- --quick.')
}

async function main() {
  const options = { allowPositionals: true, options: { quick: { type: 'boolean', default: false } } }
  const { values, positionals } = parseArgs(options)
  const choice = choose(positionals, values.quick)
  announce(choice)
  const temp = temporaryFolder()
  Object.assign(process.env, { TMPDIR: temp, TEMP: temp, TMP: temp })
  const endings = new Set()
  const core = runCargo(cargoFor(choice))
  const results = choice.files.length > 0 ? [await runAva(choice.files, choice.isAll, endings)] : []
  const ofCargo = await core
  if (stopped !== undefined) return endAs(stopped, temp)
  for (const result of ofCargo) {
    console.log(result.text)
    results.push(result)
  }
  for (const line of endings) console.log(`\n${line}`)
  // Repeated here, so that the end of a long log names them.
  const failures = results.flatMap((result) => result.failures)
  if (failures.length > 0) console.log(['\nWhat failed:', ...failures].join('\n'))

  const sum = (what) => results.reduce((total, result) => total + result[what], 0)
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
  process.exitCode = sum('failed') === 0 ? 0 : 1
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 2
})
