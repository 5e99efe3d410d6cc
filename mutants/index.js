'use strict'

// `npm run mutants`: makes small changes to the code, one at a time, and says which of them no test notices.
//
//   npm run mutants                    all parts; takes hours
//   npm run mutants -- lib             the edits listed in mutants/lib/
//   npm run mutants -- lib waiting     those of one list
//   npm run mutants -- model           the mistakes in the rules that core/tests/model/mutants/ lists
//   npm run mutants -- model quiet     those with this word
//   npm run mutants -- core            what cargo-mutants thinks of, for the core
//   npm run mutants -- core -f core/src/generator/cursor.rs
//
// Ends with a line that counts, and with status 1 where a change was missed.
//
// lib.js tries the lists of lib/, one for each subject; model.js those of core/tests/model/mutants/; core.toml is
// for cargo-mutants. copy.js makes the copy of the project in which an edit disturbs nobody.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { tryLists } = require('./lib.js')
const { tryModel } = require('./model.js')

const root = path.join(__dirname, '..')
/** The version that the figures come from. */
const CARGO_MUTANTS = '27.1.0'

function tryCore(args) {
  const known = spawnSync('cargo', ['mutants', '--version'], { encoding: 'utf8' })
  if (known.status !== 0) {
    console.error(`cargo-mutants is missing: cargo install cargo-mutants@${CARGO_MUTANTS} --locked`)
    return false
  }
  const options = ['mutants', '--config', 'mutants/core.toml', '--package', 'flakeforge-core', '--output', 'target']
  return spawnSync('cargo', [...options, ...args], { cwd: root, stdio: 'inherit' }).status === 0
}

const PARTS = {
  lib: tryLists,
  model: tryModel,
  core: tryCore,
}

async function main() {
  const [part, ...rest] = process.argv.slice(2)
  if (part !== undefined && !Object.hasOwn(PARTS, part)) {
    console.error('usage: npm run mutants [-- lib [LIST …] | -- model [WORD …] | -- core [ARGUMENTS OF cargo mutants]]')
    return 2
  }
  if (part !== undefined) return (await PARTS[part](rest)) ? 0 : 1
  let isAll = true
  for (const tryPart of Object.values(PARTS)) isAll = (await tryPart([])) && isAll
  return isAll ? 0 : 1
}

main().then((status) => {
  process.exitCode = status
})
