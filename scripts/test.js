'use strict'

// `npm test`: the tests of the package, the core's, and its models under loom. It shows a dot for each test, then all
// failures, and ends with one line that counts. With CI=true it shows what the runners print (TAP for one) instead of the
// dots. The exit status is 1 when a test failed, or when one of the three ran none.
//
// The package's tests wait much of their time, so cargo compiles and runs the core's beside them. What cargo's tests print
// is held back until the package's have ended.

const { spawn } = require('node:child_process')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const { cargoReader, tapReader } = require('./test-readers.js')
const { bold, dots, green, inTurn, red } = require('./test-screen.js')

const root = path.join(__dirname, '..')
const isCI = !['', 'false', '0'].includes(process.env.CI ?? '')

/** How to run the tests of each kind, and how to read what their runner prints. Cargo's run one after the other. */
const CARGO = [
  {
    name: 'The core',
    command: 'cargo test --locked --no-fail-fast --package flakeforge-core',
    reader: cargoReader,
  },
  {
    name: 'Its models under loom',
    // Another cfg means another build of everything. In its own folder it does not replace the usual one.
    command: 'cargo test --locked --no-fail-fast --package flakeforge-core-loom --target-dir target/loom',
    env: { RUSTFLAGS: '--cfg flakeforge_loom' },
    reader: cargoReader,
  },
]

/** So many test files at once: most wait much of their time, for servers and for windows to end. */
const AT_ONCE = os.availableParallelism() + 2
const AVA = {
  name: 'The package',
  command: `npx ava --tap --concurrency ${AT_ONCE}`,
  // Node reads these certificates first: 40 ms in each of 1400 processes, and none of them talks to another machine.
  env: { NODE_EXTRA_CA_CERTS: undefined },
  reader: tapReader,
}

/** Cargo names each test program before it runs it. Among the dots these lines are only noise. */
const isNoise = (line) => /^\s*(?:Running|Doc-tests) /.test(line)

/** Tests that cannot run here say so in lines like this, once for each file. */
const isSkip = (line) => line.startsWith('!!! SKIPPED')

/** What Node.js prints for process.emitWarning(). A test that expects a warning prevents its output. */
const isWarning = (line) => /^\(node:\d+\) .*Warning: /.test(line)

const skips = new Set()

/** Passes on what runners and tests write to stderr, and collects the warnings in it. */
function readErrors(stream, warnings) {
  readline.createInterface({ input: stream }).on('line', (line) => {
    if (isSkip(line)) skips.add(line)
    if (isWarning(line)) warnings.push(line)
    if (isCI || !(isNoise(line) || isSkip(line) || line === '')) process.stderr.write(`${line}\n`)
  })
}

/** Reads a runner's output line by line, and writes it to `out`, or dots. */
function readResults(stream, reader, out) {
  const screen = dots(out)
  readline.createInterface({ input: stream }).on('line', (line) => {
    const result = reader.read(line)
    if (isCI) out.write(`${line}\n`)
    else if (result !== undefined) screen.add(result)
  })
  stream.on('end', () => screen.end())
}

/** A runner can fail without a failed test: it did not build, it crashed, or it found no test. */
function brokenRun(command, code, passed) {
  if (code === 0 && passed > 0) return []
  const why = code === 0 ? 'It ran no test.' : `It ended with ${code}. What it printed is above.`
  return [{ title: command, text: why }]
}

/** In CI, where the version of Node.js is known, a warning that no test expects is a failure. */
const strayWarnings = (lines) => (isCI ? lines.map((text) => ({ title: 'a warning that no test expects', text })) : [])

/** Runs a suite to its end; it prints to `out`, which it ends. */
function run({ name, command, env, reader: makeReader }, out) {
  out.write(isCI ? `\n$ ${command}\n` : `\n${bold(name)}\n`)
  const started = Date.now()
  const reader = makeReader()
  return new Promise((resolve) => {
    const child = spawn(command, {
      cwd: root,
      env: { ...process.env, CARGO_TERM_COLOR: process.stderr.isTTY ? 'always' : 'auto', ...env },
      shell: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    readResults(child.stdout, reader, out)
    const warnings = []
    readErrors(child.stderr, warnings)
    child.on('close', (code, signal) => {
      const { passed, failed, failures } = reader.results()
      const broken = failed === 0 ? brokenRun(command, code ?? signal, passed) : []
      const more = [...broken, ...strayWarnings(warnings)]
      if (!isCI) out.write(`${passed + failed} tests in ${Math.round((Date.now() - started) / 1000)} s\n`)
      out.end()
      const all = [...failures, ...more].map((failure) => ({ suite: name, ...failure }))
      resolve({ passed, failed: failed + more.length, failures: all })
    })
  })
}

const indented = (text) => text.replace(/^(?=.)/gm, '    ')

function showFailures(failures) {
  if (failures.length > 0) console.log(bold('\nFailures'))
  for (const { suite, title, text } of failures) console.log(`\n${red('✗')} ${suite}: ${title}\n${indented(text)}`)
}

async function runCargo(outs) {
  const results = []
  for (const suite of CARGO) results.push(await run(suite, outs.shift()))
  return results
}

async function main() {
  const [first, ...others] = inTurn(process.stdout, 1 + CARGO.length)
  const results = (await Promise.all([run(AVA, first), runCargo(others)])).flat()
  const sum = (what) => results.reduce((total, result) => total + result[what], 0)
  const [passed, failed] = [sum('passed'), sum('failed')]

  showFailures(results.flatMap(({ failures }) => failures))
  for (const line of skips) console.log(`\n${line}`)
  const colour = failed === 0 ? green : red
  console.log(`\n${colour(`${passed} passed, ${failed} failed`)}`)
  process.exitCode = failed === 0 ? 0 : 1
}

main()
