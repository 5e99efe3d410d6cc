'use strict'

// `npm run mutants`: makes small changes to the code, one at a time, and reports those that no test notices. `-- FILE [TEST…]`:
// Stryker's changes of a file of lib/, or of some of its lines (`FILE:72-120`), by its own tests or by these (files.js). `--
// model [WORD…]`: the mistakes in core/tests/model/mutants.js, or those with these words (model.js). `-- core [ARGUMENT…]`: the
// changes of cargo-mutants in the core (core.toml), which take hours, or with `-f core/src/generator/cursor.rs` those of one
// file; `-- grants [ARGUMENT…]`: those in the rules of grants, with the model as a test (grants.toml). The last line has the
// counts; the status is 1 if a change of the core was missed, or too many of a file. copy.js copies the project, for the edits.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { tryFile } = require('./files.js')
const { tryModel } = require('./model.js')

const root = path.join(__dirname, '..', '..')
/** The version behind the figures. */
const CARGO_MUTANTS = '27.1.0'

/** @param config a file of this folder */
function tryCargo(config, args) {
  const known = spawnSync('cargo', ['mutants', '--version'], { encoding: 'utf8' })
  if (known.status !== 0) {
    console.error(`cargo-mutants is missing: cargo install cargo-mutants@${CARGO_MUTANTS} --locked`)
    return false
  }
  const options = ['mutants', '--config', `lab/mutants/${config}`, '--package', 'flakeforge-core', '--output', 'target']
  return spawnSync('cargo', [...options, ...args], { cwd: root, stdio: 'inherit' }).status === 0
}

const PARTS = {
  model: tryModel,
  core: (args) => tryCargo('core.toml', args),
  grants: (args) => tryCargo('grants.toml', args),
}

function main(args) {
  const [part, ...rest] = args
  if (/\.ts(?::|$)/.test(part)) return tryFile(args) ? 0 : 1
  if (Object.hasOwn(PARTS, part)) return PARTS[part](rest) ? 0 : 1
  console.error('usage: npm run mutants -- FILE [TEST …] | model [WORD …] | core|grants [ARGUMENTS OF cargo mutants]')
  return 2
}

process.exitCode = main(process.argv.slice(2))
