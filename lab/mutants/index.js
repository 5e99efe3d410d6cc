'use strict'

// `npm run mutants`: makes small changes to the code, one at a time, and says which of them no test notices.
//
//   npm run mutants -- lib/calls/queue.ts                 what Stryker thinks of, by the tests of this file's room
//   npm run mutants -- lib/calls/queue.ts __test__/x.mjs  the same, by these tests
//   npm run mutants -- model                                    the mistakes that core/tests/model/mutants/ lists
//   npm run mutants -- model quiet                              those with this word
//   npm run mutants -- core                                     what cargo-mutants thinks of, for the core; takes hours
//   npm run mutants -- core -f core/src/generator/cursor.rs     the same for one file
//
// Ends with a line that counts, and with status 1 where a change of the core was missed, or too many of a file.
//
// files.js runs Stryker; model.js tries the lists of core/tests/model/mutants/; core.toml is for cargo-mutants. copy.js
// makes the copy of the project in which an edit disturbs nobody.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { tryFile } = require('./files.js')
const { tryModel } = require('./model.js')

const root = path.join(__dirname, '..', '..')
/** The version that the figures come from. */
const CARGO_MUTANTS = '27.1.0'

function tryCore(args) {
  const known = spawnSync('cargo', ['mutants', '--version'], { encoding: 'utf8' })
  if (known.status !== 0) {
    console.error(`cargo-mutants is missing: cargo install cargo-mutants@${CARGO_MUTANTS} --locked`)
    return false
  }
  const options = ['mutants', '--config', 'lab/mutants/core.toml', '--package', 'flakeforge-core', '--output', 'target']
  return spawnSync('cargo', [...options, ...args], { cwd: root, stdio: 'inherit' }).status === 0
}

const PARTS = { model: tryModel, core: tryCore }

function main(args) {
  const [part, ...rest] = args
  if (part?.endsWith('.ts')) return tryFile(args) ? 0 : 1
  if (Object.hasOwn(PARTS, part)) return PARTS[part](rest) ? 0 : 1
  console.error('usage: npm run mutants -- FILE [TEST …] | model [WORD …] | core [ARGUMENTS OF cargo mutants]')
  return 2
}

process.exitCode = main(process.argv.slice(2))
