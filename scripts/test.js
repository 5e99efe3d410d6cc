'use strict'

// `npm test`: the core's tests, its models under loom, and the tests of the package, one after the other. Ends with one
// line that counts them all; the exit status is 1 when one failed or one of the three ran none.

const { spawn } = require('node:child_process')
const path = require('node:path')

const root = path.join(__dirname, '..')
const loom = { RUSTFLAGS: '--cfg loom' }

/** How to run the tests of each kind, and how their runner counts. */
const SUITES = [
  { command: 'cargo test --locked --package flakeforge-core', count: countCargo },
  {
    // Another cfg means another build of everything: in a folder of its own the two do not throw each other away.
    command: 'cargo test --locked --package flakeforge-core --release --test loom --target-dir target/loom',
    env: loom,
    count: countCargo,
  },
  { command: 'npx ava --tap', count: countTap },
]

function countCargo(output) {
  const results = [...output.matchAll(/^test result: .*? (\d+) passed; (\d+) failed/gm)]
  const sum = (column) => results.reduce((total, result) => total + Number(result[column]), 0)
  return { passed: sum(1), failed: sum(2) }
}

function countTap(output) {
  const number = (word) => Number(output.match(new RegExp(`^# ${word} (\\d+)$`, 'm'))?.[1] ?? 0)
  return { passed: number('pass'), failed: number('fail') }
}

/** Runs a suite, shows what it prints, and counts. */
function run({ command, env, count }) {
  console.log(`\n$ ${command}`)
  return new Promise((resolve) => {
    const child = spawn(command, {
      cwd: root,
      env: { ...process.env, ...env },
      shell: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      process.stdout.write(text)
    })
    child.on('close', (code) => {
      const { passed, failed } = count(output)
      const broken = failed === 0 && (code !== 0 || passed === 0) // it did not build, crashed, or found no test
      resolve({ passed, failed: failed + Number(broken) })
    })
  })
}

async function main() {
  const total = { passed: 0, failed: 0 }
  for (const suite of SUITES) {
    const { passed, failed } = await run(suite)
    total.passed += passed
    total.failed += failed
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed === 0 ? 0 : 1
}

main()
