'use strict'

// Runs the builds for Linux: on this machine, on musl, and on emulated CPUs. The smoke test runs with every Node.js
// that is listed here; the AVA files that test-files.js chooses run where a target says so. A run that was interrupted,
// or that checked nothing, is a failure.

const path = require('node:path')
const runtimes = require('../../runtimes.js')
const { withoutServers } = require('../../test-files.js')
const { makeRoot } = require('../root.js')
const { cpuOf, makeMachine, runCommand } = require('./machines.js')
const { nodeFor } = require('./nodes.js')
const { avaResult, smokeResult, versionIn } = require('./results.js')
const { forEmulators } = require('./test-files.js')

const SMOKE = '__test__/smoke.cjs'
const AVA = 'node_modules/ava/entrypoints/cli.mjs'
const MINUTE = 60_000

/** The programs of each target, and what they run. Where PyPI's oldest Node.js for musl is 22, it replaces 20. */
const PROGRAMS = {
  'linux-arm64-gnu': [
    { from: 'npm', major: 24, runs: ['smoke', 'ava'] },
    { from: 'npm', major: 20, runs: ['smoke', 'ava'] },
  ],
  'linux-x64-musl': [
    { from: 'pypi', major: 24, runs: ['smoke', 'ava'] },
    { from: 'pypi', major: 20, runs: ['smoke'] },
  ],
  'linux-arm64-musl': [
    { from: 'pypi', major: 24, runs: ['smoke', 'ava'] },
    { from: 'pypi', major: 22, runs: ['smoke'] },
  ],
}

/** Where nothing else is listed, there is Debian's Node.js. */
const programsFor = ({ name }) => PROGRAMS[name] ?? [{ from: 'debian', runs: ['smoke'] }]

const chosen = (runs, kinds) => runs.filter((kind) => kinds.includes(kind))

const titleOf = (runtime) => runtime[0].toUpperCase() + runtime.slice(1).replace(/-.*/, '')

/** The smoke test with every supported runtime, on this machine. */
async function runHere(addon) {
  const results = []
  for (const runtime of runtimes.runtimes) {
    const program = runtimes.install(runtime)
    const env = { ...process.env, ...runtimes.environment, NAPI_RS_NATIVE_LIBRARY_PATH: path.resolve(addon) }
    const { output } = await runCommand([program, '--version'], { env, timeoutMs: MINUTE })
    const smoke = await runCommand([program, ...(runtime.args ?? []), SMOKE], { env, timeoutMs: 2 * MINUTE })
    results.push({
      program: `${titleOf(runtime.name)} ${versionIn(output)}`,
      by: '',
      what: 'smoke',
      ...smokeResult(smoke),
    })
  }
  return results
}

/** How to start each kind of run, and how to read its output. */
function howToRun(what, isEmulated) {
  if (what === 'smoke') return { args: [SMOKE], timeoutMs: 5 * MINUTE, read: smokeResult }
  const files = isEmulated ? forEmulators() : withoutServers()
  // The limit is for everything: an emulated test may take minutes on a busy machine.
  return { args: [AVA, '--timeout=30m', ...files], timeoutMs: 30 * MINUTE, read: avaResult }
}

/** One Node.js on a machine: everything that it runs. */
async function runThere(machine, node, target, whats) {
  const by = target.qemu ? `qemu-${cpuOf(target)}` : ''
  const { output } = await machine.run(node, ['--version'], MINUTE)
  const program = `Node ${versionIn(output)}`
  const results = []
  for (const what of whats) {
    const { args, timeoutMs, read } = howToRun(what, by !== '')
    results.push({ program, by, what, ...read(await machine.run(node, args, timeoutMs)) })
  }
  return results
}

/**
 * Runs an addon that was built for a target, with all its programs.
 * @param {import('../targets.js').Target} target
 * @param {string} addon a file
 * @param {string[]} kinds which runs: 'smoke', 'ava'
 */
async function run(target, addon, kinds) {
  if (target.name === 'linux-x64-gnu') return await runHere(addon)
  const root = makeRoot(console.log)
  const machine = await makeMachine(root, target, addon)
  const results = []
  for (const program of programsFor(target)) {
    const node = await nodeFor(root, target, program)
    results.push(...(await runThere(machine, node, target, chosen(program.runs, kinds))))
  }
  return results
}

module.exports = { run }
