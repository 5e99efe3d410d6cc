// One list of platforms, scripts/platforms/targets.js: the lists that other tools read are written from it, and those that
// cannot be written are compared with it.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const yaml = require('yaml')
const { lists, SELECTORS } = require('../../scripts/platforms/lists.js')
const { BINARIES, PACKAGED, TARGETS } = require('../../scripts/platforms/targets.js')
const { readResults, tableOf } = require('../../scripts/platforms/results-table.js')

const root = path.join(import.meta.dirname, '..', '..')
const read = (...names) => readFileSync(path.join(root, ...names), 'utf8').replaceAll('\r\n', '\n')
const workflow = (name) => yaml.parse(read('.github', 'workflows', name))
const sorted = (values) => [...values].sort()

const names = (targets) => sorted(targets.map(({ name }) => name))
const triples = (targets) => sorted(targets.map(({ triple }) => triple))

test('a target has one row', (t) => {
  t.is(new Set(names(TARGETS)).size, TARGETS.length)
  t.is(new Set(triples(TARGETS)).size, TARGETS.length)
  t.true(BINARIES.length >= 13)
})

for (const [file, text, listed] of lists()) {
  test(`${file} has the list that scripts/platforms/lists.js writes`, (t) => {
    t.true(text === listed, 'run `node scripts/platforms/lists.js`')
  })
}

test('each list has every platform with its package', (t) => {
  const has = Object.fromEntries(lists().map(([file, , text]) => [file, text]))
  for (const { name, triple, glibc, build } of PACKAGED) {
    const isBinary = build !== 'wasm'
    t.is(has['package.json'].includes(`"${triple}"`), isBinary, name)
    t.is(has['.github/workflows/ci.yml'].includes(`- target: ${triple}\n          `), isBinary, name)
    t.is(has['lib/native/platforms.ts'].includes(`'${name}'`), isBinary, name)
    t.true(has['lib/native/packages/traced.cjs'].includes(`require('@flakeforge/binding-${name}')`), name)
    const system = glibc ? `Linux, glibc ${glibc} or newer` : ''
    t.true(has['docs/reference/platforms.md'].includes(`| \`@flakeforge/binding-${name}\` | ${system}`), name)
  }
})

test('npm/ has a package for each, and the ones with the WebAssembly', (t) => {
  t.deepEqual(sorted(readdirSync(path.join(root, 'npm'))), sorted([...names(PACKAGED), ...SELECTORS]))
})

test('ci.yml builds each', (t) => {
  const { build, 'build-wasm': wasm } = workflow('ci.yml').jobs
  t.deepEqual(sorted(build.strategy.matrix.include.map(({ target }) => target)), triples(BINARIES))
  for (const { name, triple } of PACKAGED.filter((target) => target.build === 'wasm')) {
    t.true(wasm.steps.some(({ run }) => run?.endsWith(` npm run platforms -- build ${name}`)))
    t.true(wasm.steps.some((step) => step.with?.name === `bindings-${triple}`))
  }
})

test('ci.yml has the digests of each build', (t) => {
  const { build } = workflow('ci.yml').jobs
  t.deepEqual(sorted(Object.keys(build.outputs)), triples(BINARIES))
  for (const [name, output] of Object.entries(build.outputs)) t.is(output, `\${{ steps.digests.outputs.${name} }}`)
})

test('every target is in the record', (t) => {
  const results = readResults()
  t.deepEqual(
    results.map(({ name }) => name),
    TARGETS.map(({ name }) => name),
    'run `npm run platforms`',
  )
  for (const { name, runs } of results) for (const { passed, failed } of runs) t.true(passed > 0 && failed === 0, name)
})

test('a target that was never run is in the table, without results', (t) => {
  const run = { program: 'Node 24.0.0', by: 'qemu-arm', passed: 5, failed: 0 }
  const results = [
    {
      name: 'b',
      built: '1.0',
      size: 1499,
      runs: [
        { ...run, what: 'smoke' },
        { ...run, what: 'ava' },
      ],
    },
  ]
  const table = tableOf(results, [{ name: 'a', glibc: '2.17' }, { name: 'b' }])
  t.deepEqual(table.split('\n').slice(2), [
    '| `a`, glibc 2.17 | not yet | – | – |',
    '| `b` | 1.0 | 1 kB | Node 24.0.0 by qemu-arm: 5 smoke, 5 ava |',
  ])
})

/** The required real machines: the system and CPU, and GitHub's name for such a machine. */
const MACHINES = {
  'x86_64-unknown-linux-gnu': 'ubuntu-latest',
  'aarch64-unknown-linux-gnu': 'ubuntu-24.04-arm',
  'x86_64-apple-darwin': 'macos-15-intel',
  'aarch64-apple-darwin': 'macos-latest',
  'x86_64-pc-windows-msvc': 'windows-latest',
  'aarch64-pc-windows-msvc': 'windows-11-arm',
}

test('ci.yml tests on real machines: Linux, macOS and Windows, each on x64 and arm64', (t) => {
  const { test: job } = workflow('ci.yml').jobs
  const { matrix } = job.strategy
  t.deepEqual(sorted(matrix.target), sorted(Object.keys(MACHINES)))
  t.deepEqual(Object.fromEntries(matrix.include.map(({ target, host }) => [target, host])), MACHINES)
  t.regex(job['runs-on'], /^\W*matrix\.host\W*$/)
  t.deepEqual(matrix.node, [20, 22, 24, 26])
  t.true(job.steps.some(({ run }) => run === 'npx ava'))
})

test('platforms.yml runs everything every week', (t) => {
  const { on, jobs } = workflow('platforms.yml')
  t.is(on.schedule.length, 1)
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run))
  t.true(commands.some((run) => run?.endsWith(' npm run platforms')))
  t.true(commands.includes('npm run memcheck'))
})
